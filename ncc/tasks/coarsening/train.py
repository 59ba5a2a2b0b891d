"""``ncc train coarsening``: a head fitted to the published times, scored on kernels held out.

The table of Cummins et al. (PACT 2017, case study B) has measurements by Magni et al. (PACT 2014) on four GPUs. Its 17
kernels support no more than a line in one feature, which most folds choose among sixteen; the figure to quote is that
of ``ncc evaluate coarsening``. Settings are chosen by the mean speedup of held-out kernels, 1.226.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from ncc.arrays import Floats, Ints
from ncc.errors import DataError, InputError
from ncc.ir.reader.abstraction import Abstraction
from ncc.ir.reader.module import Module
from ncc.ir.reader.reader import read_module
from ncc.kernels.reading import kernel_words
from ncc.learning.data.archives import iter_members
from ncc.learning.data.registry import Folder, locate
from ncc.learning.data.tables import check_names, read_numbers, read_rows
from ncc.learning.embedding.embedding import AnyEmbedding, Embedding, load_embedding
from ncc.learning.encoder.config import EncoderConfig, HeadConfig
from ncc.learning.training.config import TrainingConfig
from ncc.tasks.coarsening.head import CoarseningHead, LineHead, LSTMHead, divergent_share, one_hot

FACTORS = (1, 2, 4, 8, 16, 32)
"""Coarsening factors: number of work-items that are merged into one."""
DEVICES = ("Fermi", "Kepler", "Cypress", "Tahiti")
"""Names of the devices: NVIDIA GTX 480 and Tesla K20c, AMD Radeon HD 5900 and Tahiti 7970."""
TABLE = "pact-2014-runtimes.csv"
_NUMBERS = ("cf", *(f"runtime_{device}" for device in DEVICES))
_MAX_NUMBER = 1e18
PENALTY = 3.0
"""Penalty on the squared slope of the standardized feature; 1.5 and 6 gain the same, 10 gains 0.015 less."""
DEVICE_WEIGHT = 0.25
"""Weight of a device's line against that of all devices; 0.125 and 0.5 gain the same, 1 gains 0.03 less."""
_ABOUT = {
    "data": "PACT 2014 thread coarsening (Magni et al.), 17 kernels on 4 devices; LLVM 5 IR of the kernels",
    "protocol": "one kernel held out after the other, with all its devices",
}
_NOTE = (
    "feature and settings were chosen with all kernels in view; for the choice made anew in every fold see "
    "'ncc evaluate coarsening --protocol kernel'"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class CoarseningTimes:
    """Pairs of kernel and device, n rows."""

    kernel: np.ndarray  # (n,) names
    device: np.ndarray  # (n,) names
    runtime: Floats  # (n, 6) float64 at each of `FACTORS`, without a unit; NaN where not measured

    def __len__(self) -> int:
        return len(self.kernel)


def load_kernel_ir(folder: Folder = None) -> dict[str, bytes]:
    """Load the kernels' LLVM 5 IR."""
    archive = locate("legacy_ir", "coarsening-kernels-llvm5.tar.xz", folder)
    return {PurePosixPath(name).stem: text for name, text in iter_members(archive, ".ll")}


def read_times(path: Path) -> CoarseningTimes:
    """Read a table of runtimes; kernels are in the order of their names, each with all devices."""
    rows = read_rows(path, ("kernel", *_NUMBERS))
    check_names(path, rows, "kernel")
    numbers = np.stack([read_numbers(path, rows, column, _MAX_NUMBER) for column in _NUMBERS], axis=1)
    times: defaultdict[str, dict[float, list[float]]] = defaultdict(dict)  # by kernel and factor, on each device
    for row, (factor, *on_devices) in zip(rows, numbers.tolist(), strict=True):
        if factor not in FACTORS or factor in times[row["kernel"]]:
            expected = f"expected each of {', '.join(map(str, FACTORS))} once"
            raise DataError(f"{path}: {row['kernel']} at factor {factor:g}; {expected}")
        times[row["kernel"]][factor] = on_devices
    names, unmeasured = sorted(times), [np.nan] * len(DEVICES)
    table = np.array([[times[name].get(factor, unmeasured) for factor in FACTORS] for name in names])
    runtime = table.swapaxes(1, 2).reshape(-1, len(FACTORS))
    kernel, device = np.repeat(names, len(DEVICES)), np.tile(DEVICES, len(names))
    wrong = (runtime == 0).any(axis=1) | np.isnan(runtime[:, 0])
    if wrong.any():
        raise DataError(f"{path}: {kernel[wrong][0]}: expected runtimes above 0, and one at factor 1")
    return CoarseningTimes(kernel=kernel, device=device, runtime=runtime)


def clamp_to_measured(runtime: Floats, chosen: Ints) -> Ints:
    """Replace (..., n) factor indices without a runtime in (n, 6) with the largest smaller one that has one."""
    measured = np.where(np.isfinite(runtime), np.arange(runtime.shape[1]), 0)
    return np.maximum.accumulate(measured, axis=1)[np.arange(len(runtime)), chosen]


def complete_log_speedups(runtime: Floats) -> Floats:
    """Log speedups over no coarsening at factors 1, 2, 4 …, (n, k) float64, of runtimes that may be NaN, (n, k)."""
    # a row's parabola in log2(factor) is extrapolated, but never upwards: factors that were not tried are not
    # assumed to be better
    with np.errstate(invalid="ignore"):
        curves = np.log(runtime[:, :1] / runtime)
    doublings = np.arange(runtime.shape[1], dtype=np.float64)
    parabola = np.stack([doublings, doublings**2], axis=1)
    for curve in curves:
        measured = np.isfinite(curve)
        if not measured.any():
            continue
        coefficients = np.linalg.lstsq(parabola[measured], curve[measured], rcond=None)[0]
        for k in np.flatnonzero(~measured).tolist():
            curve[k] = min(parabola[k] @ coefficients, np.nanmax(curve[k - 1 :]))
    return curves


@dataclass(frozen=True, kw_only=True)
class LSTMTraining:
    """Training of the ensemble: number of members, their sizes, and the loop."""

    members: int = 3
    encoder: EncoderConfig = field(
        default_factory=lambda: EncoderConfig(hidden=32, layers=1, pooling=("mean", "max"), last_dropout=0.5)
    )
    head: HeadConfig = field(default_factory=lambda: HeadConfig(dense=16, dropout=0.5))
    loop: TrainingConfig = field(default_factory=lambda: TrainingConfig(epochs=15, batch_size=16, weight_decay=1.0))


def fit_head(model: str, embedding: AnyEmbedding | None, seed: int, data: str | None) -> CoarseningHead:
    """Fit a model to the published times, and score it on held-out kernels."""
    if model not in ("line", "lstm"):
        raise InputError(f"model is {model!r}; expected line or lstm")
    times, ir = read_times(locate("coarsening", TABLE, data)), load_kernel_ir(data)
    if model == "line":
        shares = describe_kernels(times, ir, divergent_share)
        return _score_and_fit(times, partial(fit_line, times, np.array(shares)), shares, note=_NOTE)
    table, training = load_embedding(embedding), LSTMTraining()
    words = load_words(times, ir, table)
    fit = partial(fit_lstm, times, words, table, training, np.random.default_rng(seed))
    sequences = [table.vectors[kernel] for kernel in words]
    return _score_and_fit(times, fit, sequences, seed=seed, options=asdict(training))


def _score_and_fit(
    times: CoarseningTimes, fit: Callable[[Ints], CoarseningHead], kernels: Sequence[Any], **card: Any
) -> CoarseningHead:
    """Hold out each of the (n,) kernels in turn for scores and the interval, then fit to all rows."""
    rows, predicted = np.arange(len(times)), np.zeros((len(times), len(FACTORS)))
    for kernel in dict.fromkeys(times.kernel.tolist()):
        held = times.kernel == kernel
        head = fit(rows[~held])
        for row in rows[held].tolist():
            predicted[row] = head.speedups(kernels[row], str(times.device[row]))
    chosen, speedups = predicted.argmax(axis=1), times.runtime[:, :1] / times.runtime
    speedup = speedups[rows, clamp_to_measured(times.runtime, chosen)]
    ratio = (speedup / predicted.max(axis=1))[chosen > 0]
    scores = {
        "mean_speedup": speedup.mean(),
        "geomean_speedup": np.exp(np.log(speedup).mean()),
        "share_of_oracle": np.exp(np.log(speedup / np.nanmax(speedups, axis=1)).mean()),
    }
    rounded = {name: round(float(score), 4) for name, score in scores.items()}
    quantiles = np.quantile(ratio, (0.1, 0.9)) if len(ratio) else np.ones(2)
    return replace(fit(rows), interval_quantiles=quantiles, card=_ABOUT | rounded | {"num_samples": len(times)} | card)


def describe_kernels(
    times: CoarseningTimes,
    ir: dict[str, bytes],
    describe: Callable[[Module], Any],
    abstraction: Abstraction | None = None,
) -> list[Any]:
    """Result of a function for each row's kernel."""
    names = dict.fromkeys(times.kernel.tolist())
    known = {name: describe(read_module(ir[name], name=name, abstraction=abstraction)) for name in names}
    return [known[name] for name in times.kernel.tolist()]


def load_words(times: CoarseningTimes, ir: dict[str, bytes], embedding: Embedding) -> list[Ints]:
    """Load each row's kernel as a sequence of words."""
    return describe_kernels(times, ir, lambda module: kernel_words(module, embedding), embedding.abstraction)


def fit_line(times: CoarseningTimes, shares: Floats, rows: Ints) -> LineHead:
    """Fit a line per device and factor to (m,) of n rows, each shrunk towards the line of all devices."""
    shares_of, curves = shares[rows], complete_log_speedups(times.runtime[rows])
    _, first, owner = np.unique(times.kernel[rows], return_index=True, return_inverse=True)
    mean_curves = [curves[owner == kernel].mean(axis=0) for kernel in range(len(first))]
    shared = _ridge(shares_of[first], np.array(mean_curves))
    device_lines = [_ridge(shares_of[on], curves[on]) for on in (times.device[rows] == device for device in DEVICES)]
    lines = [(1 - DEVICE_WEIGHT) * shared + DEVICE_WEIGHT * line for line in device_lines] + [shared]
    offset, slope = np.stack(lines, axis=1)
    return LineHead(devices=DEVICES, factors=FACTORS, offset=offset, slope=slope)


def _ridge(feature: Floats, values: Floats) -> Floats:
    """Offset and slope by least squares, the slope shrunk, of (n,) and (n, k): (2, k)."""
    deviation = feature - feature.mean()
    squares = deviation @ deviation
    slope = deviation @ (values - values.mean(axis=0)) / squares if squares > 1e-12 else np.zeros(values.shape[1])
    slope *= len(feature) / (len(feature) + PENALTY)
    return np.stack([values.mean(axis=0) - slope * feature.mean(), slope])


def fit_lstm(
    times: CoarseningTimes,
    words: list[Ints],
    embedding: Embedding,
    training: LSTMTraining,
    rng: np.random.Generator,
    rows: Ints,
) -> LSTMHead:
    """Train networks that predict log speedups, standardized for each factor; words are the n rows' kernels."""
    from torch import nn

    from ncc.learning.encoder.batches import SequenceData, Sequences
    from ncc.learning.encoder.network import EncoderNetwork, fit_ensemble
    from ncc.learning.encoder.network_numpy import distinct_sequences

    seeds = rng.integers(2**31, size=training.members).tolist()
    kernels, owner = distinct_sequences([words[row] for row in rows.tolist()])
    logs = complete_log_speedups(times.runtime[rows])[:, 1:].astype(np.float32)
    mean, scale = logs.mean(axis=0), np.maximum(logs.std(axis=0), 1e-6)
    auxiliary = one_hot(times.device[rows].tolist(), DEVICES)
    data = SequenceData(Sequences.of(kernels), (logs - mean) / scale, auxiliary=auxiliary, owner=owner, noise=1.0)
    sizes = (len(FACTORS) - 1, training.encoder, training.head, len(DEVICES))
    make = partial(EncoderNetwork, embedding.vectors, *sizes)
    ensemble = fit_ensemble(make, data, nn.functional.mse_loss, training.loop, seeds).rescaled(mean, scale)
    return LSTMHead(devices=DEVICES, factors=FACTORS, ensemble=ensemble, embedding_id=embedding.fingerprint)
