"""What values of a GPU kernel have to do with the number of the thread: strides of addresses, divergent branches.

Threads next to each other differ by one in ``get_global_id(0)``. A value's *stride* is how much it grows from one to
the next: 0 where all threads of a group have the same value, a number where it is known, infinite where it is linear
with a factor that is not known, and NaN where it is none of these (loaded from memory, say).
"""

import math
import re
from collections import defaultdict, deque
from collections.abc import Iterable

import numpy as np

from ncc.arrays import Floats
from ncc.ir.reader.module import Module, NodeKind
from ncc.kernels.builtins import builtin_name
from ncc.kernels.registers import reads_variable, register_of
from ncc.kernels.strides import HANDLERS, join_strides, same_stride

_DEEPEST = 4
_MOST_CALLS = 256

_INDEX_ARGUMENT = re.compile(r"\(i32 (?:noundef )?(\d+)\)")
_THREAD_NUMBER = re.compile(
    r"get_(?:global|local)_(?:linear_)?id|get_sub_group_local_id"
    r"|__spirv_BuiltIn(?:LocalInvocationIndex|GlobalLinearId)|llvm\.spv\.flattened\.thread\.id"
)
_NEIGHBOURS = ("tid.x", "global_id.x", "laneid")
"""Numbers that grow by one from thread to thread."""
_ATOMIC = re.compile(r"atom(?:ic)?_")
_LIMITING = frozenset(("smin", "smax", "umin", "umax", "min", "max"))
POINTER_STEPS = frozenset(("getelementptr", "bitcast", "addrspacecast", "phi", "select", "freeze"))
"""Opcodes that make a pointer of pointers."""


def thread_strides(
    module: Module, function: int, arguments: dict[int, float] | None = None, clamps: bool = False
) -> Floats:
    """Strides of all values of a function.

    Values that depend on the thread only by the way that it took (the phi behind a divergent branch) count as the same
    in all threads.

    Args:
        module: The module.
        function: Number of the function.
        arguments: Strides of its arguments by their nodes; those that are not named are the same in all threads.
        clamps: Whether a value within limits that all threads share keeps its stride; heads for devices were trained
            without.

    Returns:
        (num_nodes of the module,) float64 by node; 0 for nodes of other functions and for globals.
    """
    return _Strides(module, function, arguments or {}, {}, 0, clamps).stride[:-1]


def callee_name(module: Module, statement: int) -> str:
    """Name of the function that a call names, as it stands in the IR; empty for calls of pointers."""
    callee = int(module.callee[statement])
    is_named = callee >= 0 and module.node_kind[callee] in (NodeKind.FUNCTION, NodeKind.GLOBAL)  # aliases are global
    return module.node_name(callee) if is_named else ""


def called_function(module: Module, statement: int) -> int:
    """Number of the function that a call names, if it has a body, or -1."""
    return int(module.function_of_node[module.callee[statement]])


