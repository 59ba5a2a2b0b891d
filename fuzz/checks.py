"""Invariants of every module that ncc has read, and of two readings of one module."""

import numpy as np
from numpy.typing import NDArray

from ncc.ir.graph.contexts import count_contexts
from ncc.ir.graph.xfg import XFG, build_xfg
from ncc.ir.reader.module import Module, NodeKind
from ncc.ir.reader.native import OPCODES
from ncc.ir.reader.optimized import modern_text

__all__ = ["assert_same_reading", "check_module", "renumbered", "statements"]


def check_module(module: Module) -> None:
    """Asserts that a module's arrays fit each other, and that a graph, contexts and a modern text can be made of it."""
    num_statements, num_nodes, num_blocks = module.num_statements, module.num_nodes, len(module.basic_block_label)
    per_statement = (
        module.opcode,
        module.text_id,
        module.basic_block,
        module.result,
        module.callee,
        module.source_line,
    )
    assert {len(array) for array in per_statement} == {num_statements}
    assert ((module.text_id >= 0) & (module.text_id < len(module.texts))).all()
    assert len(set(module.texts)) == len(module.texts)
    assert (module.opcode < len(OPCODES)).all()
    assert (module.source_line >= 0).all()
    assert ((module.basic_block >= 0) & (module.basic_block < max(num_blocks, 1))).all()
    for nodes in (module.result, module.callee, module.operand):
        assert ((nodes >= -1) & (nodes < num_nodes)).all()
    assert len(module.operand_start) == num_statements + 1
    assert module.operand_start[0] == 0
    assert module.operand_start[-1] == len(module.operand)
    for starts in (module.operand_start, module.function_start, module.function_block):
        assert (np.diff(starts) >= 0).all()
    assert len(module.function_start) == len(module.function_block) == module.num_functions + 1
    assert module.function_start[-1] == num_statements
    assert module.function_block[-1] == num_blocks
    assert (np.diff(module.function_start) >= 2).all()  # a define and a terminator
    assert (np.diff(module.function_block) >= 1).all()
    assert (module.opcode[module.function_start[:-1]] == OPCODES.index("define")).all()
    assert (module.opcode == OPCODES.index("define")).sum() == module.num_functions
    assert (np.diff(module.basic_block) >= 0).all()
    _check_nodes(module)
    graph = build_xfg(module)
    for ends in (graph.source, graph.target):
        assert ((ends >= 0) & (ends < graph.num_nodes)).all()
    counts = count_contexts(graph, module.text_id)
    assert (counts.count > 0).all()
    modern_text(module.ir)  # of whatever was read


def _check_nodes(module: Module) -> None:
    num_nodes = module.num_nodes
    assert len(module.node_function) == len(module.node_definition) == num_nodes
    assert (module.node_kind <= NodeKind.RESULT).all()
    assert (module.node_kind[module.basic_block_label] == NodeKind.BLOCK).all()
    assert (module.node_kind[module.function_node] == NodeKind.FUNCTION).all()
    assert np.array_equal(module.node_definition[module.basic_block_label], np.arange(len(module.basic_block_label)))
    assert np.array_equal(module.node_definition[module.function_node], np.arange(module.num_functions))
    defining = np.flatnonzero(module.result >= 0)
    assert np.array_equal(module.node_definition[module.result[defining]], defining)
    # locals are used in the function that defines them
    local = (module.operand >= 0) & (module.node_function[module.operand] >= 0)
    home = module.node_function[module.operand[local]]
    assert np.array_equal(home, module.statement_function[module.operand_statement[local]])
    assert all(isinstance(module.node_name(node), str) for node in range(num_nodes))


def statements(module: Module) -> list[str]:
    """The texts of all statements, in order."""
    return [module.texts[i] for i in module.text_id.tolist()]


def assert_same_reading(direct: Module, printed: Module) -> None:
    """Asserts that a module read as it stands and as LLVM prints it are the same: statements, operands and graph."""
    assert statements(direct) == statements(printed)
    assert renumbered(direct) == renumbered(printed)
    for field in ("opcode", "operand_start", "basic_block", "function_start", "function_block", "function_is_kernel"):
        assert getattr(direct, field).tolist() == getattr(printed, field).tolist(), field
    assert direct.source_line.tolist() == printed.source_line.tolist()
    assert direct.function_names == printed.function_names
    if renumbered(direct, markers=True) == renumbered(printed, markers=True):
        assert _edges(build_xfg(direct)) == _edges(build_xfg(printed))


def renumbered(module: Module, *, markers: bool = False) -> dict[str, list[int]]:
    """Operands, results and callees with nodes numbered as statements mention them: declarations may have moved.

    LLVM 22 points lifetime markers at the variable itself, past the bitcasts of the typed dialect. So their operands
    are omitted unless requested.
    """
    is_marker = np.array(["@llvm.lifetime." in text for text in statements(module)], bool)
    operand = module.operand if markers else np.where(is_marker[module.operand_statement], -1, module.operand)
    numbers = _by_mention(np.concatenate([operand, module.result, module.callee]))
    cut = np.cumsum([len(module.operand), len(module.result)])
    return dict(zip(("operand", "result", "callee"), (part.tolist() for part in np.split(numbers, cut)), strict=True))


def _by_mention(nodes: NDArray[np.int32]) -> NDArray[np.int64]:
    """Nodes, -1 for none, numbered in the order in which they are mentioned."""
    _, first, inverse = np.unique(nodes, return_index=True, return_inverse=True)
    numbers = np.argsort(np.argsort(first))[inverse]
    return np.where(nodes < 0, -1, numbers)


def _edges(graph: XFG) -> list[tuple[int, ...]]:
    """Statement, kind, source and target of each edge, with nodes numbered as edges mention them."""
    ends = np.concatenate([graph.source, graph.target])
    added = ends >= graph.module.num_nodes  # roots, returns and effects, which have the same numbers behind the others
    numbers = np.where(added, -2 - (ends - graph.module.num_nodes), _by_mention(np.where(added, -1, ends)))
    source, target = np.split(numbers, 2)
    edges = np.stack([graph.statement, graph.kind, source, target], axis=1)
    return [tuple(edge) for edge in edges.tolist()]
