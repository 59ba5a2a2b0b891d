"""Kernels by the names that people and profilers give them: demangled, with or without template arguments."""

import difflib
import re

import numpy as np

from ncc.errors import CompileError, InputError, UnknownNameError
from ncc.ir.reader.module import Module
from ncc.system.files.text import source_name

_TEMPLATE = re.compile(r"^(?:void )?([^(<]*(?:\(anonymous namespace\)::)?[^(<]*)(<.*)?", re.DOTALL)
_CAST = re.compile(r"\((?:int|unsigned int|bool|long|unsigned long|unsigned char|char|short)\)")
_SAME = {"true": "1", "false": "0", "unsignedint": "unsigned", "std::": ""}


def kernel_numbers(module: Module) -> list[int]:
    """Numbers of a module's kernels.

    Raises:
        InputError: It has none.
    """
    module.check_functions()
    kernels: list[int] = np.flatnonzero(module.function_is_kernel).tolist()
    if not kernels:
        raise InputError(
            f"{module.name}: no kernel among its {module.num_functions} function(s): expected a function marked "
            "__kernel (OpenCL) or __global__ (CUDA, HIP), and a launch of each that is a template"
        )
    return kernels


def plain_kernel_name(name: str) -> str:
    """A kernel's name without namespaces, arguments and template arguments."""
    return split_kernel_name(name)[0]


def find_kernels(module: Module, name: str) -> list[int]:
    """Numbers of the kernels of a name: the one of a mangled name or of template arguments, else all instances.

    Raises:
        InputError: No kernel has that name.
    """
    found = find_kernel(module, name)
    plain, arguments = split_kernel_name(name)
    if arguments or "(" in name or module.function_names[found] == name:
        return [found]
    return [one for one in kernel_numbers(module) if plain_kernel_name(module.function_names[one]) == plain]


def find_kernel(module: Module, name: str) -> int:
    """Number of the kernel of a name: mangled, demangled, or plain.

    Of several instances of a template, the one whose arguments are most alike is taken.

    Raises:
        CompileError: The kernel of that name does not compile.
        InputError: No kernel has that name; says which there are, nearest first.
    """
    kernels = kernel_numbers(module)
    for number in kernels:
        if module.function_names[number] == name:
            return number
    plain, arguments = split_kernel_name(name)
    shown = {number: source_name(module.function_names[number]) for number in kernels}
    fitting = {number: other for number in kernels if (other := split_kernel_name(shown[number]))[0] == plain}
    if not fitting:
        for function, reason in module.left_out:
            if function == plain:
                raise CompileError(f"{module.name}: {plain} does not compile: {reason}", (reason,))
        near = sorted(
            shown.values(), key=lambda one: -difflib.SequenceMatcher(None, plain, split_kernel_name(one)[0]).ratio()
        )
        more = f" and {len(near) - 8} more" if len(near) > 8 else ""
        raise UnknownNameError(f"{module.name}: no kernel is called {name!r}; it has {', '.join(near[:8])}{more}")
    return max(fitting, key=lambda number: difflib.SequenceMatcher(None, arguments, fitting[number][1]).ratio())


def split_kernel_name(name: str) -> tuple[str, str]:
    """A kernel's plain name, and its template arguments in one spelling, with their brackets."""
    shown = source_name(name).replace("(anonymous namespace)::", "")
    found = _TEMPLATE.match(shown)
    plain, rest = (found[1], found[2] or "") if found else (shown, "")
    rest = _CAST.sub("", rest).replace(" ", "")
    for other, same in _SAME.items():
        rest = rest.replace(other, same)
    depth = 0
    for at, sign in enumerate(rest):
        depth += (sign == "<") - (sign == ">")
        if depth == 0:
            rest = rest[: at + 1]
            break
    return plain.split("::")[-1].split(" ")[-1].strip(), rest
