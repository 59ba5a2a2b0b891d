"""What a protocol leaks: test rows that share something informative with a training row of their fold."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ncc.arrays import Split
from ncc_lab.report.table import NONE, Cell, Row, Table


@dataclass(frozen=True, kw_only=True)
class LeakageReport:
    """How many test rows have a twin among the training rows of their fold, summed over all folds.

    Args:
        protocol: The protocol that was audited.
        platform: Name of the samples where a task has several tables; else empty.
        seed: The split's seed; None where nothing is drawn.
        num_folds: Folds.
        num_test_rows: Test rows of all folds.
        shared: What a twin shares → test rows that have one; None where that is not known.
    """

    protocol: str
    platform: str = ""
    seed: int | None = None
    num_folds: int
    num_test_rows: int
    shared: Mapping[str, int | None]

    def to_dict(self) -> dict[str, Any]:
        """Plain values by name, as ``--json`` prints them."""
        about = {name: getattr(self, name) for name in ("protocol", "platform", "seed", "num_test_rows")}
        return about | {f"shared_{what}": number for what, number in self.shared.items()}


def audit(
    protocol: str, folds: Sequence[Split], columns: Mapping[str, Iterable[Hashable] | None], **about: Any
) -> LeakageReport:
    """Count the test rows that share something with a training row of their fold.

    Args:
        protocol: Its name.
        folds: Training and test rows.
        columns: What may be shared → its value in each row; None where that is not known.
        about: Platform and seed, if there are any.
    """

    def shared(column: Iterable[Hashable]) -> int:
        numbers: dict[Hashable, int] = {}
        codes = np.array([numbers.setdefault(value, len(numbers)) for value in column])
        return sum(int(np.isin(codes[test], codes[train]).sum()) for train, test in folds)

    return LeakageReport(
        protocol=protocol,
        num_folds=len(folds),
        num_test_rows=sum(len(test) for _, test in folds),
        shared={what: None if column is None else shared(column) for what, column in columns.items()},
        **about,
    )


def leakage_table(reports: Sequence[LeakageReport]) -> Table:
    """Return the shares of test rows that have a twin, a row for each report."""
    rows = [
        Row(
            ", ".join(filter(None, (report.protocol, report.platform))),
            [Cell(str(report.num_folds))]
            + [
                Cell(NONE) if number is None else Cell(f"{number / report.num_test_rows:.1%}", f"{number} rows")
                for number in report.shared.values()
            ],
        )
        for report in reports
    ]
    columns = ["protocol and platform" if any(report.platform for report in reports) else "protocol"]
    return Table("Test rows that share with a training row their …", [*columns, "folds", *reports[0].shared], rows)
