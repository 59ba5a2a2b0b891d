"""Constants and outside names of statements, which abstraction takes away: numbers, strings, library calls.

Reference: Ben-Nun et al. 2018, section 4.1, drops immediates; inst2vec-imm (section 6.2 there) gives them back as
values of their own. Here a statement has any number of them, each as a hash of its text.
"""

import re
import zlib

import numpy as np
from numpy.typing import NDArray

from ncc.encoder.names import is_library_function, library_name
from ncc.ir import Module
from ncc.ir.module import plain_name

__all__ = ["statement_literals"]

_TOKEN = re.compile(
    r"""
    %"[^"]*" | %[\w.$-]+ | [!\#][\w.]*                      # locals and types, metadata, groups of attributes
    | \balign\ \d+                                          # what the compiler knows of pointers and numbers
    | \b(?:align|alignstack|addrspace|captures|dereferenceable|dereferenceable_or_null|initializes|inrange|memory
        |nofpclass|range|allocsize|vscale_range)\((?:[^()]|\([^()]*\))*\)
    | @("[^"]*"|[\w.$-]+)
    | (?<![\w.])(-?\d+\.\d+(?:e[+-]?\d+)?|0x[HKLMR]?[0-9A-F]+|-?\d+)(?![\w.:])
    """,
    re.VERBOSE,
)
_PIECE = re.compile(r"%[-+ #0-9.*hlLqjzt]*[A-Za-z]|[A-Za-z]+|[0-9]+")
"""Conversions of ``printf``, words and numbers."""


def statement_literals(module: Module, statements: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.uint32]]:
    r"""Finds the literals of some statements.

    Literals are integers and floating-point numbers as LLVM prints them (sizes of arrays and constant indices among
    them; alignments, widths and numbers of metadata are none), strings that a statement refers to, whole and in
    pieces (without the line ends and the 0 at their end, since compilers turn ``printf("…\n")`` into ``puts``), and
    names of functions and variables that come from outside or from the C++ library, by `library_name`.

    Args:
        module: The module.
        statements: (m,) int32.

    Returns:
        (m + 1,) int32 offsets of each statement's literals, and their hashes (CRC-32), uint32.
    """
    strings, external = module.string_constants, module.external_names
    hashes: dict[tuple[str, str], list[int]] = {}
    found: list[int] = []
    start = np.zeros(len(statements) + 1, np.int32)
    for row, statement in enumerate(statements.tolist()):
        for token in _TOKEN.findall(module.statement_source(statement)):
            if token not in hashes:
                name, number = token
                texts = (
                    _outside(plain_name(name.encode()), strings, external)
                    if name
                    else [f"number {number}"]
                    if number
                    else []
                )
                hashes[token] = [zlib.crc32(text.encode("utf-8", "surrogateescape")) for text in texts]
            found += hashes[token]
        start[row + 1] = len(found)
    return start, np.array(found, np.uint32)


def _outside(name: str, strings: dict[str, str], external: frozenset[str]) -> list[str]:
    """What a global's name stands for; nothing for what the author named, or what the statement says anyway."""
    if name in strings:
        text = strings[name].rstrip()
        return [f"string {text}", *(f"piece {piece}" for piece in _PIECE.findall(text))]
    if name.startswith("llvm.") or not (name in external or is_library_function(name)):
        return []
    return [f"name {library_name(name)}"]
