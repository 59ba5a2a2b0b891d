"""Archives of object files (``.a``) in the form of GNU and System V; ``lib.a(member.o)`` names a member."""

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import BinaryIO

from ncc.errors import InputError
from ncc.system.sandbox.limits import refuse_size

_MAGIC, _THIN_MAGIC = ARCHIVE_MAGICS = (b"!<arch>\n", b"!<thin>\n")
_END_OF_ARCHIVE = r"(?s)(?<=.)\.a(?=\()"
_HEADER = rb"(?s)(.{16}).{32}(\d+) *`\n"
_HEADER_BYTES = 60
_MAX_NAME_BYTES = 4096
_MAX_MEMBERS = 2**20
"""Twenty times what the largest libraries have; a file of headers alone would hold thirty million."""


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive: a name that no other has (the second "a.o" is "a.o#2"), offset and size in bytes."""

    name: str
    offset: int
    size: int


@dataclass(frozen=True)
class _Opened:
    """An open archive, equal to an earlier one if that was the same file and the file has not changed."""

    file: BinaryIO = field(compare=False)
    name: str = field(compare=False)
    state: tuple[int, ...]


def split_member(path: str | os.PathLike[str]) -> tuple[str, str | None]:
    """Split ``lib.a(member.o)`` into the archive and the member's name; the name is None for other paths."""
    text = os.fspath(path)
    ends = [match.end() for match in re.finditer(_END_OF_ARCHIVE, text)] if text.endswith(")") else []
    if not ends:
        return text, None
    end = next((end for end in ends if os.path.isfile(text[:end])), ends[0])  # noqa: PTH113 - of any text
    return text[:end], text[end + 1 : -1]


def read_member(file: BinaryIO, archive: str, member: str) -> bytes:
    """Read one member of an archive whole; `InputError` if it is missing or too large."""
    members = find_members(file, archive)
    if member not in members:
        raise InputError(f"{archive}: has no member {member!r} among its {len(members)}")
    refuse_size(f"{archive}({member})", members[member].size)
    file.seek(members[member].offset)
    return file.read(members[member].size)


def find_members(file: BinaryIO, name: str) -> Mapping[str, Member]:
    """Find the members of an archive on disk by name, in one pass for as long as the file is unchanged."""
    status = os.fstat(file.fileno())
    state = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    return _find_members(_Opened(file, name, state))


@lru_cache(maxsize=4)
def _find_members(archive: _Opened) -> Mapping[str, Member]:
    return {member.name: member for member in list_members(archive.file, archive.name)}


def list_members(file: BinaryIO, name: str) -> list[Member]:
    """List an archive's members by their headers, without tables of symbols; `InputError` if it is damaged or thin."""
    file.seek(0)
    magic = file.read(len(_MAGIC))
    if magic == _THIN_MAGIC:
        raise InputError(f"{name}: a thin archive, which has only names of files; pass those files")
    if magic != _MAGIC:
        raise InputError(f"{name}: not an archive: it does not begin with '!<arch>'")
    entries = list(_entries(file, name))
    names = _numbered([member for member, _, _ in entries])
    return [Member(member, offset, size) for member, (_, offset, size) in zip(names, entries, strict=True)]


def _numbered(names: Sequence[str]) -> Iterator[str]:
    """Yield names, each but the first of several alike with the next number that makes its name unique."""
    given, number = set(names), Counter[str]()
    for name in names:
        number[name] += 1
        while number[name] > 1 and f"{name}#{number[name]}" in given:
            number[name] += 1
        yield name if number[name] == 1 else f"{name}#{number[name]}"


def _entries(file: BinaryIO, name: str) -> Iterator[tuple[str, int, int]]:
    """Yield name, offset and size of each member."""
    end = file.seek(0, os.SEEK_END)
    offset, long_names, number = len(_MAGIC), b"", 0
    while offset < end:
        if (number := number + 1) > _MAX_MEMBERS:
            raise InputError(f"{name}: an archive of more than {_MAX_MEMBERS:,} files")
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
            yield raw.removesuffix(b"/").decode("utf-8", "backslashreplace"), start, size
        offset = start + size + size % 2
