"""Profiles of small kernels, counted by hand, and of real ones."""

import math

import numpy as np
import pytest

import ncc
from ncc import CompileOptions, read_module
from tests.rooms import FEATURE_NAMES, Abstraction, CountedStatement, Work, compile_source, count_work
from tests.support.text import rows

DECLARATIONS = """
declare i64 @_Z13get_global_idj(i32)
declare void @_Z7barrierj(i32)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.lifetime.start.p0(i64, ptr)
"""


def profile(body: str, arguments: str = "ptr addrspace(1) %p, i64 %n, float %x", more: str = "") -> Work:
    text = f"{DECLARATIONS}{more}\ndefine spir_kernel void @f({arguments}) {{\nentry:\n{body}\n  ret void\n}}\n"
    module = read_module(text.encode())
    return count_work(module, module.num_functions - 1)


def named(work: Work) -> dict[str, float]:
    """Name of each feature → value."""
    return dict(zip(FEATURE_NAMES, work.features().tolist(), strict=True))


def ledger(work: Work) -> list[CountedStatement]:
    """The statements that count, in the module's order."""
    return sorted(work.statements, key=lambda counted: counted.instruction.statement)


def patterns(work: Work) -> list[str]:
    """How neighbors access global memory at each statement; empty if they don't."""
    accesses = [counted.accesses[0] if counted.accesses else None for counted in ledger(work)]
    return [access.pattern if access and access.space == "global" else "" for access in accesses]


def counts(found: Work, prefix: str = "static") -> dict[str, float]:
    """Name → count of all that is not zero."""
    features = named(found).items()
    return {
        name.removeprefix(f"{prefix}_"): round(math.expm1(x), 6)
        for name, x in features
        if name.startswith(prefix) and x
    }


def once(body: str, **options: str) -> dict[str, float]:
    return counts(profile(body, **options))


@pytest.mark.parametrize(("what", "amounts"), rows("amounts.txt"))
def test_one_statement(what: str, amounts: str) -> None:
    pairs = (pair.split() for pair in amounts.split(", ") if pair)
    expected = {kind: float(number) for kind, number in pairs}
    if what.startswith("@"):  # a function without a body, and its type
        callee, _, type_ = what.partition(" ")
        called = f"  %v = call {type_} {callee}({type_} zeroinitializer)"
        assert once(called, more=f"declare {type_} {callee}({type_})\n") == expected
    else:
        assert once(f"  {what}") == expected


SPACES = {1: "global", 2: "constant", 3: "local", 5: "private"}


@pytest.mark.parametrize("number", SPACES)
def test_memory_by_the_type_of_the_pointer(number: int) -> None:
    pointer = f"ptr addrspace({number})"
    found = once(f"  %v = load i32, {pointer} %q\n  store i32 0, {pointer} %q", arguments=f"{pointer} %q")
    space = SPACES[number]
    more = {"global_uniform": 2, "global_bytes": 8} if space == "global" else {}
    assert found == {f"{space}_load": 1, f"{space}_store": 1, **more}


def test_memory_is_that_of_the_pointer_and_not_of_what_is_stored_there() -> None:
    stored = "  %a = alloca ptr addrspace(3)\n  %b = alloca i8\n  %v = load ptr addrspace(1), ptr %a\n"
    assert once(f"{stored}  store ptr addrspace(1) %p, ptr %b") == {"private_load": 1, "private_store": 1}


def test_memory_by_where_the_pointer_comes_from() -> None:
    more = """
@array = internal addrspace(3) global [8 x float] undef
@flat = internal global [8 x float] undef
@table = internal constant [8 x float] zeroinitializer
@"odd name" = addrspace(4) constant float 0.0
"""
    body = """
  %g = addrspacecast ptr addrspace(1) %p to ptr addrspace(4)
  %h = getelementptr i8, ptr addrspace(4) %g, i64 4
  %a = load float, ptr addrspace(4) %h
  %b = load float, ptr addrspacecast (ptr addrspace(3) @array to ptr)
  %d = load float, ptr @flat
  %e = load float, ptr @table
  %i = load float, ptr addrspace(4) @"odd name"
  %t = addrspacecast ptr addrspace(3) %tile to ptr
  %k = load float, ptr %t
  %own = alloca [4 x float]
  %s = select i1 true, ptr %own, ptr null
  %j = load float, ptr %s"""
    found = once(body, more=more, arguments="ptr addrspace(1) %p, ptr addrspace(3) %tile")
    loads = {name: amount for name, amount in found.items() if name.endswith("_load")}
    assert loads == {"global_load": 1, "local_load": 3, "constant_load": 2, "private_load": 1}


