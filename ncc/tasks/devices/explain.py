"""Which lines drove an answer: how it would change if each source line's statements did nothing.

Reference: Zeiler and Fergus 2014 (occlusion), here on lines of code.
"""

import math
import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ncc.arrays import Ints32
from ncc.errors import InputError
from ncc.ir.frontend.options import CompileOptions
from ncc.kernels.reading import Kernel, Source, read_kernels
from ncc.learning.embedding.embedding import AnyEmbedding, load_embedding
from ncc.system.files.pages import html_table
from ncc.system.files.text import source_name
from ncc.tasks.devices.devices_head import TimesHead
from ncc.tasks.devices.features import check_sizes
from ncc.tasks.devices.predict import bytes_moved, choose_head

_MOST_WORK = 2**19
"""Statements that are described, once for each line: about a minute and a half of work."""


@dataclass(frozen=True, kw_only=True)
class LineShare:
    """What one source line, or one statement where lines don't tell statements apart, contributed.

    Attributes:
        line: Line of the source, or 0.
        statements: Abstracted texts of its statements, each once.
        effect: Log(CPU time / GPU time) as predicted less what it would be without them: positive speaks for the GPU.
    """

    line: int
    statements: tuple[str, ...]
    effect: float

    @property
    def speaks_for(self) -> str:
        """The device that it makes more probable."""
        return "GPU" if self.effect > 0 else "CPU"


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """What drove the answer for one kernel.

    Attributes:
        kernel: The kernel's name.
        log_ratio: Predicted log(CPU time / GPU time).
        lines: Contributions, the strongest first. They need not add up: lines that do the same share their effect.
    """

    kernel: str
    log_ratio: float
    lines: tuple[LineShare, ...]

    def __repr__(self) -> str:
        return f"Explanation({self.kernel!r}: log_ratio={self.log_ratio:.3g}, {len(self.lines)} lines)"

    def _repr_html_(self) -> str:
        rows = [
            (
                share.line or "",
                f"{math.exp(abs(share.effect)):.2f}× for the {share.speaks_for}",
                "; ".join(share.statements),
            )
            for share in self.lines
        ]
        caption = f"{source_name(self.kernel)}: log(CPU time / GPU time) is {self.log_ratio:.2f}"
        return html_table(caption, ("line", "effect", "statements"), rows)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values by name."""
        lines = [
            {"line": share.line, "statements": list(share.statements), "effect": share.effect} for share in self.lines
        ]
        return {"kernel": self.kernel, "log_ratio": self.log_ratio, "lines": lines}


def explain_device(
    source: Source,
    *,
    transfer_bytes: float | None = None,
    wgsize: float | None = None,
    global_size: float | None = None,
    platform: str | None = None,
    options: CompileOptions | None = None,
    language: str | None = None,
    head: TimesHead | str | os.PathLike[str] | None = None,
    embedding: AnyEmbedding | None = None,
) -> tuple[Explanation, ...]:
    """Says which lines of each kernel drove the answer of `predict_device`.

    Lines are known where the IR has debug information; source is compiled with it. Every statement stands for itself
    where there is none, or where all of them are on one line.

    Args:
        source: As for `predict_device`.
        transfer_bytes: Bytes moved between host and device.
        wgsize: Work-items a work-group.
        global_size: Work-items of the launch, as for `predict_device`.
        platform: As for `predict_device`.
        options: How source is compiled.
        language: As for `ncc.embed`.
        head: A head or its folder; default the one that ships with ncc for the platform.
        embedding: The one that it was trained on, or its folder; default the one that ships with ncc.

    Returns:
        One explanation a kernel, in the order of the file; effects are differences of log(CPU time / GPU time).

    Raises:
        InputError, CompileError, IRError, AssetError: As for `predict_device`; also for a kernel that is too large.
    """
    check_sizes(transfer_bytes, wgsize, global_size)
    head = choose_head(platform, head)
    options = replace(CompileOptions.of(options, language), debug_lines=True)
    kernels = read_kernels(source, load_embedding(embedding), head.embedding_id, options)
    return tuple(_explain(kernel, head, transfer_bytes, wgsize, global_size) for kernel in kernels)


def _explain(
    kernel: Kernel, head: TimesHead, transfer_bytes: float | None, wgsize: float | None, global_size: float | None
) -> Explanation:
    moved = [bytes_moved(kernel, transfer_bytes, global_size)]
    whole = head.answers(kernel, moved, wgsize, global_size=global_size)[0].log_ratio
    lines = kernel.module.source_line[kernel.statements]
    shares = []
    groups = _groups(kernel, lines)
    if len(groups) * len(lines) > _MOST_WORK:
        raise InputError(
            f"{kernel.module.name}: {kernel.name} can't be explained: its {len(lines):,} statements would be looked at "
            f"without each of {len(groups):,} lines in turn, and their product may be {_MOST_WORK:,} at most"
        )
    for group in groups:
        rest = head.answers(kernel, moved, wgsize, frozenset(group), global_size)[0].log_ratio
        texts = dict.fromkeys(kernel.module.statement_text(statement) for statement in group)
        line = int(kernel.module.source_line[group[0]])
        shares.append(LineShare(line=line, statements=tuple(texts), effect=whole - rest))
    shares.sort(key=lambda share: -abs(share.effect))
    return Explanation(kernel=kernel.name, log_ratio=whole, lines=tuple(shares))


def _groups(kernel: Kernel, lines: Ints32) -> list[list[int]]:
    """Statements by line; one by one those without, and all if they share a line. Headers of functions are left out."""
    inside = ~np.isin(kernel.statements, kernel.module.function_start)
    by_line = len(np.unique(lines[inside])) > 1
    groups: dict[tuple[int, int], list[int]] = {}
    for statement, line in zip(kernel.statements[inside].tolist(), lines[inside].tolist(), strict=True):
        groups.setdefault((line, 0 if line and by_line else statement), []).append(statement)
    everything = sum(map(len, groups.values()))
    return [group for group in groups.values() if len(group) < everything]
