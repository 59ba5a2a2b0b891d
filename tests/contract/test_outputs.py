"""What every ``-o`` promises: a file that others read, or an error and what was there before."""

import csv
import errno
import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import networkx
import numpy as np
import pyarrow.parquet
import pytest

import ncc
from tests.contract.cases import IR, KERNELS, training_command
from tests.support.refuses import check_message
from tests.support.tiny import TRAINED, Tiny
from tests.support.verbs import run_here

TREE = IR / "tree.clang22.ll"
OLD = b"what was there before\n"
MODULES = {verb: (verb, TREE, "-o") for verb in ("embed", "graph")}
PLOT = ("predict-device", KERNELS, "--plot")


def read_csv(path: Path) -> list[list[float]]:
    with path.open(newline="") as file:
        names, *rows = csv.reader(file)
    return [[float(number) for number in row[names.index("v0") :]] for row in rows]


def read_npz(path: Path) -> Any:
    with np.load(path, allow_pickle=False) as table:
        return table["vectors"]


VECTORS: Mapping[str, Callable[[Path], Any]] = {
    ".npz": read_npz,
    ".csv": read_csv,
    ".parquet": lambda path: pyarrow.parquet.read_table(path)["vector"].to_pylist(),
}


DRAWN = (*MODULES["graph"][:2], "--function", "depth", "-o")
READERS: Mapping[tuple[tuple[object, ...], str], Callable[[Path], object]] = {
    (MODULES["graph"], ".graphml"): lambda path: networkx.read_graphml(path, force_multigraph=True).number_of_edges(),
    (MODULES["graph"], ".json"): lambda path: len(json.loads(path.read_bytes())["edges"]),
    (MODULES["graph"], ".html"): lambda path: path.read_text().startswith("<!doctype html>"),
    (DRAWN, ".svg"): lambda path: ElementTree.parse(path).getroot().tag.endswith("svg"),
    (PLOT, ".svg"): lambda path: ElementTree.parse(path).getroot().tag.endswith("svg"),
}

# ---- every ending, read by others


@pytest.mark.parametrize("level", ["module", "function", "statement"])
@pytest.mark.parametrize("ending", VECTORS)
def test_vectors_are_read_by_others(ending, level, tmp_path):
    inputs, path = [TREE, KERNELS], tmp_path / f"out{ending}"
    assert run_here("embed", *inputs, "-o", path, "--level", level).code == 0
    expected = np.concatenate([ncc.embed(one).vectors_at(level) for one in inputs])
    assert np.array(VECTORS[ending](path)) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("ending", VECTORS)
