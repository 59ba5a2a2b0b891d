"""Floating-point and integer operations as a card counts them, and how likely a condition holds that is not known."""

import pytest

import ncc
from tests.rooms import Instruction, branch_probability, decode, flops_of, integer_operations_of
from tests.support.text import rows

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


@pytest.mark.parametrize(("statement", "costs"), rows("costs.txt"))
def test_operations_count_as_instructions_and_conditions_hold_as_likely_as_they_look(statement, costs):
    decoded = _decoded(statement)
    expected = {kind: float(number) for kind, number in (cost.split() for cost in costs.split(", ") if cost)}
    if "likely" in expected:
        assert branch_probability(decoded.module, decoded.result) == expected["likely"]
    elif "integer" in expected:
        assert integer_operations_of(decoded) == expected["integer"]
    else:
        assert flops_of(decoded) == expected
