"""Coverage of a vocabulary: how many statements it knows at which level, and what it misses most."""

import json

import numpy as np

from lab.tests.rooms import measure_coverage
from ncc.errors import InputError
from tests.rooms import Backoff, Vocabulary
from tests.support.refuses import refuses

VOCABULARY = Vocabulary(("ret void", "<%ID> = add i32 <%ID>, <INT>", "add", "<unknown>"), np.array([5, 5, 0, 0]))
STATEMENTS = {
    "ret void": 6,
    "<%ID> = add nsw i32 <%ID>, <INT>": 3,
    "<%ID> = add i64 <%ID>, <%ID>": 4,
    "<%ID> = newop i64 <%ID>": 7,
    "<%ID> = add i8 <%ID>, <%ID>": 0,
}


def test_statements_are_counted_at_their_levels_and_misses_come_most_frequent_first():
    coverage = measure_coverage(STATEMENTS, VOCABULARY)
    found = json.loads(json.dumps(coverage.to_dict()))
    assert (found["num_statements"], found["num_distinct"], found["num_unknown"]) == (20, 5, 7)
    assert found["by_level"] == {
        "exact": 6, "flags": 3, "alignment": 0, "sizes": 0, "types": 0, "operation": 0, "opcode": 11
    }  # fmt: skip
    assert list(found["by_level"]) == [level.name.lower() for level in Backoff]
    assert (found["exact_rate"], found["backoff_rate"]) == (0.3, 0.65)
    assert [(miss["text"], miss["count"], miss["level"], miss["fallback"]) for miss in found["misses"]] == [
        ("<%ID> = newop i64 <%ID>", 7, "opcode", "<unknown>"),
        ("<%ID> = add i64 <%ID>, <%ID>", 4, "opcode", "add"),
        ("<%ID> = add nsw i32 <%ID>, <INT>", 3, "flags", "<%ID> = add i32 <%ID>, <INT>"),
    ]
    assert measure_coverage(STATEMENTS, VOCABULARY, num_misses=1).misses == coverage.misses[:1]
    equal = measure_coverage({"b": 2, "a": 2, "c": 2}, VOCABULARY).misses
    assert [miss.text for miss in equal] == ["a", "b", "c"]
    text = coverage.to_text().splitlines()
    assert text[:2] == ["20 statements, 5 different", "words as they stand: 30.0%, with back-off: 65.0%"]
    assert any("4  <%ID> = add i64 <%ID>, <%ID>  →  add (opcode)" in line for line in text)


def test_nothing_is_covered_wholly_and_the_last_word_itself_is_no_unknown_statement():
    coverage = measure_coverage({}, VOCABULARY)
    assert (coverage.num_statements, coverage.exact_rate, coverage.backoff_rate) == (0, 1, 1)
    assert "0 statements" in coverage.to_text()
    assert measure_coverage({"<unknown>": 2}, VOCABULARY).num_unknown == 0
    with refuses(InputError, "num_misses", "-1"):
        measure_coverage(STATEMENTS, VOCABULARY, num_misses=-1)
