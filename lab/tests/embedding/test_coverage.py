"""Coverage of a vocabulary: how many statements it knows at which level, and what it misses most."""

import json

import numpy as np
import pytest

from lab.tests.rooms import Miss, measure_coverage
from ncc.errors import InputError
from tests.rooms import BackoffLevel, Vocabulary

VOCABULARY = Vocabulary(
    ("ret void", "<%ID> = add i32 <%ID>, <INT>", "add", "<unknown>"),
    np.array([5, 5, 0, 0]),
)
STATEMENTS = {
    "ret void": 6,
    "<%ID> = add nsw i32 <%ID>, <INT>": 3,
    "<%ID> = add i64 <%ID>, <%ID>": 4,
    "<%ID> = newop i64 <%ID>": 7,
    "<%ID> = add i8 <%ID>, <%ID>": 0,
}


def test_statements_are_counted_at_their_levels():
    coverage = measure_coverage(STATEMENTS, VOCABULARY)
    assert coverage.num_statements == 20
    assert coverage.num_distinct == 5
    assert coverage.by_level == {
        "exact": 6, "flags": 3, "alignment": 0, "sizes": 0, "types": 0, "operation": 0, "opcode": 11
    }  # fmt: skip
    assert list(coverage.by_level) == [level.name.lower() for level in BackoffLevel]
    assert coverage.exact_rate == 0.3
    assert coverage.num_unknown == 7
    assert coverage.backoff_rate == 0.65


def test_misses_come_most_frequent_first_with_what_stands_for_them():
    misses = measure_coverage(STATEMENTS, VOCABULARY).misses
    assert misses == (
        Miss("<%ID> = newop i64 <%ID>", 7, "opcode", "<unknown>"),
        Miss("<%ID> = add i64 <%ID>, <%ID>", 4, "opcode", "add"),
        Miss("<%ID> = add nsw i32 <%ID>, <INT>", 3, "flags", "<%ID> = add i32 <%ID>, <INT>"),
    )
    assert measure_coverage(STATEMENTS, VOCABULARY, num_misses=1).misses == misses[:1]
    assert measure_coverage(STATEMENTS, VOCABULARY, num_misses=0).misses == ()


def test_equally_frequent_misses_come_in_the_order_of_their_texts():
    misses = measure_coverage({"b": 2, "a": 2, "c": 2}, VOCABULARY).misses
    assert [miss.text for miss in misses] == ["a", "b", "c"]


def test_nothing_is_covered_wholly():
    coverage = measure_coverage({}, VOCABULARY)
    assert (coverage.num_statements, coverage.exact_rate, coverage.backoff_rate) == (0, 1, 1)
    assert "0 statements" in coverage.to_text()


def test_the_last_word_itself_is_no_unknown_statement():
    coverage = measure_coverage({"<unknown>": 2}, VOCABULARY)
    assert (coverage.exact_rate, coverage.num_unknown) == (1, 0)


def test_numbers_go_to_json():
    coverage = measure_coverage(STATEMENTS, VOCABULARY)
    found = json.loads(json.dumps(coverage.to_dict()))
    assert found["exact_rate"] == 0.3
    assert found["backoff_rate"] == 0.65
    assert found["by_level"]["opcode"] == 11
    assert found["misses"][1] == {
        "text": "<%ID> = add i64 <%ID>, <%ID>", "count": 4, "level": "opcode", "fallback": "add"
    }  # fmt: skip


def test_the_table_says_it_in_words():
    text = measure_coverage(STATEMENTS, VOCABULARY).to_text()
    assert text.splitlines()[0] == "20 statements, 5 different"
    assert text.splitlines()[1] == "words as they stand: 30.0%, with back-off: 65.0%"
    assert "flags" in text
    assert "4  <%ID> = add i64 <%ID>, <%ID>  →  add (opcode)" in text


def test_negative_numbers_are_refused():
    with pytest.raises(InputError, match="num_misses is -1; expected 0 or more"):
        measure_coverage(STATEMENTS, VOCABULARY, num_misses=-1)
    with pytest.raises(InputError, match="count of 'ret void' is -2; expected 0 or more"):
        measure_coverage({"ret void": -2}, VOCABULARY)
