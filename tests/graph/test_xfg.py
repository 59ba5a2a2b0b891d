"""Edges of the XFG worked out by hand from the paper's rules, one small module a rule."""

import pytest

from ncc.graph import XFG, EdgeKind, build_xfg
from ncc.ir import NodeKind, read_module


def edges_of(ir: str) -> list[tuple[str, str, str, str]]:
    graph = build_xfg(read_module(ir.encode()))
    check_consistency(graph)
    return sorted(
        (
            graph.node_label(source),
            graph.node_label(target),
            graph.module.statement_text(statement),
            EdgeKind(kind).name.lower(),
        )
        for source, target, statement, kind in zip(
            graph.source.tolist(),
            graph.target.tolist(),
            graph.statement.tolist(),
            graph.kind.tolist(),
            strict=True,
        )
    )


def check_consistency(graph: XFG) -> None:
    assert len(graph.source) == len(graph.target) == len(graph.statement) == len(graph.kind) == graph.num_edges
    for ends in (graph.source, graph.target):
        assert ((ends >= 0) & (ends < graph.num_nodes)).all()
    assert (graph.statement[1:] >= graph.statement[:-1]).all()
    assert ((graph.statement >= 0) & (graph.statement < graph.module.num_statements)).all()


def expected_edges(statements: dict[str, str], table: str) -> list[tuple[str, str, str, str]]:
    """Lines "source -> target  kind  key of the statement"."""
    rows = []
    for line in filter(str.strip, table.splitlines()):
        source, _, target, kind, key = line.split()
        rows.append((source, target, statements[key], kind))
    return sorted(rows)


def test_a_function_of_one_statement() -> None:
    assert edges_of("define void @f() {\nentry:\n  ret void\n}") == [
        ("f/%entry", "f/return", "ret void", "control"),
        ("f/root", "f/%entry", "define void <@ID>()", "path"),
    ]


def test_values_flow_into_results_and_lonely_ones_hang_on_their_block() -> None:
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


def test_phi_and_a_conditional_branch() -> None:
    ir = """
define i32 @f(i1 %c) {
entry:
  br i1 %c, label %left, label %join
left:
  %x = add i32 1, 2
  br label %join
join:
  %p = phi i32 [ %x, %left ], [ 7, %entry ]
  ret i32 %p
}
"""
    statements = {
        "define": "define i32 <@ID>(i1 <%ID>)",
        "if": "br i1 <%ID>, label <LABEL>, label <LABEL>",
        "add": "<%ID> = add i32 <INT>, <INT>",
        "br": "br label <LABEL>",
        "phi": "<%ID> = phi i32 [ <%ID>, <LABEL> ], [ <INT>, <LABEL> ]",
        "ret": "ret i32 <%ID>",
    }
    assert edges_of(ir) == expected_edges(
        statements,
        """
        f/root   -> f/%entry  path    define
        f/%entry -> f/%c      path    define
        f/%c     -> f/%left   control if
        f/%c     -> f/%join   control if
        f/%left  -> f/%x      path    add
        f/%x     -> f/%join   control br
        f/%join  -> f/%p      path    phi
        f/%x     -> f/%p      data    phi
        f/%p     -> f/return  control ret
        """,
    )


def test_phi_of_constants_only() -> None:
    ir = """
define i32 @f(i1 %c) {
entry:
  br i1 %c, label %join, label %other
other:
  br label %join
join:
  %p = phi i32 [ 1, %entry ], [ 2, %other ]
  ret i32 3
}
"""
    statements = {
        "define": "define i32 <@ID>(i1 <%ID>)",
        "if": "br i1 <%ID>, label <LABEL>, label <LABEL>",
        "br": "br label <LABEL>",
        "phi": "<%ID> = phi i32 [ <INT>, <LABEL> ]",
        "ret": "ret i32 <INT>",
    }
    assert edges_of(ir) == expected_edges(
        statements,
        """
        f/root   -> f/%entry  path    define
        f/%entry -> f/%c      path    define
        f/%c     -> f/%join   control if
        f/%c     -> f/%other  control if
        f/%other -> f/%join   control br
        f/%join  -> f/%p      path    phi
        f/%p     -> f/return  control ret
        """,
    )


