"""Edges of the XFG worked out by hand from the paper's rules, one small module a rule."""

from collections.abc import Callable

import pytest

from tests.rooms import build_xfg, read_module


def test_a_function_of_one_statement(edges_of: Callable) -> None:
    assert edges_of("define void @f() {\nentry:\n  ret void\n}") == [
        ("f/%entry", "f/return", "ret void", "control"),
        ("f/root", "f/%entry", "define void <@ID>()", "path"),
    ]


def test_values_flow_into_results_and_lonely_ones_hang_on_their_block(
    edges_of: Callable, expected_edges: Callable
) -> None:
    ir = """
@g = global i32 5
define i32 @f(i32 %a) {
entry:
  %slot = alloca i32
  %near = add i32 %a, 1
  %far = load i32, ptr @g
  br label %next
next:
  %both = mul i32 %near, %far
  %again = sub i32 %both, %a
  ret i32 %again
}
"""
    statements = {
        "define": "define i32 <@ID>(i32 <%ID>)",
        "alloca": "<%ID> = alloca i32",
        "add": "<%ID> = add i32 <%ID>, <INT>",
        "load": "<%ID> = load i32, ptr <@ID>",
        "br": "br label <LABEL>",
        "mul": "<%ID> = mul i32 <%ID>, <%ID>",
        "sub": "<%ID> = sub i32 <%ID>, <%ID>",
        "ret": "ret i32 <%ID>",
    }
    assert edges_of(ir) == expected_edges(
        statements,
        """
        f/root   -> f/%entry  path    define
        f/%entry -> f/%a      path    define
        f/%entry -> f/%slot   path    alloca
        f/%a     -> f/%near   data    add
        @g       -> f/%far    data    load
        f/%entry -> f/%far    path    load
        f/%slot  -> f/%next   control br
        f/%near  -> f/%next   control br
        f/%far   -> f/%next   control br
        f/%near  -> f/%both   data    mul
        f/%far   -> f/%both   data    mul
        f/%next  -> f/%both   path    mul
        f/%both  -> f/%again  data    sub
        f/%a     -> f/%again  data    sub
        f/%again -> f/return  control ret
        """,
    )


def test_stores(edges_of: Callable, expected_edges: Callable) -> None:
    ir = """
@g = global i32 0
define void @f(ptr %p, i32 %v) {
entry:
  %slot = alloca i32
  store i32 %v, ptr %slot
  store i32 1, ptr %p
  br label %next
next:
  store i32 %v, ptr @g
  store i32 2, ptr %slot
  store i32 3, ptr null
  ret void
}
"""
    statements = {
        "define": "define void <@ID>(ptr <%ID>, i32 <%ID>)",
        "alloca": "<%ID> = alloca i32",
        "value": "store i32 <%ID>, ptr <%ID>",
        "immediate": "store i32 <INT>, ptr <%ID>",
        "br": "br label <LABEL>",
        "global": "store i32 <%ID>, ptr <@ID>",
        "nowhere": "store i32 <INT>, ptr null",
        "ret": "ret void",
    }
    assert edges_of(ir) == expected_edges(
        statements,
        """
        f/root   -> f/%entry path    define
        f/%entry -> f/%p     path    define
        f/%entry -> f/%v     path    define
        f/%entry -> f/%slot  path    alloca
        f/%v     -> f/%slot  data    value
        f/%entry -> f/%p     path    immediate
        f/%slot  -> f/%next  control br
        f/%p     -> f/%next  control br
        f/%v     -> @g       data    global
        f/%next  -> f/%slot  path    immediate
        f/%next  -> f/%next  path    nowhere
        @g       -> f/return control ret
        f/%slot  -> f/return control ret
        """,
    )


def test_arguments_that_the_entry_block_does_not_use_are_its_leaves(
    edges_of: Callable, expected_edges: Callable
) -> None:
    ir = """
define i32 @f(i32 %a, i32 %b) {
entry:
  br label %next
next:
  ret i32 %b
}
"""
    statements = {"define": "define i32 <@ID>(i32 <%ID>, i32 <%ID>)", "br": "br label <LABEL>", "ret": "ret i32 <%ID>"}
    assert edges_of(ir) == expected_edges(
        statements,
        """
        f/root   -> f/%entry path    define
        f/%entry -> f/%a     path    define
        f/%entry -> f/%b     path    define
        f/%a     -> f/%next  control br
        f/%b     -> f/%next  control br
        f/%b     -> f/return control ret
        f/%next  -> f/return control ret
        """,
    )


def test_a_stored_pointer_that_is_read_on_is_no_leaf(edges_of: Callable) -> None:
    ir = """
define i32 @f(i32 %v) {
entry:
  %slot = alloca i32
  store i32 %v, ptr %slot
  %r = load i32, ptr %slot
  ret i32 %r
}
"""
    assert [edge[:2] for edge in edges_of(ir) if edge[3] == "control"] == [("f/%r", "f/return")]


