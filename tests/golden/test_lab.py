"""Predictions for every row of one cheap method of each of the lab's tasks; on published data where it is at hand.

Of published data the kept answers have numbers alone.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ncc
import ncc_lab
from lab.tests.rooms import sample_features
from tests.golden import small
from tests.rooms import coarsening_load_samples as load_samples
from tests.rooms import code_columns, load_kernel_ir, suite_launches
from tests.support.datasets import needs
from tests.support.goldens import Goldens, comparable
from tests.support.verbs import run_here

RUNS = ncc_lab.Runs(seeds=1, trees=5, no_cache=True)


def scored(comparison: Any) -> dict[str, Any]:
    """What each method predicted for each row, and its figures."""
    several = len({one.task.platform for one in comparison.results}) > 1
    names = [(one.task.platform * several, one.protocol, one.method) for one in comparison.results]
    rows = {" ".join(name).strip(): one.predicted.tolist() for name, one in zip(names, comparison.results, strict=True)}
    return comparable({"predicted": rows, "figures": comparison.to_dict()})


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("auxiliary", "auxiliary only (label)"),
        ("grewe", "Grewe*"),
        pytest.param("mapper", "ncc mapper", marks=pytest.mark.full),
    ],
)
def test_device_mapping(name: str, method: str, goldens: Goldens) -> None:
    needs("devmap")
    needs("legacy_ir", "devmap")
    found = ncc_lab.evaluate_devmap(protocol="kernel", platform="nvidia", method=[method], runs=RUNS)
    goldens.check(f"lab-devmap-{name}", scored(found))


def test_device_mapping_under_every_protocol(goldens: Goldens) -> None:
    needs("devmap")
    needs("legacy_ir", "devmap")
    methods = ["majority", "auxiliary only (label)", "Grewe*"]
    goldens.check("lab-devmap-protocols", scored(ncc_lab.evaluate_devmap(method=methods, runs=RUNS)))


def test_constant_factors(goldens: Goldens) -> None:
    needs("coarsening")
    needs("legacy_ir", "coarsening")
    methods = ["always*", "best constant*", "majority"]
    goldens.check(
        "lab-coarsening-constants", scored(ncc_lab.evaluate_coarsening(protocol="kernel", method=methods, runs=RUNS))
    )


@pytest.mark.parametrize("method", ["ncc", "opcode histogram (label)"])
def test_coarsening(method: str, goldens: Goldens) -> None:
    needs("coarsening")
    needs("legacy_ir", "coarsening")
    found = ncc_lab.evaluate_coarsening(protocol="kernel", method=[method], runs=RUNS)
    goldens.check(f"lab-coarsening-{method.partition(' ')[0]}", scored(found))


def test_classification(goldens: Goldens, tmp_path: Path) -> None:
    programs = small.write_programs(tmp_path / "programs")
    kept = tmp_path / "kept"
    found = ncc_lab.evaluate_classification(programs, method=["opcode*"], programs=kept, epochs=1, runs=RUNS)
    goldens.check("lab-classify", scored(found))


def test_retrieval(goldens: Goldens, tmp_path: Path) -> None:
    programs = small.write_programs(tmp_path / "programs")
    methods = ("--method", "opcode*", "--method", "TF*")
    found = run_here("evaluate", "retrieval", programs, "--programs", tmp_path / "kept", *methods, "--json")
    goldens.check("lab-retrieval", comparable(found.row))


def test_functions(goldens: Goldens, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    for name in ("datasets/samples/sort.c", "tests/ir/frontend/sources/dot.c"):
        (tmp_path / "project" / Path(name).name).write_bytes(Path(name).read_bytes())
    found = run_here("evaluate", "functions", tmp_path / "project", "--ir", tmp_path / "ir", "--json")
    goldens.check("lab-functions", comparable(found.row, roots={str(tmp_path): "FOLDER"}))


def test_embedding(goldens: Goldens) -> None:
    goldens.check("lab-embedding", comparable(run_here("evaluate", "embedding", "--json").row))


def test_coverage(goldens: Goldens) -> None:
    found = run_here("evaluate", "coverage", "tests/data/ir", "--misses", "5", "--json").row
    goldens.check("lab-coverage", comparable(found))


@pytest.mark.full
@pytest.mark.timeout(900)
def test_times(goldens: Goldens) -> None:
    needs("devmap")
    needs("legacy_ir", "devmap")
    found = ncc_lab.evaluate_times(protocol="kernel", platform="nvidia", model="gp")
    goldens.check("lab-times", comparable(found.protocols))


@pytest.mark.full
@pytest.mark.parametrize("platform", ["amd", "nvidia"])
def test_code_of_published_kernels_is_what_the_shipped_head_keeps(platform: Any) -> None:
    needs("devmap")
    needs("legacy_ir", "devmap")
    launches = suite_launches(platform, ncc.load_embedding())
    names, kernel = np.unique(launches.kernel, return_inverse=True)
    rows = np.unique(np.column_stack([kernel, code_columns(launches)]), axis=0)  # each code of a kernel once
    (expert,) = [one for one in ncc.load_device_head(platform=platform).experts if one.source == "suites"]
    assert [f"devmap:{names[int(number)]}" for number in rows[:, 0]] == list(expert.names)
    assert len({*expert.names}) == 256
    np.testing.assert_array_equal(rows[:, 1:].astype(np.float16), np.asarray(expert.code).astype(np.float16))


def test_coarsenings_features_of_published_kernels(goldens: Goldens) -> None:
    needs("coarsening")
    needs("legacy_ir", "coarsening")
    columns = sample_features(load_samples(), load_kernel_ir())
    goldens.check("lab-coarsening-features", {"columns": comparable(columns.T.tolist())})
