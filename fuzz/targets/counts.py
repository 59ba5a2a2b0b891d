"""Counts of corpora: one folder, the sum of two, and what a corpus says of itself."""

import numpy as np

from fuzz import samples
from fuzz.folders import Files, mutate_files, put, unpack
from fuzz.targets import Target
from fuzz.targets.models import saved
from ncc.ir.reader.reader import read_module
from ncc.learning.embedding.counts import load_counts, save_counts, sum_counts
from ncc.learning.embedding.train import load_abstraction
from ncc.learning.embedding.vocabulary import build_vocabulary

__all__ = ["TARGETS"]

_IR = b"define i32 @f(i32 %x) {\n  %y = add nsw i32 %x, 1\n  ret i32 %y\n}\n"


def _folders() -> list[Files]:
    some = [saved(lambda folder, name=name: save_counts(samples.corpus_counts(name), folder)) for name in _NAMES]  # type: ignore[misc]
    return [some[0], some[1]]


_NAMES = ("tree.clang22.ll", "legacy.ll")


def _load(data: bytes) -> None:
    counts = load_counts(put(unpack(data)))
    assert len(counts.statements) == len(counts.texts)
    vocabulary = build_vocabulary(dict(zip(counts.texts, counts.statements.tolist(), strict=True)), 2)
    center, context, count = counts.restrict(vocabulary)
    assert count.sum() == counts.matrix.sum()
    assert len(center) == len(context) == len(count)


def _shards() -> list[Files]:
    one, other = _folders()
    shards = {f"a/{name}": content for name, content in one.items()}
    return [shards | {f"b/{name}": content for name, content in other.items()}]


def _merge(data: bytes) -> None:
    folder = put(unpack(data))
    parts = [folder / "a", folder / "b"]
    total = sum_counts(parts)
    each = [load_counts(part) for part in parts]
    assert total.matrix.sum() == sum(part.matrix.sum() for part in each)
    assert total.num_lines == sum(part.num_lines for part in each)
    assert np.array_equal(np.unique(total.texts), np.array(total.texts))


def _reports() -> list[Files]:
    report = (
        b'{"recipe": "fixtures", "abstraction": {"keep_callees": true, "keep_immediates": true,'
        b' "max_struct_fields": 8}, "files": {"ir": 3}, "failures": {}}'
    )
    return [{"report.json": report}]


def _report(data: bytes) -> None:
    abstraction = load_abstraction([put(unpack(data))])
    read_module(_IR, abstraction=abstraction)


TARGETS = (
    Target(name="counts", seeds=_folders, mutate=mutate_files, run=_load, weight=8),
    Target(name="merge", seeds=_shards, mutate=mutate_files, run=_merge, weight=4),
    Target(name="report", seeds=_reports, mutate=mutate_files, run=_report, weight=4),
)
