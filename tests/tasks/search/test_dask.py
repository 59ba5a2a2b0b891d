"""Indexing and embedding on the workers of a Dask cluster: what one process gives, from another folder as well."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

import ncc
from tests.tasks.search.conftest import write_code

distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def scheduler():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def folder(tmp_path) -> Path:
    (write_code(tmp_path / "code") / "broken.c").write_text("int f( {\n")
    return tmp_path


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-m", "ncc", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=240, check=False)


def test_an_index_of_a_cluster_is_that_of_one_process(folder, scheduler):
    finished = _run(folder, "index", "code", "-o", "index", "--scheduler", scheduler)
    assert finished.returncode == 1  # for the file that does not compile
    assert "broken.c" in finished.stderr
    found, alone = ncc.load_index(folder / "index"), ncc.index(folder / "code", folder / "alone")
    assert found.store.functions.equals(alone.store.functions)
    assert found.store.files.equals(alone.store.files)
    assert np.array_equal(found.vectors, alone.vectors)
    again = ncc.index(folder / "code", folder / "index", scheduler=scheduler)
    assert again.report is not None
    assert again.report.num_updated == 1  # what failed is tried again


@pytest.mark.parametrize("level", ["module", "function"])
def test_a_table_of_a_cluster_is_that_of_one_process(folder, scheduler, level):
    told = [
        _run(folder, "embed", "code", "--level", level, "-o", f"{name}.parquet", *more)
        for name, more in (("one", ()), ("two", ("--scheduler", scheduler)))
    ]
    assert [one.returncode for one in told] == [1, 1]
    assert told[0].stdout == told[1].stdout
    one, two = (pyarrow.parquet.read_table(folder / f"{name}.parquet") for name in ("one", "two"))
    assert one.equals(two)
    assert len(one) == {"module": 2, "function": 3}[level]
