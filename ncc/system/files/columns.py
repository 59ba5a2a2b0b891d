"""Plain text columns as wide as necessary, without rules or wrapping, the same wherever they are printed."""

from collections.abc import Collection, Sequence


def aligned(rows: Sequence[Sequence[str]], *, left: Collection[int] = (0,)) -> list[str]:
    """Rows as lines.

    Args:
        rows: Cells, as many in each row.
        left: Numbers of the columns that begin on the left, as words do; figures end on the right.

    Examples:
        >>> aligned([("file", "lines"), ("a.ll", "7")])
        ['file  lines', 'a.ll      7']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = (
            cell.ljust(width) if number in left else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        lines.append("  ".join(cells).rstrip())
    return lines
