"""Exports an XFG to other tools: networkx, Graphviz dot, GraphML and JSON; chooses the writer by extension."""

import io
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ncc.ir.graph.draw import COLORS, to_html, to_svg
from ncc.ir.graph.xfg import XFG, EdgeKind
from ncc.ir.reader.module import NodeKind
from ncc.system.files.text import escape_control

if TYPE_CHECKING:
    import networkx


def node_kind(graph: XFG, node: int) -> str:
    """Return "global", "function", "block", "argument", "result", "root", "return" or "effect"."""
    if node >= graph.effect:
        return "effect"
    if node >= graph.exit:
        return "return"
    if node >= graph.root:
        return "root"
    return NodeKind(graph.module.node_kind[node]).name.lower()


def _used_nodes(graph: XFG) -> list[int]:
    return sorted({*graph.source.tolist(), *graph.target.tolist()})


def _edge_rows(graph: XFG) -> list[tuple[int, int, int, str]]:
    kinds = [EdgeKind(kind).name.lower() for kind in graph.kind.tolist()]
    return list(zip(graph.source.tolist(), graph.target.tolist(), graph.statement.tolist(), kinds, strict=True))


def to_networkx(graph: XFG) -> "networkx.MultiDiGraph":
    """Return a ``MultiDiGraph``: nodes have ``name`` and ``kind``, edges ``statement``, ``text`` and ``kind``."""
    import networkx

    result = networkx.MultiDiGraph(name=graph.module.name)
    for node in _used_nodes(graph):
        result.add_node(node, name=graph.node_label(node), kind=node_kind(graph, node))
    for source, target, statement, kind in _edge_rows(graph):
        text = graph.module.statement_text(statement)
        result.add_edge(source, target, statement=statement, text=text, kind=kind)
    return result


def to_graphml(graph: XFG) -> str:
    r"""Return GraphML text, as networkx writes it; control and invisible characters become ``\u0001`` and the like."""
    import networkx

    result = to_networkx(graph)
    edges = (attributes for _, _, attributes in result.edges(data=True))
    for attributes in (result.graph, *result.nodes.values(), *edges):  # before lxml, where it is there, refuses them
        attributes |= {
            key: escape_control(value, lines=False) for key, value in attributes.items() if isinstance(value, str)
        }
    out = io.BytesIO()
    networkx.write_graphml(result, out, named_key_ids=True)
    return out.getvalue().decode()


def to_json(graph: XFG) -> str:
    """Return JSON text: ``nodes`` (id, name, kind), ``edges`` (source, target, statement, kind), ``statements``."""
    return json.dumps(to_dict(graph) | {"input": graph.module.name}, indent=1)


def to_dict(graph: XFG) -> dict[str, Any]:
    """Return what `to_json` writes as plain Python objects, without the module's name."""
    module = graph.module
    nodes = ((node, graph.node_label(node), node_kind(graph, node)) for node in _used_nodes(graph))
    names = [module.function_names[function] for function in module.statement_function.tolist()]
    texts = [module.texts[text] for text in module.text_id.tolist()]
    rows = {
        ("id", "name", "kind"): nodes,
        ("source", "target", "statement", "kind"): _edge_rows(graph),
        ("text", "function", "line"): zip(texts, names, module.source_line.tolist(), strict=True),
    }
    tables = ([dict(zip(keys, row, strict=True)) for row in values] for keys, values in rows.items())
    return dict(zip(("nodes", "edges", "statements"), tables, strict=True))


def _quoted(text: str) -> str:
    return '"' + escape_control(text, lines=False).replace("\\", "\\\\").replace('"', '\\"') + '"'


def to_dot(graph: XFG) -> str:
    """Return Graphviz text: one cluster per function, edges colored by kind and labelled with their statement."""
    lines = ["digraph xfg {", '  node [shape=box, fontname="Helvetica"];', '  edge [fontname="Helvetica", fontsize=9];']
    clusters: dict[int, list[int]] = {}
    for node in _used_nodes(graph):
        clusters.setdefault(graph.function_of(node), []).append(node)
    for function, nodes in clusters.items():
        prefix = f"{graph.module.function_names[function]}/" if function >= 0 else ""
        if prefix:
            lines += [f"  subgraph cluster_{function} {{", f"    label={_quoted(prefix[:-1])};"]
        lines += [f"    n{node} [label={_quoted(graph.node_label(node).removeprefix(prefix))}];" for node in nodes]
        if prefix:
            lines.append("  }")
    for source, target, statement, kind in _edge_rows(graph):
        text = _quoted(graph.module.statement_text(statement))
        lines.append(f'  n{source} -> n{target} [label={text}, color="{COLORS[kind]}"];')
    return "\n".join([*lines, "}"]) + "\n"


EXPORTERS: dict[str, Callable[..., str]] = {
    ".dot": to_dot,
    ".graphml": to_graphml,
    ".json": to_json,
    ".html": to_html,
    ".svg": to_svg,
}
"""Writers by file extension; those of .html and .svg take the name of a function too."""
