"""The contextual flow graph (XFG): identifiers as nodes, statements as edges, for a whole module at once.

Reference: Ben-Nun et al. 2018, section 3.1 and figure 4. Where the paper is silent (calls without a result, statements
without operands, ways out of a function) the docstring of `build_xfg` says what happens.
"""

import functools
from dataclasses import dataclass
from enum import IntEnum
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Ints, Ints32
from ncc.errors import naming_extras
from ncc.ir.reader import native
from ncc.ir.reader.module import Module, NodeKind
from ncc.system.files.pages import html_table
from ncc.system.files.text import demangle

if TYPE_CHECKING:
    import networkx
    from torch_geometric.data import Data, HeteroData

    from ncc import Embedding

_MAX_ROWS = 20
"""Functions of a large module that a notebook lists."""
_MAX_DRAWN, _FRAME = 2000, 'width="100%" height="640" style="border: 0"'
"""Statements of a module that a notebook draws, some 200 KB at most, and the frame of the page."""
_MAX_CONTROL_EDGES, _CONTROL_EDGES_PER_OPERAND = 1_000_000, 64
"""Maximum number of edges from ends of blocks to labels, plus some for each statement and operand."""


class EdgeKind(IntEnum):
    """Kind of an edge: execution order inside a block, data, or control between blocks."""

    PATH = 0
    DATA = 1
    CONTROL = 2


@dataclass(frozen=True, kw_only=True, eq=False)
class XFG:
    """A contextual flow graph as arrays, one row per edge, ordered by statement.

    Nodes 0 to ``module.num_nodes - 1`` are the module's identifiers. Behind them come, for each function f, its root
    (``root + f``) and its return node (``exit + f``), then an effect node for every statement in ``effect_statement``,
    which defines no identifier.

    Attributes:
        module: The module.
        source, target: (num_edges,) int32 nodes.
        statement: (num_edges,) int32 statement that labels the edge.
        kind: (num_edges,) uint8, see `EdgeKind`.
        root, exit, effect: First node of this added group.
        effect_statement: (num_effects,) int32 statement of each effect node.
        num_nodes: Total number of nodes.
    """

    module: Module
    source: Ints32
    target: Ints32
    statement: Ints32
    kind: NDArray[np.uint8]
    root: int
    exit: int
    effect: int
    effect_statement: Ints32
    num_nodes: int

    def __repr__(self) -> str:
        return f"XFG({self.module.name!r}: {self.module.num_statements} statements, {self.num_edges} edges)"

    def _repr_html_(self) -> str:
        if 0 < self.module.num_statements <= _MAX_DRAWN:
            from ncc.ir.graph.draw import to_html

            return f'<iframe sandbox="allow-scripts" title="XFG" {_FRAME} srcdoc="{escape(to_html(self))}"></iframe>'
        sizes = np.diff(self.module.function_start)
        edges = np.bincount(self.module.statement_function[self.statement], minlength=len(sizes))
        rows = zip(map(demangle, self.module.function_names[:_MAX_ROWS]), sizes, edges, strict=False)
        return html_table(repr(self), ("function", "statements", "edges"), rows)

    @property
    def num_edges(self) -> int:
        """Number of edges, counting parallel ones."""
        return len(self.source)

    @functools.cached_property
    def incidence(self) -> tuple[Ints, Ints]:
        """Statements and the nodes that their edges touch, each pair once, sorted: two (num_incidences,) int64."""
        ends = np.concatenate([self.source, self.target])
        statement = np.concatenate([self.statement, self.statement])
        return np.divmod(np.unique(statement.astype(np.int64) * self.num_nodes + ends), max(self.num_nodes, 1))

    def to_networkx(self) -> "networkx.MultiDiGraph":
        """Return networkx's graph: nodes have ``name`` and ``kind``, edges ``statement``, ``text`` and ``kind``."""
        import networkx

        result = networkx.MultiDiGraph(name=self.module.name)
        for node in self.used_nodes():
            result.add_node(node, name=self.node_label(node), kind=self.kind_of(node))
        for source, target, statement, kind in self.edge_rows():
            text = self.module.statement_text(statement)
            result.add_edge(source, target, statement=statement, text=text, kind=kind)
        return result

    @naming_extras()
    def to_pyg(self, embedding: "Embedding | str | None" = None, *, hetero: bool = False) -> "Data | HeteroData":
        """Return PyTorch Geometric's graph of the nodes that edges touch, in their order.

        Args:
            embedding: Statement embedding, or its folder or name; default: the shipped one.
            hetero: Return ``HeteroData``: nodes are of the type "identifier", and edges have three relations, "path",
                "data" and "control", each there even if it is empty.

        Returns:
            ``Data``. Of nodes it has ``x``, (num_nodes, dim) float32 means of the vectors of the statements on edges to
            each, 0 if there are none; ``n_id``, (num_nodes,) int64 nodes of this graph; ``node_function``,
            (num_nodes,) int64, -1 for globals. Of edges it has ``edge_index``, (2, num_edges) int64; ``edge_type``,
            (num_edges,) int64, the number of the `EdgeKind`, but not in ``HeteroData``; ``edge_statement``,
            (num_edges,) int64 statements of the module.

        Raises:
            AssetError: The embedding can't be read.
            MissingExtraError: torch_geometric is missing; it comes with the extra ``pyg``.
        """
        from torch_geometric.data import Data, HeteroData  # before torch, so that an error names the extra with both
        import torch  # isort: skip

        import ncc  # a lazy import, since embeddings are built on graphs

        model, module = ncc.load_embedding(embedding), self.module
        n_id, ends = np.unique(np.stack([self.source, self.target]), return_inverse=True)
        arrays = ends.reshape(2, -1), self.kind, self.statement, module.text_id[self.statement]
        edge_index, edge_type, statement, text = (torch.from_numpy(each.astype(np.int64)) for each in arrays)
        function = torch.tensor([self.function_of(node) for node in n_id.tolist()], dtype=torch.int64)
        vectors = torch.from_numpy(model.vectors[model.look_up(module.texts).word])
        target, shape = edge_index[1], (len(n_id), len(vectors))
        weight = 1 / target.bincount(minlength=len(n_id))[target]
        incoming = torch.sparse_coo_tensor(torch.stack([target, text]), weight, shape, check_invariants=True)
        nodes = {"x": incoming @ vectors, "n_id": torch.from_numpy(n_id).long(), "node_function": function}
        edges = {"edge_index": edge_index, "edge_type": edge_type, "edge_statement": statement}
        if not hetero:
            return Data(**nodes, **edges)
        graph = HeteroData({"identifier": nodes})
        for kind in EdgeKind:
            of_kind = {name: edges[name][..., edge_type == kind] for name in ("edge_index", "edge_statement")}
            graph["identifier", kind.name.lower(), "identifier"].update(of_kind)
        return graph

    def to_svg(self, function: str | None = None) -> str:
        """Draw a function of the graph, by default its only one, as SVG text.

        Raises:
            InputError: The function is unknown, or there are several and none was named.
        """
        from ncc.ir.graph.draw import to_svg

        return to_svg(self, function)

    def used_nodes(self) -> list[int]:
        """Return the nodes that edges touch, in order."""
        return np.union1d(self.source, self.target).tolist()

    def edge_rows(self) -> list[tuple[int, int, int, str]]:
        """Return source, target, statement and name of the kind of each edge."""
        kinds = [EdgeKind(kind).name.lower() for kind in self.kind.tolist()]
        return list(zip(self.source.tolist(), self.target.tolist(), self.statement.tolist(), kinds, strict=True))

    def kind_of(self, node: int) -> str:
        """Return "global", "function", "block", "argument", "result", "root", "return" or "effect"."""
        if node >= self.root:
            return "effect" if node >= self.effect else "return" if node >= self.exit else "root"
        return NodeKind(self.module.node_kind[node]).name.lower()

    def node_label(self, node: int) -> str:
        """Name a node: ``@f`` for globals, ``f/%x`` for locals, ``f/root``, ``f/return`` and ``f/effect:N``."""
        if node >= self.effect:
            name = f"effect:{self.effect_statement[node - self.effect]}"
        elif node >= self.root:
            name = "return" if node >= self.exit else "root"
        else:
            name = self.module.node_name(node)
        function = self.function_of(node)
        if function < 0:
            return f"@{name}"
        return f"{self.module.function_names[function]}/{'%' if node < self.root else ''}{name}"

    def function_of(self, node: int) -> int:
        """Return the index of a node's function; -1 for globals."""
        if node >= self.effect:
            return int(self.module.statement_function[self.effect_statement[node - self.effect]])
        if node >= self.root:
            return node - (self.exit if node >= self.exit else self.root)
        return int(self.module.node_function[node])


