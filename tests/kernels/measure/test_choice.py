"""What is measured next."""

import numpy as np

from tests.rooms import LaunchSelector, covariance


def _launches():
    """Three kernels, two of them alike, at four sizes."""
    kernel = np.repeat(np.arange(3), 4)
    code = np.array([[0.0, 0.0], [0.1, 0.0], [5.0, 4.0]])[kernel]
    return np.log(np.tile([1e3, 1e4, 1e5, 1e6], 3))[:, None], code, kernel


def test_covariance_falls_with_distance_in_size_and_code():
    sizes, code, _ = _launches()
    shared = covariance(sizes, code)
    assert np.allclose(np.diag(shared), 1)
    assert shared[0, 4] > shared[0, 8]
    assert shared[0, 1] > shared[0, 2]


def test_what_is_measured_next_is_unlike_what_was():
    selector = LaunchSelector(*_launches())
    seconds, is_open = np.ones(12), np.ones(12, bool)
    chosen = []
    for _ in range(6):
        chosen.append(selector.next_launch(seconds, is_open))
        selector.observe(chosen[-1])
        is_open[chosen[-1]] = False
    assert len({launch % 4 for launch in chosen[:3]}) == 3
    assert {launch // 4 for launch in chosen} >= {2}


def test_what_costs_much_waits():
    sizes, code, kernel = _launches()
    seconds = np.where(kernel == 2, 1e4, 1.0)
    assert LaunchSelector(sizes, code, kernel).next_launch(seconds, np.ones(12, bool)) < 8
