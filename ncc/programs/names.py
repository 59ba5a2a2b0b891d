"""Linker names of C++: what belongs to the standard library, and names for it that its implementations share.

Reference: Itanium C++ ABI, section 5.1 (external names), for the abbreviations of `std` and the operator codes.
"""

import functools
import re

__all__ = ["is_library_function", "library_name"]

_LIBRARY = re.compile(r"_Z(?:T[VTISchv]|GV|GR)?(?:N?[KVRO]*(?:St|S[absiod]|9__gnu_cxx|10__cxxabiv1))")
_RUNTIME = re.compile(r"__cxx_global_var_init|_GLOBAL__|__clang_call_terminate|__cxx_global_array_dtor|_ZTH|_ZTW")
_ABBREVIATIONS = {"Si": "basic_istream", "So": "basic_ostream", "Sd": "basic_iostream", "Ss": "basic_string"}
_FILLING = frozenset({"__1", "__cxx11", "char_traits", "allocator", "__gnu_cxx"})
_OPERATOR = re.compile(r"(?:rs|ls|ix|eq|ne|lt|gt|le|ge|pl|mi|pp|mm|pL|aS|cl|cv)(?=[EIR])|(?:C[12]|D[012])(?=E)")
_TAIL = re.compile(r"E([^E]{1,4})$")


def is_library_function(name: str) -> bool:
    """Whether a function that a module defines is the C++ library's or the compiler's, rather than the author's.

    >>> is_library_function("_ZNSt6vectorIiSaIiEE9push_backERKi"), is_library_function("_Z4sortPii")
    (True, False)
    """
    return bool(_LIBRARY.match(name) or _RUNTIME.match(name))


@functools.lru_cache(maxsize=65536)
def library_name(name: str) -> str:
    """A name of what a program takes from outside, free of namespaces that one implementation alone has.

    libc++ and libstdc++ mangle ``std::cin >> int`` in different ways, but to the same class, operator and parameter.

    >>> library_name("_ZNSirsERi") == library_name("_ZNSt3__113basic_istreamIcNS_11char_traitsIcEEErsERi")
    True
    """
    if not name.startswith("_Z"):
        return name
    words, operator = _words(name)
    tail = _TAIL.search(name)
    return " ".join([*dict.fromkeys(words), operator, tail[1] if tail else ""])


def _words(name: str) -> tuple[list[str], str]:
    """The source names inside a mangled name, without those that only fill, and the operator."""
    words: list[str] = []
    operator = ""
    position = 2
    while position < len(name):
        if name[position].isdigit():
            end = position
            while end < len(name) and name[end].isdigit():
                end += 1
            length = int(name[position:end])
            word = name[end : end + length]
            if word not in _FILLING and not (position and name[position - 1] == "B"):  # B: a tag of the ABI
                words.append(word)
            position = end + length
        elif name[position : position + 2] in _ABBREVIATIONS:
            words.append(_ABBREVIATIONS[name[position : position + 2]])
            position += 2
        else:
            if not operator and (match := _OPERATOR.match(name, position)):
                operator = match[0]
                position += len(operator)
                continue
            position += 1
    return words, operator
