"""Tables for the thread-coarsening report: all methods under a protocol, and the best of each kind."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from ncc.learning.heads.figures import Estimate
from ncc.tasks.coarsening.samples import DEVICE_TITLES
from ncc_lab.coarsening.metrics import CoarseningMetrics
from ncc_lab.coarsening.task import CoarseningScore
from ncc_lab.report.coarsening_figures import mean_speedup
from ncc_lab.report.kinds import best_of_kinds
from ncc_lab.report.table import NONE, Cell, Column, Row, Table, score_row, show, table_of, table_of_kinds

PROTOCOL_TITLES = {
    "kernel": "kernels never seen, each left out with all its devices (the headline)",
    "source": "the same, but kernels of one text are left out together",
    "pair": "one pair of kernel and device is left out, so the kernel is in training on other devices (IR2Vec's)",
    "device": "a kernel on one device is left out, trained on that device's other rows (Magni et al.'s, DeepTune's)",
}
_FIGURES: dict[str, tuple[Callable[[CoarseningMetrics], Estimate], str, int]] = {
    "mean speedup": (lambda metrics: metrics.mean_speedup, "×", 2),
    "geometric-mean speedup": (lambda metrics: metrics.geomean_speedup, "×", 2),
    "share of the oracle": (lambda metrics: metrics.share_of_oracle, "%", 1),
    "exact": (lambda metrics: metrics.accuracy, "%", 1),
}


def _columns(group: str = "") -> list[Column[CoarseningScore]]:
    def column(
        title: str, pick: Callable[[CoarseningMetrics], Estimate], unit: str, places: int
    ) -> Column[CoarseningScore]:
        return Column(title, lambda score: pick(score.metrics), unit, places, is_ranked=True, group=group)

    return [column(title, *shown) for title, shown in _FIGURES.items()]


def summary_table(protocols: Mapping[str, Sequence[CoarseningScore]]) -> Table:
    """Return the best method of each kind under each protocol."""
    best = {protocol: best_of_kinds(some, mean_speedup) for protocol, some in protocols.items()}
    caption = "The method of highest mean speedup of each kind; here a star marks the best of its row"
    return table_of_kinds(caption, "protocol", _columns()[:2], best)


def scores_table(scores: Sequence[CoarseningScore]) -> Table:
    """Return all methods under one protocol, and a perfect choice."""
    first = scores[0]
    columns = [
        *_columns("all devices"),
        *(
            Column[CoarseningScore](
                DEVICE_TITLES.get(device, device),
                partial(_mean_on, device),
                *("×", 2),
                is_ranked=True,
                group="mean speedup on",
            )
            for device in first.parts
        ),
        Column[CoarseningScore]("not measured", lambda score: score.metrics.share_unmeasured, "%"),
        Column[CoarseningScore]("seeds", lambda score: str(len(score.seeds))),
        Column[CoarseningScore]("seconds", lambda score: score.seconds),
    ]
    title = PROTOCOL_TITLES.get(first.protocol, "another protocol")
    table = table_of(f"{first.protocol}: {title}; {first.num_groups} groups", columns, scores, row=score_row)
    oracle = [show(pick(first.oracle), unit, places) for pick, unit, places in _FIGURES.values()]
    rest = [Cell(NONE)] * (len(columns) - len(oracle))
    return Table(
        table.caption,
        table.columns,
        [*table.rows, Row("a perfect choice", [*oracle, *rest], style="oracle")],
        table.groups,
    )


def _mean_on(device: str, score: CoarseningScore) -> float:
    return score.parts[device].mean_speedup.value
