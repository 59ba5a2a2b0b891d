"""Heads of coarsening: what they answer, and which parts don't fit."""

import json
from pathlib import Path

import numpy as np
import pytest

from ncc.errors import AssetError, InputError
from tests.rooms import LineHead, load_coarsening_head, save_coarsening_head


def head(**changes: object) -> LineHead:
    parts: dict = {
        "devices": ("old", "new"),
        "factors": (1, 2, 4),
        "offset": np.log([[1.0, 1.5, 1.2], [1.0, 1.4, 1.6], [1.0, 1.45, 1.4]]),
        "slope": np.array([[0.0, -0.6, -1.0], [0.0, -0.2, -0.8], [0.0, -0.5, -20.0]]),
        "interval_quantiles": np.array([0.5, 1.25]),
        "card": {"data": "invented"},
    }
    return LineHead(**(parts | changes))


def test_log_speedups_are_lines() -> None:
    np.testing.assert_allclose(head().speedups(0.0, "new"), [1, 1.4, 1.6])
    np.testing.assert_allclose(head().speedups(0.5, "old"), [1, 1.5 * np.exp(-0.3), 1.2 * np.exp(-0.5)])
    np.testing.assert_allclose(head().speedups(1.0), [1, 1.45 * np.exp(-0.5), 0.01])  # never below
    with pytest.raises(InputError, match="no device 'newest'; expected one of old, new"):
        head().speedups(0.0, "newest")


@pytest.mark.parametrize(
    "changes",
    [
        {"offset": np.ones((2, 3))},
        {"slope": np.full((3, 3), np.nan)},
        {"interval_quantiles": np.array([2.0, 1.0])},
        {"factors": (2, 4, 8)},
        {"devices": ("old", "old")},
    ],
)
def test_parts_that_do_not_fit_are_refused(changes: dict) -> None:
    with pytest.raises(InputError, match=r"offset|finite|interval_quantiles|devices|factors"):
        head(**changes)


def test_files_keep_everything(tmp_path: Path) -> None:
    save_coarsening_head(head(), tmp_path)
    loaded = load_coarsening_head(tmp_path)
    for name, value in vars(head()).items():
        np.testing.assert_array_equal(getattr(loaded, name), value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format_version": 1}, "format version 1; this ncc reads version 2"),
        ({"devices": ["old"]}, "not a thread-coarsening head"),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, change: dict, message: str) -> None:
    save_coarsening_head(head(), tmp_path)
    card = json.loads((tmp_path / "head.json").read_text())
    (tmp_path / "head.json").write_text(json.dumps(card | change))
    with pytest.raises(AssetError, match=message):
        load_coarsening_head(tmp_path)


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(AssetError, match=r"head\.json: can't be read"):
        load_coarsening_head(tmp_path)
