"""The registry: where files are looked for, and which content is accepted."""

import hashlib
import os
from pathlib import Path

import pytest

from ncc.errors import DataError, InputError
from tests.rooms import DatasetCard, DatasetFile, FileState, data
from tests.support.refuses import refuses

CONTENT = b"kernel,runtime_ms\nadd,1.5\n"
CARDS_FOLDER = Path(__file__).parents[3] / "datasets"
DATA = os.environ.get("NCC_DATA")


def put(folder: Path, content: bytes = CONTENT, name: str = "table.csv") -> Path:
    target = folder / "toy" / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    return target


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data folder, and a registry of one dataset with two files, the second packed by users."""
    files = [
        DatasetFile(path=path, sha256=hashlib.sha256(CONTENT).hexdigest(), size_bytes=len(CONTENT), exact=exact)
        for path, exact in (("toy/table.csv", True), ("toy/packed.csv", False))
    ]
    words = {"title": "Two lines", "licence": "none", "source": "https://example.org/toy", "sample": "a line"}
    card = DatasetCard(name="toy", papers=("Nobody, 2020",), num_samples=1, files=tuple(files), **words)
    monkeypatch.setattr(data, "load_cards", lambda cards=data.load_cards: cards() | {"toy": card})
    monkeypatch.delenv("NCC_DATA", raising=False)
    monkeypatch.setenv("NCC_CACHE", str(tmp_path / "cache"))
    return tmp_path


@pytest.mark.parametrize("content", [CONTENT.replace(b"1.5", b"1.6"), CONTENT[:-1]], ids=["same size", "shorter"])
def test_a_tampered_file_is_refused_by_name_also_if_it_was_replaced_while_running(folder: Path, content: bytes) -> None:
    path = put(folder)
    assert data.locate("toy", "table.csv", folder) == path
    put(folder, content)
    checksums = [hashlib.sha256(each).hexdigest() for each in (content, CONTENT)]
    with refuses(DataError, "checksum mismatch", path, *checksums):
        data.locate("toy", "table.csv", folder)


def test_a_missing_file_says_where_from_and_where_to(folder: Path) -> None:
    with refuses(DataError, "missing", folder / "cache" / "toy" / "table.csv", "https://example.org/toy", "NCC_DATA"):
        data.locate("toy", "table.csv")


def test_the_argument_wins_over_the_environment_over_the_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert put(folder / "cache") == data.locate("toy", "table.csv")
    monkeypatch.setenv("NCC_DATA", str(folder / "environment"))
    with refuses(DataError, "missing"):
        data.locate("toy", "table.csv")
    assert put(folder / "environment") == data.locate("toy", "table.csv")
    assert put(folder / "argument") == data.locate("toy", "table.csv", folder / "argument")


@pytest.mark.parametrize(
    ("table", "packed", "states"),
    [
        (CONTENT, CONTENT, [FileState.OK, FileState.OK]),
        (b"other", b"other", [FileState.DIFFERENT, FileState.OTHER_CONTENT]),
        (None, CONTENT, [FileState.MISSING, FileState.OK]),
    ],
)
def test_verify_reports_what_fetch_refuses(
    folder: Path, table: bytes | None, packed: bytes, states: list[FileState]
) -> None:
    paths = [put(folder, content or b"", name) for name, content in (("table.csv", table), ("packed.csv", packed))]
    if table is None:
        paths[0].unlink()
    assert data.verify("toy", folder) == dict(zip(paths, states, strict=True))
    if all(state.is_usable for state in states):
        assert data.fetch("toy", folder) == tuple(paths)
    else:
        with refuses(DataError, paths[0]):
            data.fetch("toy", folder)
        assert data.locate("toy", "packed.csv", folder) == paths[1]


def test_unknown_names_list_the_known() -> None:
    with refuses(InputError, "no dataset 'devmpa'", "legacy_ir"):
        data.describe("devmpa")
    with refuses(InputError, "no file 'amd.csv'", "expected one of cgo17-amd.csv"):
        data.locate("devmap", "amd.csv")


@pytest.mark.parametrize("name", ["devmap", "legacy_ir", "coarsening", "poj104", "clgen", "gpuflop"])
def test_card_in_prose_agrees_with_the_registry(name: str) -> None:
    text, card = (CARDS_FOLDER / f"{name}.md").read_text(encoding="utf-8"), data.describe(name)
    for file in card.files:
        assert f"| `{file.path}` | {file.size_bytes:,} | `{file.sha256}` |" in text
    assert f"{card.num_samples:,}" in text
    assert card.source.split(",")[0] in text
    assert all(paper.split(":")[0] in text for paper in card.papers)


@pytest.mark.parametrize("name", data.load_cards())
@pytest.mark.skipif(not DATA, reason="NCC_DATA is not set")
def test_local_copy_is_intact(name: str) -> None:
    states = data.verify(name, DATA)
    if missing := [str(path) for path, state in states.items() if state is FileState.MISSING]:
        pytest.skip(f"no local copy of the dataset: {', '.join(missing)} (set NCC_DATA)")
    assert all(state.is_usable for state in states.values())
