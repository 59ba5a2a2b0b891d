"""Constants and external names of statements, which abstraction removes: numbers, strings, library calls.

Reference: Ben-Nun et al. 2018, section 4.1, drops immediates; inst2vec-imm (section 6.2 there) gives them back as
values of their own. Here a statement has any number of them, each as a hash of its text.
"""

import itertools
import re
import zlib

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Ints32, offsets
from ncc.ir.reader.module import Module, plain_name
from ncc.ir.reader.native import find_literals
from ncc.learning.programs.names import is_library_function, library_name

_PIECE = re.compile(r"%[-+ #0-9.*hlLqjzt]*[A-Za-z]|[A-Za-z]+|[0-9]+")
"""Conversions of ``printf``, words and numbers."""


def statement_literals(module: Module, statements: Ints32) -> tuple[Ints32, NDArray[np.uint32]]:
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
    stop, token, texts = find_literals(module.ir, module.statement_offset[statements])
    strings, external = module.string_constants, module.external_names
    hashes = [
        [zlib.crc32(said.encode("utf-8", "surrogateescape")) for said in _said(text, strings, external)]
        for text in texts
    ]
    count = np.array([len(values) for values in hashes], np.int64)
    first, times = np.cumsum(count) - count, count[token]
    ends = offsets(times)
    place = np.arange(ends[-1]) + np.repeat(first[token] - ends[:-1], times)
    found = np.fromiter(itertools.chain.from_iterable(hashes), np.uint32, int(count.sum()))[place]
    return ends[np.concatenate([[0], stop])].astype(np.int32), found


def _said(literal: bytes, strings: dict[str, str], external: frozenset[str]) -> list[str]:
    """What a literal of the text stands for."""
    if literal.startswith(b"@"):
        return _outside(plain_name(literal[1:]), strings, external)
    return [f"number {literal.decode()}"]


def _outside(name: str, strings: dict[str, str], external: frozenset[str]) -> list[str]:
    """What a global's name stands for; nothing for what the author named, or what the statement says anyway."""
    if name in strings:
        text = strings[name].rstrip()
        return [f"string {text}", *(f"piece {piece}" for piece in _PIECE.findall(text))]
    if name.startswith("llvm.") or not (name in external or is_library_function(name)):
        return []
    return [f"name {library_name(name)}"]
