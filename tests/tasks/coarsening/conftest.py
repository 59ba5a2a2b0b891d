"""Samples for the tests of thread coarsening: a small invented table, and the published one where present."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from ncc.data import FileState, verify
from ncc.tasks.coarsening.features import sample_features
from ncc.tasks.coarsening.samples import DEVICES, FACTORS, CoarseningSamples, load_kernel_ir, load_samples

GAINS = (1.0, 1.3, 1.6, 1.2, 0.8, np.nan)
LOSSES = (1.0, 0.7, 0.5, 0.3, 0.2, 0.1)


def _skip_unless_there(dataset: str, name: str) -> None:
    missing = [
        file.path for file in verify(dataset).files if file.state is FileState.MISSING and name in file.path.name
    ]
    if missing:
        pytest.skip(f"no local copy of {missing[0]} (set NCC_DATA)")


@pytest.fixture(scope="session")
def published() -> CoarseningSamples:
    """The published samples; skips where there is no local copy."""
    _skip_unless_there("coarsening", "pact-2014")
    return load_samples()


@pytest.fixture(scope="session")
def published_ir() -> dict[str, bytes]:
    """The kernels' IR; skips where there is no local copy."""
    _skip_unless_there("legacy_ir", "coarsening")
    return load_kernel_ir()


@pytest.fixture(scope="session")
def published_features(published: CoarseningSamples, published_ir: dict[str, bytes]) -> NDArray[np.float64]:
    return sample_features(published, published_ir)


def _toy(num_kernels: int = 8) -> CoarseningSamples:
    rng = np.random.default_rng(0)
    names = [f"k{i}" for i in range(num_kernels)]
    speedup = np.array([GAINS if i % 2 else LOSSES for i in range(num_kernels)])
    runtime = np.repeat(1000 / speedup, len(DEVICES), axis=0)
    components = np.where(np.isfinite(runtime)[:, :, None], rng.normal(size=(len(runtime), len(FACTORS), 7)), np.nan)
    texts = np.array([f"__kernel void A(__global float* a) {{ a[{max(i, 1)}] = 1; }}" for i in range(num_kernels)])
    return CoarseningSamples(
        kernel=np.repeat(names, len(DEVICES)),
        device=np.tile(DEVICES, num_kernels),
        source=np.repeat(texts.astype(object), len(DEVICES)),
        components=components,
        runtime=runtime * rng.uniform(0.5, 2, size=(len(runtime), 1)),
    )


@pytest.fixture
def toy() -> CoarseningSamples:
    """8 kernels on 4 devices. Odd ones gain from factor 4, and were not measured at 32; even ones lose.

    k0 and k1 have one text.
    """
    return _toy()


@pytest.fixture
def toy_features(toy: CoarseningSamples) -> NDArray[np.float64]:
    """Three features: the second tells which kernels lose."""
    number = np.array([int(name[1:]) for name in toy.kernel])
    noise = np.random.default_rng(1).normal(size=(len(np.unique(number)), 3))
    features = noise[number]
    features[:, 1] = 1.0 - number % 2
    return features


@pytest.fixture
def write_tables(tmp_path: Path) -> Callable[[str, str], tuple[Path, Path]]:
    """Writer of the two tables with given texts."""

    def write(runtimes: str, oracles: str) -> tuple[Path, Path]:
        paths = tmp_path / "runtimes.csv", tmp_path / "oracles.csv"
        for path, text in zip(paths, (runtimes, oracles), strict=True):
            path.write_text(text, encoding="utf-8")
        return paths

    return write
