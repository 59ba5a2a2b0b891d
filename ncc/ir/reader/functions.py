"""A module's functions by the names that people use: as the compiler mangled them, or as the source has them."""

import re
from difflib import get_close_matches

from ncc.errors import UnknownNameError
from ncc.ir.reader.module import Module
from ncc.system.files.text import printable, source_name

_NAMED = 5
_MOST_COMPARED = 20_000
_ANONYMOUS = "(anonymous namespace)"
_QUALIFIERS = re.compile(r"( const| volatile| ?&{1,2}| \[[^]]*\]| \(\.[^)]*\))+$")
_ARROWS = re.compile(r"operator ?[<>-]|->")
"""Signs that are not brackets of template arguments."""


def find_function(module: Module, name: str) -> int:
    """The number of a function by its name.

    Args:
        module: That has it.
        name: Mangled; or as the source has it, with its parameters, template arguments and namespaces or without.

    Raises:
        UnknownNameError: There is none of that name, or there are several.
    """
    names = module.function_names
    if name in names:
        return names.index(name)
    wanted = _plain(name)
    found = [number for number, one in enumerate(names) if wanted in _forms(one)]
    if len(found) == 1:
        return found[0]
    if found:
        shown = "; ".join(source_name(names[number]) for number in found[:_NAMED])
        more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        raise UnknownNameError(f"{module.name}: {name!r} is the name of {len(found)} functions: {shown}{more}")
    shorter = {form: one for one in names[:_MOST_COMPARED] for form in _forms(one)}
    near = dict.fromkeys(shorter[form] for form in get_close_matches(wanted, shorter, n=_NAMED))
    told = f"nearest are {', '.join(map(source_name, near))}" if near else f"it has {some_names(module)}"
    told += MAY_BE_INLINED
    raise UnknownNameError(f"{module.name}: there is no function '{printable(name, lines=False)}'; {told}")


MAY_BE_INLINED = "; of source, one that was inlined is there with -O 0"


def some_names(module: Module) -> str:
    """The first names of the functions, for a message."""
    names = module.function_names
    return ", ".join(map(source_name, names[:_NAMED])) + (", …" if len(names) > _NAMED else "") or "none"


def _forms(name: str) -> set[str]:
    """A mangled name as people may write it, without spaces."""
    whole = source_name(name).replace(_ANONYMOUS, "{anonymous}")
    called = _without_parameters(whole)
    full = [whole, called, *(_without_return_type(one) for one in (whole, called))]
    plain = [_without_arguments(one) for one in full]
    return {_plain(form) for one in (*full, *plain) for form in (one, _last_part(one))}


def _plain(name: str) -> str:
    return name.replace(_ANONYMOUS, "{anonymous}").replace(" ", "")


def _without_parameters(name: str) -> str:
    name = _QUALIFIERS.sub("", name)
    depth = 0
    for at in range(len(name) - 1, 0, -1):
        depth += (name[at] == ")") - (name[at] == "(")
        if not depth:
            return name[:at] if name.endswith(")") else name
    return name


def _without_return_type(name: str) -> str:
    """Templates' names begin with it."""
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


def _without_arguments(name: str) -> str:
    """Without those of templates."""
    if _ARROWS.search(name):
        return name
    kept, depth = [], 0
    for sign in name:
        depth += sign == "<"
        kept.append(sign * (not depth))
        depth -= sign == ">"
    return "".join(kept)


def _last_part(name: str) -> str:
    """Without namespaces and classes."""
    depth, cut = 0, 0
    for at, sign in enumerate(name):
        depth += (sign in "<(") - (sign in ">)")
        if not depth and name.startswith("::", at):
            cut = at + 2
    return name[cut:]
