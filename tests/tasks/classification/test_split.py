"""Splits: 3:1:1 in every class, and near-duplicates on one side."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rooms import ProgramTable, near_duplicates, split_programs


def _table(sequences):
    lengths = [len(sequence) for sequence in sequences]
    total = sum(lengths)
    return ProgramTable(
        texts=("a", "b", "c"),
        start=np.concatenate([[0], np.cumsum(lengths)]),
        text_id=np.array([text for sequence in sequences for text in sequence], np.int32),
        opcode=np.zeros(total, np.uint8),
        literal_start=np.zeros(total + 1, np.int64),
        literal=np.zeros(0, np.uint32),
    )


def test_near_duplicates_have_the_same_statements_in_the_same_order():
    groups = near_duplicates(_table([[0, 1], [1, 0], [0, 1], [0, 1, 2], [2]]))
    assert groups.tolist() == [0, 1, 0, 2, 3]


@given(st.integers(2, 5), st.lists(st.integers(0, 30), min_size=60, max_size=200), st.integers(0, 9))
def test_a_grouped_split_keeps_groups_together(num_classes, groups, seed):
    group = np.array(groups)
    label = np.arange(len(group)) % num_classes
    split = split_programs(label, group, seed)
    sides = [split.train, split.valid, split.test]
    assert np.sort(np.concatenate(sides)).tolist() == list(range(len(group)))
    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert not set(group[sides[one]]) & set(group[sides[other]])
    assert not split.has_duplicate.any()


@pytest.mark.parametrize("is_grouped", [True, False])
def test_every_class_is_split_three_to_one_to_one(is_grouped):
    label = np.repeat(np.arange(4), 100)
    split = split_programs(label, np.arange(400), 204, is_grouped=is_grouped)
    for rows, count in ((split.train, 60), (split.valid, 20), (split.test, 20)):
        assert np.bincount(label[rows]).tolist() == [count] * 4
    again = split_programs(label, np.arange(400), 204, is_grouped=is_grouped)
    assert again.test.tolist() == split.test.tolist()
    assert split_programs(label, np.arange(400), 205, is_grouped=is_grouped).test.tolist() != split.test.tolist()


def test_a_split_program_by_program_lets_duplicates_through_and_counts_them():
    label = np.zeros(100, np.int64)
    group = np.repeat(np.arange(50), 2)
    split = split_programs(label, group, 204, is_grouped=False)
    known = set(group[np.concatenate([split.train, split.valid])])
    assert split.has_duplicate.tolist() == [int(number) in known for number in group[split.test]]
    assert split.has_duplicate.any()
