"""Every method that a comparison runs, held to the same rules: what it says of itself, and what it may look at."""

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
import pytest
from joblib import hash as content_hash

from lab.tests.rooms import (
    Classification,
    CoarseningDeepTune,
    DeviceMapping,
    Kind,
    LanguageModel,
    Method,
    Task,
    ThreadCoarsening,
    standard_methods,
)
from lab.tests.rooms import classification_comparison as classification
from lab.tests.rooms import coarsening_comparison as coarsening
from ncc.errors import InputError
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

    task: Task[Any, Any]
    methods: Sequence[Method[Any]]
    train: Rows
    test: Rows
    altered: Any

    @property
    def quick(self) -> list[Method[Any]]:
        """Methods that are fitted in no time; networks have tests of their own."""
        return [method for method in self.methods if not method.slow]

    def learn(self, method: Method[Any], samples: Any = None, seed: int = 7) -> np.ndarray:
        """What a method says of the test rows."""
        samples = samples or self.task.samples
        method.fit(samples, self.train, np.random.default_rng(seed))
        return np.asarray(method.predict(samples.without_answers(self.test), self.test), np.float64)


def device_case(samples: DeviceMappingSamples, patch: pytest.MonkeyPatch) -> Case:
    texts = {samples.ir_name(row): IR.replace(b", 0", b", %d" % (row // 8)) for row in range(len(samples))}
    patch.setattr("ncc.tasks.devices.published.locate", lambda *_: None)
    patch.setattr("ncc.tasks.devices.published.iter_members", lambda *_: texts.items())
    test = np.arange(16, 24)
    wrong = samples.without_answers(test)
    wrong.log_ratio[test] = -3 * samples.log_ratio[test]
    altered = replace(wrong, is_gpu=wrong.log_ratio > 0)
    methods = [make() for make in standard_methods(samples, num_trees=5).values()]
    return Case(DeviceMapping(samples), methods, np.arange(16), test, altered)


def coarsening_case(samples: CoarseningSamples, patch: pytest.MonkeyPatch) -> Case:
    texts = {f"{name}.ll": IR.replace(b", 0", b", %d" % int(name[1:])) for name in np.unique(samples.kernel)}
    patch.setattr("ncc.tasks.coarsening.samples.locate", lambda *_: None)
    patch.setattr("ncc.tasks.coarsening.samples.iter_members", lambda *_: texts.items())
    test = np.arange(8)
    altered = replace(samples, runtime=samples.runtime.copy())
    altered.runtime[test] *= np.arange(6, 0, -1)
    methods = (
        *coarsening.all_methods(samples, num_trees=5),
        CoarseningDeepTune(),
        CoarseningDeepTune(LanguageModel(("a",), {})),
    )
    return Case(ThreadCoarsening(samples), methods, np.arange(8, 32), test, altered)


def classification_case(samples: ProgramSamples) -> Case:
    ((train, test),) = Classification(samples).folds("grouped", 204)
    label = samples.label.copy()
    label[test] = 1 - label[test]
    methods = classification.all_methods(load_embedding(), num_trees=5)
    return Case(Classification(samples), methods, train, test, replace(samples, label=label))


@pytest.fixture(params=["devices", "coarsening", "classification"])
def case(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Case:
    if request.param == "devices":
        return device_case(request.getfixturevalue("toy"), monkeypatch)
    if request.param == "coarsening":
        return coarsening_case(request.getfixturevalue("kernels_on_devices"), monkeypatch)
    return classification_case(request.getfixturevalue("samples"))


def same(one: np.ndarray, other: np.ndarray, method: Method[Any]) -> None:
    np.testing.assert_array_equal(one, other, method.name)


def test_a_method_says_what_it_is(case: Case) -> None:
    kinds: list[Kind] = [method.kind for method in case.methods]
    assert set(kinds) == set(get_args(Kind))
    for method in case.methods:
        assert isinstance(method.slow, bool), method.name
        assert isinstance(method.version, str), method.name
        assert method.version, method.name
    assert len({method.name for method in case.methods}) == len(case.methods)


def test_identities_tell_methods_apart(case: Case) -> None:
    identities = {content_hash((type(method).__qualname__, method.identity)) for method in case.methods}
    assert len(identities) == len(case.methods)


def test_a_method_answers_what_the_task_asks_for_here_and_in_another_process(case: Case) -> None:
    for method in case.quick:
        identity = content_hash(method.identity)
        found = case.learn(method)
        assert len(found) == len(case.test), method.name
        table = found.reshape(1, len(found), -1)
        assert table.shape[2] in case.task.widths, method.name
        assert np.isfinite(table).all(), method.name
        case.task.check(table)
        assert content_hash(method.identity) == identity, method.name
        elsewhere: Method[Any] = pickle.loads(pickle.dumps(method))
        same(elsewhere.predict(case.task.samples, case.test), found, method)


def test_nothing_but_the_seed_and_the_answers_of_the_training_rows_decides(case: Case) -> None:
    for method in case.quick:
        first = case.learn(method)
        method.fit(case.task.samples, case.train[: len(case.train) // 2 + 4], np.random.default_rng(8))
        same(case.learn(method, case.altered), first, method)


def test_predicting_before_fitting_is_refused(case: Case) -> None:
    for method in case.quick:
        if not method.name.startswith("always"):
            with pytest.raises(InputError, match="fit the method before predicting"):
                method.predict(case.task.samples, case.test)
