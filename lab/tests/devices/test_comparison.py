"""The table of all methods: what is chosen, what is in it, and what the protocols let through."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lab.tests.rooms import (
    DeviceComparison,
    DeviceMapping,
    MajorityDevice,
    evaluate,
    evaluate_devmap,
    learned_controls,
    standard_methods,
)
from lab.tests.rooms import devices_audit_leakage as audit_leakage
from lab.tests.rooms import devices_comparison as module
from lab.tests.rooms import devices_opcode_histograms as opcode_histograms
from lab.tests.rooms import methods as methods_module
from ncc.errors import InputError
from tests.rooms import DeviceMappingSamples

IR = b"define void @f(ptr %0) {\n  store i32 0, ptr %0, align 4\n  ret void\n}\n"


def unwanted(*_: object) -> None:
    raise AssertionError("this was not asked for")


@pytest.fixture(autouse=True)
def _tables(toy: DeviceMappingSamples, monkeypatch: pytest.MonkeyPatch) -> None:
    """The toy in place of the published tables, with one text of IR for all kernels of a suite."""

    def load(platform: str, folder: str | None) -> DeviceMappingSamples:
        assert folder == "data"
        return dataclasses.replace(toy, platform=platform)

    texts = {toy.ir_name(row): IR.replace(b"@f", f"@{toy.suite[row]}".encode()) for row in range(24)}
    monkeypatch.setattr(module, "load_samples", load)
    for each in (module, methods_module):
        monkeypatch.setattr(each, "load_legacy_ir", lambda folder: texts)


def run(*arguments: Any, **options: Any) -> DeviceComparison:
    """Compares methods, and keeps nothing."""
    return evaluate_devmap(*arguments, **options, no_cache=True, data="data")


NEED_THE_EMBEDDING = ("inst2vec", "IR2Vec", "ncc ")


def test_every_method_has_its_name(toy: DeviceMappingSamples, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(methods_module, "load_embedding", unwanted)  # nothing is made before it is chosen
    methods = standard_methods(toy, "data", num_trees=3)
    assert list(methods)[:3] == ["majority", "always CPU", "always GPU"]
    light = [name for name in methods if not name.startswith(NEED_THE_EMBEDDING)]
    assert len(light) == 11 + 2
    assert [methods[name]().name for name in light] == light
    for name in ("inst2vec", "ncc mapper", "ncc times", "ncc times, lstm"):
        with pytest.raises(AssertionError, match="not asked for"):
            methods[name]()


def test_networks_are_run_from_fewer_seeds(toy: DeviceMappingSamples, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MajorityDevice, "slow", True)
    found = run("suite", "amd", method=("majority", "always*"), seed=3, seeds=3, network_seeds=2)
    seeds = {score.method: score.seeds for score in found.scores}
    assert seeds == {"majority": (3, 4), "always CPU": (3, 4, 5), "always GPU": (3, 4, 5)}


def test_opcodes_of_the_rows_kernels_are_counted(toy: DeviceMappingSamples) -> None:
    histograms = opcode_histograms(toy, "data")
    assert histograms.shape[0] == 24
    assert histograms.sum(axis=1).tolist() == [3] * 24  # define, store, ret


def test_chosen_methods_are_compared(toy: DeviceMappingSamples, tmp_path: Path) -> None:
    lines: list[str] = []
    found = evaluate_devmap(
        "suite",
        "amd",
        method=("auxiliary*", "major*", "*only (label)"),
        seed=3,
        seeds=2,
        trees=5,
        cache=tmp_path,
        data="data",
        progress=lines.append,
    )
    assert [score.method for score in found.scores] == [
        "majority",
        "auxiliary only (label)",
        "auxiliary only (log_ratio)",
    ]
    expected = evaluate(DeviceMapping(toy), learned_controls("label", 5)[0], "suite", (3, 4))
    assert np.array_equal(found.scores[1].predicted, expected.predicted)
    assert [report.to_dict() for report in found.leakage] == [
        audit_leakage(toy, "suite").to_dict() | {"platform": "amd", "shared_ir": 0}
    ]
    assert lines[-1] == "amd, 18 of 18: suite, auxiliary only (log_ratio), seed 4, fold 3"
    assert len(list(tmp_path.iterdir())) == 18


def test_the_table_for_machines_has_every_seed(toy: DeviceMappingSamples) -> None:
    found = run("kernel", method=("always*", "auxiliary*"), seed=3, seeds=2, trees=5)
    figures = json.loads(json.dumps(found.to_dict()))["protocols"]
    assert list(figures) == ["kernel/amd", "kernel/nvidia"]
    entry = figures["kernel/nvidia"]
    assert entry["leakage"]["shared_ir"] == entry["leakage"]["shared_suite"] == 24
    assert (entry["leakage"]["seed"], entry["leakage"]["platform"]) == (3, "nvidia")
    assert entry["static_choice"] == "CPU"
    assert (entry["interval_unit"], entry["num_groups"]) == ("kernel", 12)
    assert entry["oracle"]["accuracy"] == 1
    assert entry["oracle"]["geomean_speedup"] == pytest.approx(np.exp(0.35))
    always = entry["methods"]["always GPU"]
    assert always["accuracy"] == 0.5
    assert always["per_seed"]["accuracy"] == [0.5, 0.5]
    assert always["intervals"]["accuracy"] == always["interval"]
    assert always["geomean_speedup"] == pytest.approx(np.exp(0.1))
    assert (always["num_samples"], always["seeds"], always["coverage"]) == (24, [3, 4], None)
    assert set(always["per_seed"]) == set(always["intervals"]) == set(entry["oracle"])


class Intervals:
    """Always the GPU, surely."""

    name, kind, slow, version, identity = "intervals", "control", False, "1", ()

    def fit(self, samples: DeviceMappingSamples, train_idx: np.ndarray, rng: np.random.Generator) -> None:
        pass

    def predict(self, samples: DeviceMappingSamples, test_idx: np.ndarray) -> np.ndarray:
        return np.tile([0.5, 0.1, 0.9, 0.99], (len(test_idx), 1))


def test_coverage_stands_in_both_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(methods_module, "standard_methods", lambda *_, **__: {"intervals": Intervals})
    found = run("suite", "amd", seed=1, seeds=1)
    figures = found.to_dict()["protocols"]["suite/amd"]["methods"]["intervals"]
    assert figures["coverage"] == 0.5
    assert figures["per_seed"]["coverage"] == [0.5]
    text = found.to_text().splitlines()
    assert text[0].startswith("amd, suite: speedups over always")
    row = next(line.replace("★", "").split() for line in text if line.startswith("intervals"))
    assert (row[1], row[-3]) == ("50.0%", "50.0%")
    assert text[-1].split()[:4] == ["suite,", "amd", "3", "0.0%"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"protocol": "random"}, "protocol is 'random'; expected one of published, kernel, application, suite, all"),
        ({"platform": "intel"}, "platform is 'intel'; expected one of amd, nvidia, all"),
        ({"method": ("majority", "svm*")}, r"no method 'svm\*'; expected a pattern that matches one of majority, "),
        ({"seeds": 0}, "seeds is 0; expected 1 or more"),
        ({"cache": "x"}, "--cache and --no-cache exclude each other"),
    ],
)
def test_what_there_is_not_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        run(**{"protocol": "suite"} | options)