def test_memory_through_a_loop_of_pointers() -> None:
    loop = """  %own = alloca [64 x i8]
  br label %head
head:
  %q = phi ptr [ %r, %head ], [ %own, %entry ]
  %r = getelementptr i8, ptr %q, i64 1
  store i8 0, ptr %q
  %c = icmp eq ptr %r, null
  br i1 %c, label %exit, label %head
exit:"""
    assert once(loop)["private_store"] == 1


LEGACY = """
%s = type {{ float, float }}
define spir_kernel void @f(float* %g, float* %c, float* %l, %s* byval(%s) %b) !kernel_arg_addr_space !4 {{
  %p = bitcast %s* %b to float*
  %1 = load float, float* %{name}
  ret void
}}
!4 = !{{i32 1, i32 2, i32 3, i32 0}}
"""


@pytest.mark.parametrize(("name", "space"), [("g", "global"), ("c", "constant"), ("l", "local"), ("p", "private")])
def test_memory_by_the_metadata_of_typed_pointers(name: str, space: str) -> None:
    found = count_work(read_module(LEGACY.format(name=name).encode()), 0)
    assert counts(found)[f"{space}_load"] == 1
    assert (named(found)["pointer_arguments"], named(found)["scalar_arguments"]) == (4, 0)


@pytest.mark.parametrize(
    ("type_", "index", "pattern", "num_bytes"),
    [
        ("float", "%gid", "coalesced", 4),
        ("<4 x float>", "%gid", "coalesced", 16),
        ("float", "%n", "uniform", 4),
        ("float", "%row", "far", 4),
        ("float", "%sixteen", "strided", 4),
        ("float", "%seventeen", "far", 4),
        ("float", "%loaded", "irregular", 4),
    ],
)
def test_patterns(type_: str, index: str, pattern: str, num_bytes: float) -> None:
    body = f"""  %gid = call i64 @_Z13get_global_idj(i32 0)
  %row = mul i64 %gid, %n
  %sixteen = mul i64 %gid, 16
  %seventeen = mul i64 %gid, 17
  %loaded = call i64 @unknown(i64 %gid)
  %a = getelementptr {type_}, ptr addrspace(1) %p, i64 {index}
  store {type_} zeroinitializer, ptr addrspace(1) %a"""
    found = profile(body, more="declare i64 @unknown(i64)")
    amounts = counts(found)
    assert (amounts[f"global_{pattern}"], amounts["global_bytes"], amounts["global_store"]) == (1, num_bytes, 1)
    assert patterns(found) == [""] * 6 + [pattern, ""]
    assert named(found)["coalesced_share"] == (pattern in ("coalesced", "uniform"))
    assert named(found)["bytes_per_access"] == num_bytes


@pytest.mark.parametrize(
    ("index", "pattern"), [("%gid", "coalesced"), ("%n", "uniform"), ("%four", "strided"), ("%row", "far")]
)
def test_vectors_by_function_are_accesses(index: str, pattern: str) -> None:
    more = """
declare <4 x float> @_Z6vload4mPU3AS1Kf(i64, ptr addrspace(1))
declare void @_Z12vstore_half4Dv4_fmPU3AS1Dh(<4 x float>, i64, ptr addrspace(1))
"""
    body = f"""  %gid = call i64 @_Z13get_global_idj(i32 0)
  %four = shl i64 %gid, 2
  %row = mul i64 %gid, %n
  %v = call <4 x float> @_Z6vload4mPU3AS1Kf(i64 {index}, ptr addrspace(1) %p)
  call void @_Z12vstore_half4Dv4_fmPU3AS1Dh(<4 x float> %v, i64 {index}, ptr addrspace(1) %p)"""
    found = profile(body, more=more)
    amounts = counts(found)
    assert (amounts["global_load"], amounts["global_store"], amounts[f"global_{pattern}"]) == (1, 1, 2)
    assert amounts["global_bytes"] == 16 + 8
    assert patterns(found) == ["", "", "", pattern, pattern, ""]


@pytest.mark.parametrize("called", ["@read_imagef()", "@write_imagef(i32 0)", "@__nv_tex_fetch(i64 1)"])
def test_a_stranger_may_declare_functions_of_images_without_arguments(called: str) -> None:
    assert once(f"  call void {called}", more=f"declare void {called.replace(' 0', '').replace(' 1', '')}\n") == {
        "call": 1
    }


