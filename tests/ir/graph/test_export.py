"""Exports read back with other tools' parsers, with names that need every kind of escape."""

import re
from collections import Counter
from pathlib import Path

import networkx
import pytest

from tests.rooms import (
    EXPORTERS,
    XFG,
    EdgeKind,
    build_xfg,
    escape_control,
    read_module,
    to_dot,
    to_networkx,
)

IR = Path(__file__).parents[2] / "data" / "ir"

AWKWARD = rb"""
@"a\22b" = global i32 0
@"<tag> & \C3\A9" = global i32 0
@"\01\FF" = global i32 0
define i32 @"f/g"(i32 %"x y") {
"en\5Ctry":
  %"q\22" = load i32, ptr @"a\22b"
  store i32 %"x y", ptr @"<tag> & \C3\A9"
  store i32 1, ptr @"\01\FF"
  call void asm sideeffect "nop", ""()
  ret i32 %"q\22"
}
"""


@pytest.fixture(params=["awkward", "tree.clang19.ll", "shapes.clang16.ll", "legacy.ll"])
def graph(request: pytest.FixtureRequest) -> XFG:
    return build_xfg(
        read_module(AWKWARD, name='<a "name" & more>')
        if request.param == "awkward"
        else read_module(IR / request.param)
    )


def used_nodes(graph: XFG) -> list[int]:
    return sorted({*graph.source.tolist(), *graph.target.tolist()})


def edges_of(graph: XFG) -> Counter[tuple[str, str, str]]:
    return Counter(
        (graph.node_label(source), graph.node_label(target), EdgeKind(kind).name.lower())
        for source, target, kind in zip(graph.source.tolist(), graph.target.tolist(), graph.kind.tolist(), strict=True)
    )


def test_networkx(graph: XFG) -> None:
    exported = to_networkx(graph)
    assert exported.number_of_nodes() == len(used_nodes(graph))
    assert exported.number_of_edges() == graph.num_edges
    assert exported.graph["name"] == graph.module.name
    names = networkx.get_node_attributes(exported, "name")
    assert names == {node: graph.node_label(node) for node in used_nodes(graph)}
    assert Counter((names[s], names[t], kind) for s, t, kind in exported.edges(data="kind")) == edges_of(graph)
    assert all(
        data["text"] == graph.module.statement_text(data["statement"]) for _, _, data in exported.edges(data=True)
    )


QUOTED = r'"(?:[^"\\]|\\.)*"'


def unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1])


def test_dot(graph: XFG) -> None:
    text = to_dot(graph)
    outside_strings = re.sub(QUOTED, '""', text)
    assert outside_strings.count("{") == outside_strings.count("}")
    assert not re.search(r'(?<!")"(?!")', outside_strings)
    nodes = dict(re.findall(rf"^ *n(\d+) \[label=({QUOTED})\];$", text, re.MULTILINE))
    assert len(nodes) == len(used_nodes(graph))
    edges = re.findall(rf"^  n(\d+) -> n(\d+) \[label=({QUOTED}), color={QUOTED}\];$", text, re.MULTILINE)
    assert len(edges) == graph.num_edges
    texts = Counter(graph.module.statement_text(statement) for statement in graph.statement.tolist())
    assert Counter(unquoted(label) for _, _, label in edges) == texts
    for node, label in nodes.items():
        assert escape_control(graph.node_label(int(node))).endswith(unquoted(label))


@pytest.mark.parametrize("extension", [".dot", ".graphml", ".json", ".html"])
def test_every_exporter_takes_an_empty_graph(extension: str) -> None:
    assert EXPORTERS[extension](build_xfg(read_module(b"declare void @f()\n")))
