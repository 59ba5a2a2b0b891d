"""Archives that are downloaded, and what is kept compressed: headers that lie, bombs, names that lead outside."""

import bz2
import gzip
import io
import lzma
import random
import shutil
import tarfile
from collections.abc import Callable, Sequence

from fuzz.folders import put
from fuzz.mutation import mutate_bytes
from fuzz.targets import Target
from ncc.learning.data.archives import extract_archive, iter_members
from ncc.learning.programs.ir_cache import read_compressed

__all__ = ["TARGETS"]

_BLOCK = 512
_COMPRESSIONS: dict[bytes, Callable[[bytes], bytes]] = {
    b"": bytes,
    b"\x1f\x8b": lambda data: gzip.compress(data, 1, mtime=0),
    b"BZh": lambda data: bz2.compress(data, 1),
    b"\xfd7zXZ": lambda data: lzma.compress(data, preset=0),
}
_NAMES = (
    b"/etc/passwd",
    b"../outside",
    b"a/../../outside",
    b"C:\\x",
    b"..",
    b".",
    b"",
    b"a/b/c",
    b"\xff\xfe",
    b"a//b",
    b"x" * 99,
)
_TYPES = b"0127345LKxgSDMVX\0"
_SIZES = (
    b"00000000000\0", b"77777777777\0", b"00000000001\0", b"00010000000\0", b"-1\0", b"xyz\0", b"\x80" + b"\xff" * 11,
    b"\x80\0\0\0\0\0\0\0\xff\0\0\0", b"\xff" * 12,
)  # fmt: skip
_WORDS = (
    b"size=99999999999\n",
    b"path=../x\n",
    b"GNU.sparse.major=1\n",
    b"GNU.sparse.size=1000000000000\n",
    b"ustar\0",
    b"LongLink",
)


def _tars() -> list[bytes]:
    """With long names and comments, of both kinds, each compressed in all ways."""
    made = []
    for kind in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=kind) as tar:
            for name, size in (("kernels/a.cl", 30), ("kernels/" + "long" * 30 + ".ll", 700), ("ü.ll", 0)):
                member = tarfile.TarInfo(name)
                member.size = size
                tar.addfile(member, io.BytesIO(b"x" * size))
        made.append(out.getvalue().rstrip(b"\0") + bytes(2 * _BLOCK))
    return made


def _mutate_tar(dice: random.Random, seeds: Sequence[bytes]) -> bytes:
    """Bytes, or fields of headers with their checksums made right; then compressed, and at times damaged again."""
    if dice.randrange(3):
        changed = bytearray(dice.choice(seeds))
        for _ in range(dice.choice((1, 1, 2))):
            _change_header(dice, changed)
        data = bytes(changed)
    else:
        data = mutate_bytes(dice, seeds, _WORDS)
    if not dice.randrange(1000):
        data += bytes(40_000_000)  # a bomb, once it is compressed
    data = _COMPRESSIONS[dice.choice((b"", b"", *_COMPRESSIONS))](data)
    return mutate_bytes(dice, [data]) if not dice.randrange(5) else data


def _change_header(dice: random.Random, data: bytearray) -> None:
    headers = [at for at in range(0, len(data), _BLOCK) if data[at + 257 : at + 262] == b"ustar"]
    if not headers:
        return
    at = dice.choice(headers)
    match dice.randrange(4):
        case 0:
            data[at : at + 100] = dice.choice(_NAMES).ljust(100, b"\0")
        case 1:
            data[at + 124 : at + 136] = dice.choice(_SIZES).ljust(12, b"\0")
        case 2:
            data[at + 156] = dice.choice(_TYPES)
        case _:
            field = dice.randrange(_BLOCK)
            data[at + field] = dice.randrange(256)
    data[at + 148 : at + 156] = b" " * 8
    data[at + 148 : at + 156] = b"%06o\0 " % sum(data[at : at + _BLOCK])


def _read_tar(data: bytes) -> None:
    folder = put({"archive": data})
    target = folder / "extracted"
    shutil.rmtree(target, ignore_errors=True)
    try:
        total = sum(len(content) for _, content in iter_members(folder / "archive"))
        assert total < 64 << 20
        extract_archive(folder / "archive", target)
    finally:
        outside = [path.name for path in folder.iterdir() if path.name.startswith(".extracted.part-")]
        outside += [path.name for path in folder.parent.iterdir() if path.name == "outside"]
        assert not outside


def _compressed() -> list[bytes]:
    return [gzip.compress(b"define void @f() {\n  ret void\n}\n" * 20, 1, mtime=0)]


def _read_compressed(data: bytes) -> None:
    found = read_compressed(put({"kept.gz": data}) / "kept.gz")
    assert found is None or len(found) > 0


TARGETS = (
    Target(name="tar", seeds=_tars, mutate=_mutate_tar, run=_read_tar, weight=4),
    Target(name="gzip", seeds=_compressed, mutate=mutate_bytes, run=_read_compressed, weight=3),
)
