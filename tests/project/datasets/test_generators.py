"""Synthetic programs: reproducible, named as promised, and every one compiles; and the command that writes them."""

import hashlib
import importlib
import io
import itertools
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from datasets.generators import GENERATORS, generate
from datasets.jit import __main__ as command
from datasets.kernels.__main__ import KERNELS, SIZES, rows
from datasets.projects import __main__ as projects
from ncc.errors import InputError
from tests.rooms import CompileOptions, build_corpus, compile_source, load_recipe, read_module
from tests.support.refuses import refuses

ROOT = Path(__file__).parents[3]
SHIPPED = {
    "gemm": (400, "9dc5b373f602b71b394310f2e28425ee9fadd122aa55854ac48b1838f922e244"),
    "stencil": (400, "707da5c9499f817978156a9ce1f165173c8e2f21af4f3bba4d4b057dfed30417"),
    "eigen": (150, "3be97195c7c53f911275be8aff176dd8e7b0d7e6af60787603e38a70e0d82f9d"),
}
"""How many programs the shipped embedding saw, and the hash of their names and texts."""


def defined_functions(path: Path, options: CompileOptions) -> list[str]:
    ir = compile_source(path, options).ir
    read_module(ir)
    return re.findall(r"^define [^@]*@(?:\"[^\"]+\"|[\w.$]+)", ir.decode(), re.MULTILINE)


def run(*arguments: object) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "datasets.generators", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", GENERATORS)
def test_programs_follow_from_their_seed_and_number(name):
    assert list(generate(name, 10, seed=3)) == list(generate(name, 10, seed=3))
    assert list(generate(name, 4)) == list(generate(name, 9))[:4]
    texts = [text for seed in (1, 2, 3) for _, text in generate(name, 10, seed=seed)]
    assert len(set(texts)) == 30
    number, sha256 = SHIPPED[name]
    assert hashlib.sha256(repr(list(generate(name, number))).encode()).hexdigest() == sha256


@pytest.mark.parametrize("name", ["gemm", "stencil"])
def test_programs_compile_and_can_be_read(tmp_path, name):
    for file, text in generate(name, 12):
        (tmp_path / file).write_text(text)
        functions = defined_functions(tmp_path / file, CompileOptions(flags=("-w",)))
        assert len(functions) >= 3, file
        assert not any(re.search(r"\b(internal|private)\b", function) for function in functions), file


@pytest.mark.full
def test_programs_of_eigen_compile_and_can_be_read(tmp_path):
    folders = [folder for folder in (os.environ.get("NCC_EIGEN"), "/usr/include/eigen3") if folder]
    here = [folder for folder in folders if (Path(folder) / "Eigen" / "Dense").is_file()]
    if not here:
        pytest.skip("Eigen's headers are neither in the folder that NCC_EIGEN names nor in /usr/include/eigen3")
    options = CompileOptions(include_paths=(here[0],), flags=("-w",))
    for file, text in generate("eigen", 3):
        (tmp_path / file).write_text(text)
        functions = defined_functions(tmp_path / file, options)
        own = {match for function in functions for match in re.findall(r"eigen_\d", function)}
        assert own == set(re.findall(r"\beigen_\d", text)), file


def test_the_command_writes_what_a_recipe_reads(tmp_path, monkeypatch):
    monkeypatch.setenv("GENERATED", str(tmp_path))
    finished = run("stencil", "--number", 3, "-o", tmp_path / "stencil")
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, "", "")
    written = {path.name: path.read_bytes().decode() for path in (tmp_path / "stencil").iterdir()}
    assert written == dict(generate("stencil", 3))
    recipe = tmp_path / "r.toml"
    recipe.write_text("[[source]]\nname = 's'\nfolder = '$GENERATED/stencil'\nattempts = [{ flags = ['-w'] }]\n")
    report = build_corpus(load_recipe(recipe), tmp_path / "corpus", jobs=1)
    assert (report.files, report.failures) == ({"s": 3}, {})


def test_an_unknown_generator_is_refused_at_once(tmp_path):
    with refuses(InputError, "fft", "stencil", "eigen"):
        generate("fft", 1)
    finished = run("fractal", "-o", tmp_path / "out")
    assert (finished.returncode, "choose from" in finished.stderr) == (2, True)
    assert not (tmp_path / "out").exists()


def test_nine_kernels_are_answered_at_three_sizes():
    found = rows("nvidia")
    names = ["matmul", "bfs", "black_scholes", "histogram", "nbody", "reduction", "serial_sum", "spmv", "srad"]
    assert [row[0] for row in found] == names == [path.stem for path in KERNELS]
    assert all(len(row) == 1 + len(SIZES) for row in found)
    assert all(cell.startswith(("CPU, GPU ", "GPU, GPU ", "undecided, GPU ")) for row in found for cell in row[1:])


def _archive(path: Path) -> str:
    with tarfile.open(path, "w:gz") as archive:
        for name in ("lib-1/scripts/pnglibconf.h.prebuilt", "lib-1/png.c"):
            member = tarfile.TarInfo(name)
            member.size = 4
            archive.addfile(member, io.BytesIO(b"int;"))
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_recipe_has_every_project():
    recipe = load_recipe(Path(projects.__file__).with_name("projects.toml"))
    assert [source.name for source in recipe.sources] == list(projects.ARCHIVES)
    assert {source.folder for source in recipe.sources} == {f"$PROJECTS/{name}" for name in projects.ARCHIVES}


def test_a_project_is_fetched_once_and_checked(tmp_path, monkeypatch):
    checksum = _archive(tmp_path / "libpng.tar.gz")
    monkeypatch.setattr(projects, "DEBIAN", tmp_path.as_uri())
    monkeypatch.setattr(projects, "ARCHIVES", {"libpng": ("libpng.tar.gz", checksum)})
    projects.fetch("libpng", tmp_path)
    assert (tmp_path / "libpng" / "pnglibconf.h").read_text() == "int;"
    (tmp_path / "libpng.tar.gz").write_bytes(b"other")
    projects.fetch("libpng", tmp_path)  # which is there
    (tmp_path / "libpng").rename(tmp_path / "aside")
    with pytest.raises(SystemExit, match="SHA-256"):
        projects.fetch("libpng", tmp_path)


@pytest.mark.parametrize("name", ["triton", "numba", "numba_cuda"])
def test_kernels_of_python_are_read(name):
    pytest.importorskip(name.replace("_", "."), reason=f"needs {name} (pip install {name.replace('_', '-')})")
    kernels = importlib.import_module(f"datasets.jit.{name}_kernels")
    for file, text in itertools.islice(kernels.compiled(), 2):
        module = read_module(text.encode(), name=file)
        assert module.read_via == "direct"
        assert module.num_statements > 10


def test_what_is_not_installed_is_named(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "triton", None)
    monkeypatch.setattr(sys, "argv", ["jit", "triton", "-o", str(tmp_path / "out")])
    with pytest.raises(SystemExit, match="1"):
        command.main()
    assert "pip install triton" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_recipe_reads_what_the_command_writes(monkeypatch):
    monkeypatch.setenv("GENERATED", "made")
    sources = load_recipe("datasets/corpora/jit.toml").sources
    assert [source.folder for source in sources] == ["$GENERATED/triton", "$GENERATED/numba"]
