"""The device mapper on the published rows, where there is a local copy of them."""

from typing import Any

import numpy as np
import pytest

from lab.tests.rooms import device_splits as splits
from lab.tests.rooms import load_vectors, mapper
from ncc_lab import Subset, compare, device_mapping
from tests.rooms import (
    DeviceMappingSamples,
    FileState,
    KernelFeatures,
    TimesHead,
    count_work,
    load_device_head,
    load_embedding,
    load_inputs,
    load_legacy_ir,
    read_module,
    verify,
)

pytestmark = pytest.mark.full  # reads the kernels of 680 rows


@pytest.fixture(scope="module")
def real(published: Any) -> tuple[DeviceMappingSamples, KernelFeatures]:
    missing = [path for path, state in verify("legacy_ir").items() if state is FileState.MISSING]
    if missing:
        pytest.skip("no local copy of the dataset legacy_ir (set NCC_DATA)")
    samples = published("amd")
    return samples, load_inputs(samples, load_embedding())


def test_every_row_is_described_by_its_own_kernel(real: tuple[DeviceMappingSamples, KernelFeatures]) -> None:
    samples, inputs = real
    assert len(inputs) == len(samples) == 680
    legacy, embedding = load_legacy_ir(), load_embedding()
    for row in (0, 333, 679):
        module = read_module(legacy[samples.ir_name(row)], abstraction=embedding.abstraction)
        kernel = int(np.flatnonzero(module.function_is_kernel)[0])
        assert np.array_equal(inputs.profile[row], count_work(module, kernel).features())
    for block in (inputs.profile, inputs.opcodes, inputs.work):
        assert np.isfinite(block).all()


def test_the_head_that_ships_was_fitted_to_kernels_as_they_are_described_now(
    real: tuple[DeviceMappingSamples, KernelFeatures],
) -> None:
    samples, inputs = real
    head = load_device_head(platform="amd")
    assert isinstance(head, TimesHead)
    rows = np.array([0, 333, 679])
    sizes = np.column_stack([samples.transfer_bytes, samples.wgsize, np.full(len(samples), np.nan)])
    for row, answer in zip(rows.tolist(), head.predict(inputs.rows(rows), sizes[rows]), strict=True):
        assert answer.distance is not None
        assert answer.distance < 0.01, samples.benchmark[row]
        assert answer.familiar


def test_of_kernels_never_seen_the_interval_holds_four_in_five(
    real: tuple[DeviceMappingSamples, KernelFeatures],
) -> None:
    samples, inputs = real
    method = mapper(inputs, load_vectors(samples, load_embedding()), num_trees=20, inner_trees=10, inner_folds=3)
    found = compare(device_mapping(samples), [method], ["kernel"])
    assert 0.72 <= found.value("ncc mapper", "coverage") <= 0.88
    assert found.value("ncc mapper", "accuracy") > 0.85
    assert found.value("ncc mapper", "geomean_speedup") > 1.4


def test_answers_of_real_rows_that_are_hidden_change_nothing(
    real: tuple[DeviceMappingSamples, KernelFeatures],
) -> None:
    samples, inputs = real
    train, test = next(splits(samples, "application", 204))
    answers = []
    for given in (samples, samples.without_answers(test)):
        method = mapper(inputs, load_vectors(samples, load_embedding()), num_trees=5, inner_trees=5, inner_folds=2)
        answers.append(method.predict(Subset(given, train), Subset(given, test), np.random.default_rng(0)))
    assert np.isfinite(answers[0]).all()
    assert np.array_equal(answers[0], answers[1])