def test_tables_name_inputs_that_are_no_utf_8_and_how_vectors_were_pooled(ending, tmp_path):
    path, code = tmp_path / f"out{ending}", ncc.embed(TREE)
    odd = replace(code, module=replace(code.module, name='caf\udce9,\n"é".ll'))
    ways: tuple[tuple[ncc.Level, str | None], ...] = (("module", "encoder"), ("statement", None))
    for level, pooling in ways:
        ncc.save_vectors([odd], level, path)
        found: dict[str, Any] = {}
        if ending == ".npz":
            with np.load(path) as table:
                found = {name: table[name].tolist() for name in table if name != "vectors"}
        elif ending == ".parquet":
            metadata = pyarrow.parquet.read_schema(path).metadata or {}
            found = {name.decode(): value.decode() for name, value in metadata.items()}
            found["input"] = pyarrow.parquet.read_table(path)["input"].to_pylist()
        else:
            with path.open(newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            found = {"input": [row["input"] for row in rows], "pooling": rows[0].get("pooling")}
        assert set(found["input"]) == {'caf\\udce9,\n"é".ll'}
        assert found.get("pooling") == pooling


@pytest.mark.parametrize(("words", "ending"), READERS, ids=lambda value: value if isinstance(value, str) else value[0])
def test_graphs_and_plots_are_read_by_others(words, ending, tmp_path):
    path = tmp_path / f"out{ending}"
    assert run_here(*words, path).code == 0
    found = READERS[words, ending](path)
    assert found is True or found == ncc.build_graph(TREE).num_edges


@pytest.mark.parametrize("words", [MODULES["embed"], MODULES["graph"], PLOT], ids=lambda words: words[0])
@pytest.mark.parametrize("name", ["out.txt", "out", ".npz"])
def test_other_endings_are_wrong_usage(words, name, tmp_path):
    finished = run_here(*words, tmp_path / name)
    assert (finished.code, finished.out, list(tmp_path.iterdir())) == (2, "", [])
    check_message(finished.err, name)


# ---- places where nothing can be written, for root either


def makers(tiny: Tiny) -> Mapping[str, tuple[tuple[object, ...], str]]:
    """Every command that writes: its words up to the output, and the ending of that; folders have none."""
    return {
        "embed": (MODULES["embed"], ".npz"),
        "graph": (MODULES["graph"], ".json"),
        "predict-device": (PLOT, ".svg"),
        "index": (("index", tiny.programs, "-o"), ""),
        **{name: ((*training_command(tiny, name), "-o"), "") for name in TRAINED},
    }


COMMANDS = tuple(makers(Tiny(Path())))


@pytest.fixture(params=["below a file", "a file system without files", "a name that is too long"])
def nowhere(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder that can't be made."""
    (tmp_path / "file").write_bytes(OLD)
    places = {"below a file": tmp_path / "file" / "out", "a name that is too long": tmp_path / ("x" * 300) / "out"}
    return places.get(request.param, Path("/proc/self/out"))


@pytest.mark.parametrize("command", COMMANDS)
def test_places_that_can_not_be_written_are_told_before_the_work(command, nowhere, tiny, tmp_path):
    words, ending = makers(tiny)[command]
    finished = run_here(*words, nowhere / f"x{ending}" if ending else nowhere)
    assert (finished.code, finished.out) == (1, "")
    check_message(finished.err.replace("x" * 300, "x"), str(nowhere).replace("x" * 300, "x"))
    assert finished.err.count("ncc: ") == finished.err.count("\n") == 1
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("file", OLD)]


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "index"])
def test_a_disk_that_is_full_leaves_what_was_there(command, killer, tiny, tmp_path):
    words, ending = makers(tiny)[command]
    out = tmp_path / "made" / f"out{ending}"
    out.parent.mkdir()
    if ending:
        out.write_bytes(OLD)
    code, said = killer.run_without_room(*words, out, file_bytes=500)
    assert (code, said.count("ncc: ")) == (1, 1), said
    check_message(said[said.index("ncc: ") :], str(out), "can't be written", os.strerror(errno.EFBIG))
    left = {path.name: path.read_bytes() for path in out.parent.rglob("*") if path.is_file()}
    left.pop("plan.json", None)  # by which a corpus goes on when there is room
    assert left == ({out.name: OLD} if ending else {})


# ---- what is no plain file


@pytest.fixture
def bytes_of_pipe(tmp_path: Path) -> Iterator[Callable[[], bytes]]:
    """A pipe, and what came out of it."""
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit((tmp_path / "pipe").read_bytes)
        yield lambda: found.result(30)


@pytest.mark.parametrize(("verb", "ending"), [("embed", ".csv"), ("embed", ".parquet"), ("graph", ".json")])
def test_links_are_followed_and_pipes_written_to(verb, ending, bytes_of_pipe, tmp_path):
    link = tmp_path / f"link{ending}"
    link.symlink_to("target")
    (tmp_path / "target").write_bytes(OLD)
    assert run_here(*MODULES[verb], link).code == 0
    assert link.is_symlink() and (tmp_path / "target").read_bytes() != OLD
    link.unlink()
    link.symlink_to("pipe")
    assert run_here(*MODULES[verb], link).code == 0
    assert bytes_of_pipe() == (tmp_path / "target").read_bytes()
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize(("verb", "ending"), [("embed", ".npz"), ("embed", ".parquet"), ("graph", ".html")])
def test_a_device_that_is_full_and_a_folder_are_told(verb, ending, tmp_path):
    full = tmp_path / f"full{ending}"
    if os.geteuid():
        full.symlink_to("/dev/full")
    else:  # who may do everything could take the place of the machine's own
        os.mknod(full, stat.S_IFCHR | 0o666, os.makedev(1, 7))
    (tmp_path / f"folder{ending}").mkdir()
    for name in ("full", "folder"):
        finished = run_here(*MODULES[verb], tmp_path / f"{name}{ending}")
        assert finished.code == 1
        check_message(finished.err, f"{name}{ending}")
    assert full.is_char_device()
    assert {path.stem for path in tmp_path.iterdir()} == {"full", "folder"}
