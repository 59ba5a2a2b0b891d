"""Floating-point operations as a card counts them."""

import pytest

from tests.rooms import flops_of, integer_operations_of


@pytest.mark.parametrize(
    ("opcode", "callee", "source", "flops"),
    [
        ("fadd", "", "%3 = fadd contract float %1, %2", {"single": 1}),
        ("fmul", "", "%3 = fmul <2 x double> %1, %2", {"double": 2}),
        ("fneg", "", "%3 = fneg float %1", {"single": 1}),
        ("call", "llvm.sqrt.f32", "%3 = call float @llvm.sqrt.f32(float %1)", {"single": 0}),
        ("fdiv", "", "%3 = fdiv float %1, %2", {"single": 10}),
        ("fdiv", "", "%3 = fdiv float 1.000000e+00, %2", {"single": 5}),
        ("fdiv", "", "%3 = fdiv fast float %1, %2", {"single": 1}),
        ("fdiv", "", "%3 = fdiv double %1, %2", {"double": 15, "single": 2}),
        ("call", "expf", "%3 = call float @expf(float %1)", {"single": 10}),
        ("call", "__expf", "%3 = call float @__expf(float %1)", {"single": 1}),
        ("call", "llvm.fma.f64", "%4 = call double @llvm.fma.f64(double %1, double %2, double %3)", {"double": 2}),
        ("call", "llvm.fabs.f32", "%3 = call float @llvm.fabs.f32(float %1)", {}),
    ],
)
def test_operations_count_as_the_instructions_that_they_become(opcode, callee, source, flops):
    assert flops_of(opcode, callee, source) == flops


@pytest.mark.parametrize(
    ("opcode", "source", "is_constant", "operations"),
    [
        ("add", "%3 = add i32 %1, %2", False, 0.4),
        ("add", "%3 = add i64 %1, %2", False, 1.4),
        ("getelementptr", "%3 = getelementptr float, ptr %1, i64 %2", False, 0.3),
        ("getelementptr", "%3 = getelementptr float, ptr %1, i64 4", True, 0),
        ("urem", "%3 = urem i32 %1, 10", True, 3.5),
        ("select", "%4 = select i1 %1, float %2, float %3", False, 0),
        ("fadd", "%3 = fadd float %1, %2", False, 0),
    ],
)
def test_integer_operations_count_as_instructions(opcode, source, is_constant, operations):
    assert integer_operations_of(opcode, "", source, is_constant) == operations
