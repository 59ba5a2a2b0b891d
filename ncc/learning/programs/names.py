"""C++ linker names: those of the standard library, and a spelling that is common to its implementations.

Reference: Itanium C++ ABI, section 5.1 (external names), for the abbreviations of `std` and the operator codes.
"""

import functools
import re

_LIBRARY = re.compile(r"_Z(?:T[VTISchv]|GV|GR)?Z*(?:N?[KVRO]*(?:St|S[absiod]|9__gnu_cxx|10__cxxabiv1))")
_RUNTIME = re.compile(r"__cxx_global_var_init|_GLOBAL__|__clang_call_terminate|__cxx_global_array_dtor|_ZTH|_ZTW")
_ABBREVIATIONS = {"Si": "basic_istream", "So": "basic_ostream", "Sd": "basic_iostream", "Ss": "basic_string"}
_FILLING = frozenset({"__1", "__cxx11", "char_traits", "allocator", "__gnu_cxx"})
_OPERATOR = re.compile(r"(?:rs|ls|ix|eq|ne|lt|gt|le|ge|pl|mi|pp|mm|pL|aS|cl|cv)(?=[BEIR])|(?:C[12]|D[012])(?=[BE])")
_LENGTH = re.compile(r"[1-9][0-9]*")
_SUBSTITUTION = re.compile(r"S[0-9A-Z]*_|T[0-9]*_")


def is_library_function(name: str) -> bool:
    """Whether a function in a module comes from the C++ library or the compiler, not from the author."""
    return bool(_LIBRARY.match(name) or _RUNTIME.match(name))


@functools.lru_cache(maxsize=65536)
def library_name(name: str) -> str:
    """Name of an external symbol, the same for libc++ and libstdc++: class, operator, parameters."""
    if not name.startswith("_Z"):
        return name
    words, operator, rest = _parts(name)
    return " ".join([*dict.fromkeys(words), operator, rest]) if words else name


def _parts(name: str) -> tuple[list[str], str, str]:
    """Meaningful source names, an operator, and the types of parameters that are not classes."""
    words: list[str] = []
    operator = rest = ""
    position = 2
    while position < len(name):
        if match := _LENGTH.match(name, position):
            position = match.end() + int(match[0])
            word = name[match.end() : position]
            if name[match.start() - 1] != "B":  # B precedes an ABI tag
                rest = ""
                if word not in _FILLING:
                    words.append(word)
        elif match := _SUBSTITUTION.match(name, position):
            position = match.end()
        elif (two := name[position : position + 2]) in _ABBREVIATIONS:
            words.append(_ABBREVIATIONS[two])
            position += 2
            rest = ""
        elif not operator and (match := _OPERATOR.match(name, position)):
            operator = match[0]
            position = match.end()
            rest = ""
        else:
            rest = "" if name[position] == "E" else rest + name[position]
            position += 1
    return words, operator, rest.removesuffix("B")
