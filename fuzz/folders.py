"""Inputs of several files as one run of bytes, and the mutation of one file or two of them, each by its format."""

import os
import random
import struct
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from fuzz.json_mutation import mutate_json
from fuzz.mutation import mutate_bytes
from fuzz.tensor_mutation import mutate_tensors

__all__ = ["Files", "mutate_files", "pack", "put", "read_folder", "scratch_folder", "unpack"]

Files = Mapping[str, bytes]
"""Name → content."""

_WORDS = tuple(
    b'{ } [ ] , : " null true NaN Infinity [[ source include = ] 2024-01-01 """ \\u0000 ; , ,, "" \r'.split(b" ")
)


def pack(files: Files) -> bytes:
    """Files as bytes."""
    parts = []
    for name, content in files.items():
        parts.append(struct.pack("<II", len(name.encode()), len(content)) + name.encode() + content)
    return b"".join(parts)


def unpack(data: bytes) -> dict[str, bytes]:
    """Return the files that `pack` was given."""
    files, at = {}, 0
    while at < len(data):
        name_length, length = struct.unpack_from("<II", data, at)
        at += 8
        name = data[at : at + name_length].decode()
        files[name] = data[at + name_length : at + name_length + length]
        at += name_length + length
    return files


def mutate_files(dice: random.Random, seeds: Sequence[Files]) -> bytes:
    """One of the seeds with one file or two changed; seeds have the same names."""
    files = dict(dice.choice(seeds))
    for name in dice.sample(list(files), min(len(files), dice.choice((1, 1, 1, 2)))):
        if not dice.randrange(40):
            files[name] = b""
        elif name.endswith(".json") and dice.randrange(4):
            files[name] = mutate_json(dice, files[name])
        elif name.endswith(".safetensors") and dice.randrange(4):
            files[name] = mutate_tensors(dice, files[name])
        else:
            others = [files[name], *(seed[name] for seed in seeds if name in seed)]
            files[name] = mutate_bytes(dice, others, _WORDS)
    return pack(files)


@cache
def scratch_folder() -> Path:
    """A temporary folder of this process, which the starting process removes."""
    return Path(mkdtemp(prefix="fuzz-"))


def put(files: Files, folder: Path | None = None) -> Path:
    """Writes files as new ones, so that what still maps old ones is not changed; returns their folder."""
    folder = folder or scratch_folder()
    for name, content in files.items():
        path = f"{folder}/{name}"
        with suppress(FileNotFoundError):
            os.unlink(path)  # noqa: PTH108 - thousands a second
        try:
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileNotFoundError:
            Path(path).parent.mkdir(parents=True)
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(file, "wb", buffering=0) as opened:  # noqa: PTH123
            opened.write(content)
    return folder


def read_folder(folder: Path) -> dict[str, bytes]:
    """Name → content of the files of a folder and of those below it."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }
