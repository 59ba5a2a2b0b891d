"""Analogy questions of a small vocabulary, word by word; what takes no part; sampling."""

import numpy as np
import pytest

from lab.tests.rooms import GROUPS, generate_questions, is_exact
from tests.rooms import Vocabulary, load_embedding

TWO = "<%ID>, <%ID>"


def vocabulary_of(*texts: str) -> Vocabulary:
    return Vocabulary((*texts, "<unknown>"), np.array([*([5] * len(texts)), 0]))


def asked(kind: str, *texts: str) -> list[tuple[str, ...]]:
    """Questions of one kind as texts; those of all other kinds must be none."""
    vocabulary = vocabulary_of(*texts)
    sets = {questions.kind.name: questions.rows for questions in generate_questions(vocabulary)}
    assert {name for name, rows in sets.items() if len(rows)} <= {kind}
    return [tuple(vocabulary.words[row] for row in rows) for rows in sets[kind].tolist()]


def binary(opcode: str, type_: str, operands: str = TWO) -> str:
    return f"<%ID> = {opcode} {type_} {operands}"


def conversion(opcode: str, source: str, target: str) -> str:
    return f"<%ID> = {opcode} {source} <%ID> to {target}"


def test_every_two_operations_meet_in_every_two_types_that_both_have():
    types = ("i8", "i32", "<4 x i32>")
    words = [binary(opcode, type_) for opcode in ("add", "xor") for type_ in types]
    words += [binary("sub", "i8"), binary("srem", "i64")]
    assert asked("integer binary operations", *reversed(words)) == [
        tuple(binary(opcode, type_) for opcode in ("add", "xor") for type_ in pair)
        for pair in (("i8", "i32"), ("i8", "<4 x i32>"), ("i32", "<4 x i32>"))
    ]


def test_types_are_compared_among_equal_flags_and_operands_only():
    words = [
        binary("add nsw", "i8"), binary("add nsw", "i32"), binary("mul nsw", "i8"), binary("mul nuw", "i32"),
        binary("or", "i8", "<%ID>, <INT>"), binary("or", "i32", "<%ID>, <INT>"),
        binary("and", "i8", "<%ID>, <INT>"), binary("and", "i32", "<INT>, <%ID>"),
    ]  # fmt: skip
    assert asked("integer binary operations", *words) == []
    words[3] = binary("mul nsw", "i32")
    words[7] = binary("and", "i32", "<%ID>, <INT>")
    assert asked("integer binary operations", *words) == [tuple(words[:4]), (words[6], words[7], words[4], words[5])]


def test_integers_meet_the_floats_of_their_width_and_length():
    kind = "floating-point and integer binary operations"
    scalar = [binary("add", "i32"), binary("fadd", "float"), binary("sub", "i32"), binary("fsub", "float")]
    constant = [
        binary("sub", "<2 x i64>", "<%ID>, <INT>"), binary("fsub", "<2 x double>", "<%ID>, <FLOAT>"),
        binary("mul", "<2 x i64>", "<%ID>, <INT>"), binary("fmul", "<2 x double>", "<%ID>, <FLOAT>"),
    ]  # fmt: skip
    apart = [binary("mul", "i64"), binary("fmul", "float"), binary("mul nsw", "i32")]
    assert asked(kind, *scalar, *constant, *apart) == [tuple(scalar), tuple(constant)]


FAST = "reassoc nnan ninf nsz arcp contract afn"


def test_flags_are_compared_with_none():
    words = [binary(f"{opcode}{flags}", "float") for opcode in ("fadd", "fmul") for flags in ("", " fast", f" {FAST}")]
    assert asked("fast-math flags", *words) == [
        (words[0], words[1], words[3], words[4]),
        (words[0], words[2], words[3], words[5]),
    ]


def test_integers_that_may_not_wrap_are_asked_beside_the_paper():
    words = [binary(f"{opcode}{flags}", "i64") for opcode in ("add", "shl") for flags in ("", " nsw")]
    assert asked("integer wrap flags", *words) == [tuple(words)]
    exact = [binary(f"{opcode}{flags}", "i64") for opcode in ("sdiv", "ashr") for flags in ("", " exact")]
    assert asked("integer wrap flags", *exact) == []
    (wrap,) = (
        questions for questions in generate_questions(vocabulary_of()) if questions.kind.name == "integer wrap flags"
    )
    assert not wrap.kind.in_paper


def extract(type_: str, index: int) -> str:
    return f"<%ID> = extractelement {type_} <%ID>, {index}"


