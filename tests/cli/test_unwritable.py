"""Results that can't be written: a clear message, exit code 1, and what was there before is still there."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from datasets.generators import generate
from tests.rooms import FileState, verify

NCC = [sys.executable, "-W", "error", "-c", "from ncc.cli import main; main()"]
OLD = b"what was there before\n"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    from tests.rooms import Recipe, Source, build_corpus

    folder, code = tmp_path_factory.mktemp("corpus"), tmp_path_factory.mktemp("code")
    for file, text in generate("gemm", 3):
        (code / file).write_text(text)
    build_corpus(Recipe(name="small", sources=(Source(name="g", folder=str(code)),)), folder, jobs=1)
    return folder


def _has(*names: str) -> None:
    missing = [name for name in names for file in verify(name).files if file.state is FileState.MISSING]
    if missing:
        pytest.skip(f"no local copy of {', '.join(missing)} (set NCC_DATA)")


def _refused(finished: tuple[int, str], reason: str) -> None:
    code, text = finished
    assert code == 1, text
    assert "Traceback" not in text
    assert text.count("can't be written") == 1, text
    assert reason in text


# ---- a disk that is full: the kernel takes no more bytes for a file


@pytest.mark.parametrize("extension", [".npz", ".json", ".csv", ".parquet"])
def test_vectors_on_a_full_disk(killer, ir, tmp_path, extension):
    out = tmp_path / f"out{extension}"
    out.write_bytes(OLD)
    arguments = ["embed", ir / "tree.clang22.ll", "--level", "statement", "-o", out]
    _refused(killer.run_without_room(*arguments, file_bytes=4096), f"{out}: can't be written: File too large")
    assert out.read_bytes() == OLD
    assert {path.name for path in tmp_path.iterdir()} == {out.name, "messages.txt"}
    killer.run(*arguments)
    assert out.read_bytes() != OLD


@pytest.mark.parametrize("extension", [".json", ".html", ".graphml", ".dot"])
def test_graphs_on_a_full_disk(killer, ir, tmp_path, extension):
    out = tmp_path / f"out{extension}"
    out.write_bytes(OLD)
    _refused(
        killer.run_without_room("graph", ir / "tree.clang22.ll", "-o", out, file_bytes=2000),
        f"{out}: can't be written: File too large",
    )
    assert out.read_bytes() == OLD


def test_a_picture_on_a_full_disk(killer, kernels, tmp_path):
    out = tmp_path / "out.svg"
    out.write_bytes(OLD)
    _refused(
        killer.run_without_room("predict-device", kernels, "--plot", out, file_bytes=2000),
        f"{out}: can't be written: File too large",
    )
    assert out.read_bytes() == OLD


def test_a_corpus_on_a_full_disk_goes_on_when_there_is_room(killer, ir, tmp_path):
    arguments = ["corpus", "build", ir, "-o", tmp_path / "out", "--jobs", "1"]
    _refused(killer.run_without_room(*arguments, file_bytes=2000), "counts.safetensors: can't be written: File too la")
    assert not (tmp_path / "out" / "report.json").exists()
    killer.run(*arguments)
    assert json.loads((tmp_path / "out" / "report.json").read_text())["failures"] == {}


def test_an_embedding_on_a_full_disk_goes_on_from_its_checkpoint(killer, corpus, tmp_path):
    arguments = ["train", "embedding", corpus, "-o", tmp_path / "out", "--dim", 8, "--epochs", 2, "--min-count", 1]
    _refused(
        killer.run_without_room(*arguments, file_bytes=2000), "checkpoint.safetensors: can't be written: File too lar"
    )
    assert not (tmp_path / "out").exists()
    killer.run(*arguments)
    size = (tmp_path / "out" / "embedding.safetensors").stat().st_size
    killer.run(*arguments[:-3], 3, *arguments[-2:])
    assert (tmp_path / "out" / "embedding.safetensors").stat().st_size == size


def test_a_classifier_on_a_full_disk(killer, programs, tmp_path):
    (tmp_path / "out").mkdir()
    arguments = [
        *("train", "classify", programs, "-o", tmp_path / "out", "--cache", tmp_path / "programs"),
        *("--levels", "1", "--epochs", 1, "--min-steps", 1, "--hidden", 4, "--batch-size", 8),
    ]
    _refused(killer.run_without_room(*arguments, file_bytes=20_000), "checkpoint.pt: can't be written: File too large")
    assert list((tmp_path / "out").iterdir()) == []
    killer.run(*arguments)
    left = {path.suffix for path in (tmp_path / "out").iterdir()}
    assert left == {".json", ".safetensors"}


@pytest.mark.parametrize("what", ["--cache", "-o", "--report"])
def test_an_evaluation_on_a_full_disk(killer, programs, tmp_path, what):
    arguments = [
        *("evaluate", "classify", programs, "--programs", tmp_path / "programs"),
        *("--method", "opcode*", "--trees", 5, *([] if what == "--cache" else ["--no-cache"])),
    ]
    killer.run(*arguments)
    out = tmp_path / ("runs" if what == "--cache" else "out.html")
    if what != "--cache":
        out.write_bytes(OLD)
    _refused(killer.run_without_room(*arguments, what, out, file_bytes=300), f"{out}")
    assert killer.log.read_text().count("File too large") == 1
    assert what == "--cache" or out.read_bytes() == OLD


@pytest.mark.full
def test_heads_of_devices_on_a_full_disk(killer, tmp_path):
    _has("coarsening", "legacy_ir")
    (tmp_path / "out").mkdir()
    arguments = ["train", "coarsening", "-o", tmp_path / "out"]
    _refused(killer.run_without_room(*arguments, file_bytes=300), "can't be written: File too large")
    killer.run(*arguments)
    assert len(list((tmp_path / "out").iterdir())) >= 1


# ---- places where nothing can be written, for root either


@pytest.fixture(params=["below a file", "a file system without files", "a name that is too long"])
def nowhere(request, tmp_path) -> Path:
    if request.param == "below a file":
        (tmp_path / "file").write_bytes(OLD)
        return tmp_path / "file" / "out"
    if request.param == "a name that is too long":
        return tmp_path / ("x" * 300) / "out"
    if not Path("/proc/self").is_dir():
        pytest.skip("needs a file system that takes no files")
    return Path("/proc/self/out")


@pytest.mark.parametrize(
    "command",
    [
        ["corpus", "build", "{ir}", "-o", "{nowhere}"],
        ["train", "embedding", "{corpus}", "-o", "{nowhere}", "--epochs", "1"],
        ["train", "classify", "{programs}", "-o", "{nowhere}", "--epochs", "1", "--min-steps", "1", "--hidden", "4"],
        ["train", "classify", "{programs}", "-o", "{tmp}", "--cache", "{nowhere}"],
        ["train", "devmap", "-o", "{nowhere}", "--data", "{tmp}"],
        ["train", "coarsening", "-o", "{nowhere}"],
        ["evaluate", "classify", "{programs}", "--method", "opcode*", "--trees", "2", "--cache", "{nowhere}"],
        ["evaluate", "classify", "{programs}", "--method", "opcode*", "--trees", "2", "--programs", "{nowhere}"],
        ["evaluate", "classify", "{programs}", "--method", "opcode*", "-o", "{nowhere}/x.json"],
        ["evaluate", "devmap", "--report", "{nowhere}/x.html"],
        ["evaluate", "embedding", "-o", "{nowhere}/x.json"],
        ["evaluate", "embedding", "--html", "{nowhere}/x.html"],
        ["embed", "{ir}", "-o", "{nowhere}/x.npz"],
        ["graph", "{ir}/tree.clang22.ll", "-o", "{nowhere}/x.dot"],
        ["predict-device", "{kernels}", "--plot", "{nowhere}/x.svg"],
    ],
    ids=lambda command: " ".join(word for word in command if "{" not in word or word == "{nowhere}"),
)
def test_places_that_can_not_be_written_are_named(
    ncc, command, nowhere, ir, corpus, programs, kernels, tmp_path, monkeypatch
):
    if command[1] == "coarsening":
        _has("coarsening", "legacy_ir")
    monkeypatch.setenv("NCC_CACHE", str(tmp_path / "cache"))
    values = {
        "nowhere": nowhere, "ir": ir, "corpus": corpus, "programs": programs, "kernels": kernels, "tmp": tmp_path
    }  # fmt: skip
    finished = ncc(*(word.format(**values) for word in command))
    assert finished.code == 1
    assert str(nowhere) in finished.err
    messages = [line for line in finished.err.splitlines() if line.startswith("ncc: ")]
    assert len(messages) == 1
    assert any(words in messages[0] for words in ("can't be", "there is no folder")), messages
    assert "Traceback" not in finished.err
    if (tmp_path / "file").exists():
        assert (tmp_path / "file").read_bytes() == OLD


# ---- standard streams


COMMANDS = [["info"], ["data", "list"], ["data", "verify", "poj104"], ["--help"], ["embed", "{ir}/tree.clang22.ll"]]


def _process(arguments, ir, **streams):
    command = [*NCC, *(word.format(ir=ir) for word in arguments)]
    return subprocess.run(command, timeout=60, check=False, **streams)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_full_disk_behind_any_output(command, ir):
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        finished = _process(command, ir, stdout=full, stderr=subprocess.PIPE)
    assert finished.returncode == 1
    assert finished.stderr == b"ncc: standard output can't be written: No space left on device\n"


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_output_that_is_closed_is_no_failure(command, ir):
    finished = _process(command, ir, stderr=subprocess.PIPE, preexec_fn=lambda: os.close(1))
    assert finished.returncode in (0, 1) if command[1:2] == ["verify"] else finished.returncode == 0
    assert finished.stderr == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
@pytest.mark.parametrize("closed", [True, False])
def test_messages_that_nobody_can_read_stop_nothing(ir, closed):
    arguments = ["embed", "nothing.ll", "{ir}/tree.clang22.ll", "--json"]
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        options = {"preexec_fn": lambda: os.close(2)} if closed else {"stderr": full}
        finished = _process(arguments, ir, stdout=subprocess.PIPE, **options)
    assert finished.returncode == 1
    assert [json.loads(line)["ok"] for line in finished.stdout.splitlines()] == [False, True]


def test_input_that_is_closed_is_empty(ir):
    finished = _process(["embed", "-"], ir, stderr=subprocess.PIPE, preexec_fn=lambda: os.close(0))
    assert (finished.returncode, finished.stderr) == (1, b"ncc: standard input is empty\n")
