"""The report of a comparison on device mapping: tables of all methods, what the protocols let through, pictures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from ncc.devices.samples import DeviceMappingSamples
from ncc.errors import InputError
from ncc.study.bootstrap import Estimate
from ncc.study.devices.evaluation import DeviceMappingScore
from ncc.study.devices.protocols import LeakageReport
from ncc.study.report.device_figures import device_figures
from ncc.study.report.kinds import KIND_TITLES, best_of_kinds, by_protocol, device_kind
from ncc.study.report.markup import Cell, Html, Row, element, estimate_cell, table
from ncc.study.report.page import Section, provenance, render_page

if TYPE_CHECKING:  # comparing loads every method, and torch with it
    from ncc.study.devices.comparison import DeviceComparison

__all__ = ["device_report"]

Score = DeviceMappingScore

PROTOCOL_TITLES = {
    "published": "10 folds over rows, as in the papers, so that most kernels are in training at another data size",
    "kernel": "kernels never seen, all rows of one left out together",
    "application": "applications never seen, all kernels of one left out together",
    "suite": "benchmark suites never seen, each left out in turn",
}
_INTRODUCTION = (
    "Which device runs an OpenCL kernel faster, the CPU or the GPU? Every method below predicted that for rows that it "
    "had not seen, and is scored by what was measured.",
    "Controls know no code, or nothing but counts of its opcodes. A method that learns from code has shown something "
    "only where it is better than all of them under the same protocol.",
)
_READING = (
    "Accuracy is the share of rows given to their faster device. Speedup is over the best static choice, the one "
    "device that is faster in most rows, as a geometric mean. Under a figure, which is the mean over all seeds, stands "
    "its 95 % interval: how far it could be off because of which groups of kernels happen to be in the table. A "
    "star marks the best of its column; where intervals overlap widely, it means little."
)
_COLUMNS: dict[str, tuple[str, bool]] = {
    "accuracy": ("accuracy", True),
    "macro_f1": ("macro F1", True),
    "geomean_speedup": ("geometric-mean speedup", False),
    "mean_speedup": ("arithmetic-mean speedup", False),
    "share_of_oracle": ("share of the oracle", True),
}
_HEADLINE = ("accuracy", "geomean_speedup")
_SHARED = {
    field.name: field.name.removeprefix("shared_") for field in fields(LeakageReport) if field.name.startswith("shared")
}


def device_report(
    comparison: "DeviceComparison", samples: Mapping[str, DeviceMappingSamples], about: Mapping[str, Any]
) -> str:
    """Return a report as one HTML document that needs no other file and no net.

    Args:
        comparison: What was measured.
        samples: Platform → the samples that it was measured on.
        about: What is known of the run: command, versions, hardware; see `ncc.runtime.provenance`.

    Raises:
        InputError: There are no scores, the samples are not those of the scores, or matplotlib is not installed.
    """
    if not comparison.scores:
        raise InputError("expected at least one score to report, found none")
    for score in comparison.scores:
        if score.platform not in samples or len(samples[score.platform]) != score.num_samples:
            found = ", ".join(f"{platform} with {len(some)}" for platform, some in samples.items()) or "none"
            raise InputError(f"expected samples of {score.platform} with {score.num_samples} rows; found {found}")
    platforms = list(dict.fromkeys(score.platform for score in comparison.scores))
    by_platform = {name: [score for score in comparison.scores if score.platform == name] for name in platforms}
    sections = [
        Section("What was run", [_scope(comparison), provenance(about)]),
        Section("In short", [element("p", _READING), _summary(by_platform)]),
        *(
            Section(f"Scores on {name}", [_headline(name, scores), *_details(name, scores)])
            for name, scores in by_platform.items()
        ),
        Section("What the protocols let through", _leakage(comparison.leakage)),
        *(
            Section(f"Pictures for {name}", device_figures(scores, samples[name]))
            for name, scores in by_platform.items()
        ),
    ]
    return render_page("Device mapping: every method under every protocol", _INTRODUCTION, sections)


def _scope(comparison: "DeviceComparison") -> Html:
    scores = comparison.scores
    protocols = list(dict.fromkeys(score.protocol for score in scores))
    seeds = max((score.seeds for score in scores), key=len)
    return element(
        "p",
        f"{len({score.method for score in scores})} methods, {len({score.platform for score in scores})} platforms, "
        f"protocols {', '.join(protocols)}, seeds {', '.join(map(str, seeds))}, {scores[0].num_samples} rows each; "
        f"{sum(score.seconds for score in scores):,.0f} seconds of fitting and predicting. No run is left out.",
    )


def _figure(name: str) -> Callable[[Score], Estimate]:
    def pick(score: Score) -> Estimate:
        found: Estimate = getattr(score.metrics, name)
        return found

    return pick


def _cells(score: Score | None, among: Sequence[Score], names: Sequence[str]) -> list[Cell | str]:
    if score is None:
        return ["–"] * len(names)
    cells: list[Cell | str] = []
    for name in names:
        figure = _figure(name)
        best = max(figure(other).value for other in among)
        cells.append(estimate_cell(figure(score), percent=_COLUMNS[name][1], is_best=figure(score).value == best))
    return cells


def _summary(by_platform: Mapping[str, Sequence[Score]]) -> Html:
    rows = []
    for platform, scores in by_platform.items():
        for protocol, some in by_protocol(scores).items():
            best = best_of_kinds(some, device_kind, _figure("accuracy"))
            cells: list[Cell | str] = []
            for kind in KIND_TITLES:
                cells += [Cell(best[kind].method, is_name=True) if kind in best else "–"]
                cells += _cells(best.get(kind), list(best.values()), _HEADLINE)
            rows.append(Row(f"{platform}, {protocol}", cells))
    columns = ["platform and protocol"] + ["method", "accuracy", "geometric-mean speedup"] * len(KIND_TITLES)
    groups = [(title, 3) for title in KIND_TITLES.values()]
    caption = "The most accurate method of each kind; here a star marks the best of its row"
    return table(caption, columns, rows, groups=groups)


def _headline(platform: str, scores: Sequence[Score]) -> Html:
    protocols = by_protocol(scores)
    names = list(dict.fromkeys(score.method for score in scores))
    rows = []
    for name in names:
        cells: list[Cell | str] = []
        for some in protocols.values():
            cells += _cells(next((score for score in some if score.method == name), None), some, _HEADLINE)
        rows.append(_row(name, cells))
    oracle: list[Cell | str] = []
    for some in protocols.values():
        oracle += ["100.0 %", f"{some[0].oracle.geomean_speedup.value:.2f}×"]
    rows.append(Row("a perfect choice", oracle, style="oracle"))
    columns = ["method"] + ["accuracy", "geometric-mean speedup"] * len(protocols)
    groups = [(protocol, 2) for protocol in protocols]
    return table(f"All methods on {platform}, by protocol", columns, rows, groups=groups)


def _row(name: str, cells: Sequence[Cell | str]) -> Row:
    kind = device_kind(name)
    return Row(name, cells, note=KIND_TITLES[kind], style=kind)


def _details(platform: str, scores: Sequence[Score]) -> list[Html]:
    parts = []
    for protocol, some in by_protocol(scores).items():
        rows = []
        for score in some:
            seeds = score.metrics.accuracy.per_seed
            coverage = estimate_cell(score.coverage, percent=True) if score.coverage else "–"
            spread = f"{seeds.min():.1%}–{seeds.max():.1%}"
            rest = [coverage, spread, str(len(score.seeds)), f"{score.seconds:,.1f}"]
            rows.append(_row(score.method, [*_cells(score, some, list(_COLUMNS)), *rest]))
        first = some[0]
        caption = (
            f"{platform}, {protocol}: speedups over always {first.static_choice}, intervals drawn from "
            f"{first.num_groups} {first.interval_unit}s"
        )
        titles = [title for title, _ in _COLUMNS.values()]
        columns = ["method", *titles, "coverage of the 80 % interval", "accuracy over the seeds", "seeds", "seconds"]
        summary = element("summary", f"All figures, {protocol}: {PROTOCOL_TITLES.get(protocol, 'another protocol')}")
        parts.append(element("details", summary, table(caption, columns, rows)))
    return parts


def _leakage(reports: Sequence[LeakageReport]) -> list[Html]:
    words = element(
        "p",
        "Share of the test rows that have a twin among the training rows of their fold, for the folds of the first "
        "seed. Where kernels or sources are shared, a method can do well by remembering them. Where exact transfer "
        "sizes are, even two numbers without any code are a fingerprint.",
    )
    meanings = element(
        "ul", *(element("li", element("b", name), f": {text}") for name, text in PROTOCOL_TITLES.items())
    )
    rows = []
    for report in reports:
        cells = []
        for name in _SHARED:
            number = getattr(report, name)
            cells.append(
                Cell("–") if number is None else Cell(f"{number / report.num_test_rows:.1%}", f"{number} rows")
            )
        rows.append(Row(f"{report.protocol}, {report.platform}", cells))
    caption = "Test rows that share with a training row their …"
    return [words, meanings, table(caption, ["protocol and platform", *_SHARED.values()], rows)]
