"""Builds the contextual flow graph (XFG) from statements, and counts contexts on it."""

from ncc.ir.graph.contexts import ContextCounts, context_pairs, count_contexts
from ncc.ir.graph.draw import to_html, to_svg
from ncc.ir.graph.export import EXPORTERS, to_dot, to_graphml, to_json, to_networkx
from ncc.ir.graph.reach import reachable_statements
from ncc.ir.graph.xfg import XFG, EdgeKind, build_xfg

__all__ = [
    "EXPORTERS",
    "XFG",
    "ContextCounts",
    "EdgeKind",
    "build_xfg",
    "context_pairs",
    "count_contexts",
    "reachable_statements",
    "to_dot",
    "to_graphml",
    "to_html",
    "to_json",
    "to_networkx",
    "to_svg",
]
