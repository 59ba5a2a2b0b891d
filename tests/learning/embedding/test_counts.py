"""Counts of a corpus: a sum in any order and any portion, storage, and corpora that do not go together."""

import json
import random
from collections import Counter
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ncc.errors import AssetError, InputError
from tests.oracles.counts import as_counters
from tests.rooms import (
    Abstraction,
    CountsBuilder,
    build_vocabulary,
    load_abstraction,
    load_corpora,
    load_counts,
    save_counts,
    sum_counts,
)
from tests.support.refuses import refuses

POOL = tuple(f"{letter}{accent} = add" for letter in "zyxabc" for accent in ("", "é", " <%ID>"))


def _sum(files, width=2, **options):
    builder = CountsBuilder(width, **options)
    for file in files:
        builder.add(*file)
    return builder.finish()


def _same(a, b):
    assert a.texts == b.texts
    for left, right in zip((a.statements, *a.pairs), (b.statements, *b.pairs), strict=True):
        assert np.array_equal(left, right)
        assert left.dtype == right.dtype
    assert (a.context_width, a.num_files, a.num_lines) == (b.context_width, b.num_files, b.num_lines)


def _file(rng, texts, num_pairs):
    """One file's random counts, as `CountsBuilder.add` takes them, of which sums don't fit into 32 bits."""
    key = rng.choice(len(texts) ** 2, min(num_pairs, len(texts) ** 2), replace=False) if texts else np.zeros(0, int)
    center, context = np.divmod(np.sort(key), max(len(texts), 1))
    pairs = (center.astype(np.int32), context.astype(np.int32), rng.integers(1, 1 << 40, len(key)))
    return texts, rng.integers(1, 1 << 40, len(texts)), pairs


FILES = st.lists(st.tuples(st.lists(st.sampled_from(POOL), unique=True, max_size=8), st.integers(0, 40)), max_size=3)


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(
    st.lists(FILES, min_size=1, max_size=4), st.sampled_from([1, 7, 1 << 22]), st.integers(0, 1000), st.integers(1, 8)
)
def test_any_portions_in_any_order_add_up_to_the_same_bytes(tmp_path_factory, drawn, compact_at, seed, width):
    rng, folder = np.random.default_rng(seed), tmp_path_factory.mktemp("sum")
    portions = [[_file(rng, tuple(texts), num_pairs) for texts, num_pairs in files] for files in drawn]
    folders = [folder / str(number) for number in range(len(portions))]
    for part, files in zip(folders, portions, strict=True):
        save_counts(_sum(files, width, compact_at=compact_at), part)
    whole = _sum([file for files in portions for file in files], width)
    random.Random(seed).shuffle(folders)
    total = sum_counts(folders)
    _same(total, whole)
    save_counts(total, folder / "sum")
    save_counts(whole, folder / "whole")
    for path in (folder / "sum").iterdir():
        assert path.read_bytes() == (folder / "whole" / path.name).read_bytes()
    _same(load_counts(folder / "sum"), whole)
    statements, pairs = Counter[str](), Counter[tuple[str, str]]()
    for file in (file for files in portions for file in files):
        of_statements, of_pairs = as_counters(_sum([file]))
        statements, pairs = statements + of_statements, pairs + of_pairs
    assert as_counters(whole) == (statements, pairs)


def test_restricted_to_a_vocabulary_no_pair_is_lost(counts):
    vocabulary = build_vocabulary(dict(zip(counts.texts, counts.statements.tolist(), strict=True)), 10)
    center, context, count = counts.restrict(vocabulary)
    assert len(count) < counts.matrix.nnz
    rows, _ = vocabulary.encode(counts.texts)
    dense, (left, right, times) = np.zeros((len(vocabulary), len(vocabulary)), np.int64), counts.pairs
    np.add.at(dense, (rows[left], rows[right]), times)
    assert np.array_equal(dense[center, context], count)
    assert (dense > 0).sum() == len(count)


def test_corpora_that_were_not_counted_for_a_width_are_named(counts, tmp_path):
    save_counts(counts, tmp_path / "a" / "width-2")
    save_counts(_sum([], width=3), tmp_path / "b" / "width-3")
    for folders in (["b"], ["a", "b"]):
        with refuses(InputError, tmp_path / "b", "[3]", "2"):
            load_corpora([tmp_path / folder for folder in folders], 2)


def test_different_widths_do_not_add(files, tmp_path):
    for width in (3, 1):
        save_counts(_sum(files, width), tmp_path / str(width))
    with refuses(AssetError, tmp_path / "1", "3"):
        sum_counts([tmp_path / "3", tmp_path / "1"])


def _report(folder, abstraction):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.json").write_text(json.dumps({"recipe": "some", "abstraction": abstraction}))
    return folder


def test_corpora_of_different_abstractions_do_not_go_together(tmp_path):
    other = Abstraction(keep_callees=False, keep_immediates=True, max_struct_fields=9)
    folders = [_report(tmp_path / "a", asdict(Abstraction())), _report(tmp_path / "b", asdict(other))]
    assert [load_abstraction([folder, folder]) for folder in folders] == [Abstraction(), other]
    with refuses(InputError, "abstractions"):
        load_abstraction(folders)
    (tmp_path / "c").mkdir()
    with refuses(AssetError, tmp_path / "c" / "report.json"):
        load_abstraction([folders[0], tmp_path / "c"])


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"\xff\xfe", b'{"abstraction": 3}', b'{"abstraction": ' + b"[" * 100_000 + b"}"),
        *(b'{"abstraction": {"max_struct_fields": %s}}' % value for value in (b'"4"', b"1.5")),
        b'{"abstraction": {"keep_callees": []}}',
    ],
)
def test_a_damaged_report_is_named(tmp_path, content):
    (tmp_path / "report.json").write_bytes(content)
    with refuses(AssetError, tmp_path / "report.json", "abstracted"):
        load_abstraction([tmp_path])
