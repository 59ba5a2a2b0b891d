"""Exports read back, with names that need every kind of escape."""

from collections import Counter
from pathlib import Path

import networkx
import pytest

from tests.rooms import EXPORTERS, XFG, EdgeKind, build_xfg, read_module

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
    exported = graph.to_networkx()
    assert exported.number_of_nodes() == len(used_nodes(graph))
    assert exported.number_of_edges() == graph.num_edges
    assert exported.graph["name"] == graph.module.name
    names = networkx.get_node_attributes(exported, "name")
    assert names == {node: graph.node_label(node) for node in used_nodes(graph)}
    assert Counter((names[s], names[t], kind) for s, t, kind in exported.edges(data="kind")) == edges_of(graph)
    assert all(
        data["text"] == graph.module.statement_text(data["statement"]) for _, _, data in exported.edges(data=True)
    )


@pytest.mark.parametrize("extension", [".graphml", ".json", ".html"])
def test_every_exporter_takes_an_empty_graph(extension: str) -> None:
    assert EXPORTERS[extension](build_xfg(read_module(b"declare void @f()\n")))