IMAGES = """
kernel void f(read_only image2d_t from, write_only image2d_t to, int2 shift, sampler_t sampler) {
  int2 at = (int2)(get_global_id(0), get_group_id(1));
  write_imagef(to, at, read_imagef(from, sampler, at + shift) + read_imagef(from, (int2)(at.y, at.x)));
}
"""
TEXTURE = """
__global__ void f(cudaTextureObject_t from, float *to) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  to[x] = tex2D<float>(from, x + 0.5f, 0.5f);
}
"""


@pytest.mark.parametrize(
    ("code", "language", "expected"),
    [
        (IMAGES, "opencl", {"global_bytes": 48, "global_load": 2, "global_coalesced": 2, "global_irregular": 1}),
        (TEXTURE, "cuda", {"global_bytes": 8, "global_load": 1, "global_coalesced": 2}),
    ],
)
def test_images_and_textures_are_memory(code: str, language: str, expected: dict[str, float]) -> None:
    [found] = ncc.profile(code.encode(), grid=4, block=64, options=CompileOptions(language=language))
    assert "call" not in found.per_thread
    assert {kind: found.per_thread[kind] for kind in expected} == expected


def test_atomic_instructions() -> None:
    body = "  %a = atomicrmw volatile add ptr addrspace(1) %p, i64 1 seq_cst\n"
    body += "  %b = cmpxchg weak ptr addrspace(3) %l, i32 0, i32 1 seq_cst seq_cst"
    found = once(body, arguments="ptr addrspace(1) %p, ptr addrspace(3) %l")
    assert found == {"atomic": 2, "global_load": 1, "local_load": 1, "global_uniform": 1, "global_bytes": 8}


def test_block_copies() -> None:
    body = """  %own = alloca [32 x i8]
  call void @llvm.lifetime.start.p0(i64 32, ptr %own)
  call void @llvm.memset.p0.i64(ptr %own, i8 0, i64 32, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %own, ptr align 4 %q, i64 24, i1 false)"""
    expected = {"private_store": 4 + 3, "global_load": 3, "global_uniform": 3, "global_bytes": 24}
    assert once(body, arguments="ptr %q") == expected


BRANCHES = """  %gid = call i64 @_Z13get_global_idj(i32 0)
  %c = icmp slt i64 VALUE, 7
  br i1 %c, label %head, label %exit
head:
  switch i64 VALUE, label %head [ i64 3, label %exit ]
exit:"""


@pytest.mark.parametrize(("value", "kind"), [("%gid", "divergent_branch"), ("%n", "branch")])
def test_branches(value: str, kind: str) -> None:
    found = profile(BRANCHES.replace("VALUE", value))
    assert counts(found)[kind] == 2
    assert counts(found, "dynamic")[kind] == 1 + 8
    divergent = kind == "divergent_branch"
    assert [one.is_divergent for one in ledger(found)] == [False, False, divergent, divergent, False]
    assert named(found)["divergent_loops"] == math.log1p(divergent)
    assert named(found)["divergent_share"] == divergent


def test_loops_weigh_what_is_in_them() -> None:
    body = """  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i1, %latch ]
  br label %inner
inner:
  %j = phi i64 [ 0, %outer ], [ %j1, %inner ]
  %y = fmul float %x, %x
  %j1 = add i64 %j, 1
  %a = icmp eq i64 %j1, 100
  br i1 %a, label %latch, label %inner
latch:
  %z = fdiv float %x, %x
  %i1 = add i64 %i, 1
  %b = icmp eq i64 %i1, %n
  br i1 %b, label %exit, label %outer
exit:"""
    found = profile(body)
    amounts, values = counts(found, "dynamic"), named(found)
    assert (amounts["float"], amounts["division"], amounts["branch"]) == (800, 8, 808)
    assert (values["depth"], values["open_depth"]) == (2, 1)
    assert (values["loops"], values["fixed_trips"]) == (math.log1p(2), math.log1p(100))
    assert sorted({one.weight for one in found.statements}) == [1, 8, 800]


CALLEE = """
define void @g(ptr addrspace(1) %q, ptr %r, i64 %i) {
  %a = getelementptr float, ptr addrspace(1) %q, i64 %i
  store float 0.0, ptr addrspace(1) %a
  store float 0.0, ptr %r
  ret void
}
"""


