"""A project's compilation database: JSON, commands as lines and as lists, and the flags that are kept of them."""

import itertools
import json
import os
import random
import re
from collections.abc import Sequence

from fuzz.folders import Files, mutate_files, pack, put, unpack
from fuzz.targets import Target
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.frontend.project import load_commands, own_flags

__all__ = ["TARGETS"]

_WORDS = (
    *(
        "-D",
        "-U",
        "-I",
        "-isystem",
        "-iquote",
        "-include",
        "-include-pch",
        "-imacros",
        "-std=",
        "--std=c11",
        "-m",
        "-mavx2",
    ),
    *(
        "-march=",
        "-mllvm",
        "-mllvm=-load=x.so",
        "-mlink-builtin-bitcode",
        "-multiply_defined",
        "-Xclang",
        "-Xpreprocessor",
    ),
    *("-Xarch_host", "-load", "-plugin", "-fplugin=x.so", "-fpass-plugin=x.so", "-fopenmp", "-fopenmp-targets=x", "-B"),
    *("--config", "-specs", "-wrapper", "-x", "--", "-", "@x", "-D@x", "/", "..", ".ssh", "/proc/self/root", "x.h"),
    *("", "''", "'\"", "\\", "\n"),
)
_KEPT = (
    r"(?s)-[DU].+|-(?:I|isystem|iquote|include)/.+|--?std=[\w+:]+|-m[\w.]+|-m[a-z-]+=[\w.+-]+"
    r"|-fno-exceptions|-fno-rtti|-fsigned-char|-funsigned-char|-fopenmp"
)
_REFUSED = r"-mllvm.*|-mmlir|-mlink.*|-mul.*|-mod.*|-m(?:eabi|thread-model)"


_TIMES = itertools.count()


def _databases() -> list[Files]:
    rows = [
        {"directory": ".", "file": "a.c", "command": "cc -DA=1 -Iinc -isystem /usr/include/x -std=c11 -mavx2 -c a.c"},
        {"directory": "/x", "file": "b.c", "arguments": ["cc", "-D", "B", "-include", "x.h", "-mllvm", "-x", "b.c"]},
    ]
    return [{"compile_commands.json": json.dumps(rows, indent=1).encode()}]


def _mutate(dice: random.Random, seeds: Sequence[Files]) -> bytes:
    """A database with other bytes or values, or one whose commands are words by chance."""
    if dice.randrange(3):
        return mutate_files(dice, seeds)
    words = [dice.choices(_WORDS, k=dice.randrange(9)) for _ in range(2)]
    commands: list[dict[str, object]] = [{"arguments": ["cc", *words[0]]}, {"command": " ".join(words[1])}]
    rows = [{"directory": ".", "file": f"{index}.c"} | command for index, command in enumerate(commands)]
    return pack({"compile_commands.json": json.dumps(rows).encode()})


def _read(data: bytes) -> None:
    path = put(unpack(data)) / "compile_commands.json"
    os.utime(path, ns=(0, next(_TIMES)))  # or it would be taken for the one before, which was read already
    for file in load_commands(path):
        for flag in own_flags(file, CompileOptions(commands=str(path))):
            assert re.fullmatch(_KEPT, flag), flag
            assert not re.fullmatch(_REFUSED, flag), flag


TARGETS = (Target(name="database", seeds=_databases, mutate=_mutate, run=_read, weight=6),)