def test_switch_leads_from_condition_and_leaves_to_every_label() -> None:
    ir = """
define void @f(i32 %n) {
entry:
  %unused = alloca i8
  switch i32 %n, label %other [
    i32 1, label %one
  ]
one:
  ret void
other:
  ret void
}
"""
    statements = {
        "define": "define void <@ID>(i32 <%ID>)",
        "alloca": "<%ID> = alloca i8",
        "switch": "switch i32 <%ID>, label <LABEL> [ i32 <INT>, label <LABEL> ]",
        "ret": "ret void",
    }
    assert edges_of(ir) == expected_edges(
        statements,
        """
        f/root    -> f/%entry  path    define
        f/%entry  -> f/%n      path    define
        f/%entry  -> f/%unused path    alloca
        f/%n      -> f/%one    control switch
        f/%n      -> f/%other  control switch
        f/%unused -> f/%one    control switch
        f/%unused -> f/%other  control switch
        f/%one    -> f/return  control ret
        f/%other  -> f/return  control ret
        """,
    )


def test_switch_whose_condition_is_the_leaf_has_each_edge_once() -> None:
    ir = """
define void @f(i32 %n) {
entry:
  %m = add i32 %n, 1
  switch i32 %m, label %other [
    i32 1, label %one
  ]
one:
  ret void
other:
  ret void
}
"""
    switch = "switch i32 <%ID>, label <LABEL> [ i32 <INT>, label <LABEL> ]"
    assert [edge for edge in edges_of(ir) if edge[2] == switch] == [
        ("f/%m", "f/%one", switch, "control"),
        ("f/%m", "f/%other", switch, "control"),
    ]


def test_invoke_landingpad_and_resume() -> None:
    ir = """
declare i32 @outside(i32)
declare i32 @__gxx_personality_v0(...)
define i32 @f(i32 %a) personality ptr @__gxx_personality_v0 {
entry:
  %r = invoke i32 @outside(i32 %a)
          to label %fine unwind label %bad
fine:
  ret i32 %r
bad:
  %pad = landingpad { ptr, i32 }
          cleanup
  resume { ptr, i32 } %pad
}
"""
    statements = {
        "define": "define i32 <@ID>(i32 <%ID>)",
        "invoke": "<%ID> = invoke i32 <@ID>(i32 <%ID>) to label <LABEL> unwind label <LABEL>",
        "ret": "ret i32 <%ID>",
        "pad": "<%ID> = landingpad { ptr, i32 } cleanup",
        "resume": "resume { ptr, i32 } <%ID>",
    }
    assert edges_of(ir) == expected_edges(
        statements,
        """
        f/root   -> f/%entry  path    define
        f/%entry -> f/%a      path    define
        f/%a     -> f/%r      data    invoke
        f/%r     -> f/%fine   control invoke
        f/%r     -> f/%bad    control invoke
        f/%fine  -> f/return  control ret
        f/%r     -> f/return  control ret
        f/%bad   -> f/%pad    path    pad
        f/%pad   -> f/return  control resume
        """,
    )