def build_xfg(module: Module) -> XFG:
    """Build the XFG of a module: all functions, and the calls between them.

    - A ``define`` leads from the function's root to its entry block and from there to each argument.
    - A statement that makes a value leads from each operand to the result (data), and from its block's label to the
      result (path) if no operand is defined in that block. A phi leads from the label and from each incoming value.
    - A store leads from the value to the pointer, from the label if the value is an immediate.
    - A statement that makes no value and is not a terminator leads to a separate effect node, as it would to a result.
    - An unconditional branch, a switch and the like lead from every leaf of the block (a node that the block reaches
      and leads on from nowhere) to the labels (control); a conditional branch from its condition. A switch leads from
      its condition too, an invoke from its result. A terminator that leaves the function leads from the leaves and its
      operands to the return node. Arguments belong to the entry block: unused ones are among its leaves.
    - A call of a function in the module leads from each actual argument (from the label for an immediate) to the formal
      one and from the return node to the result; a call without arguments leads to the callee's root. Any other call
      leads from its arguments to the result.

    Runs in time linear in the graph, except for a sort of each block's nodes.

    Args:
        module: From `ncc.read_module` or `ncc.load_module`.

    Raises:
        InputError: The ends of blocks would make the graph far larger than the module.

    Reference: Ben-Nun et al. 2018, section 3.1.
    """
    max_control = _MAX_CONTROL_EDGES + _CONTROL_EDGES_PER_OPERAND * (module.num_statements + len(module.operand))
    columns = [getattr(module, name) for name, _ in native.GRAPH_COLUMNS]
    edges = native.build_graph(module.name, columns, module.num_functions, max_control)
    effect = module.num_nodes + 2 * module.num_functions
    return XFG(
        module=module,
        root=module.num_nodes,
        exit=module.num_nodes + module.num_functions,
        effect=effect,
        num_nodes=effect + len(edges["effect_statement"]),
        **edges,
    )
