"""IR, text and bitcode: read, checked, made into a graph, counted, looked up, described as kernel and as program."""

import io
import random
import re
from collections.abc import Sequence

import numpy as np

from fuzz.checks import check_module
from fuzz.grammar import random_module
from fuzz.mutation import mutate_bytes
from fuzz.samples import ROOT
from fuzz.targets import Target
from ncc.errors import IRError
from ncc.ir.reader.reader import read_module
from ncc.learning.embedding.embedding import load_embedding
from ncc.learning.programs.table import describe_program
from ncc.system.files.archives import list_members
from ncc.tasks.coarsening.head import divergent_share
from ncc.tasks.devices.features import KernelWork

__all__ = ["TARGETS", "TOKENS", "mutate_ir"]

_FOLDER = ROOT / "tests" / "data" / "ir"
_SMALL, _NUM_MADE_UP = 4_000, 60
_NAME = re.compile(rb"[@%!#$][\w.$-]+")
_FUNCTION = re.compile(rb"^define .*?^}\n", re.MULTILINE | re.DOTALL)

TOKENS = (
    b'" % @ ( ) { } [ ] < > ! ; # * : = , ... %0 %1 %2 "5": asm metadata inrange label ptr i32 define declare type'
    b' opaque c" 0x !dbg splat unwind cleanup addrspace( vscale target( phi switch invoke %1000000000 9999999999'
).split()
"""Words of IR that have led readers astray."""


def texts() -> list[bytes]:
    """The fixtures, whole and function by function, which are read in less time, and modules that are made up."""
    whole = [path.read_bytes() for path in sorted(_FOLDER.glob("*.ll"))]
    alone = [_with(_FUNCTION.sub(b"", text), function[0]) for text in whole for function in _FUNCTION.finditer(text)]
    small = [text for text in alone if len(text) < _SMALL and _is_whole(text)]
    made_up = [random_module(random.Random(number))[number % 2].encode() for number in range(_NUM_MADE_UP)]
    return [*small, *small, *made_up, *whole]


def _with(rest: bytes, function: bytes) -> bytes:
    """A function and, of the lines outside functions, those that define what it names, and what they name in turn."""
    lines = rest.splitlines(keepends=True)
    defined = [_NAME.search(line.partition(b"(")[0]) for line in lines]
    needed: set[int] = set()
    words = set(_NAME.findall(function))
    while found := {i for i, name in enumerate(defined) if i not in needed and name and name[0] in words}:
        needed |= found
        words.update(*(_NAME.findall(lines[i]) for i in found))
    return b"".join(lines[i] for i in sorted(needed)) + function


def _is_whole(text: bytes) -> bool:
    """Whether a function does without the others of its module."""
    try:
        return read_module(text).read_via == "direct"
    except IRError:
        return False


def mutate_ir(dice: random.Random, seeds: Sequence[bytes]) -> bytes:
    """IR text with changes in it."""
    return mutate_bytes(dice, seeds, TOKENS)


def _read(data: bytes) -> None:
    module = read_module(data)
    check_module(module)
    lookup = load_embedding().look_up(module.texts)
    assert len(lookup.word) == len(module.texts)


def _describe(data: bytes) -> None:
    module = read_module(data)
    for statement in range(module.num_statements):
        module.statement_source(statement)
    program = describe_program(module)
    assert len(program.literal_start) == len(program.text_id) + 1
    vectors = np.zeros((module.num_statements, 2), np.float32)
    for function in range(module.num_functions):
        inputs = KernelWork(module, function).features(vectors)
        assert np.isfinite(inputs.profile).all()
        assert 0 <= divergent_share(module, function) <= 1


def archives() -> list[bytes]:
    """Archives of the fixtures, with long names in the ways of GNU and of BSD."""
    made = []
    for number, data in enumerate(bitcodes()):
        names = f"a long name of a member {number}.o/\n".encode()
        bsd = b"another long name.o\0"
        entries = ((b"//", names), (b"/0", data), (b"b.o/", data), (b"#1/%d" % len(bsd), bsd + data))
        parts = [b"%-48s%-10d`\n" % (name, len(body)) + body + b"\n" * (len(body) % 2) for name, body in entries]
        made.append(b"!<arch>\n" + b"".join(parts))
    return made


def _list(data: bytes) -> None:
    file = io.BytesIO(data)
    for offset, size in list_members(file, "lib.a").values():
        file.seek(offset)
        assert len(file.read(size)) == size


def _mutate_archive(dice: random.Random, seeds: Sequence[bytes]) -> bytes:
    return mutate_bytes(dice, seeds, (b"`\n", b"#1/", b"/9", b"//", b"99999999", b"-1", b"!<thin>\n"))


def bitcodes() -> list[bytes]:
    """The fixtures."""
    return [path.read_bytes() for path in sorted(_FOLDER.glob("*.bc"))]


TARGETS = (
    Target(name="ll", seeds=texts, mutate=mutate_ir, run=_read, weight=10),
    Target(name="ll-described", seeds=texts, mutate=mutate_ir, run=_describe, weight=5),
    Target(name="ar", seeds=archives, mutate=_mutate_archive, run=_list),
    Target(name="bc", seeds=bitcodes, mutate=mutate_bytes, run=_read, weight=0.2, timeout_s=60, fast=False),
)
