"""Results that can't be written: a clear message, exit code 1, and what was there before is still there."""

import json
from pathlib import Path

import pytest

OLD = b"what was there before\n"


def _refused(finished: tuple[int, str], reason: str) -> None:
    code, text = finished
    assert code == 1, text
    assert "Traceback" not in text
    assert text.count("can't be written") == 1, text
    assert reason in text


# ---- a disk that is full: the kernel takes no more bytes for a file


def test_a_corpus_on_a_full_disk_goes_on_when_there_is_room(killer, ir, tmp_path):
    arguments = ["corpus", "build", ir, "-o", tmp_path / "out", "--jobs", "1"]
    _refused(killer.run_without_room(*arguments, file_bytes=2000), "counts.safetensors: can't be written: File too la")
    assert not (tmp_path / "out" / "report.json").exists()
    killer.run(*arguments)
    assert json.loads((tmp_path / "out" / "report.json").read_text())["failures"] == {}


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
        ["train", "classify", "{programs}", "-o", "{tmp}", "--cache", "{nowhere}"],
        ["evaluate", "classify", "{programs}", "--method", "opcode*", "--trees", "2", "--cache", "{nowhere}"],
        ["evaluate", "classify", "{programs}", "--method", "opcode*", "--trees", "2", "--programs", "{nowhere}"],
        ["evaluate", "classify", "{programs}", "--method", "opcode*", "-o", "{nowhere}/x.json"],
        ["evaluate", "devmap", "--report", "{nowhere}/x.html"],
        ["evaluate", "embedding", "-o", "{nowhere}/x.json"],
        ["evaluate", "embedding", "--html", "{nowhere}/x.html"],
    ],
    ids=lambda command: " ".join(word for word in command if "{" not in word or word == "{nowhere}"),
)
def test_places_that_can_not_be_written_are_named(ncc, command, nowhere, programs, tmp_path, monkeypatch):
    monkeypatch.setenv("NCC_CACHE", str(tmp_path / "cache"))
    finished = ncc(*(word.format(nowhere=nowhere, programs=programs, tmp=tmp_path) for word in command))
    assert finished.code == 1
    assert str(nowhere) in finished.err
    messages = [line for line in finished.err.splitlines() if line.startswith("ncc: ")]
    assert len(messages) == 1
    assert any(words in messages[0] for words in ("can't be", "there is no folder")), messages
    assert "Traceback" not in finished.err
    if (tmp_path / "file").exists():
        assert (tmp_path / "file").read_bytes() == OLD
