"""Edges of the XFG: by hand, and as plain Python makes them from the rules of the paper; names of its nodes."""

import random
from collections import Counter
from pathlib import Path

import pytest

import ncc
from fuzz.grammar import random_module
from tests.oracles.xfg import named_edges, slow_xfg_edges, xfg_edges
from tests.rooms import EXPORTERS, NodeKind
from tests.support.refuses import refuses
from tests.support.text import cases


def edges_of_text(table: str) -> Counter[tuple[str, str, str, str]]:
    """Edges (source, target, text of the statement, kind) of a table: indented lines below their statement."""
    edges, statement = Counter[tuple[str, str, str, str]](), ""
    for line in table.splitlines():
        if line.startswith("  "):
            source, target, kind = line.replace(" -> ", " ").split()
            edges[source, target, statement, kind] += 1
        else:
            statement = line
    return edges


@pytest.mark.parametrize(("ir", "table"), cases("xfg.txt"))
def test_edges_worked_out_by_hand(ir: str, table: str) -> None:
    module = ncc.read_module(ir.encode())
    found = Counter[tuple[str, str, str, str]]()
    for (source, target, statement, kind), times in named_edges(ncc.build_xfg(module)).items():
        found[source, target, module.statement_text(statement), kind] += times
    assert found == edges_of_text(table)


@pytest.mark.parametrize(
    "ir",
    ["; nothing\n", 'target triple = "x86_64-unknown-linux-gnu"\n', "declare i32 @puts(ptr)\n", "@g = global i32 1\n"],
)
def test_modules_without_functions(ir: str) -> None:
    graph = ncc.build_xfg(ncc.read_module(ir.encode()))
    assert graph.num_edges == 0
    assert graph.num_nodes == graph.root == graph.exit == graph.effect == graph.module.num_nodes


@pytest.mark.parametrize("extension", [".graphml", ".json", ".html"])
def test_every_exporter_takes_an_empty_graph(extension: str) -> None:
    assert EXPORTERS[extension](ncc.build_xfg(ncc.read_module(b"declare void @f()\n")))


def test_edges_are_in_the_order_of_their_statements() -> None:
    graph = ncc.build_xfg(ncc.read_module(b"define i32 @f(i32 %a) {\n  %b = add i32 %a, 1\n  ret i32 %b\n}\n"))
    assert graph.statement.tolist() == [0, 0, 1, 2]


def test_every_node_has_a_label() -> None:
    text = (
        b"define i32 @f(i32 %x) {\nstart:\n  %y = add i32 %x, 1\n  fence acquire\n  ret i32 %y\n}\n@g = global i32 0\n"
    )
    graph = ncc.build_xfg(ncc.read_module(text))
    labels = [graph.node_label(node) for node in range(graph.num_nodes)]
    assert labels == ["@f", "f/%x", "f/%start", "f/%y", "@g", "f/root", "f/return", "f/effect:2"]
    kinds = [NodeKind.FUNCTION, NodeKind.ARGUMENT, NodeKind.BLOCK, NodeKind.RESULT, NodeKind.GLOBAL]
    assert graph.module.node_kind.tolist() == kinds


def switch_of(number: int) -> bytes:
    """A function in which so many values, which nothing uses, lead to as many labels of a switch."""
    values = "".join(f"  %a{i} = alloca i8\n" for i in range(number))
    cases = " ".join(f"i32 {i}, label %e" for i in range(number))
    return f"define void @g(i32 %x) {{\n{values}  switch i32 %x, label %e [ {cases} ]\ne:\n  ret void\n}}\n".encode()


def test_a_graph_far_larger_than_its_module_is_refused() -> None:
    assert ncc.build_xfg(ncc.read_module(switch_of(500))).num_edges > 250_000
    with refuses(ncc.InputError, "edges", "12,003 statements"):
        ncc.build_xfg(ncc.read_module(switch_of(12_000)))


IR = Path(__file__).parents[2] / "data" / "ir"
FIXTURES = sorted(path.name for path in IR.iterdir() if path.suffix in (".ll", ".bc"))
NUM_RANDOM = 250


@pytest.mark.parametrize("file", FIXTURES)
def test_every_edge_follows_from_the_rules(file: str) -> None:
    graph = ncc.build_xfg(ncc.read_module(IR / file))
    assert xfg_edges(graph) == slow_xfg_edges(graph.module)


@pytest.mark.parametrize("pointers", ["typed", "opaque"])
def test_every_edge_of_modules_made_up_follows_from_the_rules(pointers: str) -> None:
    for seed in range(NUM_RANDOM):
        text = random_module(random.Random(seed))[pointers == "opaque"]
        graph = ncc.build_xfg(ncc.read_module(text.encode()))
        assert xfg_edges(graph) == slow_xfg_edges(graph.module), f"seed {seed}"