def test_invoke_without_result_of_a_function_in_the_module() -> None:
    ir = """
declare i32 @__gxx_personality_v0(...)
define void @callee(i32 %x) {
start:
  ret void
}
define void @f() personality ptr @__gxx_personality_v0 {
entry:
  invoke void @callee(i32 1)
          to label %fine unwind label %bad
fine:
  ret void
bad:
  %pad = landingpad { ptr, i32 }
          catch ptr null
  unreachable
}
"""
    statements = {
        "define1": "define void <@ID>(i32 <%ID>)",
        "define2": "define void <@ID>()",
        "invoke": "invoke void <@ID>(i32 <INT>) to label <LABEL> unwind label <LABEL>",
        "ret": "ret void",
        "pad": "<%ID> = landingpad { ptr, i32 } catch ptr null",
        "unreachable": "unreachable",
    }
    assert edges_of(ir) == expected_edges(
        statements,
        """
        callee/root   -> callee/%start path    define1
        callee/%start -> callee/%x     path    define1
        callee/%x     -> callee/return control ret
        f/root        -> f/%entry      path    define2
        f/%entry      -> callee/%x     path    invoke
        callee/return -> f/effect:3    data    invoke
        f/%entry      -> f/effect:3    path    invoke
        f/effect:3    -> f/%fine       control invoke
        f/effect:3    -> f/%bad        control invoke
        f/%fine       -> f/return      control ret
        f/%bad        -> f/%pad        path    pad
        f/%pad        -> f/return      control unreachable
        """,
    )


CALLEE = """
define i32 @callee(i32 %x, i32 %y) {
start:
  %sum = add i32 %x, %y
  ret i32 %sum
}
"""
CALLEE_STATEMENTS = {
    "callee": "define i32 <@ID>(i32 <%ID>, i32 <%ID>)",
    "sum": "<%ID> = add i32 <%ID>, <%ID>",
    "ret": "ret i32 <%ID>",
}
CALLEE_EDGES = """
        callee/root   -> callee/%start path    callee
        callee/%start -> callee/%x     path    callee
        callee/%start -> callee/%y     path    callee
        callee/%x     -> callee/%sum   data    sum
        callee/%y     -> callee/%sum   data    sum
        callee/%sum   -> callee/return control ret
"""


def test_call_of_a_function_in_the_module() -> None:
    ir = CALLEE + "define i32 @f(i32 %a) {\nentry:\n  %r = call i32 @callee(i32 %a, i32 9)\n  ret i32 %r\n}"
    statements = CALLEE_STATEMENTS | {
        "define": "define i32 <@ID>(i32 <%ID>)",
        "call": "<%ID> = call i32 <@ID>(i32 <%ID>, i32 <INT>)",
    }
    assert edges_of(ir) == expected_edges(
        statements,
        CALLEE_EDGES
        + """
        f/root        -> f/%entry      path    define
        f/%entry      -> f/%a          path    define
        f/%a          -> callee/%x     data    call
        f/%entry      -> callee/%y     path    call
        callee/return -> f/%r          data    call
        f/%r          -> f/return      control ret
        """,
    )


def test_call_with_immediates_only_also_hangs_on_its_block() -> None:
    ir = CALLEE + "define i32 @f() {\nentry:\n  %r = call i32 @callee(i32 8, i32 9)\n  ret i32 %r\n}"
    statements = CALLEE_STATEMENTS | {
        "define": "define i32 <@ID>()",
        "call": "<%ID> = call i32 <@ID>(i32 <INT>, i32 <INT>)",
    }
    assert edges_of(ir) == expected_edges(
        statements,
        CALLEE_EDGES
        + """
        f/root        -> f/%entry      path    define
        f/%entry      -> callee/%x     path    call
        f/%entry      -> callee/%y     path    call
        f/%entry      -> f/%r          path    call
        callee/return -> f/%r          data    call
        f/%r          -> f/return      control ret
        """,
    )


def test_calls_without_arguments_with_and_without_a_result() -> None:
    ir = """
define void @nothing() {
start:
  ret void
}
define i32 @constant() {
start:
  ret i32 4
}
define i32 @f() {
entry:
  call void @nothing()
  %r = call i32 @constant()
  ret i32 %r
}
"""
    statements = {
        "define1": "define void <@ID>()",
        "ret1": "ret void",
        "define2": "define i32 <@ID>()",
        "ret2": "ret i32 <INT>",
        "call1": "call void <@ID>()",
        "call2": "<%ID> = call i32 <@ID>()",
        "ret3": "ret i32 <%ID>",
    }
    assert edges_of(ir) == expected_edges(
        statements,
        """
        nothing/root    -> nothing/%start   path    define1
        nothing/%start  -> nothing/return   control ret1
        constant/root   -> constant/%start  path    define2
        constant/%start -> constant/return  control ret2
        f/root          -> f/%entry         path    define2
        f/%entry        -> nothing/root     path    call1
        nothing/return  -> f/effect:5       data    call1
        f/%entry        -> f/effect:5       path    call1
        f/%entry        -> constant/root    path    call2
        constant/return -> f/%r             data    call2
        f/%entry        -> f/%r             path    call2
        f/%r            -> f/return         control ret3
        f/effect:5      -> f/return         control ret3
        """,
    )


