"""Ranks of a data-parallel training: one result however many they are, and one writer."""

import runpy
from pathlib import Path

import numpy as np
import pytest
import torch

from ncc.errors import NccError
from tests.rooms import process_group
from tests.support.refuses import refuses

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "tests" / "samples" / "embedding_ranks.py"
RANKS = runpy.run_path(str(SCRIPT))


def test_more_ranks_than_gpus_are_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    for name, value in {"RANK": "6", "WORLD_SIZE": "8", "LOCAL_RANK": "2"}.items():
        monkeypatch.setenv(name, value)
    with refuses(NccError, "rank 6", "2 GPUs"), process_group("cuda"):
        pass


@pytest.fixture(scope="module", params=[2, pytest.param(4, marks=pytest.mark.full)])
def ranks(run_ranks, tmp_path_factory, request) -> Path:
    folder = tmp_path_factory.mktemp("ranks")
    run_ranks(SCRIPT, request.param, folder)
    return folder


def _same(a, b):
    for name in ("vectors", "contexts", "losses", "loss", "entropy"):
        assert np.array_equal(a[name], b[name]), name


def _close(a, b):
    for name in ("vectors", "contexts", "losses", "loss", "entropy"):
        np.testing.assert_allclose(a[name], b[name], rtol=1e-4, atol=1e-4, err_msg=name)


CASES = pytest.mark.parametrize("case", RANKS["CASES"])


@CASES
def test_ranks_end_with_the_same_bits(ranks, case):
    first, *others = (np.load(path) for path in sorted(ranks.glob(f"{case}.rank*.npz")))
    assert len(others) in {1, 3}
    for other in others:
        _same(first, other)


@CASES
def test_it_is_the_result_of_one_rank(ranks, case):
    _close(np.load(ranks / f"{case}.rank1.npz"), vars(RANKS["run"](case)))
