"""Strides of values of small kernels, worked out by hand."""

import math

import pytest

from tests.rooms import CompileOptions, Module, NodeKind, compile_source, read_module, thread_strides
from tests.support.text import rows

DECLARATIONS = """
declare i64 @_Z13get_global_idj(i32)
declare i64 @_Z12get_local_idj(i32)
declare i64 @_Z12get_group_idj(i32)
declare i64 @get_global_linear_id()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare i32 @_Z10atomic_addPU3AS1Vii(ptr, i32)
declare float @_Z3sinf(float)
declare float @_Z4fminff(float, float)
"""
GID = "  %gid = call i64 @_Z13get_global_idj(i32 0)\n"
STRUCTS = "%pair = type { i32, [10 x float], %inner }\n%inner = type { double, i64 }\n"


def kernel(body: str, more: str = "") -> Module:
    text = (
        f"{STRUCTS}{DECLARATIONS}{more}\ndefine void @f(ptr %p, i64 %n, float %x, i1 %c) {{\nentry:\n{GID}{body}\n}}\n"
    )
    return read_module(text.encode())


def strides(module: Module, function: int | None = None) -> dict[str, float]:
    """Name → stride of a function's results; of the last function's, if not told."""
    function = module.num_functions - 1 if function is None else function
    found = thread_strides(module, function)
    assert found.shape == (module.num_nodes + 1,)
    locals_ = [node for node in range(module.num_nodes) if module.node_function[node] == function]
    results = [node for node in locals_ if module.node_kind[node] == NodeKind.RESULT]
    return {module.node_name(node): float(found[node]) for node in results}


def stride_of(lines: str, more: str = "") -> float:
    """Stride of %v."""
    return strides(kernel(f"{lines}\n  ret void", more))["v"]


LONG = [  # constants too long for any register
    (f"%v = mul i64 %gid, {'9' * 5000}", math.inf),
    ("%v = shl i64 %gid, 9999999999999", 2.0**62),
    (f"%v = getelementptr [{2**63} x [{2**63} x double]], ptr %p, i64 %gid", 2.0**62),
]


@pytest.mark.parametrize(("lines", "stride"), [*rows("strides.txt"), *LONG], ids=lambda value: str(value)[:60])
def test_strides(lines: str, stride: str | float) -> None:
    assert stride_of(f"  {lines}") == pytest.approx(float(stride), nan_ok=True)


def test_addresses_of_addresses_and_loads_there() -> None:
    found = strides(
        kernel("""
  %row = getelementptr [64 x float], ptr %p, i64 %gid
  %cell = getelementptr float, ptr %row, i64 %gid
  %far = mul i64 %gid, %n
  %column = getelementptr float, ptr %p, i64 %far
  %loaded = load i64, ptr %cell
  %anywhere = getelementptr float, ptr %p, i64 %loaded
  ret void""")
    )
    assert (found["row"], found["cell"], found["column"]) == (256, 260, math.inf)
    assert math.isnan(found["loaded"])
    assert math.isnan(found["anywhere"])


def test_typed_pointers() -> None:
    text = """
define spir_kernel void @f(float*, i64) {
  %3 = tail call i64 @_Z13get_global_idj(i32 0) #2
  %4 = bitcast float* %0 to [8 x float]*
  %5 = getelementptr inbounds [8 x float], [8 x float]* %4, i64 %3, i64 %1
  ret void
}
declare i64 @_Z13get_global_idj(i32)
"""
    assert strides(read_module(text.encode()))["5"] == 32


LOOP = """  br label %head
head:
  %i = phi i64 [ START, %entry ], [ %next, %head ]
  %next = add i64 %i, STEP
  %v = getelementptr float, ptr %p, i64 %i
  %end = icmp slt i64 %next, %n
  br i1 %end, label %head, label %exit
exit:"""