def insert(type_: str, value: str, index: int, into: str = "<%ID>") -> str:
    return f"<%ID> = insertelement {type_} {into}, {value}, {index}"


def test_elements_are_compared_by_type_at_the_same_index():
    words = [
        extract("<4 x float>", 1), extract("<2 x double>", 1),
        insert("<4 x float>", "float <%ID>", 1), insert("<2 x double>", "double <%ID>", 1),
    ]  # fmt: skip
    kind = "insertelement and extractelement, by type"
    other_index = extract("<8 x i16>", 0), insert("<8 x i16>", "i16 <%ID>", 2)
    other_form = insert("<4 x float>", "float <%ID>", 1, "poison")
    expected = (words[3], words[2], words[1], words[0])
    assert asked(kind, *words, *other_index, other_form) == [expected]


def test_elements_are_compared_by_index_in_the_same_type():
    words = [
        extract("<4 x float>", 0), extract("<4 x float>", 3),
        insert("<4 x float>", "float <%ID>", 0, "poison"), insert("<4 x float>", "float <%ID>", 3, "poison"),
    ]  # fmt: skip
    computed = "<%ID> = extractelement <4 x float> <%ID>, i64 <%ID>"
    expected = (*words[2:], *words[:2])
    assert asked("insertelement and extractelement, by index", *words, computed) == [expected]


def test_fields_are_put_into_what_the_one_before_made():
    words = [
        "<%ID> = extractvalue { ptr, { i32, i8 } } <%ID>, 0",
        "<%ID> = extractvalue { ptr, { i32, i8 } } <%ID>, 1",
        "<%ID> = insertvalue { ptr, { i32, i8 } } poison, ptr <%ID>, 0",
        "<%ID> = insertvalue { ptr, { i32, i8 } } <%ID>, { i32, i8 } <%ID>, 1",
    ]
    kind = "insertvalue and extractvalue, by index"
    again = "<%ID> = insertvalue { ptr, { i32, i8 } } <%ID>, ptr <%ID>, 0"
    nested = "<%ID> = extractvalue { ptr, { i32, i8 } } <%ID>, 1, 0"
    elided = ["<%ID> = extractvalue {...} <%ID>, 0", "<%ID> = insertvalue {...} <%ID>, ptr <%ID>, 0"]
    expected = (*words[2:], *words[:2])
    assert asked(kind, *words, nested, *elided) == [expected]
    assert set(asked(kind, *words, again)) == {(again, *expected[1:]), expected}


def test_a_bitcast_and_its_inverse_are_asked_both_ways_round():
    first, second = ("<2 x i64>", "<4 x i32>"), ("double", "i64")
    there, back = conversion("bitcast", *first), conversion("bitcast", *reversed(first))
    to, fro = conversion("bitcast", *second), conversion("bitcast", *reversed(second))
    alone = conversion("bitcast", "float", "i32")
    assert asked("bitcast x to y and back", there, back, to, fro, alone) == [
        (there, back, to, fro),
        (there, back, fro, to),
    ]


@pytest.mark.parametrize(
    ("kind", "there", "back", "first", "second"),
    [
        ("trunc and zext", "trunc", "zext", ("i64", "i32"), ("<4 x i16>", "<4 x i8>")),
        ("trunc and sext", "trunc", "sext", ("i64", "i32"), ("i32", "i16")),
        ("fptoui/fptosi and uitofp/sitofp", "fptosi", "sitofp", ("float", "i32"), ("double", "i64")),
        ("inttoptr and ptrtoint", "inttoptr", "ptrtoint", ("i64", "ptr"), ("i32", "ptr addrspace(3)")),
        ("fptrunc and fpext", "fptrunc", "fpext", ("double", "float"), ("<2 x double>", "<2 x float>")),
    ],
)
def test_conversions_meet_their_inverses(kind, there, back, first, second):
    words = [
        conversion(there, *first), conversion(back, *reversed(first)),
        conversion(there, *second), conversion(back, *reversed(second)),
    ]  # fmt: skip
    assert asked(kind, *words) == [tuple(words)]
    assert asked(kind, *words[:3]) == []


def test_conversions_with_flags_take_no_part():
    words = [
        conversion("trunc nuw", "i64", "i32"), conversion("zext", "i32", "i64"),
        conversion("trunc", "i32", "i8"), conversion("zext nneg", "i8", "i32"),
        conversion("trunc", "i16", "i8"), conversion("zext", "i8", "i16"),
    ]  # fmt: skip
    assert asked("trunc and zext", *words) == []


