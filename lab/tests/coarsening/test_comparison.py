"""The table of all methods, and DeepTune's networks in it."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from lab.tests.rooms import (
    ChosenLine,
    CoarseningComparison,
    CoarseningDeepTune,
    LanguageModel,
    RecurrentTraining,
    ThreadCoarsening,
    constant_factor,
    deeptune_training,
    evaluate,
    evaluate_coarsening,
    pretrain_language_model,
)
from lab.tests.rooms import coarsening_all_methods as all_methods
from lab.tests.rooms import coarsening_comparison as comparison
from ncc.errors import InputError
from tests.rooms import DEVICES, CoarseningSamples, TrainingConfig, read_table

SMALL = deeptune_training(hidden=8, loop=TrainingConfig(epochs=40, batch_size=64, learning_rate=2e-2, weight_decay=0.0))


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def test_table(toy: CoarseningSamples, toy_features: NDArray[np.float64]) -> None:
    methods = (ChosenLine(toy_features), constant_factor(2))
    scores = tuple(
        evaluate(ThreadCoarsening(toy), method, protocol, seeds=(1, 2))
        for protocol in ("kernel", "device")
        for method in methods  # type: ignore[arg-type]
    )
    table = CoarseningComparison(scores, toy)
    found = json.loads(json.dumps(table.to_dict()))["protocols"]
    assert list(found) == ["kernel", "device"]
    ours = found["kernel"]["methods"]["ncc"]
    assert ours["mean_speedup"] == pytest.approx(1.3)
    assert ours["intervals"]["mean_speedup"][0] <= 1.3 <= ours["intervals"]["mean_speedup"][1]
    assert ours["per_seed"]["accuracy"] == [1, 1]
    assert (ours["num_samples"], ours["num_groups"], ours["seeds"]) == (32, 8, [1, 2])
    assert list(ours["by_device"]) == list(DEVICES)
    assert found["kernel"]["oracle"]["mean_speedup"] == pytest.approx(1.3)
    lines = table.to_text().splitlines()
    rows = [line.split("  ")[0] for line in lines if line.startswith(("ncc", "always", "a perfect"))]
    assert rows == ["ncc", "always 2", "a perfect choice"] * 2
    assert [line.partition(":")[0] for line in lines if "groups" in line] == ["kernel", "device"]
    assert any(line.startswith("ncc ") and "1.30×" in line for line in lines)


def test_unknown_protocols_are_refused() -> None:
    with pytest.raises(InputError, match="protocol is 'suite'; expected one of kernel, source, pair, device, all"):
        evaluate_coarsening("suite")


@pytest.mark.full
def test_published_comparison(
    published: CoarseningSamples, published_ir: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def few(samples, folder=None, num_trees=300):
        return [method for method in all_methods(samples, folder, 2) if "Magni" not in method.name]

    monkeypatch.setattr(comparison, "all_methods", few)
    told: list[str] = []
    first = evaluate_coarsening("source", seeds=1, cache=tmp_path, progress=told.append)
    assert len(told) == 16 * len(first.scores)
    methods = first.to_dict()["protocols"]["source"]["methods"]
    assert {"ncc", "always 4", "best constant per device", "opcode histogram (label)"} <= set(methods)
    assert methods["ncc"]["mean_speedup"] > methods["best constant"]["mean_speedup"] + 0.05
    again = evaluate_coarsening("source", seeds=1, cache=tmp_path)
    assert again.to_text() == first.to_text()


@pytest.fixture
def telling(toy: CoarseningSamples) -> CoarseningSamples:
    """Samples whose texts tell which kernels lose."""
    texts = [f"barrier(1); a[{k}]" if int(k[1:]) % 2 else f"sqrt(2.0f) * a[{k}]" for k in toy.kernel]
    return CoarseningSamples(**(vars(toy) | {"source": np.array(texts, dtype=object)}))


def test_deeptune_learns_texts(telling: CoarseningSamples) -> None:
    method = CoarseningDeepTune(training=SMALL)
    test = np.arange(8)
    hidden = telling.without_answers(test)
    method.fit(hidden, np.arange(8, 32), rng())
    predicted = method.predict(hidden, test)
    assert predicted.shape == (8, 6)
    np.testing.assert_allclose(predicted.sum(axis=1), 1, atol=1e-6)
    assert predicted.argmax(axis=1).tolist() == telling.best[test].tolist()


def test_deeptune_is_repeatable_and_keeps_to_itself(telling: CoarseningSamples) -> None:
    short = deeptune_training(hidden=4, loop=TrainingConfig(epochs=2, batch_size=64))
    answers = []
    for seed in (1, 1, 2):
        method = CoarseningDeepTune(training=short)
        method.fit(telling, np.arange(8, 32), np.random.default_rng(seed))
        answers.append(method.predict(telling, np.arange(8)))
    np.testing.assert_array_equal(answers[0], answers[1])
    assert not np.array_equal(answers[0], answers[2])
    with pytest.raises(InputError, match="fit the method before predicting"):
        CoarseningDeepTune().predict(telling, np.arange(2))


def test_deeptune_tl_starts_from_what_it_is_given(telling: CoarseningSamples) -> None:
    never = deeptune_training(hidden=4, loop=TrainingConfig(epochs=1, batch_size=64, learning_rate=1e-30))
    donor = CoarseningDeepTune(training=never)
    donor.fit(telling, np.arange(32), rng())
    assert donor._model is not None
    tensors = {name: tensor.numpy() + 1 for name, tensor in donor._model.encoder.state_dict().items()}
    start = LanguageModel(donor._vocabulary.tokens, tensors)
    method = CoarseningDeepTune(start, never)
    assert (method.name, donor.name) == ("DeepTune-TL", "DeepTune")
    method.fit(telling, np.arange(8), rng())
    assert method._model is not None
    found = method._model.encoder.state_dict()
    for name, array in tensors.items():
        np.testing.assert_allclose(found[name].numpy(), array, atol=1e-6)
    np.testing.assert_array_equal(start.tensors["vectors"], tensors["vectors"])  # not trained in place


def test_language_model_comes_from_device_mapping(tmp_path: Path) -> None:
    columns = "benchmark,dataset,comp,rational,mem,localmem,coalesced,atomic,transfer,wgsize,oracle"
    rows = [
        f"npb-3.3-BT-k{i},A,1,2,3,4,5,6,{2**i},64,{'GPU' if i % 2 else 'CPU'},2,{1 + 2 * (1 - i % 2)},void k{i}()"
        for i in range(8)
    ]
    table = tmp_path / "table.csv"
    table.write_text("\n".join([f"{columns},runtime_cpu,runtime_gpu,src", *rows]))
    quick = RecurrentTraining(hidden=16, longest=64, train_vectors=True, loop=TrainingConfig(epochs=1, batch_size=8))
    model = pretrain_language_model(read_table(table, "amd"), training=quick)
    assert model.tensors["vectors"].shape == (len(model.tokens) + 1, 64)
    assert set(model.tensors) >= {"ahead.0.weight_ih_l0", "ahead.1.weight_hh_l0"}
    assert not any(name.startswith(("dense", "norm", "output")) for name in model.tensors)
