"""Every parameter of every public function changes the answer, refuses wrong values, or is said to change nothing."""

import dataclasses
import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest
import torch

import ncc
from tests.contract.cases import CASES, MADE, Case
from tests.support.flat import call, signature
from tests.support.refuses import refuses
from tests.support.tiny import Tiny

FUNCTIONS = [name for name in ncc.__all__ if inspect.isfunction(getattr(ncc, name))]

NOT_COVERED: Mapping[str, set[str]] = {
    "calibrate": {"card", "progress"},
    "measure_kernels": {"progress"},
    "predict_gpu": {"program_args"},
    "train_classifier": {"mixed_precision"},
    "train_coarsening": {"card", "embedding", "seed"},
    "train_devmap": {"seed"},
    "train_encoder": {"mixed_precision"},
    "train_gpu": {"seed"},
}
"""Parameters without a contract yet: each that gets one leaves this table."""


def rows(kind: str) -> list[Any]:
    """Case, parameter and values of all tables of a kind; what trains twice is for the full run."""

    return [
        pytest.param(
            *(case, name, values),
            id=f"{case.verb}-{name}",
            marks=[pytest.mark.full] if case.is_slow and kind != "refuses" else [],
        )
        for case in CASES
        for name, values in getattr(case, kind).items()
    ]


class Caller:
    """Calls public functions with values of which some stand for what the small world holds; no call is made twice."""

    def __init__(self, tiny: Tiny, folder: Path) -> None:
        self._tiny, self._folder, self._outputs = tiny, folder, iter(range(10_000))
        self._made: dict[str, Any] = {}
        self._answers: dict[str, Any] = {}

    def answer(self, case: Case, **changed: Any) -> Any:
        """What a call returns, or writes if it returns nothing, as what can be compared."""
        given = self.arguments(case, changed)
        key = f"{case.verb} {sorted(given.items())}"
        if key not in self._answers:
            self._answers[key] = self._answer(case.verb, given)
        return self._answers[key]

    def _answer(self, verb: str, given: Mapping[str, Any]) -> Any:
        output, messages = self._folder / str(next(self._outputs)), list[str]()
        output.mkdir(parents=True)
        result = plain(self.call(verb, given, output, messages))
        assert "progress" not in given or messages, "nothing was said"
        return result or [path.read_bytes() for path in sorted(output.rglob("*")) if path.is_file()]

    @staticmethod
    def arguments(case: Case, changed: Mapping[str, Any]) -> dict[str, Any]:
        """Values of a call that works, but for those that change."""
        names = list(signature(case.verb))
        return {**dict(zip(names, case.inputs, strict=False)), **case.settings, **changed}

    def call(self, verb: str, given: Mapping[str, Any], output: Path, messages: list[str]) -> Any:
        """Calls; what is lazy is worked off."""
        special = {"@progress": messages.append}
        arguments = {
            name: special[value] if isinstance(value, str) and value in special else self.resolve(value, output)
            for name, value in given.items()
        }
        result = call(verb, **arguments)
        return list(result) if isinstance(result, Iterator) else result

    def resolve(self, value: Any, output: Path) -> Any:
        """What a value stands for."""
        if isinstance(value, FunctionType):
            return value(lambda one: self.resolve(one, output))
        if isinstance(value, tuple | list):
            return type(value)(self.resolve(one, output) for one in value)
        if not (isinstance(value, str) and value.startswith("@")):
            return value
        name, slash, rest = value[1:].partition("/")
        if name.startswith("out"):
            return output / name
        if name in MADE and name not in self._made:
            self._made[name] = MADE[name](self._tiny, self._folder / name)
        found = self._made[name] if name in MADE else getattr(self._tiny, name)
        return found / rest if slash else found


@pytest.fixture(scope="session")
def caller(tiny: Tiny, tmp_path_factory: pytest.TempPathFactory) -> Caller:
    return Caller(tiny, tmp_path_factory.mktemp("calls"))


OF_THE_RUN = {"seconds", "command", "folder", "path"}
"""Fields of results that tell of a run and not of the answer."""


def plain(value: Any, seen: frozenset[int] = frozenset()) -> Any:
    """A result as what can be compared: its fields, arrays and objects within."""
    if type(value).__name__ == "InMemoryDataset":  # whose graphs are more than the fields of an object
        value = [value.classes, *(graph.to_dict() for graph in value)]
    if isinstance(value, torch.Tensor):
        value = value.numpy()
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes() if value.dtype != object else list(value)
    if isinstance(value, str | bytes | int | float | None):
        return value
    if id(value) in seen or isinstance(value, Path):
        return None
    seen |= {id(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(one, seen) for key, one in value.items() if key not in OF_THE_RUN}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one, seen) for one in value]
    fields = (
        [field.name for field in dataclasses.fields(value)]
        if dataclasses.is_dataclass(value)
        else list(getattr(value, "__dict__", {}))
    )
    found = {name: plain(getattr(value, name), seen) for name in fields if name not in OF_THE_RUN}
    return type(value).__name__, found or repr(value)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_has_a_contract_and_is_documented(name):
    cases = [case for case in CASES if case.verb == name]
    covered = {
        parameter for case in cases for kind in ("changes", "refuses", "same") for parameter in getattr(case, kind)
    }
    assert set(signature(name)) - covered == NOT_COVERED.get(name, set())
    assert covered <= set(signature(name))
    function = getattr(ncc, name)
    assert [one for one in inspect.signature(function).parameters if f"    {one}: " not in function.__doc__] == []


@pytest.mark.parametrize(("case", "name", "values"), rows("changes"))
def test_a_parameter_changes_the_answer(caller, case, name, values):
    first, second = (caller.answer(case, **{name: value}) for value in values)
    assert first != second


@pytest.mark.parametrize(("case", "name", "value"), rows("same"))
def test_a_parameter_changes_nothing_but_how_the_answer_is_found(caller, case, name, value):
    assert _without(caller.answer(case, **{name: value}), name) == _without(caller.answer(case), name)


def _without(value: Any, name: str) -> Any:
    """What can be compared, without the option of a name that cards tell."""
    if isinstance(value, dict):
        return {key: _without(one, name) for key, one in value.items() if key != name}
    return type(value)(_without(one, name) for one in value) if isinstance(value, list | tuple) else value


@pytest.mark.parametrize(("case", "name", "values"), rows("refuses"))
def test_wrong_values_are_refused(caller, tmp_path, case, name, values):
    if case.verb in ("measure_kernels", "calibrate"):
        pytest.importorskip("pyopencl", reason="needs the extra measure")
    for value in values:
        with refuses(ncc.NccError) as caught:
            caller.call(case.verb, caller.arguments(case, {name: value}), tmp_path, [])
        resolved = caller.resolve(value, tmp_path)
        nouns = [resolved] if not isinstance(resolved, tuple | list | dict) else [*resolved]
        assert any(str(noun) in str(caught.value) for noun in [name, *nouns]), str(caught.value)