def test_multiplication_is_undone_by_either_division():
    kind = "integer arithmetic inverses"
    words = [binary(opcode, "i32") for opcode in ("add", "sub", "mul", "sdiv", "udiv")]
    assert asked(kind, *words) == [tuple(words[:4]), (*words[:3], words[4])]
    assert asked(kind, *words[1:]) == []
    floats = [binary(f"{opcode} fast", "double") for opcode in ("fadd", "fsub", "fmul", "fdiv")]
    assert asked("floating-point arithmetic inverses", *floats) == [tuple(floats)]


def test_structures_of_one_type_meet_the_vectors_of_their_length():
    kind = "structures and vectors"
    struct = [f"<%ID> = extractvalue {{ float, float, float }} <%ID>, {i}" for i in range(3)]
    vector = [extract("<3 x float>", i) for i in (0, 2)]
    apart = ["<%ID> = extractvalue { i32, float } <%ID>, 0", extract("<2 x i32>", 0), extract("<4 x float>", 0)]
    assert asked(kind, *struct, *vector, *apart) == [(struct[0], vector[0], struct[2], vector[1])]


def test_generalised_forms_and_words_that_were_never_seen_take_no_part():
    words = [binary("add", "i8"), binary("add", "i32"), binary("sub", "i8"), binary("sub", "i32")]
    general = ["<%ID> = add int <%ID>, <%ID>", "<%ID> = sub int <%ID>, <%ID>", "add …", "sub …", "add", "sub"]
    general += ["<%ID> = add vector of int <%ID>, <%ID>", "<%ID> = sub vector of int <%ID>, <%ID>"]
    assert asked("integer binary operations", *words, *general) == [tuple(words)]
    unseen = Vocabulary((*words, "<unknown>"), np.array([4, 4, 4, 0, 0]))
    assert not any(len(questions.rows) for questions in generate_questions(unseen))


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("unreachable", True),
        ("ret void", True),
        ("call void @int(ptr <%ID>)", True),
        ("<%ID> = load i32, ptr <%ID>", True),
        ("<%ID> = getelementptr inbounds [4 x float], ptr <%ID>, i64 <INT>, i64 <INT>", True),
        ("<%ID> = getelementptr [N x float], ptr <%ID>, i64 <INT>, i64 <INT>", False),
        ("<%ID> = getelementptr array, ptr <%ID>, int <INT>, int <INT>", False),
        ("<%ID> = fadd vector of fp <%ID>, <%ID>", False),
        ("ret struct <%ID>", False),
        ("icmp eq …", False),
        ("fence", False),
        ("<unknown>", False),
    ],
)
def test_generalised_forms_are_told_from_statements(text, exact):
    assert is_exact(text) == exact


def test_all_kinds_are_there_even_without_questions():
    sets = generate_questions(vocabulary_of())
    groups = [questions.kind.group for questions in sets]
    assert groups == sorted(groups, key=GROUPS.index)
    assert set(groups) == set(GROUPS)
    assert all(questions.rows.shape == (0, 4) and questions.num_possible == 0 for questions in sets)


MANY = [binary(opcode, f"i{width}") for opcode in ("add", "sub", "mul", "xor") for width in range(8, 40)]


def test_too_many_questions_are_sampled_alike_every_time():
    vocabulary = vocabulary_of(*MANY)
    everything = generate_questions(vocabulary)[0]
    few, again = (generate_questions(vocabulary, max_questions=100)[0] for _ in range(2))
    other = generate_questions(vocabulary, max_questions=100, seed=1)[0]
    assert len(everything.rows) == everything.num_possible == few.num_possible == 6 * 32 * 31 // 2
    assert np.array_equal(few.rows, again.rows)
    assert not np.array_equal(few.rows, other.rows)
    assert len(few.rows) == 100
    assert set(map(tuple, few.rows.tolist())) < set(map(tuple, everything.rows.tolist()))


@pytest.mark.parametrize("shipped", [True, False])
def test_no_question_is_asked_twice_or_answers_itself(shipped):
    vocabulary = load_embedding().vocabulary if shipped else vocabulary_of(*MANY)
    for questions in generate_questions(vocabulary):
        rows = questions.rows
        assert all(len(set(row)) == 4 for row in rows.tolist())
        assert (vocabulary.counts[rows] > 0).all()
        # mirrored forms have the same two diagonals, a with d and b with c
        diagonals = {frozenset((frozenset((a, d)), frozenset((b, c)))) for a, b, c, d in rows.tolist()}
        assert len(diagonals) == len(rows)
