"""Writes an XFG for other tools, as GraphML or JSON, and for people; chooses the writer by extension."""

import io
import json
from collections.abc import Callable
from typing import Any

from ncc.ir.graph.draw import to_html, to_svg
from ncc.ir.graph.xfg import XFG
from ncc.system.files.text import escape_control


def to_graphml(graph: XFG) -> str:
    r"""Return GraphML text, as networkx writes it; control and invisible characters become ``\u0001`` and the like."""
    import networkx

    result = graph.to_networkx()
    edges = (attributes for _, _, attributes in result.edges(data=True))
    for attributes in (result.graph, *result.nodes.values(), *edges):  # before lxml, if installed, refuses them
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
    nodes = ((node, graph.node_label(node), graph.kind_of(node)) for node in graph.used_nodes())
    names = [module.function_names[function] for function in module.statement_function.tolist()]
    texts = [module.texts[text] for text in module.text_id.tolist()]
    rows = {
        ("id", "name", "kind"): nodes,
        ("source", "target", "statement", "kind"): graph.edge_rows(),
        ("text", "function", "line"): zip(texts, names, module.source_line.tolist(), strict=True),
    }
    tables = ([dict(zip(keys, row, strict=True)) for row in values] for keys, values in rows.items())
    return dict(zip(("nodes", "edges", "statements"), tables, strict=True))


EXPORTERS: dict[str, Callable[..., str]] = {
    ".graphml": to_graphml,
    ".json": to_json,
    ".html": to_html,
    ".svg": to_svg,
}
"""Writers by file extension; those of .html and .svg also take the name of a function."""
