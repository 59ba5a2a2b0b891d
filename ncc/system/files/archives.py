"""Archives of object files (``.a``) in the form of GNU and System V; ``lib.a(member.o)`` names a member."""

import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from ncc.errors import InputError
from ncc.system.sandbox.limits import refuse_size

_MAGIC, _THIN_MAGIC = ARCHIVE_MAGICS = (b"!<arch>\n", b"!<thin>\n")
_MEMBER_PATH = r"(?s)(.+\.a)\((.+)\)"
_HEADER = rb"(?s)(.{16}).{32}(\d+) *`\n"
_HEADER_BYTES = 60
_MAX_NAME_BYTES = 4096


@dataclass(frozen=True)
class Member:
    """A file in an archive: name without folder (the second of a name ends in "#2"), offset and size in bytes."""

    name: str
    offset: int
    size: int


def split_member(path: str | os.PathLike[str]) -> tuple[str, str | None]:
    """Split ``lib.a(member.o)`` into the archive and the member's name; the name is None for other paths."""
    text = os.fspath(path)
    match = re.fullmatch(_MEMBER_PATH, text)
    return (match[1], match[2]) if match else (text, None)


def read_member(file: BinaryIO, archive: str, member: str) -> bytes:
    """Read one member of an archive whole; `InputError` if it is missing or too large."""
    members = {entry.name: entry for entry in list_members(file, archive)}
    if member not in members:
        raise InputError(f"{archive}: has no member {member!r} among its {len(members)}")
    refuse_size(f"{archive}({member})", members[member].size)
    file.seek(members[member].offset)
    return file.read(members[member].size)


def list_members(file: BinaryIO, name: str) -> list[Member]:
    """List an archive's members by their headers, without tables of symbols; `InputError` if it is damaged or thin."""
    file.seek(0)
    magic = file.read(len(_MAGIC))
    if magic == _THIN_MAGIC:
        raise InputError(f"{name}: a thin archive, which holds no files but their names; name those files")
    if magic != _MAGIC:
        raise InputError(f"{name}: not an archive: it does not begin with '!<arch>'")
    uses: Counter[str] = Counter()
    members = []
    for member, offset, size in _entries(file, name):
        uses[member] += 1
        members.append(Member(member if uses[member] == 1 else f"{member}#{uses[member]}", offset, size))
    return members


def _entries(file: BinaryIO, name: str) -> Iterator[tuple[str, int, int]]:
    """Yield name, offset and size of each member."""
    end = file.seek(0, os.SEEK_END)
    offset, long_names = len(_MAGIC), b""
    while offset < end:
        file.seek(offset)
        header = re.fullmatch(_HEADER, file.read(_HEADER_BYTES))
        start = offset + _HEADER_BYTES
        size = int(header[2]) if header else end
        if not header or start + size > end:
            raise InputError(f"{name}: a damaged archive: no whole file at byte {offset:,} of {end:,}")
        raw = header[1].rstrip(b" ")
        if raw == b"//":
            long_names = file.read(size)
        elif raw not in (b"/", b"/SYM64/"):
            if raw.startswith(b"/") and raw[1:].isdigit():
                position = int(raw[1:])
                raw = long_names[position : position + _MAX_NAME_BYTES].partition(b"\n")[0]
            yield raw.removesuffix(b"/").rpartition(b"/")[2].decode("utf-8", "backslashreplace"), start, size
        offset = start + size + size % 2
