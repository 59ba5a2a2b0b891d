"""Invented tables, and the published ones."""

import numpy as np
import pytest
from numpy.typing import NDArray

from lab.tests.rooms import sample_features
from tests.fixtures.coarsening import published, published_ir, toy, toy_features  # noqa: F401
from tests.rooms import CoarseningSamples


@pytest.fixture(scope="session")
def published_features(
    published: CoarseningSamples,  # noqa: F811
    published_ir: dict[str, bytes],  # noqa: F811
) -> NDArray[np.float64]:
    return sample_features(published, published_ir)
