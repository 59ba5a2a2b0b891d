"""Every method that a comparison runs, held to the same rules: what it says of itself, and what it may look at."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from joblib import hash as content_hash

from lab.tests.rooms import LanguageModel, all_classifiers, coarsening_deeptune, coarsening_methods, device_methods
from ncc_lab import Method, Subset, Task, classification, device_mapping, thread_coarsening
from tests.fixtures.coarsening import toy as kernels_on_devices  # noqa: F401
from tests.rooms import CoarseningSamples, DeviceMappingSamples, ProgramSamples, load_embedding

IR = b"""
define void @f(ptr %0) {
  %2 = load i32, ptr %0, align 4
  %3 = add i32 %2, 0
  store i32 %3, ptr %0, align 4
  ret void
}
"""
Rows = np.ndarray


@dataclass(frozen=True, eq=False)
class Case:
    """A task with its methods, rows to train on and to test, and samples with other answers in the test rows."""

    task: Task[Any]
    methods: Sequence[Method[Any]]
    train: Rows
    test: Rows
    altered: Any

    @property
    def quick(self) -> list[Method[Any]]:
        """Methods that are fitted in no time; networks have separate tests."""
        return [method for method in self.methods if not method.is_slow]

    def learn(self, method: Method[Any], samples: Any = None, seed: int = 7, train: Rows | None = None) -> np.ndarray:
        """Predictions of a method for the test rows, whose answers it can see."""
        table = self.task.samples if samples is None else samples
        rows = self.train if train is None else train
        predicted = method.predict(Subset(table, rows), Subset(table, self.test), np.random.default_rng(seed))
        return np.asarray(predicted, np.float64)


def device_case(samples: DeviceMappingSamples, patch: pytest.MonkeyPatch) -> Case:
    texts = {samples.ir_name(row): IR.replace(b", 0", b", %d" % (row // 8)) for row in range(len(samples))}
    patch.setattr("ncc.tasks.devices.train.locate", lambda *_: None)
    patch.setattr("ncc.tasks.devices.train.iter_members", lambda *_: texts.items())
    test = np.arange(16, 24)
    wrong = samples.without_answers(test)
    wrong.log_ratio[test] = -3 * samples.log_ratio[test]
    altered = replace(wrong, is_gpu=wrong.log_ratio > 0)
    methods = [make() for make in device_methods(samples, num_trees=5).values()]
    return Case(device_mapping(samples), methods, np.arange(16), test, altered)


def coarsening_case(samples: CoarseningSamples, patch: pytest.MonkeyPatch) -> Case:
    texts = {f"{name}.ll": IR.replace(b", 0", b", %d" % int(name[1:])) for name in np.unique(samples.kernel)}
    patch.setattr("ncc.tasks.coarsening.train.locate", lambda *_: None)
    patch.setattr("ncc.tasks.coarsening.train.iter_members", lambda *_: texts.items())
    test = np.arange(8)
    altered = replace(samples, runtime=samples.runtime.copy())
    altered.runtime[test] *= np.arange(6, 0, -1)
    networks = (coarsening_deeptune(), coarsening_deeptune(LanguageModel(("a",), {})))
    methods = (*coarsening_methods(samples, num_trees=5), *networks)
    return Case(thread_coarsening(samples), methods, np.arange(8, 32), test, altered)


def classification_case(samples: ProgramSamples) -> Case:
    task = classification(samples)
    ((train, test),) = task.protocols["grouped"].folds(204)
    label = samples.label.copy()
    label[test] = 1 - label[test]
    methods = all_classifiers(load_embedding(), num_trees=5)
    return Case(task, methods, train, test, replace(samples, label=label))


@pytest.fixture(params=["devices", "coarsening", "classification"])
def case(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Case:
    if request.param == "devices":
        return device_case(request.getfixturevalue("toy"), monkeypatch)
    if request.param == "coarsening":
        return coarsening_case(request.getfixturevalue("kernels_on_devices"), monkeypatch)
    return classification_case(request.getfixturevalue("samples"))


def test_names_and_keys_tell_methods_apart(case: Case) -> None:
    assert {method.kind for method in case.methods} == {"control", "published", "ours"}
    assert len({method.name for method in case.methods}) == len(case.methods)
    assert all(method.version for method in case.methods)


def test_a_method_predicts_what_the_task_asks_for_by_seed_and_training_answers_alone(case: Case) -> None:
    for method in case.quick:
        key = content_hash(method.key)
        first = case.learn(method)
        table = first.reshape(len(case.test), -1)
        assert table.shape[1] in case.task.widths, method.name
        assert np.isfinite(table).all(), method.name
        case.task.terms(case.task.samples, case.test, table)
        case.learn(method, seed=8, train=case.train[: len(case.train) // 2 + 4])  # what was learned is forgotten
        np.testing.assert_array_equal(case.learn(method, case.altered), first, method.name)
        assert content_hash(method.key) == key, method.name
