"""The report of a comparison on thread coarsening: tables of all methods, what the protocols let through, pictures."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ncc.coarsening.samples import DEVICE_TITLES, CoarseningSamples
from ncc.errors import InputError
from ncc.study.bootstrap import Estimate
from ncc.study.coarsening.evaluation import CoarseningScore
from ncc.study.coarsening.metrics import Metrics
from ncc.study.coarsening.protocols import Protocol, audit_leakage
from ncc.study.report.coarsening_figures import coarsening_figures, mean_speedup
from ncc.study.report.kinds import KIND_TITLES, best_of_kinds, by_protocol, coarsening_kind
from ncc.study.report.markup import Cell, Html, Row, element, estimate_cell, table
from ncc.study.report.page import Section, provenance, render_page

if TYPE_CHECKING:  # comparing loads every method, and torch with it
    from ncc.study.coarsening.comparison import CoarseningComparison

__all__ = ["coarsening_report"]

Score = CoarseningScore

PROTOCOL_TITLES = {
    "kernel": "kernels never seen, each left out with all its devices (the headline)",
    "source": "the same, but kernels of one text are left out together",
    "pair": "one pair of kernel and device is left out, so the kernel is in training on other devices (IR2Vec's)",
    "device": "a kernel on one device is left out, trained on that device's other rows (Magni et al.'s, DeepTune's)",
}
_INTRODUCTION = (
    "How many work-items of an OpenCL kernel should be merged into one? Every method below chose a factor from 1 to 32 "
    "for kernels and devices that it had not seen, and is scored by the runtimes that were measured.",
    "Controls know no code, or nothing but counts of its opcodes. A method that learns from code has shown something "
    "only where it is better than all of them under the same protocol.",
)
_READING = (
    "Speedup is over no coarsening. Share of the oracle compares with the best factor of each row, exact is the share "
    "of rows given just that one. Under a figure, which is the mean over all seeds, stands its 95 % interval: how far "
    "it could be off because of which kernels happen to be in the table. With so few kernels it is wide; a star marks "
    "the best of its column, and often means little."
)
_COLUMNS = {
    "mean_speedup": ("mean speedup", False),
    "geomean_speedup": ("geometric-mean speedup", False),
    "share_of_oracle": ("share of the oracle", True),
    "accuracy": ("exact", True),
}
_HEADLINE = ("mean_speedup", "geomean_speedup")


def coarsening_report(comparison: "CoarseningComparison", samples: CoarseningSamples, about: Mapping[str, Any]) -> str:
    """Return a report as one HTML document that needs no other file and no net.

    Args:
        comparison: What was measured.
        samples: The samples that it was measured on.
        about: What is known of the run: command, versions, hardware; see `ncc.runtime.provenance`.

    Raises:
        InputError: There are no scores, the samples are not those of the scores, or matplotlib is not installed.
    """
    scores = comparison.scores
    if not scores:
        raise InputError("expected at least one score to report, found none")
    for score in scores:
        if score.num_samples != len(samples):
            raise InputError(f"expected samples of {score.num_samples} rows, found {len(samples)}")
    protocols = by_protocol(scores)
    sections = [
        Section("What was run", [_scope(scores), provenance(about)]),
        Section("In short", [element("p", _READING), _summary(protocols)]),
        Section("Scores", [_protocol_table(protocol, some) for protocol, some in protocols.items()]),
        Section(
            "What the protocols let through", _leakage(list(dict.fromkeys(score.protocol for score in scores)), samples)
        ),
        Section("Pictures", coarsening_figures(scores, samples)),
    ]
    return render_page("Thread coarsening: every method under every protocol", _INTRODUCTION, sections)


def _scope(scores: Sequence[Score]) -> Html:
    protocols = list(dict.fromkeys(score.protocol for score in scores))
    seeds = max((score.seeds for score in scores), key=len)
    return element(
        "p",
        f"{len({score.method for score in scores})} methods, protocols {', '.join(protocols)}, seeds "
        f"{', '.join(map(str, seeds))}, {scores[0].num_samples} pairs of kernel and device; "
        f"{sum(score.seconds for score in scores):,.0f} seconds of fitting and predicting. No run is left out.",
    )


def _estimate(metrics: Metrics, name: str) -> Estimate:
    found: Estimate = getattr(metrics, name)
    return found


def _cells(score: Score | None, among: Sequence[Score], names: Sequence[str]) -> list[Cell | str]:
    if score is None:
        return ["–"] * len(names)
    cells: list[Cell | str] = []
    for name in names:
        best = max(_estimate(other.metrics, name).value for other in among)
        found = _estimate(score.metrics, name)
        cells.append(estimate_cell(found, percent=_COLUMNS[name][1], is_best=found.value == best))
    return cells


def _summary(protocols: Mapping[str, Sequence[Score]]) -> Html:
    rows = []
    for protocol, some in protocols.items():
        best = best_of_kinds(some, coarsening_kind, mean_speedup)
        cells: list[Cell | str] = []
        for kind in KIND_TITLES:
            cells += [Cell(best[kind].method, is_name=True) if kind in best else "–"]
            cells += _cells(best.get(kind), list(best.values()), _HEADLINE)
        rows.append(Row(protocol, cells))
    columns = ["protocol"] + ["method", *(_COLUMNS[name][0] for name in _HEADLINE)] * len(KIND_TITLES)
    groups = [(title, 3) for title in KIND_TITLES.values()]
    caption = "The method of highest mean speedup of each kind; here a star marks the best of its row"
    return table(caption, columns, rows, groups=groups)


def _protocol_table(protocol: str, scores: Sequence[Score]) -> Html:
    devices = list(scores[0].by_device)
    best = {device: max(mean_on(score, device) for score in scores) for device in devices}
    rows = []
    for score in scores:
        kind = coarsening_kind(score.method)
        cells = _cells(score, scores, list(_COLUMNS))
        for device in devices:
            value = mean_on(score, device)
            cells.append(Cell(f"{value:.2f}×", is_best=value == best[device]))
        cells += [f"{score.metrics.share_unmeasured:.1%}", str(len(score.seeds)), f"{score.seconds:,.1f}"]
        rows.append(Row(score.method, cells, note=KIND_TITLES[kind], style=kind))
    oracle = scores[0].oracle
    of_oracle = [estimate_cell(_estimate(oracle, name), percent=share) for name, (_, share) in _COLUMNS.items()]
    rows.append(Row("a perfect choice", [*of_oracle, *["–"] * (len(devices) + 3)], style="oracle"))
    titles = [title for title, _ in _COLUMNS.values()]
    on = [DEVICE_TITLES.get(device, device) for device in devices]
    caption = f"{protocol}: {PROTOCOL_TITLES.get(protocol, 'another protocol')}; {scores[0].num_groups} groups"
    columns = ["method", *titles, *on, "not measured", "seeds", "seconds"]
    groups = [("all devices", len(titles)), ("mean speedup on", len(devices)), ("", 3)]
    return table(caption, columns, rows, groups=groups)


def mean_on(score: Score, device: str) -> float:
    """Return the mean speedup on one device."""
    return score.by_device[device].mean_speedup.value


def _leakage(protocols: Sequence[Protocol], samples: CoarseningSamples) -> list[Html]:
    words = element(
        "p",
        "Share of the test rows whose kernel, by name or by text, is among the training rows of their fold. Where it "
        "is, a meaningless vector for each kernel is enough to look its factor up.",
    )
    rows = []
    for protocol in protocols:
        report = audit_leakage(samples, protocol)
        cells = [
            Cell(f"{number / report.num_test_rows:.1%}", f"{number} rows")
            for number in (report.shared_kernel, report.shared_source)
        ]
        rows.append(Row(protocol, [str(report.num_folds), *cells]))
    caption = "Test rows that share with a training row their …"
    return [words, table(caption, ["protocol", "folds", "kernel", "source"], rows)]