def test_functions_count_for_every_call_with_its_arguments() -> None:
    body = """  %gid = call i64 @_Z13get_global_idj(i32 0)
  %own = alloca float
  call void @g(ptr addrspace(1) %p, ptr %own, i64 %gid)
  call void @g(ptr addrspace(1) %p, ptr @shared, i64 %n)"""
    found = profile(body, more=CALLEE + "@shared = internal global float 0.0\n")
    amounts = counts(found)
    assert (amounts["global_coalesced"], amounts["global_uniform"], amounts["global_store"]) == (1, 1, 2)
    assert (amounts["private_store"], amounts["local_store"]) == (1, 1)
    assert "call" not in amounts
    assert len(found.statements) == 5 + 2 * 4
    assert named(found)["statements"] == math.log1p(13)


def test_statements_can_be_left_out() -> None:
    found = profile("  %a = fadd float %x, %x\n  %b = fmul float %a, %a")
    first, *others = ledger(found)
    assert counts(found.without([first.instruction.statement])) == {"float": 1, "flops": 1}
    assert ledger(found.without([first.instruction.statement])) == others


@pytest.mark.parametrize(
    ("asked", "dimensions"),
    [
        (["_Z13get_global_idj(i32 0)"], 1),
        (["_Z13get_global_idj(i32 noundef 0)", "_Z13get_global_idj(i32 noundef 1)"], 2),
        (["_Z13get_global_idj(i32 0) #2", "_Z12get_local_idj(i32 0)", "_Z12get_local_idj(i32 2)"], 2),
        (["_Z12get_group_idj(i32 0)"], 0),
        (["get_global_linear_id()"], 1),
        (["llvm.nvvm.read.ptx.sreg.tid.x()", "llvm.nvvm.read.ptx.sreg.tid.y()"], 2),
        (["llvm.nvvm.read.ptx.sreg.ntid.x()"], 0),
    ],
)
def test_dimensions(asked: list[str], dimensions: int) -> None:
    names = {name.split("(")[0] for name in asked} - {"_Z13get_global_idj"}
    declared = "".join(f"declare i64 @{name}({'i32' if 'j' in name else ''})\n" for name in names)
    body = "\n".join(f"  %v{i} = call i64 @{name}" for i, name in enumerate(asked))
    assert named(profile(body, more=declared))["dimensions"] == dimensions


@pytest.mark.parametrize("options", [{"keep_callees": False}, {"keep_immediates": True}], ids=str)
def test_features_do_not_depend_on_what_the_words_keep(options: dict) -> None:
    ir = compile_source(
        b"""kernel void f(global float *p, global int *q) {
          for (int k = 0; k < 9; k++) { p[get_global_id(0)] += sin(p[k]) * 2; q[k] = 3; p[k + 7] = 1.5f; }
        }""",
        CompileOptions(language="opencl"),
    ).ir
    plain, other = read_module(ir), read_module(ir, abstraction=Abstraction(**options))
    assert plain.texts != other.texts
    assert count_work(plain, 0).features().tolist() == count_work(other, 0).features().tolist()


def test_recursion_ends() -> None:
    again = "define void @g(i64 %x) {\n" + "  call void @g(i64 %x)\n" * 3 + "  ret void\n}\n"
    # one call, and three from each to a depth of four
    expected = sum(4 * 3**level for level in range(4)) + 2
    assert math.expm1(named(profile("  call void @g(i64 %n)", more=again))["statements"]) == pytest.approx(expected)
    wide = "define void @g(i64 %x) {\n" + "  call void @g(i64 %x)\n" * 999 + "  ret void\n}\n"
    assert math.expm1(named(profile("  call void @g(i64 %n)", more=wide))["statements"]) < 32_000


def test_loops_of_loops_have_finite_counts() -> None:
    depth = 60
    heads = "\n".join(f"h{i}:\n  br label %h{i + 1}" for i in range(depth))
    after = ["exit", *(f"l{i}" for i in range(depth))]
    latches = "\n".join(
        f"l{i}:\n  %c{i} = icmp eq i64 %n, 1073741824\n  br i1 %c{i}, label %{after[i]}, label %h{i}"
        for i in reversed(range(depth))
    )
    found = profile(f"  br label %h0\n{heads}\nh{depth}:\n  br label %l{depth - 1}\n{latches}\nexit:")
    assert named(found)["depth"] == depth
    assert np.isfinite(found.features()).all()
    assert max(one.weight for one in found.statements) == 1e12


def test_unreachable_blocks_count_once() -> None:
    found = profile("  ret void\ndead:\n  %a = fadd float %x, %b\n  %b = fadd float %x, %a\n  br label %dead\nend:")
    assert counts(found) == {"float": 2, "flops": 2} == counts(found, "dynamic")
