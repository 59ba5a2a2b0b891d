"""DeepTune's networks on thread coarsening."""

from pathlib import Path

import numpy as np
import pytest

from lab.tests.rooms import (
    CoarseningDeepTune,
    LanguageModel,
    RecurrentTraining,
    deeptune_training,
    pretrain_language_model,
)
from tests.rooms import CoarseningSamples, TrainingConfig, read_table

SMALL = deeptune_training(hidden=8, loop=TrainingConfig(epochs=40, batch_size=64, learning_rate=2e-2, weight_decay=0.0))


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


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
