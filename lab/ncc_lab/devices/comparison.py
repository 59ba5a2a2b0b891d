"""Compares all device-mapping methods under every protocol, controls and heads alike."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, get_args

from ncc.tasks.devices.published import DeviceMappingSamples, Platform, load_legacy_ir, load_samples
from ncc_lab.devices.metrics import DeviceMetrics
from ncc_lab.devices.protocols import PROTOCOLS, audit_leakage
from ncc_lab.devices.task import DeviceMapping, DeviceScore, fold_seed
from ncc_lab.evaluation import (
    Comparison,
    choose,
    choose_methods,
    estimates,
    evaluate_all,
    runs_folder,
    seeds_from,
)
from ncc_lab.leakage import LeakageReport, leakage_table
from ncc_lab.report.device_figures import device_figures
from ncc_lab.report.devices import PROTOCOL_TITLES, device_tables, scores_table
from ncc_lab.report.kinds import by_protocol
from ncc_lab.report.table import Table

_PLATFORMS: tuple[Platform, ...] = get_args(Platform)


@dataclass(frozen=True, eq=False, repr=False)
class DeviceComparison(Comparison[DeviceMetrics]):
    """Scores of all that was run, and what the protocols let through.

    Args:
        leakage: Of each platform and protocol, in the scores' order, for the folds of the first seed.
        samples: Platform → what was run on it.
    """

    title = "Device mapping: every method under every protocol"
    template = "devices.html.j2"
    leakage: tuple[LeakageReport, ...]
    samples: Mapping[str, DeviceMappingSamples]

    def describe(self, score: DeviceScore) -> dict[str, Any]:
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

    def describe_protocol(self, score: DeviceScore) -> dict[str, Any]:
        """What the protocol lets through, what intervals and speedups are relative to, and a perfect choice."""
        (leakage,) = (
            report for report in self.leakage if (report.protocol, report.platform) == (score.protocol, score.platform)
        )
        return {
            "leakage": leakage.to_dict(),
            "static_choice": score.metrics.static_choice,
            "interval_unit": score.interval_unit,
            "num_groups": score.num_groups,
            "oracle": {name: figure.value for name, figure in estimates(score.oracle).items()},
        }

    def table(self, scores: Sequence[DeviceScore]) -> Table:
        """Return the scores of one protocol on one platform."""
        return scores_table(scores)

    def parts(self) -> list[Table | str]:
        """Tables for people: every method under every protocol; then the leakage."""
        return [*self.tables(), *([leakage_table(self.leakage)] if self.leakage else [])]

    def page_values(self) -> dict[str, Any]:
        """Return the best of each kind, all figures, what the protocols let through, and pictures."""
        platforms = {name: [one for one in self.scores if one.platform == name] for name in self.samples}
        return {
            "protocols": PROTOCOL_TITLES,
            "leakage": leakage_table(self.leakage),
            "pictures": {name: device_figures(some, self.samples[name]) for name, some in platforms.items()},
            **device_tables({name: by_protocol(some) for name, some in platforms.items()}),
        }


def evaluate_devmap(
    protocol: str = "all",
    platform: str = "all",
    *,
    method: Sequence[str] | None = None,
    seeds: int = 5,
    seed: int = 204,
    network_seeds: int = 1,
    trees: int = 300,
    jobs: int = 1,
    cache: str | Path | None = None,
    no_cache: bool = False,
    data: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> DeviceComparison:
    """Evaluates device mapping under every protocol: controls, published methods and ours.

    If a call was stopped, the next one resumes from the folds that were finished.

    Args:
        protocol: "published", "kernel", "application", "suite", or "all".
        platform: "amd", "nvidia", or "all".
        method: Patterns of the names of methods to run, such as "opcode*"; default all.
        seeds: Number of runs.
        seed: Of the first of them.
        network_seeds: Number of runs of methods that train a recurrent network, a minute a fold.
        trees: Trees of the controls' forests.
        jobs: Folds run at a time, each with one thread.
        cache: Folder that keeps results of folds; default the user's cache.
        no_cache: Whether to run every fold, and keep none.
        data: Folder of datasets; default NCC_DATA, then the cache.
        progress: Called with a line of text after each fold.

    Returns:
        Scores of every method under every protocol, with 95 % intervals.

    Raises:
        InputError: There is no such protocol, platform or method.
        DataError: The tables or the IR are missing or damaged.
        OutputError: The cache can't be written.

    Reference: Cummins et al. 2017 (data); Ben-Nun et al. 2018, section 6.2 (task).
    """
    from ncc_lab.devices.methods import standard_methods  # with torch

    protocols = choose("protocol", protocol, PROTOCOLS)
    platforms = choose("platform", platform, _PLATFORMS)
    runs, numbers = runs_folder(cache, no_cache), seeds_from(seed, seeds)
    scores: list[DeviceScore] = []
    leakage: list[LeakageReport] = []
    tables: dict[str, DeviceMappingSamples] = {}
    for name in platforms:
        samples = load_samples(name, data)
        known = standard_methods(samples, data, num_trees=trees)
        chosen = [known[one]() for one in choose_methods(method or ("*",), known)]
        legacy = load_legacy_ir(data)
        ir = [legacy[samples.ir_name(row)] for row in range(len(samples))]
        leakage += [audit_leakage(samples, each, fold_seed(each, seed), ir) for each in protocols]
        scores += evaluate_all(
            DeviceMapping(samples),
            chosen,
            protocols,
            numbers,
            num_slow_seeds=network_seeds,
            jobs=jobs,
            cache=runs,
            progress=partial(_tell, progress, name) if progress else None,
        )
        tables[name] = samples
    return DeviceComparison(tuple(scores), tuple(leakage), tables)


def _tell(progress: Callable[[str], None], platform: str, line: str) -> None:
    progress(f"{platform}, {line}")
