"""Arguments of a kernel by name, and the values that a launch gives them."""

from ncc.ir import Module
from ncc.kernels.launch import Launch


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
