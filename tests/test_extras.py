"""Answers need none of the packages that extras install; what does need one names the extra."""

import subprocess
import sys
from pathlib import Path

import pytest

import ncc
from tests.support.refuses import refuses

IR = Path(__file__).parent / "data" / "ir"
TREE, SAXPY = str(IR / "tree.clang22.ll"), str(IR / "saxpy.clang14.ll")
EXTRA = ("torch", "gensim", "pandas", "matplotlib", "sklearn", "scipy", "pyarrow", "huggingface_hub", "torch_geometric")
LAUNCH = ("--grid", "64", "--block", "64")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a command where none of these packages can be imported."""
    script = f"import sys\nsys.modules.update(dict.fromkeys({EXTRA}))\nfrom ncc.cli.main import main\nmain()"
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize(
    "arguments",
    [
        ("embed", TREE, "-o", "x.npz"),
        ("graph", TREE, "-o", "x.html"),
        ("predict-device", SAXPY, "--transfer", "1MB", "--explain"),
        ("predict-device", SAXPY, "--plot", "x.svg"),
        ("predict-coarsening", SAXPY),
        ("predict-coarsening", SAXPY, "--head", "lstm"),
        ("predict-gpu", SAXPY, *LAUNCH, "--explain"),
        ("profile", SAXPY, *LAUNCH),
        ("classify", TREE),
        ("index", TREE, "-o", "x.index"),
        ("info",),
    ],
    ids=lambda arguments: arguments[0],
)
def test_answers_need_no_extra(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    searches = [("search", "x.index", SAXPY, "-o", "x.html")] if arguments[0] == "index" else []
    for words in (arguments, *searches):
        finished = run(*words)
        assert (finished.returncode, finished.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "package", "extra"),
    [
        (("embed", TREE, "-o", "x.parquet"), "pyarrow", "tables"),
        (("train", "devmap", "-o", "x"), "scipy", "train"),
        (("classify", TREE, "--head", "org/name"), "huggingface_hub", "hub"),
        (("train", "encoder", TREE, "-o", "x"), "scipy", "train"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_a_command_names_the_extra_that_it_needs(arguments, package, extra, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    finished = run(*arguments)
    assert finished.returncode == 1
    assert f"{package} is needed, and is not installed: pip install 'ncc-ir[{extra}]'" in finished.stderr
    assert "Traceback" not in finished.stderr


def test_functions_name_the_extra_that_they_need(tmp_path, monkeypatch):
    modules, graph = [ncc.embed(TREE)], ncc.build_graph(TREE)
    for package in EXTRA:
        for name in [name for name in sys.modules if name.partition(".")[0] == package]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, package, None)
    with refuses(ncc.MissingExtraError, "pyarrow", "ncc-ir[tables]"):
        ncc.save_vectors(modules, "function", tmp_path / "x.parquet")
    with refuses(ncc.MissingExtraError, "torch_geometric", "ncc-ir[pyg]"):
        graph.to_pyg()
    with refuses(ncc.MissingExtraError, "torch_geometric", "ncc-ir[pyg]"):
        ncc.load_program_graphs(tmp_path)
    with refuses(ncc.MissingExtraError, "org/name: no such folder", "huggingface_hub", "ncc-ir[hub]"):
        ncc.load_encoder("org/name")
    with refuses(ncc.MissingExtraError, "huggingface_hub", "ncc-ir[hub]"):
        ncc.load_encoder().push_to_hub("org/name")
