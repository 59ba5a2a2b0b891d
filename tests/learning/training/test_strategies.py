"""Strategies: what each promises about the model of several ranks, and what it sends for it."""

import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from ncc.errors import AssetError
from tests.rooms import TrainingConfig
from tests.support.refuses import check_message, refuses

SCRIPT = Path(__file__).parent / "strategy_ranks.py"
RANKS = runpy.run_path(str(SCRIPT))
WEIGHTS = 5 * 64 + 65 * 64 + 65
STEPS = 6
"""An epoch's, of the data of ``strategy_ranks``."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("two")


@pytest.fixture(scope="module")
def two(run_ranks, folder) -> list[dict]:
    """What each of two ranks came to."""
    return run_ranks(SCRIPT, 2, folder)


@pytest.fixture(scope="module")
def four(run_ranks, tmp_path_factory) -> list[dict]:
    """What each of four ranks came to."""
    return run_ranks(SCRIPT, 4, tmp_path_factory.mktemp("four"))


@pytest.fixture(scope="module", params=["two", pytest.param("four", marks=pytest.mark.full)])
def ranks(request) -> list[dict]:
    """What each of some ranks came to."""
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def alone() -> dict:
    """What one process comes to."""
    ways = {"exact": {}, "loose": RANKS["LONG"]}
    return {name: RANKS["result"](RANKS["network"](), RANKS["Samples"](), **way) for name, way in ways.items()}


def _close(a, b, tolerance):
    assert a["losses"] == pytest.approx(b["losses"], abs=tolerance)
    for name, tensor in a["model"].items():
        assert torch.allclose(tensor, b["model"][name], atol=tolerance, rtol=0), name


def test_all_ranks_end_with_the_same_bits(ranks):
    first, *others = ranks
    for kind, cases in first.items():
        for name, case in cases.items():
            for other in others:
                _close(case, other[kind][name], 0)


def test_mirrored_ranks_give_the_model_of_one_process(ranks, alone):
    _close(ranks[-1]["exact"]["mirrored"], alone["exact"], 1e-5)


@pytest.mark.parametrize("name", RANKS["LOOSE"])
def test_local_and_compressed_training_come_to_about_the_same_loss(two, alone, name):
    first, last = alone["loose"]["losses"][0], alone["loose"]["losses"][-1]
    left = (two[0]["loose"][name]["losses"][-1] - last) / (first - last)
    assert abs(left) < 0.03


@pytest.mark.parametrize("name", RANKS["STOPPED"])
@pytest.mark.parametrize("kind", ["dense", "rows"])
def test_resuming_equals_not_having_stopped_to_the_byte(ranks, kind, name):
    for rank in ranks:
        undisturbed, resumed = rank[f"{kind}, {name}"].values()
        for part in ("model", "losses", "checkpoint"):
            assert RANKS["is_same"](resumed[part], undisturbed[part]), part
        assert resumed["statistics"]["steps"] == STEPS


@pytest.mark.usefixtures("two")
def test_a_checkpoint_of_another_number_of_ranks_is_refused(folder, tmp_path):
    checkpoint = Path(shutil.copy(folder / "stopped.pt", tmp_path))
    with refuses(AssetError, checkpoint, "ranks 2, not 1"):
        RANKS["result"](RANKS["network"](), RANKS["Samples"](), checkpoint)


@pytest.mark.parametrize(
    ("kind", "name", "numbers"),
    [
        ("exact", "mirrored", 3 * STEPS * WEIGHTS),
        ("exact", "local, always averaged", 3 * (STEPS + 2) * WEIGHTS),  # and two moments an epoch
        ("loose", "fp16", RANKS["LONG"]["epochs"] * STEPS * WEIGHTS / 2),
        ("loose", "bf16", RANKS["LONG"]["epochs"] * STEPS * WEIGHTS / 2),
    ],
)
def test_bytes_sent_are_those_of_arithmetic(two, kind, name, numbers):
    assert [rank[kind][name]["statistics"]["bytes_sent"] for rank in two] == [4 * numbers] * 2


def test_ranks_compute_in_what_all_of_them_can(two, alone):
    assert [rank["mixed"]["float32"]["statistics"]["precision"] for rank in two] == ["float32", "float32"]
    _close(two[0]["mixed"]["float32"], alone["exact"], 1e-6)


def test_rows_that_no_rank_touched_are_not_sent_and_the_result_is_that_of_sending_all_to_the_bit(two):
    cases = two[0]["tables"]
    _close(cases["sparse"], cases["dense"], 0)
    sent = {name: case["statistics"]["bytes_sent"] for name, case in cases.items()}
    table, rest, steps = 3000 * 16, 80 * 8 + 8 + 8 + 1, 3 * 6
    assert sent["dense"] == steps * 4 * (table + rest)
    assert steps * 4 * rest < sent["sparse"] <= steps * 4 * (40 * 16 + rest)
    assert sent["bf16"] == sent["sparse"] / 2


def test_a_batch_for_each_rank_is_one_global_batch(two, alone):
    _close(two[0]["each"]["none"], alone["exact"], 1e-5)


@pytest.mark.parametrize(("rule", "rate"), [("sqrt", 0.02), ("linear", 0.04), ("none", 0.01)])
def test_batch_and_learning_rate_grow_with_the_ranks(rule, rate):
    config = TrainingConfig(batch_size=8, learning_rate=0.01, lr_scaling=rule).for_ranks(4)
    assert config.batch_size == 32
    assert config.learning_rate == pytest.approx(rate)
    assert config.for_ranks(4) == config
    alone = TrainingConfig(batch_size=8, learning_rate=0.01, lr_scaling=rule, global_batch=True)
    assert alone.for_ranks(4) == alone


@pytest.fixture(scope="module")
def told(two, folder) -> list[dict]:
    """What each of two ranks was told."""
    return [torch.load(folder / f"told{rank}.pt") for rank in range(2)]


@pytest.mark.parametrize(
    ("unlike", "nouns"),
    [
        ("options", ["learning_rate 0.002", "0.001"]),
        ("number", ["number of samples 41", "40"]),
        ("samples", ["samples of digest"]),
        ("model", ["weights of shapes"]),
    ],
)
def test_ranks_that_were_not_given_the_same_all_say_so_before_the_first_step(told, unlike, nouns):
    for rank in told:
        check_message(rank["refused"][unlike], "rank 1", "rank 0", *nouns)


def test_ranks_without_a_common_folder_get_each_others_files(told):
    for number, rank in enumerate(told):
        assert rank["files"]["files"] == {"both": f"both from {number}", "zero": "zero from 0", "one": "one from 1"}


def test_all_ranks_are_told_what_the_first_finds_or_fails_to(told):
    for rank in told:
        assert rank["files"]["found"] == "of 0"
        assert "files of 0/missing" in rank["files"]["missing"]


@pytest.mark.full
@pytest.mark.parametrize(("world", "names"), [(2, list(RANKS["STOPPED"])), (4, ["mirrored"])])
def test_killed_ranks_come_back_and_the_bytes_are_those_of_an_undisturbed_run(environment, tmp_path, world, names):
    command = [
        *(sys.executable, "-m", "torch.distributed.run", "--standalone", "--local-addr", "127.0.0.1"),
        *("--max-restarts", str(len(names)), "--nproc-per-node", str(world), SCRIPT, tmp_path, *names),
    ]
    # torchrun else keeps one store for all starts, in which who comes back finds the addresses of those who died, and
    # waits for them (torch 2.13, https://github.com/pytorch/pytorch/issues/135712)
    environment = environment | {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=280, check=False)
    assert run.returncode == 0, run.stderr[-3000:]
    for name in names:
        done = torch.load(tmp_path / f"{name}.pt", weights_only=True)
        # the first may have been stopped while it wrote the last checkpoint, but then it had written the one before
        more = RANKS["STOPPED"][name].get("sync_every", 1)
        assert 0 <= done["resumed"]["statistics"]["steps"] - (3 * 6 - (RANKS["KILLED_AT"] - 1)) <= more, name
        for part in ("model", "losses"):
            assert RANKS["is_same"](done["resumed"][part], done["undisturbed"][part]), (name, part)