def test_recursion() -> None:
    ir = """
define i32 @f(i32 %n) {
entry:
  %m = sub i32 %n, 1
  %r = tail call i32 @f(i32 %m)
  ret i32 %r
}
"""
    statements = {
        "define": "define i32 <@ID>(i32 <%ID>)",
        "sub": "<%ID> = sub i32 <%ID>, <INT>",
        "call": "<%ID> = tail call i32 <@ID>(i32 <%ID>)",
        "ret": "ret i32 <%ID>",
    }
    assert edges_of(ir) == expected_edges(
        statements,
        """
        f/root   -> f/%entry path    define
        f/%entry -> f/%n     path    define
        f/%n     -> f/%m     data    sub
        f/%m     -> f/%n     data    call
        f/return -> f/%r     data    call
        f/%r     -> f/return control ret
        """,
    )


def test_more_arguments_than_parameters() -> None:
    ir = """
define void @variadic(i32 %n, ...) {
start:
  ret void
}
define void @f(i32 %a, i32 %b) {
entry:
  call void (i32, ...) @variadic(i32 %a, i32 %b, double 1.0)
  ret void
}
"""
    statements = {
        "define1": "define void <@ID>(i32 <%ID>, ...)",
        "define2": "define void <@ID>(i32 <%ID>, i32 <%ID>)",
        "call": "call void <@ID>(i32 <%ID>, i32 <%ID>, double <FLOAT>)",
        "ret": "ret void",
    }
    assert edges_of(ir) == expected_edges(
        statements,
        """
        variadic/root   -> variadic/%start path    define1
        variadic/%start -> variadic/%n     path    define1
        variadic/%n     -> variadic/return control ret
        f/root          -> f/%entry        path    define2
        f/%entry        -> f/%a            path    define2
        f/%entry        -> f/%b            path    define2
        f/%a            -> variadic/%n     data    call
        f/%b            -> f/return        control ret
        variadic/return -> f/effect:3      data    call
        f/effect:3      -> f/return        control ret
        """,
    )


def test_external_and_indirect_calls() -> None:
    ir = """
declare void @consume(i32)
declare i32 @produce()
define i32 @f(ptr %pointer, i32 %a) {
entry:
  call void @consume(i32 %a)
  %r = call i32 @produce()
  %s = call i32 %pointer(i32 %r)
  call void @consume(i32 2)
  ret i32 %s
}
"""
    statements = {
        "define": "define i32 <@ID>(ptr <%ID>, i32 <%ID>)",
        "consume": "call void <@ID>(i32 <%ID>)",
        "produce": "<%ID> = call i32 <@ID>()",
        "indirect": "<%ID> = call i32 <%ID>(i32 <%ID>)",
        "again": "call void <@ID>(i32 <INT>)",
        "ret": "ret i32 <%ID>",
    }
    assert edges_of(ir) == expected_edges(
        statements,
        """
        f/root     -> f/%entry   path    define
        f/%entry   -> f/%pointer path    define
        f/%entry   -> f/%a       path    define
        f/%a       -> f/effect:1 data    consume
        f/%entry   -> f/%r       path    produce
        f/%pointer -> f/%s       data    indirect
        f/%r       -> f/%s       data    indirect
        f/%entry   -> f/effect:4 path    again
        f/effect:1 -> f/return   control ret
        f/effect:4 -> f/return   control ret
        f/%s       -> f/return   control ret
        """,
    )


