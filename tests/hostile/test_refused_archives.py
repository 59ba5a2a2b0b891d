"""Archives and compressed files that lie, lead outside or unfold to more than there is room for."""

import bz2
import gzip
import io
import lzma
import tarfile
from pathlib import Path

import pytest

from ncc.errors import DataError
from tests.rooms import Budget, iter_members, read_compressed, write_compressed
from tests.support.refuses import refuses


def _tar(members: dict[str, int], change=lambda member: None) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, size in members.items():
            member = tarfile.TarInfo(name)
            member.size = size
            change(member)
            tar.addfile(member, io.BytesIO(bytes(size)))
    return out.getvalue()


def _archive(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "a.tar"
    path.write_bytes(data)
    return path


COMPRESSIONS = {"none": bytes, "gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}


@pytest.mark.parametrize("compress", COMPRESSIONS.values(), ids=COMPRESSIONS)
def test_archives_within_their_limits_are_read(tmp_path, compress):
    budget = Budget(member_bytes=10_240, total_bytes=60_000, members=3)  # a member may be as much as a record
    path = _archive(tmp_path, compress(_tar({"a": 10_000, "b/c": 10_240, "d": 0})))
    assert [(name, len(content)) for name, content in iter_members(path, budget=budget)] == [
        ("a", 10_000),
        ("b/c", 10_240),
        ("d", 0),
    ]


@pytest.mark.parametrize("compress", COMPRESSIONS.values(), ids=COMPRESSIONS)
@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"a": 20_000}, r"'a' is sparse or of 20,000 bytes; refused above 10,240"),
        ({str(i): 10_000 for i in range(3)} | {"end": 10_000}, r"more than 30,000 bytes come out; refused"),
        ({str(i): 0 for i in range(9)}, r"more than 8 members; refused"),
    ],
)
def test_archives_that_unfold_to_more_are_refused(tmp_path, compress, members, message):
    budget = Budget(member_bytes=10_240, total_bytes=30_000, members=8)
    with pytest.raises(DataError, match=rf"a\.tar: .*{message}"):
        list(iter_members(_archive(tmp_path, compress(_tar(members))), budget=budget))


def _field(data: bytes, at: int, value: bytes) -> bytes:
    """A header's field changed, and its checksum made right."""
    header = bytearray(data[:512])
    header[at : at + len(value)] = value
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header) + data[512:]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (_field(_tar({"a": 5}), 156, b"S"), "is sparse|damaged"),
        (_field(_tar({"a": 5}), 124, b"77777777777\0"), "'a' is sparse or of 8,589,934,591 bytes"),
        (_field(_tar({"a": 5}), 124, b"\x80\0\0\0\x7f" + b"\xff" * 7), "refused above|damaged"),
        (_field(_tar({"a": 5}), 124, b"\xff" * 12), "damaged|byte"),
        (_field(_tar({"a": 5}), 0, b"\0" * 100), "a name that no file can have"),
        (
            _field(_field(_tar({"a": 5}), 156, b"x"), 124, b"77777777777\0"),
            "an extended header of 8,589,934,591 bytes; refused",
        ),
        (b"".join(_field(_tar({"x": 1})[:1024], 156, b"L") for _ in range(5_000)), "damaged or truncated"),
    ],
    ids=["sparse", "octal", "binary", "negative", "no name", "comment", "names of names"],
)
def test_headers_that_lie(tmp_path, data, message):
    with pytest.raises(DataError, match=rf"a\.tar: .*({message})"):
        list(iter_members(_archive(tmp_path, data)))


def test_a_name_with_a_nul_is_refused(tmp_path):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        member = tarfile.TarInfo("a")
        member.pax_headers = {"path": "b\0c"}
        tar.addfile(member)
    with refuses(DataError, "a.tar", "'b\\x00c'", "member"):
        list(iter_members(_archive(tmp_path, out.getvalue())))


def test_what_was_compressed_is_read_up_to_a_limit(tmp_path):
    path = tmp_path / "kept.gz"
    write_compressed(path, bytes(1_000_000))
    assert path.stat().st_size < 10_000
    assert read_compressed(path, 1_000_000) == bytes(1_000_000)
    assert read_compressed(path, 999_999) is None
    assert read_compressed(path) == bytes(1_000_000)
    write_compressed(path, b"")
    assert read_compressed(path) is None
    path.write_bytes(gzip.compress(b"x" * 1000)[:-9])
    assert read_compressed(path) is None
    assert read_compressed(tmp_path / "none") is None
