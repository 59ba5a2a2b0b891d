"""Models of GPU launches that read the kernel's code."""

import numpy as np

from lab.tests.rooms import KernelCode, recurrent_residual, with_vectors
from tests.rooms import Launches


def _launches(draw, number):
    """Launches whose time over the roofline's depends on which of two kinds of code the kernel is."""
    kind = draw.integers(2, size=number)
    physics = draw.normal(size=number)
    empty = np.full(number, np.nan)
    return Launches(
        feature_names=("roofline_time", "noise"),
        values=np.stack([physics, draw.normal(size=number)], axis=1),
        program=np.array([f"p{one}" for one in range(number)]),
        kernel=np.array([f"k{one}" for one in kind]),
        log_time=physics + np.where(kind > 0, 1.0, -1.0),
        log_traffic=empty,
        compute=kind.astype(float),
        log_ceiling=empty,
        has_program_args=np.ones(number, bool),
    )


def test_code_tells_what_columns_do_not():
    draw = np.random.default_rng(0)
    train, test = _launches(draw, 192), _launches(draw, 64)
    codes = {
        (program, kernel): KernelCode(
            (2 + draw.integers(5, size=int(draw.integers(3, 20)))) + 10 * (kernel == "k1"),
            np.array([1.0, -1.0, 0.5] if kernel == "k1" else [-1.0, 1.0, 0.5], np.float32),
        )
        for one in (train, test)
        for program, kernel in zip(one.program.tolist(), one.kernel.tolist(), strict=True)
    }
    rest, odds = recurrent_residual(train, test, codes, 0)
    wanted = test.log_time - test.feature("roofline_time")
    assert np.mean(np.abs(rest - wanted)) < 0.3
    assert np.mean((odds > 0) == (test.compute > 0)) > 0.95

    wide_train, wide_test = with_vectors(train, test, codes)
    assert wide_train.feature_names == ("roofline_time", "noise", "vector_0", "vector_1")
    assert np.corrcoef(wide_test.feature("vector_0"), test.compute)[0, 1] ** 2 > 0.99
