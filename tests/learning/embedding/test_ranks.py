"""Ranks of a data-parallel training: one result however many they are, and one writer; and a command under torchrun."""

import os
import runpy
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from ncc.errors import NccError
from tests.rooms import build_corpus, load_embedding, process_group

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "tests" / "samples" / "embedding_ranks.py"
RANKS = runpy.run_path(str(SCRIPT))
TORCHRUN = ("-m", "torch.distributed.run", "--master-addr", "127.0.0.1", "--nproc-per-node")


@pytest.fixture(autouse=True)
def _no_ranks_of_ours(monkeypatch):
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"):
        monkeypatch.delenv(name, raising=False)


def test_more_ranks_than_gpus_are_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    for name, value in {"RANK": "6", "WORLD_SIZE": "8", "LOCAL_RANK": "2"}.items():
        monkeypatch.setenv(name, value)
    message = r"rank 6 is number 2 on its machine .*, where torch sees 2 GPUs; start 2 ranks there"
    with pytest.raises(NccError, match=message), process_group("cuda"):
        pass


def _free_port() -> str:
    """A port of this machine; skips where there are no sockets, without which ranks can't meet."""
    try:
        with socket.socket() as server:
            server.bind(("127.0.0.1", 0))
            return str(server.getsockname()[1])
    except OSError as error:
        pytest.skip(f"ranks need sockets, and there are none: {error}")


def _python(*arguments) -> subprocess.CompletedProcess:
    """Runs Python in the repository; fails with what it said."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    environment.pop("NCC_CLANG", None)
    if sys.platform == "linux":
        environment["GLOO_SOCKET_IFNAME"] = "lo"
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return done


@pytest.fixture(scope="module", params=[2, pytest.param(4, marks=pytest.mark.full)])
def ranks(run_ranks, tmp_path_factory, request) -> Path:
    folder = tmp_path_factory.mktemp("ranks")
    run_ranks(SCRIPT, request.param, folder, request.param)
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


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> dict[str, tuple[Path, subprocess.CompletedProcess]]:
    """The command line's embeddings of a small corpus: of one process and of two."""
    folder = tmp_path_factory.mktemp("trained")
    _free_port()  # skips at once where there is none
    build_corpus(ROOT / "datasets" / "samples", folder / "corpus", jobs=1)
    runs = {}
    for name in ("one", "two"):
        launcher = (*TORCHRUN, 2, "--master-port", _free_port()) if name == "two" else ()
        options = ("--dim", 16, "--epochs", 3, "--min-count", 2)
        command = ("-m", "ncc", "train", "embedding", folder / "corpus", "-o", folder / name, *options)
        runs[name] = (folder / name, _python(*launcher, *command))
    return runs


def test_the_command_line_under_torchrun_makes_the_embedding_of_one_process(trained):
    one, two = (load_embedding(trained[name][0]) for name in ("one", "two"))
    assert two.vocabulary.words == one.vocabulary.words
    assert two.vectors.shape == (len(two.vocabulary), 16)
    assert two.vectors == pytest.approx(one.vectors, abs=2e-3)
    assert two.card["loss"] == pytest.approx(one.card["loss"], abs=1e-4)
