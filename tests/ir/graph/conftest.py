"""What the golden tests of the XFG share: edges as a graph gives them, and as a table spells them out."""

from collections.abc import Callable

import pytest

from tests.rooms import XFG, EdgeKind, build_xfg, read_module


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


@pytest.fixture(name="edges_of")
def edges_of_fixture() -> Callable:
    return edges_of


@pytest.fixture(name="expected_edges")
def expected_edges_fixture() -> Callable:
    return expected_edges


@pytest.fixture(name="check_consistency")
def check_consistency_fixture() -> Callable:
    return check_consistency
