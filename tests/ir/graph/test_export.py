"""Exports read back with other tools' parsers, with names that need every kind of escape."""

import json
import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

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
    to_graphml,
    to_json,
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


SLASHES = rb"""
define void @"a/b"() {
  ret void
}
define void @"a/c"() {
  ret void
}
define void @"@d"() {
  ret void
}
define void @"a\E2\80\AEb"() {
  ret void
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


def test_names_are_unescaped() -> None:
    graph = build_xfg(read_module(AWKWARD))
    names = {graph.node_label(node) for node in range(graph.num_nodes)}
    assert {'@a"b', "@<tag> & é", "@\x01\\xff", "f/g/%x y", "f/g/%en\\try", 'f/g/%q"', "f/g/return"} <= names


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


def test_kinds_of_nodes() -> None:
    ir = b"@g = global i32 0\ndeclare void @h(ptr)\ndefine i32 @f(i32 %a) {\n  %r = load i32, ptr @g\n"
    ir += b"  call void @h(ptr @h)\n  store i32 %a, ptr @g\n  ret i32 %r\n}"
    exported = to_networkx(build_xfg(read_module(ir)))
    kinds = {data["name"]: data["kind"] for _, data in exported.nodes(data=True)}
    assert kinds == {
        "@g": "global",
        "@h": "function",
        "f/%0": "block",
        "f/%a": "argument",
        "f/%r": "result",
        "f/root": "root",
        "f/return": "return",
        "f/effect:2": "effect",
    }


def test_graphml(graph: XFG) -> None:
    text = to_graphml(graph)
    ElementTree.fromstring(text)
    back = networkx.parse_graphml(text, node_type=int, force_multigraph=True)
    assert back.number_of_nodes() == len(used_nodes(graph))
    assert back.number_of_edges() == graph.num_edges
    assert Counter(kind for _, _, kind in back.edges(data="kind")) == Counter(
        kind for _, _, kind in edges_of(graph).elements()
    )


def test_json(graph: XFG) -> None:
    data = json.loads(to_json(graph))
    names = {node["id"]: node["name"] for node in data["nodes"]}
    assert data["input"] == graph.module.name
    assert len(data["statements"]) == graph.module.num_statements
    assert Counter((names[e["source"]], names[e["target"]], e["kind"]) for e in data["edges"]) == edges_of(graph)
    for edge in data["edges"]:
        assert data["statements"][edge["statement"]]["text"] == graph.module.statement_text(edge["statement"])


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


def test_dot_has_a_cluster_for_each_function() -> None:
    text = to_dot(build_xfg(read_module(SLASHES)))
    clusters = re.findall(r"subgraph (cluster_\d+) \{\n    label=\"(.*)\";", text)
    assert [name for _, name in clusters] == ["a/b", "a/c", "@d", "a\\\\u202eb"]
    assert len({cluster for cluster, _ in clusters}) == 4


@pytest.mark.parametrize("extension", [".dot", ".graphml", ".html"])
def test_names_hold_nothing_that_a_terminal_obeys(extension: str) -> None:
    text = EXPORTERS[extension](build_xfg(read_module(SLASHES, name="x\x1b[31m\u202ey\udcff")))
    assert all(line.isprintable() for line in text.splitlines())
    assert "u202e" in text
    text.encode()


@pytest.mark.parametrize("extension", [".dot", ".graphml", ".json", ".html"])
def test_every_exporter_takes_an_empty_graph(extension: str) -> None:
    assert EXPORTERS[extension](build_xfg(read_module(b"declare void @f()\n")))


def test_a_graph_exports_itself_to_networkx() -> None:
    graph = build_xfg(read_module(b"define void @f() {\n  ret void\n}\n"))
    assert set(graph.to_networkx().edges) == set(to_networkx(graph).edges)
    assert graph.to_networkx().number_of_edges() == graph.num_edges == 2
