"""Golden edges between blocks (phi, switch, branches, ways out), worked out by hand."""

from collections.abc import Callable

import pytest

from ncc.errors import InputError
from tests.rooms import build_xfg, read_module


def test_phi_and_a_conditional_branch(edges_of: Callable, expected_edges: Callable) -> None:
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


def test_phi_of_constants_only(edges_of: Callable, expected_edges: Callable) -> None:
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


def test_switch_leads_from_condition_and_leaves_to_every_label(edges_of: Callable, expected_edges: Callable) -> None:
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


def test_switch_whose_condition_is_the_leaf_has_each_edge_once(edges_of: Callable) -> None:
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


def test_several_ways_out_an_unreachable_block_and_a_constant_condition(
    edges_of: Callable, expected_edges: Callable
) -> None:
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


def test_indirectbr(edges_of: Callable, expected_edges: Callable) -> None:
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


def test_a_block_that_loops_on_itself(edges_of: Callable, expected_edges: Callable) -> None:
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


def test_an_empty_loop(edges_of: Callable) -> None:
    ir = "define void @f() {\nentry:\n  br label %loop\nloop:\n  br label %loop\n}"
    assert edges_of(ir) == [
        ("f/%entry", "f/%loop", "br label <LABEL>", "control"),
        ("f/%loop", "f/%loop", "br label <LABEL>", "control"),
        ("f/root", "f/%entry", "define void <@ID>()", "path"),
    ]


def test_windows_exception_handling(edges_of: Callable, expected_edges: Callable) -> None:
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


def test_a_graph_far_larger_than_its_module_is_refused():
    """Every value that nothing uses leads to every label of a switch."""

    def switch(number):
        values = "".join(f"  %a{i} = alloca i8\n" for i in range(number))
        cases = " ".join(f"i32 {i}, label %e" for i in range(number))
        text = f"define void @g(i32 %x) {{\n{values}  switch i32 %x, label %e [ {cases} ]\ne:\n  ret void\n}}\n"
        return read_module(text.encode())

    assert build_xfg(switch(500)).num_edges > 250_000
    with pytest.raises(InputError, match=r"edges of the graph, of 12,003 statements; expected at most"):
        build_xfg(switch(12_000))
