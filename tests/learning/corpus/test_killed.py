"""Files that kill, hang or fill the workers of a build: none costs more than itself."""

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
from tests.rooms import build_corpus, load_recipe
from tests.rooms import corpus_build as building
from tests.support.processes import wait_until
from tests.support.refuses import refuses

DEADLY = Path(__file__).parents[2] / "samples" / "deadly"
REASONS = {
    "killed": "worker killed (SIGKILL), probably out of memory; try fewer --jobs",
    "aborts": "worker killed (SIGABRT)",
    "exits": "worker ended with exit code 3",
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
    assert replace(report, failures={}) == good
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
    with refuses(OutputError, "f3_full.ll", "No space left on device"):
        build_corpus(load_recipe(sources), tmp_path / "out", jobs=1)
    assert not list(tmp_path.glob("out/shards/*/report.json"))


@pytest.mark.full
def test_a_build_that_was_stopped_for_a_while_takes_no_file_for_slow(sources, deadly, tmp_path):
    """As by Ctrl-Z, or a lid that is closed."""
    script = tmp_path / "build.py"
    script.write_text(
        "import sys\nfrom pathlib import Path\nfrom ncc.learning.corpus.build import count_recipe\n"
        "from ncc.learning.corpus.recipe import load_recipe\n"
        "from ncc.learning.programs.ir_cache import CachingCompiler\n"
        "from ncc.system.workers.pool import Pool\nif __name__ == '__main__':\n"
        "    recipe, folder = load_recipe(sys.argv[1]), Path(sys.argv[2])\n"
        "    pool = Pool(1, seconds=4)\n"
        "    print(count_recipe(recipe, folder, CachingCompiler(folder / 'headers'), pool, None).failures)\n"
    )
    _add(sources, "f0_sleeps")
    process = subprocess.Popen(
        [sys.executable, script, sources, tmp_path / "out"], stdout=subprocess.PIPE, start_new_session=True
    )
    try:
        wait_until((sources / "f0_sleeps.begun").exists)
        os.killpg(process.pid, signal.SIGSTOP)
        time.sleep(5)
        os.killpg(process.pid, signal.SIGCONT)
        assert process.communicate(timeout=60)[0] == b"{}\n"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()  # closes its pipe, which another test would else be warned of


def test_a_worker_without_room_to_begin_is_an_error_not_a_loop(sources, tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("NCC_MEMORY_GB", "0.008")
    with refuses(NccError, "workers"):
        build_corpus(load_recipe(sources), tmp_path / "out", jobs=2)
    assert not list(tmp_path.glob("out/shards/*/report.json"))
    monkeypatch.delenv("NCC_MEMORY_GB")
    assert build_corpus(load_recipe(sources), tmp_path / "out", jobs=1).failures == {}
