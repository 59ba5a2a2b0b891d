"""Every method under every protocol, controls beside heads: the table that a score has to stand in."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, get_args

from ncc.devices.samples import Platform, load_legacy_ir, load_samples
from ncc.errors import InputError
from ncc.study.devices.methods import standard_methods
from ncc.study.devices.metrics import Metrics
from ncc.study.devices.protocols import PROTOCOLS, LeakageReport, audit_leakage
from ncc.study.devices.task import DeviceMapping, fold_seed
from ncc.study.evaluation import Comparison, Score, choose, choose_methods, estimates, evaluate_all
from ncc.study.report.devices import device_text

__all__ = ["DeviceComparison", "compare_devices"]

SEEDS = (204, 205, 206, 207, 208)

_PLATFORMS: tuple[Platform, ...] = get_args(Platform)


@dataclass(frozen=True, eq=False, repr=False)
class DeviceComparison(Comparison[Metrics]):
    """Scores of all that was run, and what the protocols let through.

    Args:
        leakage: Of each platform and protocol, in the scores' order, for the folds of the first seed.
    """

    leakage: tuple[LeakageReport, ...]

    def describe(self, score: Score[Metrics]) -> dict[str, Any]:
        """Means over the seeds, their intervals in ``intervals`` and what each seed gave in ``per_seed``."""
        figures = estimates(score.metrics)
        intervals = {name: [figure.low, figure.high] for name, figure in figures.items()}
        return {
            "coverage": None,
            **{name: figure.value for name, figure in figures.items()},
            "interval": intervals["accuracy"],
            "intervals": intervals,
            "per_seed": {name: figure.per_seed.tolist() for name, figure in figures.items()},
        }

    def describe_protocol(self, score: Score[Metrics]) -> dict[str, Any]:
        """What the protocol lets through, what intervals and speedups are relative to, and a perfect choice."""
        (leakage,) = (
            report for report in self.leakage if (report.protocol, report.platform) == (score.protocol, score.platform)
        )
        return {
            "leakage": asdict(leakage),
            "static_choice": score.metrics.static_choice,
            "interval_unit": score.interval_unit,
            "num_groups": score.num_groups,
            "oracle": {name: figure.value for name, figure in estimates(score.oracle).items()},
        }

    def to_text(self) -> str:
        """Tables for people: every method under every protocol; then the leakage."""
        return device_text(self)


def compare_devices(
    protocol: str = "all",
    platform: str = "all",
    *,
    methods: Sequence[str] = ("*",),
    seeds: Sequence[int] = SEEDS,
    num_network_seeds: int = 1,
    num_trees: int = 300,
    ir2vec: Path | None = None,
    jobs: int = 1,
    cache_folder: Path | None = None,
    folder: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> DeviceComparison:
    """Runs controls, published methods and ours under protocols and platforms.

    Args:
        protocol: One of `PROTOCOLS`, or "all".
        platform: "amd", "nvidia", or "all".
        methods: Patterns of names, such as "auxiliary*"; a method that matches one of them is run.
        seeds: Of the runs, as for `evaluate`.
        num_network_seeds: How many of these are run by slow methods, which train a recurrent network, a minute a fold.
        num_trees: Trees of the controls' forests.
        ir2vec: IR2Vec's vocabulary, for its method; None stands for the vectors of our embedding.
        jobs: Folds run at a time, each in a process of its own with one thread; 1 runs them here.
        cache_folder: Earlier results; None keeps none.
        folder: Data folder; None stands for NCC_DATA, then the cache.
        progress: Called with a line of text after each fold.

    Raises:
        InputError: There is no such protocol or platform, no method of such a name, or no seed.
        DataError: The tables or the IR are missing or damaged.
    """
    protocols = choose("protocol", protocol, PROTOCOLS)
    platforms = choose("platform", platform, _PLATFORMS)
    if not seeds:
        raise InputError("expected at least one seed, found none")
    scores: list[Score[Metrics]] = []
    leakage: list[LeakageReport] = []
    for name in platforms:
        samples = load_samples(name, folder)
        known = standard_methods(samples, folder, num_trees=num_trees, ir2vec=ir2vec)
        chosen = [known[method]() for method in choose_methods(methods, known)]
        legacy = load_legacy_ir(folder)
        ir = [legacy[samples.ir_name(row)] for row in range(len(samples))]
        leakage += [audit_leakage(samples, each, fold_seed(each, seeds[0]), ir) for each in protocols]
        scores += evaluate_all(
            DeviceMapping(samples),
            chosen,
            protocols,
            seeds,
            num_slow_seeds=num_network_seeds,
            jobs=jobs,
            cache=cache_folder,
            progress=partial(_tell, progress, name) if progress else None,
        )
    return DeviceComparison(tuple(scores), tuple(leakage))


def _tell(progress: Callable[[str], None], platform: str, line: str) -> None:
    progress(f"{platform}, {line}")
