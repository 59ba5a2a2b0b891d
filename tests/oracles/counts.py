"""The counts of a corpus in two counters: how often each statement is there, and each within a few hops of another."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import ncc
from tests.oracles.contexts import slow_contexts
from tests.rooms import CorpusCounts

Counts = tuple[Counter[str], Counter[tuple[str, str]]]


def slow_counts(files: Iterable[Path], width: int) -> Counts:
    """Counts of statements and of pairs in files of IR."""
    statements, pairs = Counter[str](), Counter[tuple[str, str]]()
    for path in files:
        module = ncc.read_module(path)
        labels = module.text_id.tolist()
        statements.update(module.texts[label] for label in labels)
        for (center, context), times in slow_contexts(ncc.build_xfg(module), labels, width).items():
            pairs[module.texts[center], module.texts[context]] += times
    return statements, pairs


def as_counters(counts: CorpusCounts) -> Counts:
    """The counts that a corpus has on disk."""
    statements = dict(zip(counts.texts, counts.statements.tolist(), strict=True))
    rows = zip(*(column.tolist() for column in counts.pairs), strict=True)
    pairs = {(counts.texts[center], counts.texts[context]): times for center, context, times in rows}
    return Counter(statements), Counter(pairs)
