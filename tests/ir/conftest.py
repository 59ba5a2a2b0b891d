"""What every module must satisfy, wherever it came from."""

from collections.abc import Callable

import numpy as np
import pytest

from ncc.graph import build_xfg, count_contexts
from ncc.ir import OPCODES, Module, NodeKind


def _check(module: Module) -> None:
    num_statements, num_nodes, num_blocks = module.num_statements, module.num_nodes, len(module.block_node)
    per_statement = (module.opcode, module.text_id, module.block, module.result, module.callee, module.source_line)
    assert {len(array) for array in per_statement} == {num_statements}
    assert ((module.text_id >= 0) & (module.text_id < len(module.texts))).all()
    assert len(set(module.texts)) == len(module.texts)
    assert (module.opcode < len(OPCODES)).all()
    assert (module.source_line >= 0).all()
    assert ((module.block >= 0) & (module.block < max(num_blocks, 1))).all()
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
    assert (np.diff(module.block) >= 0).all()
    assert len(module.node_function) == len(module.node_definition) == num_nodes
    assert (module.node_kind <= NodeKind.RESULT).all()
    assert (module.node_kind[module.block_node] == NodeKind.BLOCK).all()
    assert (module.node_kind[module.function_node] == NodeKind.FUNCTION).all()
    assert np.array_equal(module.node_definition[module.block_node], np.arange(num_blocks))
    assert np.array_equal(module.node_definition[module.function_node], np.arange(module.num_functions))
    defining = np.flatnonzero(module.result >= 0)
    assert np.array_equal(module.node_definition[module.result[defining]], defining)
    # locals are used in the function that defines them
    local = (module.operand >= 0) & (module.node_function[module.operand] >= 0)
    home = module.node_function[module.operand[local]]
    assert np.array_equal(home, module.statement_function[module.operand_statement[local]])
    assert all(isinstance(module.node_name(node), str) for node in range(num_nodes))
    graph = build_xfg(module)
    for ends in (graph.source, graph.target):
        assert ((ends >= 0) & (ends < graph.num_nodes)).all()
    counts = count_contexts(graph, module.text_id)
    assert (counts.count > 0).all()


@pytest.fixture
def check_module() -> Callable[[Module], None]:
    """Asserts that a module's arrays fit each other, and that a graph and contexts can be made of it."""
    return _check
