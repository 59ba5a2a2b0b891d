"""The report of a comparison on device mapping: tables of all methods, what the protocols let through, pictures."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ncc.devices.samples import DeviceMappingSamples
from ncc.errors import InputError
from ncc.runtime.pages import render_page
from ncc.study.devices.task import DeviceMappingScore
from ncc.study.leakage import leakage_table
from ncc.study.report.device_figures import accuracy, device_figures
from ncc.study.report.kinds import KIND_TITLES, best_of_kinds, by_protocol
from ncc.study.report.table import NONE, Cell, Column, Row, Table, score_row, table_of, table_of_kinds

if TYPE_CHECKING:
    from ncc.study.devices.comparison import DeviceComparison

Score = DeviceMappingScore

PROTOCOL_TITLES = {
    "published": "10 folds over rows, as in the papers, so that most kernels are in training at another data size",
    "kernel": "kernels never seen, all rows of one left out together",
    "application": "applications never seen, all kernels of one left out together",
    "suite": "benchmark suites never seen, each left out in turn",
}


def _over_seeds(score: Score) -> str:
    seeds = score.metrics.accuracy.per_seed
    return f"{seeds.min():.1%}–{seeds.max():.1%}"


_ACCURACY = Column[Score]("accuracy", accuracy, "%", is_ranked=True)
_SPEEDUP = Column[Score]("geometric-mean speedup", lambda score: score.metrics.geomean_speedup, "×", 2, is_ranked=True)
_ORACLE = Column[Score]("share of the oracle", lambda score: score.metrics.share_of_oracle, "%", is_ranked=True)
_COVERAGE = Column[Score]("coverage of the 80% interval", lambda score: score.metrics.coverage, "%")
_SECONDS = Column[Score]("seconds", lambda score: score.seconds)
_HEADLINE = [_ACCURACY, _SPEEDUP]
_IN_TEXT = [_ACCURACY, _SPEEDUP, _ORACLE, _COVERAGE, _SECONDS]
_ALL = [
    _ACCURACY,
    Column[Score]("macro F1", lambda score: score.metrics.macro_f1, "%", is_ranked=True),
    _SPEEDUP,
    Column[Score]("arithmetic-mean speedup", lambda score: score.metrics.mean_speedup, "×", 2, is_ranked=True),
    _ORACLE,
    _COVERAGE,
    Column[Score]("accuracy over the seeds", _over_seeds),
    Column[Score]("seeds", lambda score: str(len(score.seeds))),
    _SECONDS,
]


def device_report(
    comparison: "DeviceComparison", samples: Mapping[str, DeviceMappingSamples], about: Mapping[str, Any]
) -> str:
    """Return a report as one HTML document that needs no other file and no net.

    Args:
        comparison: What was measured.
        samples: Platform → the samples that it was measured on.
        about: What is known of the run: command, versions, hardware; see `ncc.runtime.provenance`.

    Raises:
        InputError: There are no scores, or the samples are not those of the scores.
    """
    if not comparison.scores:
        raise InputError("expected at least one score to report, found none")
    for score in comparison.scores:
        if score.platform not in samples or len(samples[score.platform]) != score.num_samples:
            found = ", ".join(f"{platform} with {len(some)}" for platform, some in samples.items()) or "none"
            raise InputError(f"expected samples of {score.platform} with {score.num_samples} rows; found {found}")
    platforms = _by_platform(comparison.scores)
    return render_page(
        "devices.html.j2",
        title="Device mapping: every method under every protocol",
        scores=comparison.scores,
        seeds=max((score.seeds for score in comparison.scores), key=len),
        about=about,
        protocols=PROTOCOL_TITLES,
        summary=_summary(platforms),
        headlines={name: _headline(name, scores) for name, scores in platforms.items()},
        details={
            name: {protocol: _details(some, _ALL) for protocol, some in by_protocol(scores).items()}
            for name, scores in platforms.items()
        },
        leakage=leakage_table(comparison.leakage),
        pictures={name: device_figures(scores, samples[name]) for name, scores in platforms.items()},
    )


def device_tables(comparison: "DeviceComparison") -> list[Table]:
    """Return tables for a terminal: every method under every protocol, then what the protocols let through."""
    platforms = _by_platform(comparison.scores)
    tables = [_details(some, _IN_TEXT) for scores in platforms.values() for some in by_protocol(scores).values()]
    return [*tables, leakage_table(comparison.leakage)] if comparison.leakage else tables


def _by_platform(scores: Sequence[Score]) -> dict[str, list[Score]]:
    platforms = dict.fromkeys(score.platform for score in scores)
    return {name: [score for score in scores if score.platform == name] for name in platforms}


def _summary(platforms: Mapping[str, Sequence[Score]]) -> Table:
    best = {
        f"{platform}, {protocol}": best_of_kinds(some, accuracy)
        for platform, scores in platforms.items()
        for protocol, some in by_protocol(scores).items()
    }
    caption = "The most accurate method of each kind; here a star marks the best of its row"
    return table_of_kinds(caption, "platform and protocol", _HEADLINE, best)


def _headline(platform: str, scores: Sequence[Score]) -> Table:
    """All methods, with the headline figures of every protocol side by side."""
    protocols = by_protocol(scores)
    cells: dict[str, dict[str, Sequence[Cell]]] = {score.method: {} for score in scores}
    kinds = {score.method: score.kind for score in scores}
    for protocol, some in protocols.items():
        for score, row in zip(some, table_of("", _HEADLINE, some, row=score_row).rows, strict=True):
            cells[score.method][protocol] = row.cells
    rows = []
    for method, of_protocol in cells.items():
        shown = [cell for name in protocols for cell in of_protocol.get(name, [Cell(NONE)] * len(_HEADLINE))]
        rows.append(Row(method, shown, note=KIND_TITLES[kinds[method]], style=kinds[method]))
    oracle = [
        Cell(text) for some in protocols.values() for text in ("100.0%", f"{some[0].oracle.geomean_speedup.value:.2f}×")
    ]
    rows.append(Row("a perfect choice", oracle, style="oracle"))
    columns = ["method"] + [column.title for column in _HEADLINE] * len(protocols)
    groups = [(protocol, len(_HEADLINE)) for protocol in protocols]
    return Table(f"All methods on {platform}, by protocol", columns, rows, groups)


def _details(scores: Sequence[Score], columns: Sequence[Column[Score]]) -> Table:
    """All methods under one protocol on one platform."""
    first = scores[0]
    caption = (
        f"{first.platform}, {first.protocol}: speedups over always {first.metrics.static_choice}, intervals drawn from "
        f"{first.num_groups} {first.interval_unit}s"
    )
    return table_of(caption, columns, scores, row=score_row)
