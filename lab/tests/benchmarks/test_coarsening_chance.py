"""What chance brings in thread coarsening: features dealt out anew among the kernels."""

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.coarsening_chance import measure_chance, p_value
from tests.fixtures.coarsening import toy, toy_features  # noqa: F401
from tests.rooms import CoarseningSamples


@pytest.mark.full
def test_chance_is_far_from_features_that_tell(
    toy: CoarseningSamples,  # noqa: F811
    toy_features: NDArray[np.float64],  # noqa: F811
) -> None:
    found = measure_chance(toy, toy_features, num_draws=19)
    assert found["mean_speedup"][0] == pytest.approx(1.3)
    assert found["geomean_speedup"].shape == (20,)
    assert p_value(found["geomean_speedup"]) <= 0.3  # of eight kernels some draws keep the answer
    assert np.median(found["mean_speedup"][1:]) < 1.1
    nothing = measure_chance(toy, np.zeros_like(toy_features), num_draws=3)
    assert p_value(nothing["mean_speedup"]) == 1  # all draws are the same
