"""The registry: where files are looked for, and which content is accepted."""

import hashlib
from pathlib import Path

import pytest

from ncc.errors import DataError, InputError
from tests.rooms import DatasetCard, DatasetFile, FileState, data
from tests.support.refuses import refuses

CONTENT = b"kernel,runtime_ms\nadd,1.5\n"
CARDS_FOLDER = Path(__file__).parents[3] / "datasets"


def make_file(path: str = "toy/table.csv", content: bytes = CONTENT, **options: object) -> DatasetFile:
    return DatasetFile(
        path=path,
        sha256=hashlib.sha256(content).hexdigest(),
        size_bytes=len(content),
        **options,  # type: ignore[arg-type]
    )


def make_card(*files: DatasetFile) -> DatasetCard:
    return DatasetCard(
        name="toy",
        title="Two lines",
        papers=("Nobody, 2020",),
        licence="none",
        source="https://example.org/toy",
        num_samples=1,
        sample="a line",
        files=files or (make_file(),),
    )


def put(folder: Path, content: bytes = CONTENT, path: str = "toy/table.csv") -> Path:
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    return target


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and no data folder named in the environment."""
    monkeypatch.delenv("NCC_DATA", raising=False)
    monkeypatch.setenv("NCC_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_all_names() -> None:
    assert data.dataset_names() == ("devmap", "legacy_ir", "coarsening", "poj104", "clgen", "gpuflop")


def test_locate_returns_the_intact_file(tmp_path: Path) -> None:
    path = put(tmp_path)
    assert make_card().locate("table.csv", tmp_path) == path


@pytest.mark.parametrize("content", [CONTENT.replace(b"1.5", b"1.6"), CONTENT[:-1]], ids=["same size", "shorter"])
def test_tampered_file_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    path = put(tmp_path, content)
    with refuses(DataError, "checksum mismatch") as caught:
        make_card().locate("table.csv", tmp_path)
    message = str(caught.value)
    assert str(path) in message
    assert hashlib.sha256(content).hexdigest() in message
    assert hashlib.sha256(CONTENT).hexdigest() in message


def test_file_replaced_while_running_is_noticed(tmp_path: Path) -> None:
    registry, path = make_card(), put(tmp_path)
    registry.locate("table.csv", tmp_path)
    put(tmp_path, CONTENT[:-1] + b"?")
    with refuses(DataError, "checksum mismatch"):
        registry.locate("table.csv", tmp_path)
    assert path.exists()


def test_missing_file_says_where_from_and_where_to(elsewhere: Path) -> None:
    with refuses(DataError, "missing") as caught:
        make_card().locate("table.csv")
    message = str(caught.value)
    assert str(elsewhere / "cache" / "toy" / "table.csv") in message
    assert "https://example.org/toy" in message
    assert "NCC_DATA" in message


def test_folder_wins_over_environment_over_cache(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cached = put(elsewhere / "cache")
    assert make_card().locate("table.csv") == cached
    monkeypatch.setenv("NCC_DATA", str(elsewhere / "environment"))
    with refuses(DataError, "missing"):
        make_card().locate("table.csv")
    named = put(elsewhere / "environment")
    assert make_card().locate("table.csv") == named
    given = put(elsewhere / "argument")
    assert make_card().locate("table.csv", elsewhere / "argument") == given


def test_verify_reports_without_raising(tmp_path: Path) -> None:
    put(tmp_path)
    put(tmp_path, b"other", "toy/exact.csv")
    put(tmp_path, b"other", "toy/packed.csv")
    files = (
        make_file(),
        make_file("toy/exact.csv"),
        make_file("toy/packed.csv", exact=False),
        make_file("toy/gone.csv"),
    )
    status = make_card(*files).verify(tmp_path)
    states = [file.state for file in status.files]
    assert states == [FileState.OK, FileState.DIFFERENT, FileState.OTHER_CONTENT, FileState.MISSING]
    assert not status.usable
    assert make_card(files[0], files[2]).verify(tmp_path).usable


def test_archive_packed_by_the_user_is_accepted(tmp_path: Path) -> None:
    path = put(tmp_path, b"another packing")
    assert make_card(make_file(exact=False)).locate("table.csv", tmp_path) == path
    poj104 = data.describe("poj104")
    assert [file.exact for file in poj104.files] == [False]
    assert all(file.exact for name in ("devmap", "legacy_ir", "coarsening") for file in data.describe(name).files)


def test_unknown_names_list_the_known() -> None:
    with refuses(InputError, "no dataset 'devmpa'", "legacy_ir"):
        data.describe("devmpa")
    with refuses(InputError, "no file 'amd.csv'", "expected one of cgo17-amd.csv"):
        data.locate("devmap", "amd.csv")


@pytest.mark.parametrize("path", ["/etc/passwd", "../up.csv", "toy/../../up.csv", "toy\\up.csv", ""])
def test_card_with_escaping_path_is_refused(path: str) -> None:
    with refuses(DataError, "relative path"):
        make_file(path)


def test_card_with_malformed_checksum_is_refused() -> None:
    with refuses(DataError, "SHA-256"):
        DatasetFile(path="toy/table.csv", sha256="md5:1234", size_bytes=1)


def test_fetch_gives_what_is_there_and_refuses_what_is_not_it(tmp_path: Path) -> None:
    path = put(tmp_path)
    assert make_card().fetch(tmp_path) == (path,)
    put(tmp_path, b"mine")
    with refuses(DataError, "checksum mismatch"):
        make_card().fetch(tmp_path)
    assert path.read_bytes() == b"mine"


@pytest.mark.parametrize("name", data.dataset_names())
def test_card_in_prose_agrees_with_the_registry(name: str) -> None:
    text, card = (CARDS_FOLDER / f"{name}.md").read_text(encoding="utf-8"), data.describe(name)
    for file in card.files:
        assert f"| `{file.path}` | {file.size_bytes:,} | `{file.sha256}` |" in text
    assert f"{card.num_samples:,}" in text
    assert card.source.split(",")[0] in text
    assert all(paper.split(":")[0] in text for paper in card.papers)


@pytest.mark.parametrize("name", data.dataset_names())
def test_local_copy_is_intact(name: str) -> None:
    status = data.verify(name)
    missing = [str(file.path) for file in status.files if file.state is FileState.MISSING]
    if missing:
        pytest.skip(f"no local copy of the dataset: {', '.join(missing)} (set NCC_DATA)")
    assert status.usable
