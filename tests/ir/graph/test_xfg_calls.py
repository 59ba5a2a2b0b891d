"""Golden edges of calls and invokes, worked out by hand."""

from collections.abc import Callable

from tests.rooms import NodeKind, build_xfg, read_module


def test_invoke_landingpad_and_resume(edges_of: Callable, expected_edges: Callable) -> None:
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


def test_invoke_without_result_of_a_function_in_the_module(edges_of: Callable, expected_edges: Callable) -> None:
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


def test_call_of_a_function_in_the_module(edges_of: Callable, expected_edges: Callable) -> None:
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


def test_call_with_immediates_only_also_hangs_on_its_block(edges_of: Callable, expected_edges: Callable) -> None:
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


def test_calls_without_arguments_with_and_without_a_result(edges_of: Callable, expected_edges: Callable) -> None:
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


def test_recursion(edges_of: Callable, expected_edges: Callable) -> None:
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


def test_more_arguments_than_parameters(edges_of: Callable, expected_edges: Callable) -> None:
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


def test_external_and_indirect_calls(edges_of: Callable, expected_edges: Callable) -> None:
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


def test_a_function_as_an_argument_is_data(edges_of: Callable, expected_edges: Callable) -> None:
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


def test_functions_are_independent_of_their_order(edges_of: Callable) -> None:
    caller = "define i32 @f(i32 %a) {\nentry:\n  %r = call i32 @callee(i32 %a, i32 9)\n  ret i32 %r\n}"
    assert edges_of(CALLEE + caller) == edges_of(caller + CALLEE)


def test_an_alias_of_a_function_is_called_as_from_outside(edges_of: Callable) -> None:
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