def test_a_function_as_an_argument_is_data() -> None:
    ir = "declare void @apply(ptr)\ndefine void @f() {\nentry:\n  call void @apply(ptr @f)\n  ret void\n}"
    statements = {"define": "define void <@ID>()", "call": "call void <@ID>(ptr <@ID>)", "ret": "ret void"}
    assert edges_of(ir) == expected_edges(
        statements,
        """
        f/root     -> f/%entry   path    define
        @f         -> f/effect:1 data    call
        f/%entry   -> f/effect:1 path    call
        f/effect:1 -> f/return   control ret
        """,
    )


def test_stores() -> None:
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


def test_arguments_that_the_entry_block_does_not_use_are_its_leaves() -> None:
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


def test_a_stored_pointer_that_is_read_on_is_no_leaf() -> None:
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


def test_vectors() -> None:
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
        "insert": "<%ID> = insertelement <4 x float> <%ID>, float <%ID>, i32 <INT>",
        "shuffle": "<%ID> = shufflevector <4 x float> <%ID>, <4 x float> <%ID>, <4 x i32> <INT>",
        "extract": "<%ID> = extractelement <4 x float> <%ID>, i32 <INT>",
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


def test_atomics() -> None:
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


def test_intrinsics() -> None:
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


def test_several_ways_out_an_unreachable_block_and_a_constant_condition() -> None:
    ir = """
define i32 @f() {
entry:
  %x = add i32 1, 2
  br i1 true, label %one, label %two
one:
  ret i32 %x
two:
  unreachable
orphan:
  %y = add i32 3, 4
  ret i32 5
}
"""
    statements = {
        "define": "define i32 <@ID>()",
        "add": "<%ID> = add i32 <INT>, <INT>",
        "if": "br i1 <INT>, label <LABEL>, label <LABEL>",
        "ret": "ret i32 <%ID>",
        "unreachable": "unreachable",
        "five": "ret i32 <INT>",
    }
    assert edges_of(ir) == expected_edges(
        statements,
        """
        f/root    -> f/%entry path    define
        f/%entry  -> f/%x     path    add
        f/%entry  -> f/%one   control if
        f/%entry  -> f/%two   control if
        f/%x      -> f/return control ret
        f/%one    -> f/return control ret
        f/%two    -> f/return control unreachable
        f/%orphan -> f/%y     path    add
        f/%y      -> f/return control five
        """,
    )


def test_indirectbr() -> None:
    ir = """
define void @f(ptr %a) {
entry:
  %x = alloca i8
  indirectbr ptr %a, [label %one, label %two]
one:
  ret void
two:
  ret void
}
"""
    statements = {
        "define": "define void <@ID>(ptr <%ID>)",
        "alloca": "<%ID> = alloca i8",
        "go": "indirectbr ptr <%ID> [ label <LABEL> ]",
        "ret": "ret void",
    }
    assert edges_of(ir) == expected_edges(
        statements,
        """
        f/root   -> f/%entry path    define
        f/%entry -> f/%a     path    define
        f/%entry -> f/%x     path    alloca
        f/%a     -> f/%one   control go
        f/%a     -> f/%two   control go
        f/%x     -> f/%one   control go
        f/%x     -> f/%two   control go
        f/%one   -> f/return control ret
        f/%two   -> f/return control ret
        """,
    )


def test_a_block_that_loops_on_itself() -> None:
    ir = """
define void @f(i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ %n, %entry ], [ %j, %loop ]
  %j = add i32 %i, 1
  br label %loop
}
"""
    statements = {
        "define": "define void <@ID>(i32 <%ID>)",
        "br": "br label <LABEL>",
        "phi": "<%ID> = phi i32 [ <%ID>, <LABEL> ]",
        "add": "<%ID> = add i32 <%ID>, <INT>",
    }
    # i and j go round in a circle: no node of the block is a leaf, and its label stands in
    assert edges_of(ir) == expected_edges(
        statements,
        """
        f/root   -> f/%entry path    define
        f/%entry -> f/%n     path    define
        f/%n     -> f/%loop  control br
        f/%loop  -> f/%i     path    phi
        f/%n     -> f/%i     data    phi
        f/%j     -> f/%i     data    phi
        f/%i     -> f/%j     data    add
        f/%loop  -> f/%loop  control br
        """,
    )


