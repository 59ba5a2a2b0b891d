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
        raise UnknownNameError(f"{module.name}: {len(functions)} functions are named {name!r}: {listed}{more}")
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
        f"{module.name}: no function '{escape_control(name, lines=False)}'; {hint}; "
        "compile source with -O 0 to keep inlined functions"
    )


def sample_names(module: Module) -> str:
    """Return the first names of the functions, for a message."""
    names = module.function_names
    return ", ".join(map(demangle, names[:_MAX_NAMES])) + (", …" if len(names) > _MAX_NAMES else "") or "none"


def _forms(name: str) -> set[str]:
    """Return a mangled name as people may write it, without spaces."""
    whole = demangle(name).replace(_ANONYMOUS, "{anonymous}")
    head = _strip_parameters(whole)
    operator = re.search(r"\boperator\b", head)
    depth = name_start = last_start = 0  # after the returned type, which comes first in templates, and scopes
    for position, char in enumerate(head[: operator.start() if operator else None]):
        depth += (char in "<({[") - (char in ">)}]")
        if char == " " and not depth:
            name_start = last_start = position + 1
        elif not depth and head.startswith("::", position):
            last_start = position + 2
    forms = {text[start:] for text in (whole, head) for start in (0, name_start, last_start)}
    return {_plain(text) for form in forms for text in (form, _strip_arguments(form))}


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


def _strip_arguments(name: str) -> str:
    """Strip arguments of templates."""
    num_stripped = 0 if re.search(_ARROWS, name) else 1
    while num_stripped:
        name, num_stripped = re.subn(r"<[^<>]*>", "", name)
    return name
