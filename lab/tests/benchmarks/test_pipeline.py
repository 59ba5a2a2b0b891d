"""A network in two stages on two ranks: the model of one process, what is sent, and what is refused."""

import runpy
from pathlib import Path

import pytest
import torch
from torch import nn

from benchmarks.pipeline.program_stages import split_network
from benchmarks.pipeline.schedule import train_in_stages
from ncc.errors import InputError, NccError
from tests.rooms import EncoderNetwork, TrainingConfig, train
from tests.support.refuses import refuses

SCRIPT = Path(__file__).parent / "pipeline_ranks.py"
RANKS = runpy.run_path(str(SCRIPT))
UNDETERMINED = "encoder.query.bias"
"""Attention doesn't depend on it: its gradient is nothing but rounding, which AdamW makes steps of."""


@pytest.fixture(scope="module")
def two(run_ranks, tmp_path_factory) -> list[dict]:
    """Result of each of two ranks."""
    return run_ranks(SCRIPT, 2, tmp_path_factory.mktemp("two"))


@pytest.fixture(scope="module")
def alone() -> dict:
    """Result of one process."""
    model = RANKS["network"]()
    losses = train(model, RANKS["Programs"](), nn.functional.cross_entropy, TrainingConfig(**RANKS["OPTIONS"]))
    return {"model": model.state_dict(), "losses": losses}


@pytest.fixture
def model() -> EncoderNetwork:
    return RANKS["network"]()


def _first_batch() -> tuple:
    """The first batch of the first epoch."""
    from tests.rooms import EpochRng

    data = RANKS["Programs"]()
    draws = EpochRng(TrainingConfig().seed, 0, 0, torch.device("cpu"))
    return data.batch(data.batches(RANKS["OPTIONS"]["batch_size"], draws.rng)[0], draws.rng)


def test_all_ranks_end_with_the_whole_model(two):
    for name, case in two[0].items():
        assert case["losses"] == two[1][name]["losses"]
        for tensor, other in zip(case["model"].values(), two[1][name]["model"].values(), strict=True):
            assert torch.equal(tensor, other)


@pytest.mark.parametrize("name", RANKS["CASES"])
def test_stages_give_the_model_of_one_process(two, alone, name):
    case = two[0][name]
    assert case["losses"] == pytest.approx(alone["losses"], abs=1e-5)
    assert case["model"].keys() == alone["model"].keys()
    for key, tensor in alone["model"].items():
        if key != UNDETERMINED:
            assert torch.allclose(case["model"][key], tensor, atol=1e-5, rtol=0), key


def test_stages_learn_with_dropout_and_draw_the_same_again(two):
    one, other = two[0]["dropout"], two[0]["dropout again"]
    assert one["losses"] == other["losses"]
    assert one["losses"][-1] < 0.9 * one["losses"][0]


def test_bytes_sent_are_those_of_arithmetic(two):
    data, hidden, dim = RANKS["Programs"](), RANKS["HIDDEN"], RANKS["DIM"]
    longest, batch, steps = max(map(len, data.words)), RANKS["OPTIONS"]["batch_size"], 3 * 3
    one, four = ([rank[name]["statistics"]["bytes_sent"] for rank in two] for name in ("one", "four"))
    # what goes to and fro is of one size, and a norm of 8 bytes goes with it
    assert one[0] == one[1]
    assert four[0] == four[1]
    whole = 4 * (batch * longest * 2 * hidden + batch * 2 * dim)
    assert 0.5 * (steps - 3) * whole < one[0] <= (steps - 3) * whole + 3 * whole * 3 // batch + 8 * steps
    # micro-batches are padded to the largest of a step, not to the batch's longest sequence
    assert 0.8 * one[0] < four[0] <= one[0]


def test_one_stage_after_the_other_is_the_network_with_dropout():
    model = RANKS["network"](dropout=0.3)
    (words, *others), _ = _first_batch()
    torch.manual_seed(5)
    expected = model(words, *others)
    torch.manual_seed(5)
    first, last = split_network(model)
    sent = first((), words, *others)
    (scores,) = last(sent, words, *others)
    assert torch.equal(scores, expected)
    assert last.received_shapes(words, *others) == tuple(tuple(tensor.shape) for tensor in sent)
    assert first.received_shapes(words, *others) == ()


def test_a_network_of_one_layer_has_no_two_stages(model):
    object.__setattr__(model.encoder.config, "layers", 1)
    with refuses(InputError, "1 layer", "2"):
        split_network(model)


def test_two_stages_need_two_ranks(model):
    with refuses(NccError, "stages", "ranks", "torchrun"):
        train_in_stages(split_network(model), RANKS["Programs"](), nn.functional.cross_entropy, TrainingConfig())


@pytest.mark.parametrize("options", [{"strategy": "local"}, {"compression": "fp16"}])
def test_options_of_whole_models_are_refused(model, monkeypatch, options):
    monkeypatch.setattr("benchmarks.pipeline.schedule.rank_and_world", lambda: (0, 2))
    stages, data = split_network(model), RANKS["Programs"]()
    with refuses(InputError, str(next(iter(options.values()))), "stages"):
        train_in_stages(stages, data, nn.functional.cross_entropy, TrainingConfig(**options))
