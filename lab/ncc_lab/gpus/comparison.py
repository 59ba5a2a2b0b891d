"""``ncc evaluate gpu``: predicted launches of held-out programs, against controls, with intervals over programs.

Reference: gpuFLOPBench, arXiv 2512.04355 (data); Vovk et al. 2005 (conformal intervals).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ncc.arrays import Floats, Ints, Rows
from ncc.tasks.gpus.features import KINDS
from ncc.tasks.gpus.specs import MEASURED, find_spec
from ncc.tasks.gpus.train import Launches, fit_gpus, program_folds
from ncc_lab.figures import selective_accuracy
from ncc_lab.gpus.residuals import Codes, read_codes, recurrent_residual, with_vectors

_FOLDS = 5
_DRAWS = 300
_LOG_TWO = float(np.log10(2))
_SIZES = ("threads", "blocks", "block", "block_x", "grid_x", "warp_fill")


@dataclass(frozen=True, eq=False)
class Predictions(Rows):
    """Predictions for n launches.

    Attributes:
        log_time: (n,) float64 logarithm to base 10 of seconds.
        probability: (n,) float64 that each is compute-bound, with equal class priors.
        half_width: (n,) float64 half of the 80% interval; None if the method gives none.
        stated: (n,) float64 probability that the bound is right; None if ``probability`` is used.
    """

    log_time: Floats
    probability: Floats
    half_width: Floats | None = None
    stated: Floats | None = None

    @property
    def sureness(self) -> Floats:
        """(n,) confidence that ranks launches."""
        return np.abs(self.probability - 0.5) if self.stated is None else self.stated


def _head(train: Launches, test: Launches, seed: int) -> Predictions:
    estimate = fit_gpus(train, MEASURED, seed=seed).predict(test.values)
    stated = np.where(estimate.balanced_probability > 0.5, estimate.probability, 1 - estimate.probability)
    return Predictions(estimate.log_time, estimate.balanced_probability, estimate.half_width, stated)


def _median(train: Launches, test: Launches, _seed: int) -> Predictions:
    return Predictions(np.full(len(test), np.median(train.log_time)), np.full(len(test), 0.5))


def _trees_on(names: tuple[str, ...]) -> "Predictor":
    def method(train: Launches, test: Launches, seed: int) -> Predictions:
        from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

        how: dict[str, Any] = {
            "n_estimators": 100, "min_samples_leaf": 2, "max_features": 0.4, "random_state": seed,
        }  # fmt: skip
        seen, asked = (np.stack([one.feature(name) for name in names], axis=1) for one in (train, test))
        times = ExtraTreesRegressor(**how).fit(seen, train.log_time).predict(asked)
        bound = ExtraTreesClassifier(class_weight="balanced", **how).fit(seen, train.compute > 0)
        return Predictions(times, bound.predict_proba(asked)[:, 1])

    return method


def _process(train: Launches, test: Launches, seed: int) -> Predictions:
    """A Gaussian process, Matérn 1/2 on standardised columns, on what the roofline leaves."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    middle, scale = train.values.mean(axis=0), train.values.std(axis=0) + 1e-9
    seen, asked = (np.clip((one.values - middle) / scale, -5, 5) for one in (train, test))
    kernel = ConstantKernel(1.0) * Matern(10.0, nu=0.5) + WhiteKernel(0.1)
    targets = np.stack([train.log_time - train.feature("roofline_time"), 2 * train.compute - 1], axis=1)
    fitted = GaussianProcessRegressor(kernel, optimizer=None, normalize_y=True, random_state=seed).fit(seen, targets)
    rest, bound = fitted.predict(asked).T
    share = 2 * float(train.compute.mean()) - 1
    return Predictions(rest + test.feature("roofline_time"), 1 / (1 + np.exp(-4 * (bound - share))))


def _with_vectors(codes: Codes, train: Launches, test: Launches, seed: int) -> Predictions:
    return _head(*with_vectors(train, test, codes), seed)


def _recurrent(codes: Codes, train: Launches, test: Launches, seed: int) -> Predictions:
    rest, odds = recurrent_residual(train, test, codes, seed)
    return Predictions(test.feature("roofline_time") + rest, 1 / (1 + np.exp(-odds)))


def _physics(_train: Launches, test: Launches, _seed: int) -> Predictions:
    """The roofline on counted operations and bytes, nothing learned."""
    spec = find_spec(MEASURED)
    peaks = {"single": spec.peak_fp32, "double": spec.peak_fp64, "integer": spec.peak_int32}
    margins = [test.feature(f"intensity_{name}") - np.log10(peak / spec.bandwidth) for name, peak in peaks.items()]
    odds = np.max(margins, axis=0)
    return Predictions(test.feature("roofline_time"), 1 / (1 + np.exp(-odds)))


def _ceiling(_train: Launches, test: Launches, _seed: int) -> Predictions:
    """The roofline on measured operations and bytes: what perfect counts would give."""
    return Predictions(np.log10(10**test.log_ceiling + 2e-6), test.compute)


