"""Archives of object files (``.a``) in the form of GNU and System V; ``lib.a(member.o)`` names a member."""

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import BinaryIO

from ncc.errors import InputError

_MAGIC, _THIN_MAGIC = ARCHIVE_MAGICS = (b"!<arch>\n", b"!<thin>\n")
_END_OF_ARCHIVE = r"(?s)(?<=.)\.a(?=\()"
_HEADER = rb"(?s)(.{16}).{32}(\d+) *`\n"
_HEADER_BYTES = 60
_MAX_NAME_BYTES = 4096
_MAX_MEMBERS = 2**20
"""Maximum number of members: twenty times that of the largest libraries; headers alone could be thirty million."""


Members = Mapping[str, tuple[int, int]]
"""Name of each file in an archive → its offset and size in bytes."""

_last_listed: dict[tuple[int, ...], Members] = {}
"""State of the last archive → its members."""


def split_member(path: str | os.PathLike[str]) -> tuple[str, str | None]:
    """Split ``lib.a(member.o)`` into the archive and the member's name; the name is None for other paths."""
    text = os.fspath(path)
    ends = [match.end() for match in re.finditer(_END_OF_ARCHIVE, text)] if text.endswith(")") else []
    if not ends:
        return text, None
    end = next((end for end in ends if os.path.isfile(text[:end])), ends[0])  # noqa: PTH113 - of any text
    return text[:end], text[end + 1 : -1]


def read_member(file: BinaryIO, archive: str, member: str) -> bytes:
    """Read one member of an archive whole; `InputError` if it is missing."""
    members = find_members(file, archive)
    if member not in members:
        raise InputError(f"{archive}: has no member {member!r} among its {len(members)}")
    offset, size = members[member]
    file.seek(offset)
    return file.read(size)


def find_members(file: BinaryIO, name: str) -> Members:
    """List the members of an archive on disk, once while the file is unchanged."""
    status = os.fstat(file.fileno())
    state = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    if (members := _last_listed.get(state)) is None:
        members = list_members(file, name)
        _last_listed.clear()
        _last_listed[state] = members
    return members


def list_members(file: BinaryIO, name: str) -> Members:
    """List an archive's members by name, the second "a.o" as "a.o#2"; `InputError` if it is damaged or thin."""
    file.seek(0)
    magic = file.read(len(_MAGIC))
    if magic == _THIN_MAGIC:
        raise InputError(f"{name}: a thin archive, which has only names of files; pass those files")
    if magic != _MAGIC:
        raise InputError(f"{name}: not an archive: it does not begin with '!<arch>'")
    members: dict[str, tuple[int, int]] = {}
    num_alike = Counter[str]()
    for plain, member in _entries(file, name):
        unique = plain
        while unique in members:
            num_alike[plain] += 1
            unique = f"{plain}#{num_alike[plain] + 1}"
        members[unique] = member
    return members


def _entries(file: BinaryIO, name: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the members, without tables of symbols and of long names."""
    end = file.seek(0, os.SEEK_END)
    offset, long_names, number, name_bytes = len(_MAGIC), b"", 0, 0
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
            if (name_bytes := name_bytes + len(raw)) > end:  # of headers that share a long name
                raise InputError(f"{name}: a damaged archive: its names have more bytes than the file, {end:,}")
            yield raw.removesuffix(b"/").decode("utf-8", "backslashreplace"), (start, size)
        offset = start + size + size % 2
