"""Scores of device mapping: accuracy, F1, speedups over the best static choice, share of the oracle, coverage.

All are functions of sums over rows, as `ncc.learning.heads.figures` takes them.
"""

from dataclasses import dataclass

import numpy as np

from ncc.arrays import Bools, Floats
from ncc.errors import InputError
from ncc.learning.heads.figures import Bootstrap, Estimate, estimate


@dataclass(frozen=True, kw_only=True, eq=False)
class DeviceMetrics:
    """What a set of predictions is worth.

    Args:
        accuracy: Share of rows given to their faster device.
        macro_f1: Mean of the F1 scores of the two devices; a device neither true nor chosen scores 0.
        geomean_speedup: Geometric mean of (time on the static choice / time on the chosen device).
        mean_speedup: Arithmetic mean of the same; a few extreme rows decide it.
        share_of_oracle: Geometric mean of (time on the faster device / time on the chosen device).
        coverage: Share of the rows whose measured log ratio lies in the 80 % interval predicted for it; None for a
            method that gives no intervals.
        static_choice: The device that speedups are relative to, "CPU" or "GPU".
    """

    accuracy: Estimate
    macro_f1: Estimate
    geomean_speedup: Estimate
    mean_speedup: Estimate
    share_of_oracle: Estimate
    coverage: Estimate | None = None
    static_choice: str


def static_choice_is_gpu(is_gpu: Bools) -> bool:
    """Return whether the best static choice is the GPU.

    The field's convention: the device that is faster in most rows of the whole table (ties: CPU),
    whatever is gained there; on the published tables the CPU for AMD and the GPU for NVIDIA. It is the
    unit that speedups are expressed in, so it is the same for every split and method.

    Args:
        is_gpu: Whether the GPU is the faster device, (n,) bool.

    Reference:
        Cummins et al., PACT 2017, case study A.
    """
    return bool(2 * is_gpu.sum() > len(is_gpu))


def measure(
    log_ratio: Floats,
    chosen_gpu: Bools,
    groups: np.ndarray,
    bootstrap: Bootstrap | None = None,
    intervals: Floats | None = None,
) -> DeviceMetrics:
    """Score device choices against measured runtimes.

    Args:
        log_ratio: Measured log(CPU time / GPU time); the GPU is the faster device where positive,
            (n,) float64.
        chosen_gpu: Whether the GPU was chosen, one row per seed, (seeds, n) bool.
        groups: What the bootstrap draws: rows of equal value stay together, (n,).
        bootstrap: How intervals are drawn; they express which groups happened to be in the table,
            not the variance of training, which `per_seed` shows. None for the defaults.
        intervals: Low and high end of what is predicted for the log ratio, (seeds, n, 2) float64; None without any.

    Returns:
        The scores. Intervals that say 80 % should hold about 0.8 of the rows, their ends included.

    Raises:
        InputError: Shapes disagree, there is no row or no seed, or a ratio is not finite.
    """
    _check_shapes(log_ratio, chosen_gpu, groups)
    coverage = None
    if intervals is not None:
        _check_shapes(log_ratio, intervals[..., 0], groups)
        inside = (intervals[..., 0] <= log_ratio) & (log_ratio <= intervals[..., 1])
        shares = np.stack([np.ones(inside.shape), inside], axis=-1)
        (coverage,) = estimate(shares, groups, lambda sums: sums[..., 1:] / sums[..., :1], bootstrap)
    terms = np.stack([_row_terms(log_ratio, row) for row in chosen_gpu])
    estimates = estimate(terms, groups, _figures, bootstrap)
    return DeviceMetrics(
        accuracy=estimates[0],
        macro_f1=estimates[1],
        geomean_speedup=estimates[2],
        mean_speedup=estimates[3],
        share_of_oracle=estimates[4],
        coverage=coverage,
        static_choice="GPU" if static_choice_is_gpu(log_ratio > 0) else "CPU",
    )


def _row_terms(log_ratio: np.ndarray, chosen: np.ndarray) -> Floats:
    faster = log_ratio > 0
    static = static_choice_is_gpu(faster)
    log_speedup = log_ratio * (chosen.astype(np.float64) - float(static))
    log_share = np.where(chosen == faster, 0.0, -np.abs(log_ratio))
    columns = (
        np.ones(len(chosen)),
        faster & chosen,
        ~faster & ~chosen,
        ~faster & chosen,
        faster & ~chosen,
        log_speedup,
        np.exp(log_speedup),
        log_share,
    )
    return np.stack(columns, axis=1).astype(np.float64)


def _figures(sums: Floats) -> Floats:
    num, gpu_right, cpu_right, gpu_wrong, cpu_wrong, log_speedup, speedup, log_share = np.moveaxis(sums, -1, 0)
    wrong = gpu_wrong + cpu_wrong
    f1_gpu, f1_cpu = (2 * right / np.maximum(2 * right + wrong, 1) for right in (gpu_right, cpu_right))
    return np.stack(
        [
            (gpu_right + cpu_right) / num,
            (f1_gpu + f1_cpu) / 2,
            np.exp(log_speedup / num),
            speedup / num,
            np.exp(log_share / num),
        ],
        axis=-1,
    )


def _check_shapes(log_ratio: np.ndarray, chosen_gpu: np.ndarray, groups: np.ndarray) -> None:
    num = len(log_ratio)
    if chosen_gpu.ndim != 2 or chosen_gpu.shape[1] != num or len(groups) != num or not chosen_gpu.size:
        raise InputError(
            f"expected predictions of shape (seeds, {num}) and {num} groups, none empty; "
            f"found {chosen_gpu.shape} and {len(groups)}"
        )
    if not np.isfinite(log_ratio).all():
        raise InputError("expected finite log ratios; found NaN or infinity (were answers hidden?)")
