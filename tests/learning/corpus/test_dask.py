"""Building a corpus on the workers of a Dask cluster: the same files, also when a worker is killed."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from tests.rooms import build_corpus, load_recipe
from tests.rooms import corpus_build as building
from tests.support.refuses import check_message

distributed = pytest.importorskip("distributed")

NCC = [sys.executable, "-W", "error", "-m", "ncc", "corpus", "build"]


@pytest.fixture(scope="module", autouse=True)
def cluster():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        yield cluster


@pytest.fixture
def executor(cluster):
    with distributed.Client(cluster) as client, client.get_executor(pure=False) as executor:
        client.wait_for_workers(2, timeout=30)  # one may have been killed by the test before
        yield executor


def _serially(recipe, folder):
    with ThreadPoolExecutor(1) as pool:
        return build_corpus(recipe, folder, executor=pool)


def test_the_workers_of_a_cluster_give_the_files_of_a_serial_build(code, tmp_path, executor, monkeypatch, corpus_files):
    monkeypatch.setattr(building, "BATCH_FILES", 2)
    (code / "broken.c").write_text("int f( {\n")
    recipe, seen = replace(load_recipe(code), widths=(1, 2)), list[str]()
    report = build_corpus(recipe, tmp_path / "dask", executor=executor, progress=seen.append)
    serial = _serially(recipe, tmp_path / "serial")
    assert corpus_files(tmp_path / "dask") == corpus_files(tmp_path / "serial")
    assert len(corpus_files(tmp_path / "dask")) == 4
    assert replace(report, seconds={}) == replace(serial, seconds={})
    assert list(report.failures) == [str(code / "broken.c")]
    assert seen == [f"{done} of 4 batches" for done in (1, 2, 3, 4)]
    assert executor.submit(len, "still open").result() == 10


def test_the_command_works_on_a_scheduler_whose_workers_stand_in_another_folder(cluster, code, tmp_path, corpus_files):
    arguments = ["code", "-o", "out", "--ir", "ir", "--scheduler", cluster.scheduler_address]
    finished = subprocess.run([*NCC, *arguments], cwd=tmp_path, capture_output=True, timeout=60, check=False)
    assert finished.returncode == 0, finished.stderr
    report = _serially(load_recipe(code), tmp_path / "serial")
    assert corpus_files(tmp_path / "out") == corpus_files(tmp_path / "serial")
    assert finished.stdout.decode().splitlines()[:4] == report.to_text().splitlines()[:4]
    assert finished.stderr == b"1 of 1 batches\n"
    assert len(list((tmp_path / "ir").rglob("*.ll.gz"))) == 2


class Killer:
    """Kills a worker's process as soon as a batch is done."""

    def __init__(self, cluster) -> None:
        self.cluster = cluster
        self.killed: list[int] = []

    def __call__(self, _: str) -> None:
        if not self.killed:
            pid = self.cluster.workers[0].process.pid
            os.kill(pid, signal.SIGKILL)
            self.killed.append(pid)


@pytest.fixture
def small_batches(monkeypatch, many_sources):
    """Ten of the sources at four levels, in ten batches."""
    monkeypatch.setattr(building, "BATCH_FILES", 4)
    recipe = load_recipe(many_sources)
    return replace(recipe, sources=(replace(recipe.sources[0], patterns=("f?.c",)),))


def test_a_worker_that_is_killed_changes_nothing(cluster, executor, small_batches, tmp_path, corpus_files):
    killer = Killer(cluster)
    report = build_corpus(small_batches, tmp_path / "dask", executor=executor, progress=killer)
    assert len(killer.killed) == 1
    assert report.files == {"many": 40}
    _serially(small_batches, tmp_path / "serial")
    assert corpus_files(tmp_path / "dask") == corpus_files(tmp_path / "serial")


@pytest.mark.parametrize("address", ["nonsense://here", "here:is not a port"])
def test_an_address_that_is_none_is_said_in_words(code, tmp_path, address):
    finished = subprocess.run(
        [*NCC, code, "-o", tmp_path / "out", "--scheduler", address], capture_output=True, timeout=60, check=False
    )
    assert finished.returncode == 1
    check_message(finished.stderr.decode(), "ncc:", "Dask", address)
    assert not (tmp_path / "out").exists()
