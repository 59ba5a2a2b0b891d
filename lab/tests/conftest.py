"""A small invented table of device mapping, and the published ones where present; labeled programs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.conftest import _bundled_clang, _one_thread, environment, run_ranks, shared_folder, tiny  # noqa: F401
from tests.fixtures.classification import cache, classes, samples  # noqa: F401
from tests.rooms import DeviceMappingSamples
from tests.rooms import devices_load_samples as load_samples
from tests.support.datasets import needs


@pytest.fixture(scope="session")
def published() -> Callable[[Any], DeviceMappingSamples]:
    """Loader of the published tables; skips if there is no local copy."""
    needs("devmap")
    return load_samples


@pytest.fixture
def toy() -> DeviceMappingSamples:
    """24 rows: 3 suites of 2 applications of 2 kernels at 2 sizes; large transfers favor the CPU."""
    rng = np.random.default_rng(0)
    suite = np.repeat(["npb", "rodinia", "shoc"], 8)
    application = np.array([f"{name} app{row // 4 % 2}" for row, name in enumerate(suite)])
    benchmark = np.array([f"{name}-1.0-app{row // 4 % 2}-k{row // 2 % 2}" for row, name in enumerate(suite)])
    transfer = np.where(np.arange(24) % 2, 1e6, 1e3) * rng.uniform(1, 2, size=24)
    counts = rng.integers(0, 9, size=(24, 8)).astype(np.float64)
    counts[:, 6], counts[:, 7] = transfer, 64.0
    log_ratio = np.where(transfer > 1e4, -0.5, 0.7)
    return DeviceMappingSamples(
        platform="toy",
        benchmark=benchmark,
        dataset=np.array([("A", "B")[row % 2] for row in range(24)]),
        application=application,
        suite=suite,
        source=np.array([f"void {name}" for name in benchmark], dtype=object),
        counts=counts,
        transfer_bytes=transfer,
        wgsize=counts[:, 7].copy(),
        runtime_cpu_ms=np.exp(log_ratio),
        runtime_gpu_ms=np.ones(24),
        log_ratio=log_ratio,
        is_gpu=log_ratio > 0,
    )
