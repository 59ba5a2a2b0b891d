"""Cycles of small kernels, counted by hand: loops run eight times where nothing says how often."""

import pytest

import ncc
from tests.rooms import CYCLE_KINDS, branch_probability, count_work, cpu_cycles, decode, flops_of, integer_operations_of
from tests.support.text import rows

DECLARATIONS = """
declare i64 @_Z13get_global_idj(i32)
declare void @_Z7barrierj(i32)
declare float @_Z3sinf(float)
declare float @_Z3powff(float, float)
declare float @_Z4sqrtf(float)
"""


def cycles(body: str, without: tuple[int, ...] = (), more: str = "") -> dict[str, float]:
    """Kind → amount of all that is not zero."""
    arguments = "ptr addrspace(1) %p, i64 %n, i64 %m, float %x"
    text = f"{DECLARATIONS}{more}\ndefine spir_kernel void @f({arguments}) {{\nentry:\n{body}\n  ret void\n}}\n"
    module = ncc.read_module(text.encode())
    kernel = module.num_functions - 1
    found = cpu_cycles(count_work(module, kernel).without(without))
    return {name: value for name, value in zip(CYCLE_KINDS, found.tolist(), strict=True) if value}


def loop(body: str, end: str = "%n", start: str = "0.0") -> str:
    """A loop that hands on %v as %s: besides it an addition and a comparison."""
    return f"""  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %j, %loop ]
  %s = phi float [ {start}, %entry ], [ %v, %loop ]
{body}
  %j = add i64 %i, 1
  %c = icmp ult i64 %j, {end}
  br i1 %c, label %loop, label %end
end:"""


@pytest.mark.parametrize(("lines", "expected"), rows("cycles.txt"))
def test_statements_outside_of_loops(lines: str, expected: str) -> None:
    kinds = (kind.split() for kind in expected.split(", ") if kind)
    assert cycles(f"  {lines}") == {kind: float(number) for kind, number in kinds}


@pytest.mark.parametrize(
    ("body", "each"),
    [
        ("  %v = fadd float %s, %x", 4.0),  # a sum waits for the last one
        ("  %w = fmul float %s, %x\n  %v = fadd float %w, 1.0", 8.0),
        ("  %w = fmul float %x, %x\n  %v = fadd float %w, %s", 4.0),  # the product need not wait
        ("  %v = select i1 true, float %s, float 1.0", 1.0),
        ("  %w = fdiv float 1.0, %s\n  %v = fadd float %w, 1.0", 17.0),
        ("  %v = call float @_Z3sinf(float %s)", 50.0),
        ("  %w = call float @_Z3sinf(float %x)\n  %v = fadd float %s, %w", 40.75),  # issued one after the other
    ],
)
def test_loops_wait_for_what_they_hand_on_or_for_what_they_issue(body: str, each: float) -> None:
    assert cycles(loop(body))["cycles"] == 8 * each


def test_loops_of_few_operations_are_unrolled() -> None:
    body = "  %v = fadd float %s, %x"
    assert cycles(loop(body, end="32")) == {"packed": 96}
    assert cycles(loop(body, end="33")) == {"cycles": 33 * 4}


def test_loops_around_barriers_are_split() -> None:
    body = "  %v = fadd float %s, %x\n  call void @_Z7barrierj(i32 1)"
    assert cycles(loop(body)) == {"packed": 8 * 4}


def test_inner_loops_count_on_their_own() -> None:
    body = """  br label %outer
outer:
  %k = phi i64 [ 0, %entry ], [ %l, %latch ]
  br label %inner
inner:
  %i = phi i64 [ 0, %outer ], [ %j, %inner ]
  %s = phi float [ 0.0, %outer ], [ %v, %inner ]
  %v = fadd float %s, %x
  %j = add i64 %i, 1
  %c = icmp ult i64 %j, %n
  br i1 %c, label %inner, label %latch
latch:
  %l = add i64 %k, 1
  %d = icmp ult i64 %l, %m
  br i1 %d, label %outer, label %end
end:"""
    assert cycles(body)["cycles"] == 64 * 4 + 8 * 1


def test_what_does_nothing_costs_nothing() -> None:
    body = "  %v = call float @_Z3sinf(float %x)\n  %w = fadd float %v, %x"
    assert cycles(body, without=(1,)) == {"packed": 1}


def test_called_functions_count_as_often_as_they_are_called() -> None:
    more = "define float @g(float %y) {\n  %z = fadd float %y, 1.0\n  ret float %z\n}\n"
    body = "  %v = call float @g(float %x)\n  %w = call float @g(float %v)\n  %u = fmul float %w, %w"
    assert cycles(body, more=more) == {"packed": 3}
    assert cycles(loop("  %v = call float @g(float %s)"), more=more) == {"cycles": 8 * 1 + 8 * 0.25}


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


@pytest.mark.parametrize(("statement", "costs"), rows("costs.txt"))
def test_operations_count_as_instructions_and_conditions_hold_as_likely_as_they_look(statement, costs):
    decoded = decode(ncc.load_module(_IR.replace("STATEMENT", statement).encode()), 0)[0]
    expected = {kind: float(number) for kind, number in (cost.split() for cost in costs.split(", ") if cost)}
    if "likely" in expected:
        assert branch_probability(decoded.module, decoded.result) == expected["likely"]
    elif "integer" in expected:
        assert integer_operations_of(decoded) == expected["integer"]
    else:
        assert flops_of(decoded) == expected