@pytest.mark.parametrize(
    ("start", "step", "stride"),
    [("%gid", "%n", 4), ("%gid", "64", 4), ("0", "1", 0), ("%n", "1", 0), ("0", "%gid", math.nan)],
)
def test_induction_variables_start_where_the_thread_does(start: str, step: str, stride: float) -> None:
    assert stride_of(LOOP.replace("START", start).replace("STEP", step)) == pytest.approx(stride, nan_ok=True)


def test_what_grows_with_every_round_is_no_multiple() -> None:
    assert math.isnan(stride_of(LOOP.replace("START", "%gid").replace("add i64 %i, STEP", "mul i64 %i, 2")))


def test_blocks_in_any_order() -> None:
    """Each block uses what the one below it defines."""
    blocks = [f"b{i}:\n  %v{i} = add i64 %v{i - 1}, 1\n  br label %b{i + 1}" for i in range(1, 60)]
    body = "\n".join(["  br label %b0", "b60:\n  ret void", *reversed(blocks), "b0:\n  %v0 = add i64 %gid, 0"])
    assert strides(kernel(f"{body}\n  br label %b1"))["v59"] == 1


def test_variables_on_the_stack_are_what_was_stored_there() -> None:
    found = strides(
        kernel("""
  %index = alloca i64
  %other = alloca i64
  %array = alloca [4 x i64]
  store i64 %gid, ptr %index
  store i64 %gid, ptr %other
  store i64 %n, ptr %other
  %loaded = load i64, ptr %index
  %mixed = load i64, ptr %other
  %cell = getelementptr [4 x i64], ptr %array, i64 0, i64 %n
  %own = load i64, ptr %cell
  %v = getelementptr i32, ptr %p, i64 %loaded
  ret void""")
    )
    assert (found["loaded"], found["v"], found["cell"]) == (1, 4, 0)
    assert math.isnan(found["mixed"])
    assert math.isnan(found["own"])  # every thread has an array of its own


def test_functions_with_bodies_return_what_they_make_of_their_arguments() -> None:
    more = """
define i64 @twice(i64 %x) {
  %y = mul i64 %x, 2
  ret i64 %y
}
define i64 @asked() {
  %g = call i64 @_Z13get_global_idj(i32 0)
  ret i64 %g
}
define i64 @again(i64 %x) {
  %y = call i64 @again(i64 %x)
  ret i64 %y
}
define i64 @either(i1 %c, i64 %x) {
  br i1 %c, label %a, label %b
a:
  ret i64 %x
b:
  ret i64 7
}
define i64 @never() {
  unreachable
}
"""
    assert stride_of("  %v = call i64 @twice(i64 %gid)", more) == 2
    assert stride_of("  %v = call i64 @twice(i64 %n)", more) == 0
    assert stride_of("  %v = call i64 @asked()", more) == 1
    assert math.isnan(stride_of("  %v = call i64 @either(i1 %c, i64 %gid)", more))
    assert stride_of("  %v = call i64 @either(i1 %c, i64 %n)", more) == 0
    assert math.isnan(stride_of("  %v = call i64 @again(i64 %n)", more))
    assert stride_of("  %v = call i64 @never()", more) == 0


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O3"])
def test_the_compilers_ir(level: str) -> None:
    source = b"""kernel void f(global float *row, global float *column, global int *index, int n) {
      int i = get_global_id(0), j = get_global_id(1);
      row[j * n + i] = column[i * n + j] + row[index[i]] + column[j];
    }"""
    module = read_module(compile_source(source, CompileOptions(language="opencl", optimization=level)).ir)
    found = thread_strides(module, module.num_functions - 1)
    accesses = []
    for statement in range(int(module.function_start[-2]), module.num_statements):
        text = module.statement_text(statement)
        if "float" in text and text.split(" = ")[-1].startswith(("load", "store")):
            pointer = int(module.operand[module.operand_start[statement + 1] - 1])
            accesses.append(float(found[pointer]))
    assert accesses == pytest.approx([math.inf, math.nan, 0, 4], nan_ok=True)
