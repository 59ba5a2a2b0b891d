"""Patterns of code: what they count, and what they do not depend on."""

import numpy as np
import pytest

from tests.rooms import BITS, count_patterns, read_module
from tests.rooms import ENCODER_KINDS as KINDS

SUM = b"""
define i32 @sum(ptr %p, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %j, %loop ]
  %s = phi i32 [ 0, %entry ], [ %t, %loop ]
  %a = getelementptr inbounds i32, ptr %p, i32 %i
  %v = load i32, ptr %a, align 4
  %t = add nsw i32 %s, %v
  %j = add i32 %i, 1
  %c = icmp slt i32 %j, %n
  br i1 %c, label %loop, label %end
end:
  ret i32 %t
}
"""


CALLS = b"""
declare void @one(i32)
declare void @two(double)
define void @both(i32 %n, double %x) {
  call void @one(i32 %n)
  call void @two(double %x)
  ret void
}
"""


def bags(text: bytes) -> tuple[list[int], list[int]]:
    found = count_patterns(read_module(text), np.zeros(read_module(text).num_functions, np.int64))
    return found.key.tolist(), found.times.tolist()


def test_keys_ascend_and_every_kind_is_there() -> None:
    both = read_module(SUM + CALLS)
    found = count_patterns(both, np.zeros(2, np.int64))
    assert (np.diff(found.key.astype(np.int64)) > 0).all()
    assert set((found.key >> BITS).tolist()) == set(range(len(KINDS)))
    statements = found.times[found.key >> BITS == KINDS.index("statement")].sum()
    assert statements == both.num_statements


def kinds_that_differ(first: bytes, second: bytes) -> set[str]:
    keys = [set(bags(text)[0]) for text in (first, second)]
    return {KINDS[key >> BITS] for key in keys[0] ^ keys[1]}


def test_calls_are_told_by_what_is_called_next() -> None:
    one, two = b"  call void @one(i32 %n)\n", b"  call void @two(double %x)\n"
    assert "calls" in kinds_that_differ(CALLS, CALLS.replace(one + two, two + one))
    assert "calls" not in kinds_that_differ(CALLS, CALLS.replace(one, one + b"  %m = add i32 %n, 1\n"))


def test_amounts_change_with_a_power_of_two() -> None:
    text = "define i32 @f(i32 %n) {{\n{}  ret i32 %v0\n}}\n"
    with_adds = [
        text.format("".join(f"  %v{i} = add i32 %n, 1\n" for i in range(number))).encode() for number in (4, 7, 8)
    ]
    assert "amount" not in kinds_that_differ(with_adds[0], with_adds[1])
    assert "amount" in kinds_that_differ(with_adds[1], with_adds[2])


@pytest.mark.parametrize(
    ("old", "new"),
    [(b"%v", b"%value"), (b"@sum", b"@total"), (b"add nsw", b"add"), (b", align 4", b""), (b"inbounds ", b"")],
)
def test_names_flags_and_alignments_say_nothing(old: bytes, new: bytes) -> None:
    assert bags(SUM.replace(old, new)) == bags(SUM)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"%i, 1", b"%i, 2"),
        (b"slt", b"sgt"),
        (b"add nsw i32", b"mul i32"),
    ],
)
def test_constants_and_operations_do(old: bytes, new: bytes) -> None:
    assert bags(SUM.replace(old, new)) != bags(SUM)


def test_loops_do() -> None:
    once = SUM.replace(b"label %loop, label %end", b"label %end, label %end")
    assert bags(once.replace(b", [ %j, %loop ]", b"").replace(b", [ %t, %loop ]", b"")) != bags(SUM)


def test_each_function_goes_into_its_bag() -> None:
    both = read_module(SUM + SUM.replace(b"@sum", b"@other").replace(b"slt", b"sgt"))
    apart = count_patterns(both, np.array([1, 0]))
    alone = count_patterns(read_module(SUM), np.zeros(1, np.int64))
    second = slice(apart.start[1], apart.start[2])
    assert apart.key[second].tolist() == alone.key.tolist()
    assert apart.times[second].tolist() == alone.times.tolist()
    left_out = count_patterns(both, np.array([0, -1]))
    assert left_out.key.tolist() == alone.key.tolist()
