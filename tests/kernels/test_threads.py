"""Strides of values of small kernels, worked out by hand."""

import math

import pytest

from tests.rooms import (
    CompileOptions,
    Module,
    NodeKind,
    compile_source,
    read_module,
    thread_strides,
)

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
    assert found.shape == (module.num_nodes,)
    locals_ = [node for node in range(module.num_nodes) if module.node_function[node] == function]
    results = [node for node in locals_ if module.node_kind[node] == NodeKind.RESULT]
    return {module.node_name(node): float(found[node]) for node in results}


def stride_of(lines: str, more: str = "") -> float:
    """Stride of %v."""
    return strides(kernel(f"{lines}\n  ret void", more))["v"]


@pytest.mark.parametrize(
    ("line", "stride"),
    [
        ("%v = add i64 %gid, 5", 1),
        ("%v = sub i64 %n, %gid", -1),
        ("%v = mul i64 %gid, 4", 4),
        ("%v = mul i64 %gid, -4", -4),
        ("%v = mul i64 %gid, 0", 0),
        ("%v = mul i64 %gid, %n", math.inf),
        ("%v = mul i64 %n, %gid", math.inf),
        ("%v = mul i64 %gid, %gid", math.nan),
        ("%v = mul i64 %n, %n", 0),
        ("%v = shl i64 %gid, 3", 8),
        ("%v = shl nuw nsw i64 %gid, 3, !dbg !7", 8),
        ("%v = shl i64 %gid, 3 ; three", 8),
        ("%v = shl i64 %gid, %n", math.inf),
        ("%v = shl i64 %n, %gid", math.nan),
        ("%v = ashr i64 %gid, 1", math.nan),
        ("%v = lshr i64 %n, 1", 0),
        ("%v = lshr i64 %n, %gid", math.nan),
        ("%v = and i64 %gid, 4294967295", 1),
        ("%v = and i64 %gid, %n", math.nan),
        ("%v = urem i64 %gid, 16", 1),
        ("%v = udiv i64 %gid, 16", math.nan),
        ("%v = udiv i64 %n, 16", 0),
        ("%v = xor i64 %n, -1", 0),
        ("%v = or disjoint i64 %gid, 1", 1),
        ("%v = icmp slt i64 %gid, %n", math.nan),
        ("%v = icmp slt i64 %n, 7", 0),
        ("%v = trunc i64 %gid to i32", 1),
        ("%v = uitofp i64 %gid to float", 1),
        ("%v = freeze i64 %gid", 1),
        ("%v = select i1 %c, i64 %gid, i64 %gid", 1),
        ("%v = select i1 %c, i64 %gid, i64 %n", math.nan),
        ("%v = load i64, ptr %p", 0),
        ("%v = atomicrmw add ptr %p, i64 1 seq_cst", math.nan),
        ("%v = cmpxchg ptr %p, i64 1, i64 2 seq_cst seq_cst", math.nan),
        ("%v = call i32 @_Z10atomic_addPU3AS1Vii(ptr %p, i32 1)", math.nan),
        ("%v = call float @_Z3sinf(float %x)", 0),
        ("%v = call float %p(float %x)", 0),
        ("%v = call i64 @_Z13get_global_idj(i32 noundef 0) #1", 1),
        ("%v = tail call i64 @_Z12get_local_idj(i32 0)", 1),
        ("%v = call i64 @_Z13get_global_idj(i32 1)", 0),
        ("%v = call i64 @_Z13get_global_idj(i32 noundef 2)", 0),
        ("%v = call i64 @_Z12get_group_idj(i32 0)", 0),
        ("%v = call i64 @get_global_linear_id()", 1),
        ("%v = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()", 1),
        ("%v = call i32 @llvm.nvvm.read.ptx.sreg.laneid()", 1),
        ("%v = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()", 0),
        # the pair of shifts that extends a sign
        ("%up = shl i64 %gid, 32\n  %v = ashr exact i64 %up, 32", 1),
        ("%up = mul i64 %gid, 64\n  %v = lshr i64 %up, 4", 4),
        # sums of a known and an unknown multiple
        ("%row = mul i64 %gid, %n\n  %v = add i64 %row, %gid", math.inf),
        ("%row = mul i64 %gid, %n\n  %v = sub i64 %gid, %row", math.inf),
        # constants too long for any register
        (f"%v = mul i64 %gid, {'9' * 5000}", math.inf),
        ("%v = shl i64 %gid, 9999999999999", 2.0**62),
        # values that nothing defines first
        ("ret void\ndead:\n  %v = add i64 %w, 1\n  %w = add i64 %v, 1", 0),
        # what is stored in a variable whose address goes elsewhere is not known
        ("%a = alloca i64\n  call void %p(ptr %a)\n  %v = load i64, ptr %a", math.nan),
        ("%a = alloca i64\n  %v = load i64, ptr %a", 0),
        ("%a = alloca ptr\n  store ptr %a, ptr %a\n  %v = load ptr, ptr %a", math.nan),
    ],
    ids=lambda value: str(value)[:60],
)
def test_one_operation(line: str, stride: float) -> None:
    assert stride_of(f"  {line}") == pytest.approx(stride, nan_ok=True)


@pytest.mark.parametrize(
    ("address", "stride"),
    [
        ("float, ptr %p, i64 %gid", 4),
        ("<4 x float>, ptr %p, i64 %gid", 16),
        ("ptr, ptr %p, i64 %gid", 8),
        ("float, ptr addrspace(1) %p, i64 %gid", 4),
        ("[13 x [13 x [5 x double]]], ptr %p, i64 %gid, i64 %n, i64 %n, i64 0", 6760),
        ("[13 x [13 x [5 x double]]], ptr %p, i64 %n, i64 %gid, i64 %n, i64 0", 520),
        ("[13 x [13 x [5 x double]]], ptr %p, i64 0, i64 %n, i64 %gid, i64 0", 40),
        ("[13 x [13 x [5 x double]]], ptr %p, i64 0, i64 0, i64 0, i64 %gid", 8),
        ("inbounds nuw %pair, ptr %p, i64 %gid", 60),
        ("%pair, ptr %p, i64 %gid, i32 0", 60),
        ("inbounds %pair, ptr %p, i64 0, i32 1, i64 %gid", 4),
        ("[3 x %pair], ptr %p, i64 0, i64 %gid, i32 2, i32 1, !dbg !3", 60),
        ("<{ i8, [4 x i16] }>, ptr %p, i64 0, i32 1, i64 %gid", 2),
        ("i8, ptr %p, i64 %gid", 1),
        ("float, ptr %p, i64 %n", 0),
        ("half, ptr %p, i64 %gid", 2),
        ("x86_fp80, ptr %p, i64 %gid", 16),
        ("{ i32, [2 x { i8, double }] }, ptr %p, i64 %gid", 22),
        ("[0 x float], ptr %p, i64 %gid", 0),
        (f"[{2**63} x [{2**63} x double]], ptr %p, i64 %gid", 2.0**62),
    ],
)
def test_addresses(address: str, stride: float) -> None:
    assert stride_of(f"  %v = getelementptr {address}") == stride


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