def test_vectors(edges_of: Callable, expected_edges: Callable) -> None:
    ir = """
define <4 x float> @f(<4 x float> %v, float %x) {
entry:
  %a = insertelement <4 x float> %v, float %x, i32 2
  %b = shufflevector <4 x float> %a, <4 x float> %v, <4 x i32> <i32 0, i32 5, i32 2, i32 7>
  %c = extractelement <4 x float> %b, i32 1
  ret <4 x float> %b
}
"""
    statements = {
        "define": "define <4 x float> <@ID>(<4 x float> <%ID>, float <%ID>)",
        "insert": "<%ID> = insertelement <4 x float> <%ID>, float <%ID>, 2",
        "shuffle": "<%ID> = shufflevector <4 x float> <%ID>, <4 x float> <%ID>, <4 x i32> <INT>",
        "extract": "<%ID> = extractelement <4 x float> <%ID>, 1",
        "ret": "ret <4 x float> <%ID>",
    }
    assert edges_of(ir) == expected_edges(
        statements,
        """
        f/root   -> f/%entry path    define
        f/%entry -> f/%v     path    define
        f/%entry -> f/%x     path    define
        f/%v     -> f/%a     data    insert
        f/%x     -> f/%a     data    insert
        f/%a     -> f/%b     data    shuffle
        f/%v     -> f/%b     data    shuffle
        f/%b     -> f/%c     data    extract
        f/%b     -> f/return control ret
        f/%c     -> f/return control ret
        """,
    )


def test_atomics(edges_of: Callable, expected_edges: Callable) -> None:
    ir = """
define i32 @f(ptr %p, i32 %v) {
entry:
  %pair = cmpxchg weak ptr %p, i32 %v, i32 5 acq_rel monotonic
  %old = atomicrmw add ptr %p, i32 %v seq_cst
  fence syncscope("singlethread") release
  %flag = extractvalue { i32, i1 } %pair, 1
  ret i32 %old
}
"""
    statements = {
        "define": "define i32 <@ID>(ptr <%ID>, i32 <%ID>)",
        "cmpxchg": "<%ID> = cmpxchg weak ptr <%ID>, i32 <%ID>, i32 <INT> acq_rel monotonic",
        "rmw": "<%ID> = atomicrmw add ptr <%ID>, i32 <%ID> seq_cst",
        "fence": 'fence syncscope("singlethread") release',
        "flag": "<%ID> = extractvalue { i32, i1 } <%ID>, 1",
        "ret": "ret i32 <%ID>",
    }
    assert edges_of(ir) == expected_edges(
        statements,
        """
        f/root     -> f/%entry   path    define
        f/%entry   -> f/%p       path    define
        f/%entry   -> f/%v       path    define
        f/%p       -> f/%pair    data    cmpxchg
        f/%v       -> f/%pair    data    cmpxchg
        f/%p       -> f/%old     data    rmw
        f/%v       -> f/%old     data    rmw
        f/%entry   -> f/effect:3 path    fence
        f/%pair    -> f/%flag    data    flag
        f/effect:3 -> f/return   control ret
        f/%flag    -> f/return   control ret
        f/%old     -> f/return   control ret
        """,
    )


def test_intrinsics(edges_of: Callable, expected_edges: Callable) -> None:
    ir = """
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare float @llvm.fmuladd.f32(float, float, float)
define float @f(ptr %to, ptr %from, float %x) {
entry:
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 8, i1 false)
  %r = call fast float @llvm.fmuladd.f32(float %x, float %x, float 1.0)
  ret float %r
}
"""
    statements = {
        "define": "define float <@ID>(ptr <%ID>, ptr <%ID>, float <%ID>)",
        "copy": "call void @llvm.memcpy(ptr <%ID>, ptr <%ID>, i64 <INT>, i1 <INT>)",
        "muladd": "<%ID> = call fast float @llvm.fmuladd(float <%ID>, float <%ID>, float <FLOAT>)",
        "ret": "ret float <%ID>",
    }
    assert edges_of(ir) == expected_edges(
        statements,
        """
        f/root     -> f/%entry   path    define
        f/%entry   -> f/%to      path    define
        f/%entry   -> f/%from    path    define
        f/%entry   -> f/%x       path    define
        f/%to      -> f/effect:1 data    copy
        f/%from    -> f/effect:1 data    copy
        f/%x       -> f/%r       data    muladd
        f/%x       -> f/%r       data    muladd
        f/effect:1 -> f/return   control ret
        f/%r       -> f/return   control ret
        """,
    )


@pytest.mark.parametrize(
    "ir",
    ["; nothing\n", 'target triple = "x86_64-unknown-linux-gnu"\n', "declare i32 @puts(ptr)\n", "@g = global i32 1\n"],
)
def test_modules_without_functions(ir: str) -> None:
    graph = build_xfg(read_module(ir.encode()))
    assert graph.num_edges == 0
    assert graph.num_nodes == graph.root == graph.exit == graph.effect == graph.module.num_nodes
