"""Extractions that are killed or run out of room: nothing half is ever taken for whole."""

import io
import tarfile
from pathlib import Path

import pytest

from tests.rooms import extract_archive

ROUNDS = pytest.mark.parametrize("rounds", [pytest.param(4, marks=pytest.mark.full)])


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "many.tar.gz"
    with tarfile.open(path, "w:gz", compresslevel=1) as tar:
        for number in range(1500):
            member = tarfile.TarInfo(f"ir/{number % 7}/{number}.ll")
            member.size = 1000 + number
            tar.addfile(member, io.BytesIO(bytes([number % 256]) * member.size))
    return path


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
    assert killer.kills >= rounds


def test_an_extraction_onto_a_full_disk_leaves_nothing(archive: Path, tmp_path: Path, killer) -> None:
    target = tmp_path / "cache" / "key"
    code, text = killer.run_without_room("-c", EXTRACT, archive, target, file_bytes=2000)
    assert code == 1
    assert f"OutputError: {target}: can't extract {archive} there ([Errno 27] File too large" in text
    assert not target.parent.exists()
