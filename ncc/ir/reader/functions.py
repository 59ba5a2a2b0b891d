"""A module's functions by the names that people use: as the compiler mangled them, or as the source has them."""

import re
from difflib import get_close_matches

from ncc.errors import UnknownNameError
from ncc.ir.reader.module import Module
from ncc.system.files.text import demangle, escape_control

_MAX_NAMES = 5
_MAX_COMPARED = 20_000
_ANONYMOUS = "(anonymous namespace)"
_QUALIFIERS = r"( const| volatile| ?&{1,2}| \[[^]]*\]| \(\.[^)]*\))+$"
_ARROWS = r"operator ?[<>-]|->"
"""Signs that are not brackets of template arguments."""


def find_function(module: Module, name: str) -> int:
    """Return the only function of a name, as for `find_functions`."""
    names, functions = module.function_names, find_functions(module, name)
    if len(functions) > 1:
        listed = "; ".join(demangle(names[function]) for function in functions[:_MAX_NAMES])
        more = f" and {len(functions) - _MAX_NAMES} more" if len(functions) > _MAX_NAMES else ""
        raise UnknownNameError(f"{module.name}: {name!r} is the name of {len(functions)} functions: {listed}{more}")
    return functions[0]


def find_functions(module: Module, name: str) -> list[int]:
    """Return all functions of a name: mangled, or as in the source, with or without parameters and scopes."""
    names = module.function_names
    if name in names:
        return [names.index(name)]
    plain = _plain(name)
    functions = [function for function, mangled in enumerate(names) if plain in _forms(mangled)]
    if functions:
        return functions
    forms = {form: mangled for mangled in names[:_MAX_COMPARED] for form in _forms(mangled)}
    near = dict.fromkeys(forms[form] for form in get_close_matches(plain, forms, n=_MAX_NAMES))
    hint = f"nearest are {', '.join(map(demangle, near))}" if near else f"it has {sample_names(module)}"
    raise UnknownNameError(
        f"{module.name}: there is no function '{escape_control(name, lines=False)}'; {hint}; "
        "of source, one that was inlined is there with -O 0"
    )


def sample_names(module: Module) -> str:
    """Return the first names of the functions, for a message."""
    names = module.function_names
    return ", ".join(map(demangle, names[:_MAX_NAMES])) + (", …" if len(names) > _MAX_NAMES else "") or "none"


def _forms(name: str) -> set[str]:
    """Return a mangled name as people may write it, without spaces."""
    whole = demangle(name).replace(_ANONYMOUS, "{anonymous}")
    forms = [whole, _strip_parameters(whole)]
    forms += map(_strip_return_type, list(forms))
    forms += map(_strip_arguments, list(forms))
    return {_plain(form) for whole in forms for form in (whole, _strip_scopes(whole))}


def _plain(name: str) -> str:
    return name.replace(_ANONYMOUS, "{anonymous}").replace(" ", "")


def _strip_parameters(name: str) -> str:
    name = re.sub(_QUALIFIERS, "", name)
    depth = 0
    for position in range(len(name) - 1, 0, -1):
        depth += (name[position] == ")") - (name[position] == "(")
        if not depth:
            return name[:position] if name.endswith(")") else name
    return name


def _strip_return_type(name: str) -> str:
    """Strip the return type, with which names of templates start."""
    depth = start = 0
    for position, char in enumerate(name):
        depth += (char in "<({[") - (char in ">)}]")
        if name.startswith("operator", position) or (depth == 1 and char == "(" and position > start):
            break
        if char == " " and not depth:
            start = position + 1
    return name[start:]


def _strip_arguments(name: str) -> str:
    """Strip arguments of templates."""
    if re.search(_ARROWS, name):
        return name
    kept, depth = [], 0
    for char in name:
        depth += char == "<"
        kept.append("" if depth else char)
        depth -= char == ">"
    return "".join(kept)


def _strip_scopes(name: str) -> str:
    """Strip namespaces and classes."""
    depth = start = 0
    for position, char in enumerate(name):
        depth += (char in "<(") - (char in ">)")
        if not depth and name.startswith("::", position):
            start = position + 2
    return name[start:]
