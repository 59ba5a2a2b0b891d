"""A module's functions by the names that people use: as the compiler mangled them, or as the source has them."""

import re
from difflib import get_close_matches

from ncc.errors import UnknownNameError
from ncc.ir.reader.module import Module
from ncc.system.files.text import demangle, escape_control

_MAX_NAMES = 5
_MAX_COMPARED = 20_000
_ANONYMOUS = "(anonymous namespace)"
_QUALIFIERS = re.compile(r"( const| volatile| ?&{1,2}| \[[^]]*\]| \(\.[^)]*\))+$")
_ARROWS = re.compile(r"operator ?[<>-]|->")
"""Signs that are not brackets of template arguments."""


def find_function(module: Module, name: str) -> int:
    """The only function of a name, as for `find_functions`."""
    names, functions = module.function_names, find_functions(module, name)
    if len(functions) > 1:
        shown = "; ".join(demangle(names[function]) for function in functions[:_MAX_NAMES])
        more = f" and {len(functions) - _MAX_NAMES} more" if len(functions) > _MAX_NAMES else ""
        raise UnknownNameError(f"{module.name}: {name!r} is the name of {len(functions)} functions: {shown}{more}")
    return functions[0]


def find_functions(module: Module, name: str) -> list[int]:
    """All functions of a name: mangled, or as in the source, with or without parameters, arguments and namespaces."""
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
    """The first names of the functions, for a message."""
    names = module.function_names
    return ", ".join(map(demangle, names[:_MAX_NAMES])) + (", …" if len(names) > _MAX_NAMES else "") or "none"


def _forms(name: str) -> set[str]:
    """A mangled name as people may write it, without spaces."""
    whole = demangle(name).replace(_ANONYMOUS, "{anonymous}")
    called = _strip_parameters(whole)
    full = [whole, called, *(_strip_return_type(one) for one in (whole, called))]
    plain = [_strip_arguments(one) for one in full]
    return {_plain(form) for one in (*full, *plain) for form in (one, _strip_scopes(one))}


def _plain(name: str) -> str:
    return name.replace(_ANONYMOUS, "{anonymous}").replace(" ", "")


def _strip_parameters(name: str) -> str:
    name = _QUALIFIERS.sub("", name)
    depth = 0
    for at in range(len(name) - 1, 0, -1):
        depth += (name[at] == ")") - (name[at] == "(")
        if not depth:
            return name[:at] if name.endswith(")") else name
    return name


def _strip_return_type(name: str) -> str:
    """Strip the return type, with which names of templates begin."""
    depth, cut = 0, 0
    for at, sign in enumerate(name):
        if name.startswith("operator", at):
            break
        depth += (sign in "<({[") - (sign in ">)}]")
        if depth == 1 and sign == "(" and at > cut:
            break
        if sign == " " and not depth:
            cut = at + 1
    return name[cut:]


def _strip_arguments(name: str) -> str:
    """Strip arguments of templates."""
    if _ARROWS.search(name):
        return name
    kept, depth = [], 0
    for sign in name:
        depth += sign == "<"
        kept.append(sign * (not depth))
        depth -= sign == ">"
    return "".join(kept)


def _strip_scopes(name: str) -> str:
    """Strip namespaces and classes."""
    depth, cut = 0, 0
    for at, sign in enumerate(name):
        depth += (sign in "<(") - (sign in ">)")
        if not depth and name.startswith("::", at):
            cut = at + 2
    return name[cut:]
