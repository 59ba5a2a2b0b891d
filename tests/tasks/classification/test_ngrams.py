"""Hashed n-grams: which of them are the same, beside a count in plain Python, and which buckets they have for ever."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rooms import hashed_ngrams

MANY = 2**62  # so many buckets that no two n-grams of a test meet in one

Programs = list[list[tuple[int, list[int]]]]

statements = st.tuples(st.integers(0, 3), st.lists(st.integers(0, 2) | st.just(2**32 - 1), max_size=3))
programs = st.lists(st.lists(statements, max_size=12), min_size=1, max_size=5)


def _hashed(programs: Programs, buckets: int = MANY, types=(np.int64, np.int64)) -> list[Counter[int]]:
    """How often each program has each bucket."""
    statements = [statement for program in programs for statement in program]
    numbers, bucket = hashed_ngrams(
        np.array([word for word, _ in statements], np.int32),
        np.cumsum([0, *map(len, programs)]).astype(types[0]),
        np.array([literal for _, literals in statements for literal in literals], np.uint32),
        np.cumsum([0, *(len(literals) for _, literals in statements)]).astype(types[1]),
        buckets,
    )
    assert numbers.dtype == bucket.dtype == np.int64
    found: list[Counter[int]] = [Counter() for _ in programs]
    for number, place in zip(numbers.tolist(), bucket.tolist(), strict=True):
        found[number][place] += 1
    return found


def _spelled(program: list[tuple[int, list[int]]]) -> Counter[object]:
    """How often a program has each n-gram, written out."""
    words = [word for word, _ in program]
    found: Counter[object] = Counter(("statement", word, tuple(sorted(literals))) for word, literals in program)
    found.update(("literal", literal) for _, literals in program for literal in literals)
    found.update(("literal of", word, literal) for word, literals in program for literal in literals)
    for length in (1, 2, 3):
        found.update(("run", *words[i : i + length]) for i in range(len(words) - length + 1))
    return found


def _table(counts: list[Counter]) -> Counter[tuple[int, ...]]:
    """Which rows of counts there are, whatever the n-grams are called."""
    return Counter(tuple(count[name] for count in counts) for name in set().union(*counts))


@given(programs)
def test_n_grams_are_the_same_where_they_are_spelled_the_same(programs):
    assert _table(_hashed(programs)) == _table([_spelled(program) for program in programs])


@given(programs, st.sampled_from([1, 2, 7, 64, 32768, MANY]))
def test_a_program_alone_and_in_a_table(programs, buckets):
    together = _hashed(programs, buckets, (np.int32, np.int32))
    assert together == [_hashed([program], buckets)[0] for program in programs]
    assert all(0 <= bucket < buckets for found in together for bucket in found)


GOLDEN = [
    ([(0, [])], [26427, 29764]),
    ([(4711, [])], [1539, 9608]),
    ([(2**31 - 1, [])], [25254, 31362]),
    ([(4711, [0])], [901, 2440, 9608, 13031]),
    ([(4711, [2**32 - 1, 123456789])], [9608, 14027, 18531, 23859, 26725, 28569]),
    ([(1, []), (2, []), (3, [])], [4439, 6792, 7601, 13763, 15668, 16731, 19645, 23509, 32065]),
]


@pytest.mark.parametrize(("program", "buckets"), GOLDEN)
def test_buckets_stay_what_they_are(program, buckets):
    """The weights of heads that were trained before lie where these say."""
    assert sorted(_hashed([program], 32768)[0].elements()) == buckets
