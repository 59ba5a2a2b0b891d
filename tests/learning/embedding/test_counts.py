"""Counts of a corpus: addition in any order and any portion, storage, and files that were damaged."""

import json
import random
from collections import Counter
from dataclasses import asdict

import numpy as np
import pytest

from ncc.errors import AssetError, InputError
from tests.rooms import (
    Abstraction,
    CountsBuilder,
    build_vocabulary,
    load_abstraction,
    load_corpora,
    load_counts,
    save_counts,
    width_folder,
)


def _sum(files, width=2, **options):
    builder = CountsBuilder(width, **options)
    for file in files:
        builder.add(*file)
    return builder.finish()


def _same(a, b):
    assert a.texts == b.texts
    for name in ("statements", "center", "context", "count"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
        assert getattr(a, name).dtype == getattr(b, name).dtype, name
    assert (a.width, a.num_files, a.num_lines) == (b.width, b.num_files, b.num_lines)


def test_counts_are_those_of_a_plain_counter(files, counts):
    statements, pairs = Counter[str](), Counter[tuple[str, str]]()
    for texts, times, (center, context, count) in files:
        statements.update(dict(zip(texts, times.tolist(), strict=True)))
        for a, b, n in zip(center.tolist(), context.tolist(), count.tolist(), strict=True):
            pairs[texts[a], texts[b]] += n
    assert dict(zip(counts.texts, counts.statements.tolist(), strict=True)) == statements
    found = zip(counts.center.tolist(), counts.context.tolist(), counts.count.tolist(), strict=True)
    assert {(counts.texts[a], counts.texts[b]): n for a, b, n in found} == pairs


def test_pairs_are_sorted_and_each_is_there_once(counts):
    key = counts.center.astype(np.int64) * len(counts.texts) + counts.context
    assert (np.diff(key) > 0).all()
    assert list(counts.texts) == sorted(set(counts.texts))


def test_the_order_of_the_files_does_not_matter(files, counts):
    shuffled = list(files)
    random.Random(3).shuffle(shuffled)
    _same(_sum(shuffled), _sum(files))


@pytest.mark.parametrize("compact_at", [1, 7, 500])
def test_compacting_often_gives_the_same(files, compact_at):
    _same(_sum(files, compact_at=compact_at), _sum(files))


def test_sums_of_sums_are_the_sum(files, tmp_path):
    for number, part in enumerate((files[:5], files[5:6], files[6:])):
        save_counts(_sum(part), tmp_path / str(number) / "width-2")
    _same(load_corpora([tmp_path / str(number) for number in (2, 0, 1)]), _sum(files))


def test_counts_do_not_wrap_at_32_bits():
    big = np.array([3 << 31], np.int64)
    pair = (np.array([0], np.int32), np.array([0], np.int32), big)
    total = _sum([(("a",), big, pair)] * 3)
    assert total.statements.tolist() == total.count.tolist() == [9 << 31]


def test_no_file_is_an_empty_corpus(tmp_path):
    nothing = CountsBuilder(2).finish()
    assert nothing.texts == ()
    assert len(nothing.count) == 0
    save_counts(nothing, tmp_path)
    _same(load_counts(tmp_path), nothing)


def test_over_a_vocabulary_no_pair_is_lost(counts):
    vocabulary = build_vocabulary(dict(zip(counts.texts, counts.statements.tolist(), strict=True)), 10)
    center, context, count = counts.restrict(vocabulary)
    assert count.sum() == counts.count.sum()
    assert len(count) < len(counts.count)
    rows, _ = vocabulary.encode(counts.texts)
    dense = np.zeros((len(vocabulary), len(vocabulary)), np.int64)
    np.add.at(dense, (rows[counts.center], rows[counts.context]), counts.count)
    assert np.array_equal(dense[center, context], count)
    assert (dense > 0).sum() == len(count)


def test_round_trip(counts, tmp_path):
    save_counts(counts, tmp_path / "made" / "on the way")
    _same(load_counts(tmp_path / "made" / "on the way"), counts)


def test_each_width_of_a_corpus_has_a_folder_of_its_own(files, counts, tmp_path):
    wide = _sum(files[:3], width=3)
    save_counts(counts, width_folder(tmp_path, 2))
    save_counts(wide, width_folder(str(tmp_path), 3))
    assert {path.name for path in tmp_path.iterdir()} == {"width-2", "width-3"}
    _same(load_corpora([tmp_path]), counts)
    _same(load_corpora([str(tmp_path)], 3), wide)
    twice = load_corpora([tmp_path, tmp_path], 3)
    assert twice.width == 3
    assert np.array_equal(twice.count, 2 * wide.count)


def test_corpora_that_were_not_counted_for_a_width_are_named(counts, tmp_path):
    save_counts(counts, tmp_path / "a" / "width-2")
    save_counts(_sum([], width=3), tmp_path / "b" / "width-3")
    for folders in (["b"], ["a", "b"]):
        with pytest.raises(InputError, match=r"b: was counted for context widths \[3\]; expected 2 among them"):
            load_corpora([tmp_path / folder for folder in folders], 2)


def _report(folder, abstraction):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.json").write_text(json.dumps({"recipe": "some", "abstraction": abstraction}))
    return folder


@pytest.mark.parametrize(
    "abstraction",
    [Abstraction(), Abstraction.paper(), Abstraction(keep_callees=False, keep_immediates=True, max_struct_fields=9)],
)
def test_corpora_say_how_their_statements_were_abstracted(tmp_path, abstraction):
    folders = [_report(tmp_path / name, asdict(abstraction)) for name in "ab"]
    assert load_abstraction(folders) == abstraction
    assert load_abstraction([str(folders[0])]) == abstraction


@pytest.mark.parametrize(
    "other", [{"keep_callees": False}, {"keep_immediates": True}, {"max_struct_fields": None}], ids=str
)
def test_corpora_of_different_abstractions_do_not_go_together(tmp_path, other):
    folders = [_report(tmp_path / "a", asdict(Abstraction())), _report(tmp_path / "b", asdict(Abstraction(**other)))]
    with pytest.raises(InputError, match="counted with 2 different abstractions; expected one"):
        load_abstraction(folders)


def test_a_folder_without_a_report_is_named(tmp_path):
    _report(tmp_path / "a", asdict(Abstraction()))
    (tmp_path / "b").mkdir()
    with pytest.raises(
        AssetError, match=r"b/report\.json: can't be read: No such file or directory; 'ncc corpus build'"
    ):
        load_abstraction([tmp_path / "a", tmp_path / "b"])


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'{"abstraction": {"keep_callees"',
        b"\xff\xfe",
        b"[]",
        b"3",
        b"{}",
        b'{"abstraction": null}',
        b'{"abstraction": "paper"}',
        b'{"abstraction": {"unheard_of": true}}',
        b'{"abstraction": {"max_struct_fields": -1}}',
        b'{"abstraction": {"max_struct_fields": "4"}}',
        b'{"abstraction": {"keep_callees": []}}',
    ],
)
def test_a_damaged_report_is_named(tmp_path, content):
    (tmp_path / "report.json").write_bytes(content)
    with pytest.raises(AssetError, match=r"report\.json: does not say how statements were abstracted"):
        load_abstraction([tmp_path])
