"""Floating-point and integer operations as a card counts them, and how likely a condition holds that is not known."""

import pytest

import ncc
from tests.rooms import Instruction, branch_probability, decode, flops_of, integer_operations_of

_IR = """
declare float @llvm.sqrt.f32(float)
declare float @expf(float)
declare float @__expf(float)
declare double @llvm.fma.f64(double, double, double)
declare float @llvm.fabs.f32(float)
define void @f(float %x, double %d, <2 x double> %v, i32 %i, i64 %l, ptr %p, i1 %c) {
  %r = STATEMENT
  ret void
}
"""


def _decoded(statement: str) -> Instruction:
    return decode(ncc.load_module(_IR.replace("STATEMENT", statement).encode()), 0)[0]


@pytest.mark.parametrize(
    ("statement", "flops"),
    [
        ("fadd contract float %x, %x", {"single": 1}),
        ("fmul <2 x double> %v, %v", {"double": 2}),
        ("fneg float %x", {"single": 1}),
        ("call float @llvm.sqrt.f32(float %x)", {"single": 0}),
        ("fdiv float %x, %x", {"single": 10}),
        ("fdiv float 1.000000e+00, %x", {"single": 5}),
        ("fdiv fast float %x, %x", {"single": 1}),
        ("fdiv double %d, %d", {"double": 15, "single": 2}),
        ("call float @expf(float %x)", {"single": 10}),
        ("call float @__expf(float %x)", {"single": 1}),
        ("call double @llvm.fma.f64(double %d, double %d, double %d)", {"double": 2}),
        ("call float @llvm.fabs.f32(float %x)", {}),
    ],
)
def test_operations_count_as_the_instructions_that_they_become(statement, flops):
    assert flops_of(_decoded(statement)) == flops


@pytest.mark.parametrize(
    ("statement", "operations"),
    [
        ("add i32 %i, %i", 0.4),
        ("add i64 %l, %l", 1.4),
        ("getelementptr float, ptr %p, i64 %l", 0.3),
        ("getelementptr float, ptr %p, i64 4", 0),
        ("urem i32 %i, 10", 3.5),
        ("select i1 %c, float %x, float %x", 0),
        ("fadd float %x, %x", 0),
    ],
)
def test_integer_operations_count_as_instructions(statement, operations):
    assert integer_operations_of(_decoded(statement)) == operations


@pytest.mark.parametrize(
    ("condition", "share"),
    [
        ("fcmp uno float %x, 0.000000e+00", 0.01),
        ("icmp eq i32 %i, 7", 0.1),
        ("icmp ne i32 %i, 7", 0.9),
        ("icmp slt i32 %i, 0", 0.1),
        ("icmp slt i32 %i, 1", 0.1),
        ("icmp sgt i32 %i, 0", 0.9),
        ("icmp eq i32 %i, 0", 0.5),
        ("icmp slt i32 %i, 100", 0.5),
        ("fcmp olt float %x, 0.000000e+00", 0.1),
    ],
)
def test_what_is_compared_tells_how_likely_a_branch_is(condition, share):
    compare = _decoded(condition)
    assert branch_probability(compare.module, compare.result) == share
