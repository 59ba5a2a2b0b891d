"""Text and HTML of a result: its answer in fixed columns, then labeled details."""

import textwrap
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from ncc.system.files.text import escape_control, escape_html

WIDTH = 100
"""Columns of a line; a longer name runs over."""
_COLUMNS = (18, 27, 13)
_INDENT = 12
"""Columns for the label before the text of a detail."""
_LAST = ("assumed", "caution", "because", "unknown")
"""Details that come after all others."""
_MIN_UNKNOWN = 0.05
_wrap = partial(textwrap.wrap, break_long_words=False, break_on_hyphens=False)
_COLORS = {"CPU": "36", "GPU": "32", "undecided": "33", "no": "33"}


@dataclass(frozen=True, kw_only=True)
class Summary:
    """An answer for people, about a subject such as a kernel's name; details without text are skipped."""

    verdict: str
    interval: str = ""
    confidence: str = ""
    subject: str = ""
    details: Sequence[tuple[str, str | Sequence[str]]] = ()  # label, and a text, which is wrapped, or lines

    def add(self, *details: tuple[str, str | Sequence[str]]) -> "Summary":
        """Add details in the order that is common to all answers."""
        ordered = sorted([*self.details, *details], key=lambda each: each[0] in _LAST and 1 + _LAST.index(each[0]))
        return replace(self, details=ordered)

    def lines(self, source: str = "", *, color: bool = False) -> str:
        """Return the answer as text of lines."""
        cells = (self.verdict, self.interval, self.confidence)
        padded = [f"{cell} ".ljust(width) for cell, width in zip(cells, _COLUMNS, strict=True)]
        if color:
            code = _COLORS.get(self.verdict.partition(" ")[0], "1")
            padded[0] = f"\x1b[{code}m{padded[0]}\x1b[0m"
        name = ": ".join(escape_control(part, lines=False) for part in (source, self.subject) if part)
        text, last = ["".join([*padded, name]).rstrip()], ""
        for label, shown in self.details:
            start = f"  {label}".ljust(_INDENT)
            for line in _wrap(shown, WIDTH - len(start)) if isinstance(shown, str) else shown:
                shown_label = " " * len(start) if label == last else start
                text.append((shown_label + escape_control(line, lines=False)).rstrip())
                last = label
        return "\n".join(text)

    def to_html(self) -> str:
        """Return the answer as a table for a notebook."""
        head = " · ".join(filter(None, (self.verdict, self.interval, self.confidence)))
        rows = ""
        for label, shown in self.details:
            if shown:
                lines = map(escape_html, [shown] if isinstance(shown, str) else shown)
                rows += f"<tr><th>{escape_html(label)}</th><td>{'<br>'.join(lines)}</td></tr>"
        caption = f"{escape_html(self.subject)}: " if self.subject else ""
        return f"<table><caption>{caption}<b>{escape_html(head)}</b></caption>{rows}</table>"


class Summarized(ABC):
    """A result that is shown by its summary."""

    @abstractmethod
    def summary(self) -> Summary:
        """Return the answer for people."""

    def __str__(self) -> str:
        return self.summary().lines()

    def _repr_html_(self) -> str:
        return self.summary().to_html()


def format_ratio(ratio: float) -> str:
    """Format a ratio with two significant digits, or three near 1, to show its side of 1."""
    digits = 2 if ratio < 1.05 else 1 if ratio < 9.95 else 0
    return f"{ratio if digits else float(f'{ratio:.2g}'):.{digits}f}x"


def format_unknown(unknown_rate: float, num_statements: int) -> str:
    """Format the share of statements that are not in the vocabulary; empty below 5%."""
    if unknown_rate < _MIN_UNKNOWN:
        return ""
    return f"{unknown_rate:.1%} of {num_statements:,} statements are not in the vocabulary"
