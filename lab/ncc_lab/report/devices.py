"""Tables for the device-mapping report: all methods by protocol and platform, and the best of each kind."""

from collections.abc import Mapping, Sequence
from typing import Any

from ncc_lab.devices.task import DeviceScore
from ncc_lab.report.device_figures import accuracy
from ncc_lab.report.kinds import KIND_TITLES, best_of_kinds
from ncc_lab.report.table import NONE, Cell, Column, Row, Table, score_row, table_of, table_of_kinds

PROTOCOL_TITLES = {
    "published": "10 folds over rows, as in the papers, so that most kernels are in training at another data size",
    "kernel": "kernels never seen, all rows of one left out together",
    "application": "applications never seen, all kernels of one left out together",
    "suite": "benchmark suites never seen, each left out in turn",
}


def _over_seeds(score: DeviceScore) -> str:
    seeds = score.metrics.accuracy.per_seed
    return f"{seeds.min():.1%}–{seeds.max():.1%}"


_ACCURACY = Column[DeviceScore]("accuracy", accuracy, "%", is_ranked=True)
_SPEEDUP = Column[DeviceScore](
    "geometric-mean speedup", lambda score: score.metrics.geomean_speedup, "×", 2, is_ranked=True
)
_ORACLE = Column[DeviceScore]("share of the oracle", lambda score: score.metrics.share_of_oracle, "%", is_ranked=True)
_COVERAGE = Column[DeviceScore]("coverage of the 80% interval", lambda score: score.metrics.coverage, "%")
_SECONDS = Column[DeviceScore]("seconds", lambda score: score.seconds)
_HEADLINE = [_ACCURACY, _SPEEDUP]
_IN_TEXT = [_ACCURACY, _SPEEDUP, _ORACLE, _COVERAGE, _SECONDS]
_ALL = [
    _ACCURACY,
    Column[DeviceScore]("macro F1", lambda score: score.metrics.macro_f1, "%", is_ranked=True),
    _SPEEDUP,
    Column[DeviceScore]("arithmetic-mean speedup", lambda score: score.metrics.mean_speedup, "×", 2, is_ranked=True),
    _ORACLE,
    _COVERAGE,
    Column[DeviceScore]("accuracy over the seeds", _over_seeds),
    Column[DeviceScore]("seeds", lambda score: str(len(score.seeds))),
    _SECONDS,
]


Protocols = Mapping[str, Sequence[DeviceScore]]


def device_tables(platforms: Mapping[str, Protocols]) -> dict[str, Any]:
    """Return the tables of a page by name, from the scores of each protocol on each platform."""
    return {
        "summary": _summary(platforms),
        "headlines": {name: _headline(name, protocols) for name, protocols in platforms.items()},
        "details": {
            name: {protocol: scores_table(some, _ALL) for protocol, some in protocols.items()}
            for name, protocols in platforms.items()
        },
    }


def _summary(platforms: Mapping[str, Protocols]) -> Table:
    best = {
        f"{platform}, {protocol}": best_of_kinds(some, accuracy)
        for platform, protocols in platforms.items()
        for protocol, some in protocols.items()
    }
    caption = "The most accurate method of each kind; here a star marks the best of its row"
    return table_of_kinds(caption, "platform and protocol", _HEADLINE, best)


def _headline(platform: str, protocols: Protocols) -> Table:
    """All methods, with the headline figures of every protocol side by side."""
    scores = [score for some in protocols.values() for score in some]
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


def scores_table(scores: Sequence[DeviceScore], columns: Sequence[Column[DeviceScore]] = _IN_TEXT) -> Table:
    """Return all methods under one protocol on one platform."""
    first = scores[0]
    caption = (
        f"{first.platform}, {first.protocol}: speedups over always {first.metrics.static_choice}, intervals drawn from "
        f"{first.num_groups} {first.interval_unit}s"
    )
    return table_of(caption, columns, scores, row=score_row)
