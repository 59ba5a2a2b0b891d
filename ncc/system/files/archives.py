"""Archives of object files (``.a``), in the forms of GNU, BSD and System V: each member by its name, in order.

A member is named by a path of its own, ``lib.a(member.o)``, as linkers write it.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from ncc.errors import InputError
from ncc.system.sandbox.limits import refuse_size

_MAGIC, _THIN_MAGIC = ARCHIVE_MAGICS = (b"!<arch>\n", b"!<thin>\n")
_MEMBER_PATH = re.compile(r"(.+\.a)\((.+)\)", re.DOTALL)
_HEADER = re.compile(rb"(.{16}).{32}(\d+) *`\n", re.DOTALL)
_HEADER_BYTES = 60
_LONGEST_NAME = 4096


@dataclass(frozen=True)
class Member:
    """A file in an archive.

    Attributes:
        name: Without folder; the second of the same name ends in "#2".
        offset: Of its first byte.
        size: In bytes.
    """

    name: str
    offset: int
    size: int


def split_member(path: str | os.PathLike[str]) -> tuple[str, str | None]:
    """From ``lib.a(member.o)`` the archive and the member's name; other paths as they are, with None."""
    text = os.fspath(path)
    named = _MEMBER_PATH.fullmatch(text)
    return (named[1], named[2]) if named else (text, None)


def list_members(file: BinaryIO, name: str) -> list[Member]:
    """The members of an archive, without its tables of symbols and names; only their headers are read.

    Args:
        file: Open, and one that can be searched.
        name: What messages call it.

    Raises:
        InputError: It is not an archive, or a damaged one, or one that holds only the names of its files.
    """
    file.seek(0)
    magic = file.read(len(_MAGIC))
    if magic == _THIN_MAGIC:
        raise InputError(f"{name}: a thin archive, which holds no files but their names; name those files")
    if magic != _MAGIC:
        raise InputError(f"{name}: no archive: it does not begin with '!<arch>'")
    seen: dict[str, int] = {}
    members = []
    for found in _entries(file, name):
        number = seen[found.name] = seen.get(found.name, 0) + 1
        members.append(found if number == 1 else Member(f"{found.name}#{number}", found.offset, found.size))
    return members


def read_member(file: BinaryIO, archive: str, member: str) -> bytes:
    """One member of an archive, whole.

    Raises:
        InputError: The archive has none of that name, or can't be read, or the member is too large.
    """
    members = list_members(file, archive)
    for found in members:
        if found.name == member:
            refuse_size(f"{archive}({member})", found.size)
            file.seek(found.offset)
            return file.read(found.size)
    raise InputError(f"{archive}: has no member {member!r} among its {len(members)}")


def _entries(file: BinaryIO, name: str) -> Iterator[Member]:
    end = file.seek(0, os.SEEK_END)
    at, long_names = len(_MAGIC), b""
    while at < end:
        file.seek(at)
        header = _HEADER.fullmatch(file.read(_HEADER_BYTES))
        at += _HEADER_BYTES
        size = int(header[2]) if header else end
        if not header or at + size > end:
            raise InputError(f"{name}: a damaged archive: no whole file at byte {at - _HEADER_BYTES:,} of {end:,}")
        raw, offset, length = header[1].rstrip(b" "), at, size
        is_index = raw in (b"/", b"//", b"/SYM64/")
        if raw == b"//":
            long_names = file.read(size)
        elif raw.startswith(b"#1/") and raw[3:].isdigit():  # BSD: the name comes first
            taken = min(int(raw[3:]), size)
            raw = file.read(min(taken, _LONGEST_NAME)).rstrip(b"\0")
            offset, length = at + taken, size - taken
        elif raw.startswith(b"/") and raw[1:].isdigit():
            start = int(raw[1:])
            raw = long_names[start : start + _LONGEST_NAME].partition(b"\n")[0]
        if not is_index and not raw.startswith(b"__.SYMDEF"):
            plain = raw.removesuffix(b"/").rpartition(b"/")[2]
            yield Member(plain.decode("utf-8", "backslashreplace"), offset, length)
        at += size + size % 2
