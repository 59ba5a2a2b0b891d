"""Arguments of a kernel by name, and the values that a launch gives them."""

import math
import re
from collections.abc import Mapping

from ncc.errors import InputError, UnknownNameError
from ncc.ir.reader.module import Module
from ncc.kernels.instructions import split_fields
from ncc.kernels.launch import Launch
from ncc.system.files.text import source_name

_WHOLE = re.compile(r"i(\d{1,3})\b")


def argument_names(module: Module, function: int) -> dict[int, str]:
    """Node of each argument → its name, or its number where the IR has no names."""
    nodes = module.operands(int(module.function_start[function]))
    names = [(node, module.node_name(node)) for node in nodes]
    return {node: f"arg{at}" if name.isdigit() else name for at, (node, name) in enumerate(names)}


def given_arguments(module: Module, kernel: int, launch: Launch) -> dict[int, float]:
    """Node of each argument that a launch gives a value → the value."""
    names = argument_names(module, kernel)
    return {
        node: launch.arguments[key]
        for at, (node, name) in enumerate(names.items())
        for key in (name, str(at))
        if key in launch.arguments
    }


def argument_types(module: Module, function: int) -> list[str]:
    """What stands in the IR for each argument, its type first."""
    header = module.statement_text(int(module.function_start[function]))
    return split_fields(header[header.find("(", header.find("@")) + 1 :].rpartition(")")[0])


def check_arguments(module: Module, kernel: int, given: Mapping[str, float]) -> None:
    """Checks values that are given to a kernel.

    Args:
        module: The module.
        kernel: Number of the kernel.
        given: Name or number of an argument → its value.

    Raises:
        InputError: The kernel has no such argument, it is given twice, or its type can't hold the value.
    """
    names = list(argument_names(module, kernel).values())
    types = argument_types(module, kernel)
    numbers = {**{str(at): at for at in range(len(names))}, **{name: at for at, name in enumerate(names)}}
    shown, seen = f"{module.name}: {source_name(module.function_names[kernel])}", dict[int, str]()
    for name, value in given.items():
        if name not in numbers:
            raise UnknownNameError(f"{shown} has no argument {name!r}; it has {', '.join(names) or 'none'}")
        at = numbers[name]
        if at in seen:
            raise InputError(f"{shown}: argument {at} is given twice, as {seen[at]!r} and as {name!r}")
        seen[at] = name
        if converted(value, types[at]) != value:
            raise InputError(
                f"{shown}: argument {name!r} is {value:g}; expected a whole number of {types[at].split()[0]}"
            )


def converted(value: float, type_: str) -> float | None:
    """What C makes of a number that is passed as a type of the IR; None where that can't hold it."""
    whole = _WHOLE.match(type_)
    if not whole:
        return value
    limit = 2.0 ** int(whole[1])
    return float(math.trunc(value)) if math.isfinite(value) and -limit / 2 <= value < limit else None