class _Strides:
    """Finds the strides of one function's values; those of called functions' results by more of its kind.

    A value is first not known, then has a stride, and may become NaN when more of its operands are known, but never
    goes back. So every statement is looked at a few times at most, and in whatever order.

    Args:
        module: The module.
        function: Number of the function.
        arguments: Strides of its arguments by their nodes.
        returned: Strides of the results of calls, by function and arguments; shared by all functions.
        level: How many calls led here.
        clamps: See `thread_strides`.
    """

    def __init__(
        self,
        module: Module,
        function: int,
        arguments: dict[int, float],
        returned: dict[tuple[int, tuple[float | None, ...]], float],
        level: int,
        clamps: bool,
    ) -> None:
        self.module, self.returned, self.level, self.clamps = module, returned, level, clamps
        span = module.body(function)
        self.operands, self.opcode = module.operands, module.opcode_name
        # Operand -1 is an immediate, and finds the last element, which is 0 and known.
        self.stride = np.zeros(module.num_nodes + 1)
        self.known = np.ones(module.num_nodes + 1, bool)
        self.known[[int(module.result[statement]) for statement in span if module.result[statement] >= 0]] = False
        for node, value in arguments.items():
            self.stride[node] = value
        self.users: defaultdict[int, list[int]] = defaultdict(list)
        for statement in span:
            for node in set(self.operands(statement)):
                self.users[node].append(statement)
        self.variables, self.private = self._find_variables(span)
        self.content: dict[int, float] = {}  # of variables, as far as known
        self._solve(
            [statement for statement in span if module.result[statement] >= 0 or self._variable(statement) >= 0]
        )

    def known_strides(self, nodes: Iterable[int]) -> list[float]:
        return [float(self.stride[node]) for node in nodes if self.known[node]]

    def _find_variables(self, span: range) -> tuple[set[int], set[int]]:
        """Variables on the stack, and all other pointers into memory of the thread alone.

        A variable is only ever loaded and stored whole, as in IR that was not optimised.
        """
        variables: set[int] = set()
        private: set[int] = set()
        for statement in span:
            node, opcode = int(self.module.result[statement]), self.opcode(statement)
            if opcode == "alloca":
                (variables if self._is_variable(node) else private).add(node)
            elif opcode in POINTER_STEPS and not private.isdisjoint(self.operands(statement)):
                private.add(node)
        return variables, private

    def _is_variable(self, node: int) -> bool:
        """Whether only loads and stores use an address."""
        for user in self.users[node]:
            opcode = self.opcode(user)
            if opcode == "store" and self.operands(user)[0] != node:
                continue
            if opcode != "load" and not callee_name(self.module, user).startswith("llvm.lifetime"):
                return False
        return True

    def _variable(self, statement: int) -> int:
        """The variable that a statement stores to, or -1."""
        pointer = self.operands(statement)[1] if self.opcode(statement) == "store" else -1
        return pointer if pointer in self.variables else -1

    def _solve(self, statements: list[int]) -> None:
        queue, waiting, solved = deque(statements), set(statements), frozenset(statements)
        while queue:
            statement = queue.popleft()
            waiting.discard(statement)
            if self._update(statement):
                node = int(self.module.result[statement])
                users = self.users[node if node >= 0 else self._variable(statement)]
                again = [user for user in users if user in solved and user not in waiting]
                queue += again
                waiting.update(again)

    def _update(self, statement: int) -> bool:
        """Looks at a statement again; returns whether more is known of what it defines or stores."""
        node = int(self.module.result[statement])
        if node < 0:
            variable, (value, _) = self._variable(statement), self.operands(statement)
            before = self.content.get(variable)
            found = join_strides(([] if before is None else [before]) + self.known_strides([value]))
            if found is None or (before is not None and same_stride(before, found)):
                return False
            self.content[variable] = found
            return True
        result = self._result(statement)
        if result is None or (self.known[node] and same_stride(float(self.stride[node]), result)):
            return False
        self.stride[node], self.known[node] = result, True
        return True

    def _result(self, statement: int) -> float | None:
        """Stride of what a statement defines; None where too little is known of its operands yet."""
        operands, opcode = self.operands(statement), self.opcode(statement)
        if opcode in ("load", "extractelement", "call") and (register := register_of(self.module, statement)):
            return 1.0 if register in _NEIGHBOURS else 0.0
        if opcode == "phi":
            return join_strides(self.known_strides(operands[::2]))
        if opcode == "load" and operands[0] in self.variables:
            return self.content.get(operands[0])
        if not self.known[operands].all():
            return None
        return self._of_operands(statement, opcode, operands)

    def _of_operands(self, statement: int, opcode: str, operands: list[int]) -> float | None:
        """The same, where the strides of all operands are known."""
        strides = [float(self.stride[node]) for node in operands]
        if opcode in ("call", "invoke", "callbr"):
            return self._call(statement, strides[1:])
        if opcode in HANDLERS:
            return HANDLERS[opcode](self.module, statement, operands, strides)
        loaded = opcode == "load" and (operands[0] in self.private or reads_variable(self.module, statement))
        return 0.0 if not any(strides) and not loaded else math.nan

    def _call(self, statement: int, arguments: list[float]) -> float:
        name, function = callee_name(self.module, statement), called_function(self.module, statement)
        if _THREAD_NUMBER.search(name):
            dimension = _INDEX_ARGUMENT.search(self.module.statement_source(statement))
            return 1.0 if dimension is None or dimension[1] == "0" else 0.0
        if function >= 0:
            return self._returned(function, arguments)
        if self.clamps and builtin_name(name) in _LIMITING and 0.0 in arguments:
            return next((value for value in arguments if value != 0), 0.0)
        return math.nan if any(arguments) or _ATOMIC.search(name) else 0.0

    def _returned(self, function: int, arguments: list[float]) -> float:
        """Stride of what a function returns that has a body."""
        key = (function, tuple(None if math.isnan(value) else value for value in arguments))
        if key not in self.returned:
            self.returned[key] = math.nan  # for calls of itself
            if self.level < _DEEPEST and len(self.returned) < _MOST_CALLS:
                body = self.module.body(function)
                formal = dict(zip(self.operands(body.start - 1), arguments, strict=False))
                called = _Strides(self.module, function, formal, self.returned, self.level + 1, self.clamps)
                values = [self.operands(statement) for statement in body if self.opcode(statement) == "ret"]
                found = join_strides(called.known_strides(node for operands in values for node in operands))
                self.returned[key] = 0.0 if found is None else found
        return self.returned[key]
