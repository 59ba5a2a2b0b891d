"""Downloads and extractions that are cut off, lied to or killed: nothing half is ever taken for whole."""

import hashlib
import http.server
import io
import random
import tarfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ncc.data import DatasetCard, DatasetFile, Registry, archives
from ncc.data.archives import extract_archive
from ncc.errors import DataError, OutputError

CONTENT = random.Random(0).randbytes(400_000)
ROUNDS = pytest.mark.parametrize("rounds", [1, pytest.param(4, marks=pytest.mark.full)])


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers as the path says."""

    def do_GET(self) -> None:
        length = {"short": len(CONTENT), "nothing": len(CONTENT)}.get(self.path[1:])
        content = {
            "whole": CONTENT,
            "slow": CONTENT,
            "short": CONTENT[:-1000],
            "ends": CONTENT[:-1000],
            "nothing": b"",
            "empty": b"",
            "another": CONTENT[:-1] + b"?",
            "page": b"<html>Please log in</html>",
            "longer": CONTENT + b"?",
        }.get(self.path[1:], CONTENT)
        self.send_response(503 if self.path == "/failing" else 200)
        if self.path not in ("/ends", "/endless"):
            self.send_header("Content-Length", str(length or len(content)))
        self.end_headers()
        try:
            if self.path == "/slow":
                for start in range(0, len(content), 8192):
                    self.wfile.write(content[start : start + 8192])
                    time.sleep(0.01)
            else:
                self.wfile.write(content)
            while self.path == "/endless":
                self.wfile.write(content)
        except OSError:  # the reader has gone
            pass

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def registry(url: str) -> Registry:
    file = DatasetFile(
        path="toy/data.bin", sha256=hashlib.sha256(CONTENT).hexdigest(), size_bytes=len(CONTENT), url=url
    )
    card = DatasetCard(
        name="toy", title="Noise", papers=(), licence="none", source=url, num_samples=1, sample="a byte", files=(file,)
    )
    return Registry(cards=(card,))


@pytest.mark.parametrize("how", ["whole", "slow"])
def test_a_whole_download_is_taken(server: str, tmp_path: Path, how: str) -> None:
    (path,) = registry(f"{server}/{how}").fetch("toy", tmp_path)
    assert path.read_bytes() == CONTENT
    assert list((tmp_path / "toy").iterdir()) == [path]


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("short", "IncompleteRead"),
        ("ends", "it has 399000 of the expected 400000 bytes"),
        ("nothing", "IncompleteRead"),
        ("empty", "it has 0 of the expected 400000 bytes"),
        ("another", "checksum mismatch: found sha256 [0-9a-f]{64}, expected"),
        ("page", "it has 26 of the expected"),
        ("longer", "it has more than the expected 400000 bytes"),
        ("endless", "it has more than the expected 400000 bytes"),
        ("failing", "503"),
    ],
)
def test_any_other_download_is_refused_and_leaves_nothing(server: str, tmp_path: Path, how: str, reason: str) -> None:
    with pytest.raises(DataError, match=rf"toy/data\.bin: download from .*/{how} failed \(.*{reason}"):
        registry(f"{server}/{how}").fetch("toy", tmp_path)
    assert not list(tmp_path.glob("toy/*"))


def test_a_server_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"download from http://127\.0\.0\.1:1/x failed"):
        registry("http://127.0.0.1:1/x").fetch("toy", tmp_path)
    with pytest.raises(DataError, match="download from gopher://x failed"):
        registry("gopher://x").fetch("toy", tmp_path)
    assert not list(tmp_path.glob("toy/*"))


def test_a_folder_that_can_not_be_written_is_said(server: str, tmp_path: Path) -> None:
    (tmp_path / "toy").write_text("a file where a folder should be\n")
    with pytest.raises(OutputError, match=r"toy/data\.bin: can't be written"):
        registry(f"{server}/whole").fetch("toy", tmp_path)


FETCH = """
import sys
from ncc.data import DatasetCard, DatasetFile, Registry, archives
url, digest, size, folder = sys.argv[1:]
file = DatasetFile(path="toy/data.bin", sha256=digest, size_bytes=int(size), url=url)
card = DatasetCard(
    name="toy", title="", papers=(), licence="", source=url, num_samples=1, sample="", files=(file,)
)
Registry(cards=(card,)).fetch("toy", folder)
"""


@ROUNDS
def test_a_download_that_is_killed_leaves_nothing_and_is_done_again(
    server: str, tmp_path: Path, killer, rounds: int
) -> None:
    arguments = ["-c", FETCH, f"{server}/slow", hashlib.sha256(CONTENT).hexdigest(), len(CONTENT)]
    for number in range(rounds):
        folder = tmp_path / str(number)
        killer.run_through_kills(*arguments, folder, watched=folder, duration_s=0.8, kills=3)
        assert [path.read_bytes() for path in (folder / "toy").iterdir()] == [CONTENT]
    assert killer.kills >= rounds


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "many.tar.gz"
    with tarfile.open(path, "w:gz", compresslevel=1) as tar:
        for number in range(1500):
            member = tarfile.TarInfo(f"ir/{number % 7}/{number}.ll")
            member.size = 1000 + number
            tar.addfile(member, io.BytesIO(bytes([number % 256]) * member.size))
    return path


EXTRACT = "import sys\nfrom ncc.data.archives import extract_archive\nextract_archive(*sys.argv[1:])\n"


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


def test_an_extraction_under_way_is_not_swept_by_another(
    archive: Path, tmp_path: Path, killer, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, write_members = tmp_path / "cache" / "key", archives._write_members

    def write(archive: Path, folder: Path) -> None:
        write_members(archive, folder)
        killer.run("-c", EXTRACT, archive, target)
        assert len(files_of(folder)) == 1500

    monkeypatch.setattr(archives, "_write_members", write)
    extract_archive(archive, target)
    assert len(files_of(target)) == 1500
    assert [path.name for path in target.parent.iterdir()] == ["key"]


def test_an_extraction_onto_a_full_disk_leaves_nothing(archive: Path, tmp_path: Path, killer) -> None:
    target = tmp_path / "cache" / "key"
    code, text = killer.run_without_room("-c", EXTRACT, archive, target, file_bytes=2000)
    assert code == 1
    assert f"OutputError: {target}: can't extract {archive} there ([Errno 27] File too large" in text
    assert list(target.parent.iterdir()) == []
