"""Builds that are killed, and files that kill, hang or fill the workers of a build: none costs more than itself."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from ncc.errors import NccError, OutputError
from tests.fixtures.frontend import ENDLESS
from tests.rooms import (
    Batch,
    CachingCompiler,
    CorpusFile,
    Pool,
    Recipe,
    Source,
    build_corpus,
    load_recipe,
    read_module,
    run_inline,
)
from tests.rooms import corpus_build as building

DEADLY = Path(__file__).parents[2] / "samples" / "deadly"
REASONS = {
    "killed": "its worker was killed by signal 9 (SIGKILL), for want of memory perhaps",
    "aborts": "its worker was killed by signal 6 (SIGABRT)",
    "exits": "its worker ended with exit code 3",
    "fails": "AttributeError: 'str' object has no attribute 'no_such_attribute' at sitecustomize.py; a defect of "
    "ncc, please report it",
}


@pytest.fixture
def deadly(monkeypatch) -> dict[str, str]:
    """Workers that die at files whose names say how; what a process needs in its environment for that."""
    monkeypatch.setenv("PYTHONPATH", str(DEADLY))
    return {"PYTHONPATH": str(DEADLY)}


@pytest.fixture
def sources(tmp_path) -> Path:
    folder = tmp_path / "sources"
    folder.mkdir()
    for number in range(8):
        (folder / f"f{number}.ll").write_text(
            f"define i32 @f{number}(i32 %x) {{\n  %y = {['add', 'sub', 'mul', 'xor'][number % 4]} i32 %x, 1\n"
            f"  %z = {['and', 'or'][number % 2]} i32 %y, %x\n  ret i32 %z\n}}\n"
        )
    (folder / "f8.c").write_text("int f8(int *a) { return *a * 7; }\n")
    return folder


def _add(folder: Path, *names: str) -> None:
    for name in names:
        (folder / f"{name}.ll").write_text("define void @f() {\n  ret void\n}\n")


def test_a_file_that_kills_its_worker_costs_itself_alone(sources, deadly, tmp_path, monkeypatch, corpus_files):
    monkeypatch.setattr(building, "BATCH_FILES", 4)
    recipe = replace(load_recipe(sources), widths=(1, 2))
    good = build_corpus(recipe, tmp_path / "good", jobs=2)
    assert good.files == {"sources": 9}
    _add(sources, "f3_killed", "f3_killed_too", "f5_fails", "f6_exits", "zz_aborts")
    seen: list[str] = []
    report = build_corpus(recipe, tmp_path / "bad", jobs=2, progress=seen.append)
    assert corpus_files(tmp_path / "bad") == corpus_files(tmp_path / "good")
    assert seen == [f"{done} of 4 batches" for done in (1, 2, 3, 4)]
    assert {path: re.sub(r"\.py:\d+", ".py", reason) for path, reason in report.failures.items()} == {
        str(sources / f"{name}.ll"): f"{sources / name}.ll: {REASONS[name.split('_')[1]]}"
        for name in ("f3_killed", "f3_killed_too", "f5_fails", "f6_exits", "zz_aborts")
    }
    assert replace(report, failures={}, seconds={}) == replace(good, seconds={})
    assert not list(tmp_path.glob("bad/shards/*/pieces"))
    assert build_corpus(recipe, tmp_path / "bad", jobs=1) == report  # and nobody dies once more


def test_a_worker_that_is_killed_once_costs_nothing(sources, deadly, tmp_path, corpus_files):
    """It was killed for want of memory that others took, say."""
    _add(sources, "f3_once")
    report = build_corpus(load_recipe(sources), tmp_path / "out", jobs=1)
    assert (sources / "f3_once.mark").exists()
    assert (report.failures, report.files) == ({}, {"sources": 10})
    build_corpus(load_recipe(sources), tmp_path / "whole", jobs=1)
    assert corpus_files(tmp_path / "out") == corpus_files(tmp_path / "whole")


def test_a_disk_that_is_full_is_no_fault_of_a_file(sources, deadly, tmp_path):
    _add(sources, "f3_full")
    with pytest.raises(OutputError, match=r"f3_full\.ll: can't be worked on: .*No space left on device"):
        build_corpus(load_recipe(sources), tmp_path / "out", jobs=1)
    assert not list(tmp_path.glob("out/shards/*/report.json"))


@pytest.mark.full
@pytest.mark.parametrize("rounds", [12])
def test_a_build_killed_among_files_that_kill_goes_on_to_the_same(
    sources, deadly, tmp_path, killer, corpus_files, rounds
):
    _add(sources, "f3_killed", "f4_exits", "zz_aborts")
    report = build_corpus(load_recipe(sources), tmp_path / "whole", jobs=1)
    assert len(report.failures) == 3
    for number in range(rounds):
        out = tmp_path / f"out{number}"
        arguments = ["corpus", "build", sources, "-o", out, "--jobs", "1"]
        killer.run_through_kills(*arguments, watched=out, duration_s=6, kills=5, environment=deadly)
        assert corpus_files(out) == corpus_files(tmp_path / "whole")
        assert build_corpus(load_recipe(sources), out).failures == report.failures
    assert killer.kills > rounds / 2


@pytest.mark.full
@pytest.mark.parametrize("rounds", [8])
def test_a_build_killed_at_random_moments_ends_with_the_identical_counts(
    many_sources, tmp_path, killer, corpus_files, rounds
):
    whole = tmp_path / "whole"
    command = ["corpus", "build", many_sources, "--jobs", "2", "-o"]
    duration = killer.run(*command, whole)
    table = _table(killer)
    for number in range(rounds):
        out = tmp_path / f"out{number}"
        killer.run_through_kills(*command, out, watched=out, duration_s=duration, kills=4)
        assert corpus_files(out) == corpus_files(whole)
        assert _table(killer) == table
        assert _report(out) == _report(whole)
    assert table.startswith("source ")
    assert killer.kills > rounds / 2


def _table(killer) -> str:
    """What the last command printed, but for its speed."""
    text = killer.log.read_text()
    return re.sub("[0-9,]+ IR lines.*", "", text[text.rindex("source  ") :])


def _report(folder: Path) -> dict:
    return json.loads((folder / "report.json").read_text()) | {"seconds": None}


def _failures(shard: Path) -> dict[str, str]:
    return json.loads((shard / "report.json").read_text())["failures"]


def _batch(shard: Path, sources: Path, *names: str) -> Batch:
    recipe = Recipe(name="r", sources=(Source(name="s", folder=str(sources)),))
    files = tuple(CorpusFile(str(sources / f"{name}.ll"), "s", ()) for name in names)
    return Batch(files, recipe, shard, CachingCompiler(shard / "headers"))


def test_a_file_that_takes_too_long_is_ended(sources, deadly, tmp_path, corpus_files):
    _add(sources, "f0_hangs")
    bad, good = (_batch(tmp_path / n, sources, "f0", *more, "f1") for n, more in (("bad", ["f0_hangs"]), ("good", [])))
    list(Pool(seconds=2).run([bad.task(), good.task()]))
    assert _failures(tmp_path / "bad") == {f"{sources}/f0_hangs.ll": f"{sources}/f0_hangs.ll: took longer than 2 s"}
    assert _failures(tmp_path / "good") == {}
    assert corpus_files(tmp_path / "bad") == corpus_files(tmp_path / "good")


@pytest.mark.full
def test_a_build_that_was_stopped_for_a_while_takes_no_file_for_slow(sources, deadly, tmp_path):
    """As by Ctrl-Z, or a lid that is closed."""
    script = tmp_path / "build.py"
    script.write_text(
        "import sys\nfrom ncc.learning.corpus.build import build_corpus\n"
        "from ncc.learning.corpus.recipe import load_recipe\nif __name__ == '__main__':\n"
        "    print(build_corpus(load_recipe(sys.argv[1]), sys.argv[2], jobs=1, file_seconds=4).failures)\n"
    )
    _add(sources, "f0_sleeps")
    process = subprocess.Popen(
        [sys.executable, script, sources, tmp_path / "out"], stdout=subprocess.PIPE, start_new_session=True
    )
    try:
        _wait((sources / "f0_sleeps.begun").exists)
        os.killpg(process.pid, signal.SIGSTOP)
        time.sleep(5)
        os.killpg(process.pid, signal.SIGCONT)
        assert process.communicate(timeout=60)[0] == b"{}\n"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()  # closes its pipe, which another test would else be warned of


def _long_function(path: Path, lines: int) -> None:
    body = "".join(f"  %x{number + 1} = add i32 %x{number}, {number}\n" for number in range(lines))
    path.write_text(f"define i32 @f(i32 %x0) {{\n{body}  ret i32 %x1\n}}\n")


def test_a_file_that_fills_memory_fails_for_that(sources, tmp_path, corpus_files):
    _long_function(sources / "big.ll", 2_000_000)
    bad, good = _batch(tmp_path / "bad", sources, "f0", "big"), _batch(tmp_path / "good", sources, "f0")
    list(Pool(1, 200 << 20, 60).run([bad.task(), good.task()]))
    failures = _failures(tmp_path / "bad")
    assert list(failures) == [f"{sources}/big.ll"]
    # the latter where it is native code that finds none
    ways = "needs more memory than .*|its worker was killed by signal 6 .*"
    assert re.fullmatch(f".*/big.ll: ({ways})", failures[f"{sources}/big.ll"])
    assert corpus_files(tmp_path / "bad") == corpus_files(tmp_path / "good")


def test_files_that_need_too_much_together_are_counted_apart(sources, tmp_path, monkeypatch, corpus_files):
    def read(ir, *, name, **options):
        reads.append(name)
        if len(reads) == 3:
            raise MemoryError
        return read_module(ir, name=name, **options)

    reads: list[str] = []
    batch, whole = (
        _batch(tmp_path / "batch", sources, "f0", "f1", "f2"),
        _batch(tmp_path / "whole", sources, "f0", "f1", "f2"),
    )
    run_inline(whole.task())
    monkeypatch.setattr("ncc.learning.corpus.build.read_module", read)
    run_inline(batch.task())
    assert len(reads) == 6  # the batch again, from its first file
    assert _failures(tmp_path / "batch") == {}
    assert corpus_files(tmp_path / "batch") == corpus_files(tmp_path / "whole")


def test_a_worker_without_room_to_begin_is_an_error_not_a_loop(sources, tmp_path, capfd):
    with pytest.raises(NccError, match=r"workers can't be started: its worker .*; start again to go on"):
        build_corpus(load_recipe(sources), tmp_path / "out", jobs=2, memory_bytes=8 << 20)
    assert not list(tmp_path.glob("out/shards/*/report.json"))
    assert build_corpus(load_recipe(sources), tmp_path / "out", jobs=1).failures == {}


@pytest.mark.usefixtures("_interruptible")
@pytest.mark.parametrize(
    "number", [signal.SIGKILL, signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.full)]
)
def test_a_build_that_is_ended_leaves_no_process_behind(tmp_path, number):
    """Neither workers nor a compiler that would run for years."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "slow.cpp").write_text(ENDLESS)
    name = bytes(tmp_path / "code" / "slow.cpp")
    process = subprocess.Popen(
        [sys.executable, "-m", "ncc", "corpus", "build", tmp_path / "code", "-o", tmp_path / "out", "--jobs", "1"],
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        _wait(lambda: _named(name))
        process.send_signal(number)
        process.communicate(timeout=60)
        _wait(lambda: not _alive(process.pid) and not _named(name))
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()  # closes its pipe, which another test would else be warned of


def _wait(condition, limit_s: float = 60) -> None:
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def _named(part: bytes) -> bool:
    """Whether some process's command holds a text."""
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if part in command.read_bytes():
                return True
    return False