Predictor = Callable[[Launches, Launches, int], Predictions]
METHODS: Mapping[str, Predictor] = {
    "ncc": _head,
    "process": _process,
    "trees": _trees_on(()),
    "physics": _physics,
    "counts": _trees_on(tuple(f"each_{kind}" for kind in KINDS)),
    "sizes": _trees_on(_SIZES),
    "median": _median,
    "perfect counts": _ceiling,
}
"""The head that ships; other models of the same columns; physics alone; and controls that know less, or all."""

ON_CODE: Mapping[str, Callable[[Codes, Launches, Launches, int], Predictions]] = {
    "lstm": _recurrent,
    "vectors": _with_vectors,
}
"""Models that read the kernel's code beside the columns."""


@dataclass(frozen=True)
class GpuScores:
    """Figures by method and way of asking, see `figures_of`."""

    methods: dict[str, dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values by name, as ``--json`` prints them."""
        return {"methods": self.methods}

    def to_card(self) -> dict[str, Any]:
        """Return the figures of the head that ships, or of all methods if it is not among them."""
        return self.methods.get("ncc", self.methods)

    def to_text(self) -> str:
        """Return a line for each method and way of asking."""
        lines = []
        for name, ways in self.methods.items():
            for way, figures in ways.items():
                texts = (
                    f"{figure.replace('_', ' ')} {one['value']:.3f} ({one['low']:.3f} to {one['high']:.3f})"
                    for figure, one in figures.items()
                    if isinstance(one, dict)
                )
                lines.append(f"{name}, {way}: {', '.join(texts)}")
        return "\n\n".join(lines)


def measure_methods(
    names: Sequence[str], launches: Launches, seed: int, data: str | None, progress: Callable[[str], None] | None
) -> dict[str, dict[str, Any]]:
    """Hold programs out in five folds, and ask with and without their arguments after learning from both."""
    found: dict[str, dict[str, Any]] = {}
    codes: Codes = {}
    for name in names:
        if name in ON_CODE:
            codes = codes or read_codes(launches, data, progress)
            run: Predictor = partial(ON_CODE[name], codes)
        else:
            run = _trees_on(launches.feature_names) if name == "trees" else METHODS[name]
        parts: list[tuple[Ints, Predictions]] = []
        for train, test in program_folds(launches.program, _FOLDS, seed):
            asked = launches.rows(test)
            if name != "perfect counts":  # which knows what was measured
                unknown = np.full(len(asked), np.nan)
                asked = replace(asked, log_time=unknown, log_traffic=unknown, compute=unknown, log_ceiling=unknown)
            parts.append((test, run(launches.rows(train), asked, seed)))
        order = np.argsort(np.concatenate([rows for rows, _ in parts]))
        said = Predictions.joined([one for _, one in parts]).rows(order)
        with_args = launches.has_program_args
        found[name] = {
            way: figures_of(launches.rows(chosen), said.rows(chosen), seed)
            for way, chosen in (("with_program_args", with_args), ("without_program_args", ~with_args))
        }
        if progress:
            told = found[name]["with_program_args"]
            progress(
                f"{name}: factor {told['factor']['value']}, balanced accuracy {told['balanced_accuracy']['value']}"
            )
    return found


def figures_of(launches: Launches, said: Predictions, seed: int = 204) -> dict[str, Any]:
    """Return scores, each with an interval over programs drawn again and again."""
    values = _scores(launches, said)
    names, codes = np.unique(launches.program, return_inverse=True)
    members = [np.flatnonzero(codes == one) for one in range(len(names))]
    draw = np.random.default_rng(seed)
    drawn: list[dict[str, float]] = []
    for _ in range(_DRAWS):
        rows = np.concatenate([members[one] for one in draw.integers(len(members), size=len(members))])
        drawn.append(_scores(launches.rows(rows), said.rows(rows)))
    figures: dict[str, Any] = {}
    for name, value in values.items():
        low, high = np.quantile([one[name] for one in drawn], (0.025, 0.975))
        figures[name] = {"value": round(value, 4), "low": round(float(low), 4), "high": round(float(high), 4)}
    return {**figures, "launches": len(launches), "programs": len(names)}


def _scores(launches: Launches, said: Predictions) -> dict[str, float]:
    from scipy.stats import rankdata

    errors = np.abs(said.log_time - launches.log_time)
    is_compute, guess = launches.compute > 0, said.probability > 0.5
    right = guess == is_compute
    ranks = np.corrcoef(rankdata(said.log_time), rankdata(launches.log_time))[0, 1] if np.ptp(said.log_time) else 0.0
    found = {
        "factor": float(10 ** np.median(errors)),
        "within_two": float(np.mean(errors <= _LOG_TWO)),
        "rank_correlation": float(ranks),
        "accuracy": float(right.mean()),
        "balanced_accuracy": float(np.mean([right[one].mean() for one in (is_compute, ~is_compute) if one.any()])),
        "sure_half_accuracy": selective_accuracy(right, said.sureness, (50,))[0],
    }
    if said.half_width is not None:
        found["coverage"] = float(np.mean(errors <= said.half_width))
        found["interval_factor"] = float(10 ** np.median(said.half_width))
    return found
