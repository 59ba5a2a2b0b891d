"""What is measured next."""

import numpy as np

from tests.rooms import Chooser, covariance_of


def _launches():
    """Three kernels, two of them alike, at four sizes."""
    kernel = np.repeat(np.arange(3), 4)
    code = np.array([[0.0, 0.0], [0.1, 0.0], [5.0, 4.0]])[kernel]
    return np.log(np.tile([1e3, 1e4, 1e5, 1e6], 3))[:, None], code, kernel


def test_covariance_falls_with_distance_in_size_and_code():
    sizes, code, _ = _launches()
    covariance = covariance_of(sizes, code)
    assert np.allclose(np.diag(covariance), 1)
    assert covariance[0, 4] > covariance[0, 8]
    assert covariance[0, 1] > covariance[0, 2]


def test_what_is_measured_next_is_unlike_what_was():
    chooser = Chooser(*_launches())
    seconds, allowed = np.ones(12), np.ones(12, bool)
    chosen = []
    for _ in range(6):
        chosen.append(chooser.choose(seconds, allowed))
        chooser.observe(chosen[-1])
        allowed[chosen[-1]] = False
    assert len({one % 4 for one in chosen[:3]}) == 3
    assert {one // 4 for one in chosen} >= {2}


def test_what_costs_much_waits():
    sizes, code, kernel = _launches()
    seconds = np.where(kernel == 2, 1e4, 1.0)
    assert Chooser(sizes, code, kernel).choose(seconds, np.ones(12, bool)) < 8