def test_an_empty_loop() -> None:
    ir = "define void @f() {\nentry:\n  br label %loop\nloop:\n  br label %loop\n}"
    assert edges_of(ir) == [
        ("f/%entry", "f/%loop", "br label <LABEL>", "control"),
        ("f/%loop", "f/%loop", "br label <LABEL>", "control"),
        ("f/root", "f/%entry", "define void <@ID>()", "path"),
    ]


def test_windows_exception_handling() -> None:
    ir = """
declare void @outside()
declare i32 @__CxxFrameHandler3(...)
define void @f() personality ptr @__CxxFrameHandler3 {
entry:
  invoke void @outside()
          to label %fine unwind label %dispatch
dispatch:
  %cs = catchswitch within none [label %handler] unwind to caller
handler:
  %pad = catchpad within %cs [ptr null, i32 64, ptr null]
  catchret from %pad to label %fine
fine:
  ret void
}
"""
    statements = {
        "define": "define void <@ID>()",
        "invoke": "invoke void <@ID>() to label <LABEL> unwind label <LABEL>",
        "switch": "<%ID> = catchswitch within none [ label <LABEL> ] unwind to caller",
        "pad": "<%ID> = catchpad within <%ID> [ptr null, i32 <INT>, ptr null]",
        "catchret": "catchret from <%ID> to label <LABEL>",
        "ret": "ret void",
    }
    assert edges_of(ir) == expected_edges(
        statements,
        """
        f/root      -> f/%entry    path    define
        f/%entry    -> f/effect:1  path    invoke
        f/effect:1  -> f/%fine     control invoke
        f/effect:1  -> f/%dispatch control invoke
        f/%dispatch -> f/%cs       path    switch
        f/%cs       -> f/%handler  control switch
        f/%cs       -> f/%pad      data    pad
        f/%handler  -> f/%pad      path    pad
        f/%pad      -> f/%fine     control catchret
        f/%fine     -> f/return    control ret
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


def test_functions_are_independent_of_their_order() -> None:
    caller = "define i32 @f(i32 %a) {\nentry:\n  %r = call i32 @callee(i32 %a, i32 9)\n  ret i32 %r\n}"
    assert edges_of(CALLEE + caller) == edges_of(caller + CALLEE)


def test_an_alias_of_a_function_is_called_as_from_outside() -> None:
    ir = (
        CALLEE
        + "@other = alias i32 (i32, i32), ptr @callee\n"
        + "define i32 @f(i32 %a) {\nentry:\n  %r = call i32 @other(i32 %a, i32 9)\n  ret i32 %r\n}"
    )
    call = "<%ID> = call i32 <@ID>(i32 <%ID>, i32 <INT>)"
    assert [edge for edge in edges_of(ir) if edge[2] == call] == [("f/%a", "f/%r", call, "data")]


def test_every_node_has_a_label() -> None:
    graph = build_xfg(read_module((CALLEE + "@g = global i32 0\n").encode()))
    labels = [graph.node_label(node) for node in range(graph.num_nodes)]
    identifiers = ["@callee", "callee/%x", "callee/%y", "callee/%start", "callee/%sum", "@g"]
    assert labels == [*identifiers, "callee/root", "callee/return"]
    assert graph.module.node_kind.tolist() == [
        NodeKind.FUNCTION,
        NodeKind.ARGUMENT,
        NodeKind.ARGUMENT,
        NodeKind.BLOCK,
        NodeKind.RESULT,
        NodeKind.GLOBAL,
    ]
