"""Reading and extracting archives that may be damaged or hostile, and extractions that are killed or lack room."""

import io
import random
import tarfile
from pathlib import Path

import pytest

from ncc.errors import DataError, OutputError
from tests.rooms import extract_archive, iter_members
from tests.support.refuses import refuses

# Incompressible content, so that a cut or a changed byte hits data wherever it falls.
FILES = {
    "ir/a.ll": b"define void @a()",
    "ir/b.ll": b"",
    "ir/notes.txt": b"read me",
    "ir/c.ll": random.Random(0).randbytes(40_000),
}


def make_archive(path: Path, files: dict[str, bytes] = FILES, *extra: tarfile.TarInfo) -> Path:
    with tarfile.open(path, f"w:{path.suffix[1:]}") as tar:  # type: ignore[call-overload]
        folder = tarfile.TarInfo("ir")
        folder.type = tarfile.DIRTYPE
        tar.addfile(folder)
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
        for member in extra:
            tar.addfile(member)
    return path


def make_link(kind: bytes, target: str) -> tarfile.TarInfo:
    member = tarfile.TarInfo("ir/link")
    member.type, member.linkname = kind, target
    return member


@pytest.mark.parametrize("suffix", ["bz2", "xz", "gz"])
def test_members_in_order(tmp_path: Path, suffix: str) -> None:
    archive = make_archive(tmp_path / f"ir.tar.{suffix}")
    assert dict(iter_members(archive)) == FILES
    assert [name for name, _ in iter_members(archive, ".ll")] == ["ir/a.ll", "ir/b.ll", "ir/c.ll"]


@pytest.mark.parametrize("name", ["../up", "ir/../../up", "/etc/up", "ir\\..\\up", "C:/up"])
def test_escaping_member_is_refused_by_name(tmp_path: Path, name: str) -> None:
    archive = make_archive(tmp_path / "bad.tar.xz", {"ir/a.ll": b"", name: b"boo"})
    with refuses(DataError, "leads out of the archive", repr(name)):
        list(iter_members(archive, ".ll"))
    with refuses(DataError, "leads out of the archive"):
        extract_archive(archive, tmp_path / "out" / "ir")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["bad.tar.xz"]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_are_refused(tmp_path: Path, kind: bytes) -> None:
    archive = make_archive(tmp_path / "bad.tar.bz2", FILES, make_link(kind, "/etc/passwd"))
    with refuses(DataError, "'ir/link'", "device"):
        list(iter_members(archive))


@pytest.mark.parametrize("suffix", ["bz2", "xz", "gz"])
@pytest.mark.parametrize("damage", [0.0, 0.01, 0.5, 0.95, None])
def test_a_truncated_or_damaged_archive_is_refused(tmp_path: Path, suffix: str, damage: float | None) -> None:
    archive = make_archive(tmp_path / f"ir.tar.{suffix}")
    content, middle = archive.read_bytes(), archive.stat().st_size // 2
    cut = content[:middle] + bytes(64) + content[middle + 64 :]
    archive.write_bytes(cut if damage is None else content[: int(len(content) * damage)])
    with refuses(DataError, archive, "damaged or truncated archive"):
        list(iter_members(archive))


def pax(path: Path, body: bytes, kind: bytes = tarfile.XHDTYPE, times: int = 1) -> Path:
    """An archive whose one file has an extended header with any content."""
    header = tarfile.TarInfo("PaxHeaders/x")
    header.size, header.type = len(body), kind
    whole = header.tobuf(tarfile.USTAR_FORMAT) + body + bytes(-len(body) % 512)
    path.write_bytes(whole * times + tarfile.TarInfo("a.ll").tobuf(tarfile.USTAR_FORMAT) + bytes(1024))
    return path


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE])
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"1" * 60_000, "an extended header of many digits"),
        (b"12 path=b.ll\n" * 6000, "an extended header of 78,000 bytes; refused above 65,536"),
    ],
)
def test_extended_headers_are_looked_at_before_they_are_searched(
    tmp_path: Path, kind: bytes, body: bytes, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # tarfile, which takes a minute for the first, must not get to see them
    monkeypatch.setattr(tarfile.TarInfo, "_proc_pax", lambda *_: pytest.fail("tarfile was asked"))
    with refuses(DataError, reason):
        list(iter_members(pax(tmp_path / "bad.tar", body, kind)))


def test_an_ordinary_extended_header_is_read(tmp_path: Path) -> None:
    assert dict(iter_members(pax(tmp_path / "good.tar", b"13 path=b.ll\n"))) == {"b.ll": b""}


def test_records_for_all_members_are_few(tmp_path: Path) -> None:
    records = b"".join(b"14 key%04d=ab\n" % i for i in range(1500))
    with refuses(DataError, "1,000", "records"):
        list(iter_members(pax(tmp_path / "bad.tar", records, tarfile.XGLTYPE, 2)))


def test_extract_once(tmp_path: Path) -> None:
    archive, target = make_archive(tmp_path / "ir.tar.xz"), tmp_path / "cache" / "key"
    assert extract_archive(archive, target) == target
    found = {path.relative_to(target).as_posix(): path.read_bytes() for path in target.rglob("*.*")}
    assert found == FILES
    (target / "ir" / "mark").touch()
    archive.unlink()
    with refuses(DataError, "no such file"):
        list(iter_members(archive))
    assert extract_archive(archive, target) == target  # kept, the archive not even opened
    assert (target / "ir" / "mark").exists()


def test_failed_extraction_leaves_nothing(tmp_path: Path) -> None:
    archive = make_archive(tmp_path / "ir.tar.xz")
    archive.write_bytes(archive.read_bytes()[:-2000])
    with refuses(DataError, "truncated"):
        extract_archive(archive, tmp_path / "cache" / "key")
    assert not (tmp_path / "cache").exists()


def test_unwritable_cache(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file, not a folder")
    with refuses(OutputError, tmp_path / "cache"):
        extract_archive(make_archive(tmp_path / "ir.tar.xz"), tmp_path / "cache" / "key")


ROUNDS = pytest.mark.parametrize("rounds", [pytest.param(4, marks=pytest.mark.full)])


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    files = {f"ir/{number % 7}/{number}.ll": bytes([number % 256]) * (1000 + number) for number in range(1500)}
    return make_archive(tmp_path / "many.tar.gz", files)


EXTRACT = "import sys\nfrom ncc.learning.data.archives import extract_archive\nextract_archive(*sys.argv[1:])\n"


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.ll"))}


@ROUNDS
def test_an_extraction_that_is_killed_leaves_no_half_a_folder(
    archive: Path, tmp_path: Path, killer, rounds: int
) -> None:
    whole = files_of(extract_archive(archive, tmp_path / "whole" / "key"))
    assert len(whole) == 1500
    duration = killer.run("-c", EXTRACT, archive, tmp_path / "timed" / "key")
    for number in range(rounds):
        target = tmp_path / str(number) / "key"
        killer.run_through_kills("-c", EXTRACT, archive, target, watched=target.parent, duration_s=duration, kills=4)
        assert files_of(target) == whole
        assert [path.name for path in target.parent.iterdir()] == ["key"]  # what was left before is swept
    assert killer.kills >= rounds / 2


def test_an_extraction_onto_a_full_disk_leaves_nothing(archive: Path, tmp_path: Path, killer) -> None:
    target = tmp_path / "cache" / "key"
    code, text = killer.run_without_room("-c", EXTRACT, archive, target, file_bytes=2000)
    assert code == 1
    assert f"OutputError: {target}: can't extract {archive} there ([Errno 27] File too large" in text
    assert not target.parent.exists()
