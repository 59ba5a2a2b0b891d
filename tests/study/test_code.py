"""What counts as a method's code: its module and what that imports of ncc, but not how it is written down."""

import importlib
import types
from collections.abc import Callable
from pathlib import Path

import pytest

from ncc.study.code import code_of

MODULE = '''
"""A module."""


class Method:
    def fit(self):
        from ncc.runtime.storage import write_atomically

        return 1 + 1
'''
Load = Callable[[str], types.ModuleType]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Imports a module of the given text, in place of the one before."""
    monkeypatch.syspath_prepend(tmp_path)
    versions = iter(range(10))

    def load(text: str) -> types.ModuleType:
        name = f"measured_{tmp_path.name}_{next(versions)}".replace("-", "_")
        (tmp_path / f"{name}.py").write_text(text)
        importlib.invalidate_caches()
        return importlib.import_module(name)

    return load


def hashes(module: types.ModuleType) -> tuple[str, dict[str, str]]:
    """The hash of a module, whose name changes, and those of the others."""
    code = code_of(module.Method())
    assert code is not None
    return code.pop(module.__name__), code


def test_what_ncc_gives_is_followed_into_functions(load: Load) -> None:
    _, others = hashes(load(MODULE))
    assert set(others) == {"ncc.runtime.storage", "ncc.errors"}


def test_comments_docstrings_and_layout_are_not_code(load: Load) -> None:
    first = hashes(load(MODULE))
    told = MODULE.replace('"""A module."""', '"""Another text."""').replace("(self):", '(self):\n        "Fits."')
    assert hashes(load(told.replace("1 + 1", "(1 +\n            1)  # two"))) == first


@pytest.mark.parametrize(("old", "new"), [("1 + 1", "1 + 2"), ("1 + 1", "1 - 1"), ("fit", "fits")])
def test_what_is_computed_is_code(load: Load, old: str, new: str) -> None:
    assert hashes(load(MODULE))[0] != hashes(load(MODULE.replace(old, new)))[0]


def test_an_import_is_found_behind_imports(load: Load) -> None:
    _, others = hashes(
        load(MODULE.replace("ncc.runtime.storage import write_atomically", "ncc.study import bootstrap"))
    )
    assert {"ncc.study", "ncc.study.bootstrap", "ncc.errors"} <= set(others)
    assert "numpy" not in others


def test_base_classes_and_functions_count(load: Load) -> None:
    base = load(MODULE)
    derived = load(
        f"import {base.__name__} as base\n\nclass Method(base.Method):\n    pass\n\ndef feature():\n    pass\n"
    )
    assert {base.__name__, derived.__name__, "ncc.runtime.storage"} <= set(code_of(derived.Method()) or {})
    assert set(code_of(derived.feature) or {}) == {derived.__name__}


def test_code_that_was_typed_in_is_not_known() -> None:
    module = types.ModuleType("typed_in")
    exec(MODULE, vars(module))
    assert code_of(module.Method()) is None
