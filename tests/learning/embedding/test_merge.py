"""Counts added up on disk: the sum that `CountsBuilder` gives, in bounded memory, and parts that were damaged."""

import json
import random
import shutil
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

from ncc.errors import AssetError, OutputError
from tests.rooms import CorpusCounts, CountsBuilder, load_counts, merge_counts, save_counts

POOL = tuple(f"{letter}{accent} = add" for letter in "zyxabc" for accent in ("", "é", " <%ID>"))


def _file(rng: np.random.Generator, texts: tuple[str, ...], num_pairs: int) -> tuple:
    """One file's random counts, as `CountsBuilder.add` takes them."""
    key = rng.choice(len(texts) ** 2, min(num_pairs, len(texts) ** 2), replace=False) if texts else np.zeros(0, int)
    center, context = np.divmod(np.sort(key), max(len(texts), 1))
    pairs = (center.astype(np.int32), context.astype(np.int32), rng.integers(1, 1 << 40, len(key)))
    return texts, rng.integers(1, 1 << 40, len(texts)), pairs


def _sum(files: list[tuple], width: int = 2) -> CorpusCounts:
    builder = CountsBuilder(width)
    for file in files:
        builder.add(*file, num_lines=11)
    return builder.finish()


def _save(files: list[tuple], folder: Path, width: int = 2) -> Path:
    save_counts(_sum(files, width), folder)
    return folder


def _same(a: CorpusCounts, b: CorpusCounts) -> None:
    assert a.texts == b.texts
    for name in ("statements", "center", "context", "count"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
        assert getattr(a, name).dtype == getattr(b, name).dtype, name
    assert (a.width, a.num_files, a.num_lines) == (b.width, b.num_files, b.num_lines)


def _bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def files():
    rng = np.random.default_rng(204)
    return [_file(rng, tuple(rng.choice(POOL, size, replace=False).tolist()), 60) for size in (9, 1, 18, 5, 12, 3)]


@pytest.fixture
def parts(files, tmp_path):
    """Four parts: of one file, of none, of several."""
    split: tuple[list[tuple], ...] = (files[:1], [], files[1:4], files[4:])
    return [_save(part, tmp_path / f"part{number}") for number, part in enumerate(split)]


drawn_files = st.lists(
    st.tuples(st.lists(st.sampled_from(POOL), unique=True, max_size=8), st.integers(0, 40)), max_size=3
)


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(
    st.lists(drawn_files, min_size=1, max_size=4),
    st.sampled_from([1, 2, 7, 30, 1 << 24]),
    st.integers(0, 1000),
    st.integers(1, 8),
)
def test_random_parts_add_up_to_the_sum(tmp_path_factory, drawn, max_pairs, seed, width):
    rng, folder = np.random.default_rng(seed), tmp_path_factory.mktemp("merge")
    parts = [[_file(rng, tuple(texts), num_pairs) for texts, num_pairs in part] for part in drawn]
    folders = [_save(part, folder / str(number), width) for number, part in enumerate(parts)]
    merged = merge_counts(folders, folder / "sum", max_pairs=max_pairs)
    expected = _sum([file for part in parts for file in part], width)
    _same(load_counts(folder / "sum"), expected)
    assert (merged.num_texts, merged.num_pairs) == (len(expected.texts), expected.count.sum())
    shutil.rmtree(folder)


@pytest.mark.parametrize("max_pairs", [1, 7, 100, 1 << 24])
def test_the_files_are_those_of_save_counts(files, parts, tmp_path, max_pairs):
    merge_counts(parts, tmp_path / "sum", max_pairs=max_pairs)
    saved = _save(files, tmp_path / "saved")
    assert set(_bytes(tmp_path / "sum")) == set(_bytes(saved)) == {"counts.json", "counts.safetensors"}
    assert _bytes(tmp_path / "sum")["counts.json"] == _bytes(saved)["counts.json"]
    arrays, expected = (load_file(folder / "counts.safetensors") for folder in (tmp_path / "sum", saved))
    assert set(arrays) == set(expected)
    for name, array in expected.items():
        assert arrays[name].dtype == array.dtype
        assert arrays[name].tolist() == array.tolist()


def test_neither_the_order_of_the_parts_nor_the_memory_changes_a_byte(parts, tmp_path):
    merge_counts(parts, tmp_path / "sum")
    for number in range(4):
        shuffled = random.Random(number).sample(parts, len(parts))
        merge_counts(shuffled, tmp_path / "again", max_pairs=3**number)
        assert _bytes(tmp_path / "again") == _bytes(tmp_path / "sum")


def test_one_part_is_its_own_sum(files, tmp_path):
    part = _save(files, tmp_path / "part")
    merge_counts([part], tmp_path / "sum", max_pairs=10)
    _same(load_counts(tmp_path / "sum"), load_counts(part))


def test_a_sum_is_a_part_of_another(files, parts, tmp_path):
    merge_counts(parts[:3], tmp_path / "some", max_pairs=5)
    merge_counts([tmp_path / "some", *parts[3:]], tmp_path / "all", max_pairs=5)
    _same(load_counts(tmp_path / "all"), _sum(files))


@pytest.mark.parametrize("max_pairs", [1, 10, 1000])
@pytest.mark.parametrize("order", [1, -1])
def test_parts_without_a_common_statement(tmp_path, max_pairs, order):
    rng = np.random.default_rng(1)
    files = [_file(rng, texts, 30) for texts in (POOL[:6], POOL[6:7], POOL[7:])][::order]
    merge_counts(
        [_save([file], tmp_path / str(number)) for number, file in enumerate(files)],
        tmp_path / "sum",
        max_pairs=max_pairs,
    )
    _same(load_counts(tmp_path / "sum"), _sum(files))


@pytest.mark.parametrize("max_pairs", [1, 10, 1000])
def test_equal_parts_count_many_times(files, tmp_path, max_pairs):
    part = _save(files, tmp_path / "part")
    merge_counts([part] * 3, tmp_path / "sum", max_pairs=max_pairs)
    _same(load_counts(tmp_path / "sum"), _sum(files * 3))


@pytest.mark.parametrize("max_pairs", [1, 1000])
def test_parts_without_statements_or_without_pairs_add_nothing(files, tmp_path, max_pairs):
    lonely = _file(np.random.default_rng(2), ("alone", "zz alone"), 0)
    nothing, alone, some = (
        _save(part, tmp_path / name) for part, name in (([], "nothing"), ([lonely], "alone"), (files, "some"))
    )
    for folders, expected in (
        ([nothing], []),
        ([nothing, nothing], []),
        ([alone], [lonely]),
        ([nothing, alone], [lonely]),
        ([nothing, some, alone], [*files, lonely]),
        ([some, nothing, nothing], files),
    ):
        merge_counts(folders, tmp_path / "sum", max_pairs=max_pairs)
        _same(load_counts(tmp_path / "sum"), _sum(expected))


def test_counts_do_not_wrap_at_32_bits(tmp_path):
    big = np.array([3 << 40], np.int64)
    pair = (np.array([0], np.int32), np.array([0], np.int32), big)
    folders = [_save([(("a",), big, pair)], tmp_path / str(number)) for number in range(3)]
    assert merge_counts(folders, tmp_path / "sum").num_pairs == 9 << 40
    assert (
        load_counts(tmp_path / "sum").statements.tolist() == load_counts(tmp_path / "sum").count.tolist() == [9 << 40]
    )


def test_what_was_there_is_replaced_and_what_a_killed_process_left_is_removed(files, parts, tmp_path):
    out = tmp_path / "out"
    for abandoned in (".merge-abc", ".merge-empty"):
        (out / abandoned).mkdir(parents=True)
    (out / ".merge-abc" / "center").write_bytes(b"half")
    (out / "counts.safetensors").write_bytes(b"of another build")
    (out / "notes.txt").write_text("mine\n")
    merge_counts(parts, out)
    assert {path.name for path in out.iterdir()} == {"counts.json", "counts.safetensors", "notes.txt"}
    _same(load_counts(out), _sum(files))


def test_memory_is_bounded_by_the_pairs_held_at_a_time(tmp_path):
    rng = np.random.default_rng(3)
    texts = np.array([f"text {number}" for number in range(1500)])
    parts = [
        _save([_file(rng, tuple(rng.choice(texts, 1200, replace=False).tolist()), 20_000)], tmp_path / str(number))
        for number in range(10)
    ]
    merge_counts(parts[:1], tmp_path / "first")  # what is imported on the way does not count

    def peak_bytes(max_pairs: int) -> int:
        tracemalloc.start()
        try:
            merge_counts(parts, tmp_path / str(max_pairs), max_pairs=max_pairs)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    together, bounded = peak_bytes(1 << 24), peak_bytes(10_000)
    assert bounded < together / 3
    assert bounded < 200_000 * 16 * 2  # twice the pairs as they are stored
    assert _bytes(tmp_path / "10000") == _bytes(tmp_path / str(1 << 24))


def test_ten_parts_hold_no_file_open(files, tmp_path):
    part = _save(files, tmp_path / "part")
    merge_counts([part], tmp_path / "sum")
    before = len(list(Path("/proc/self/fd").iterdir()))
    merge_counts([part] * 10, tmp_path / "sum")
    assert len(list(Path("/proc/self/fd").iterdir())) == before


# ---- parts that can't be added


def test_different_widths_do_not_add(files, tmp_path):
    folders = [_save(files, tmp_path / str(width), width) for width in (3, 1, 3)]
    with pytest.raises(AssetError, match=r"sum: the parts were counted with context widths \[1, 3\]; expected one"):
        merge_counts(folders, tmp_path / "sum")
    assert not (tmp_path / "sum").exists()


def _edit(change):
    def edit(folder: Path) -> None:
        arrays = load_file(folder / "counts.safetensors")
        change(arrays)
        save_file(arrays, folder / "counts.safetensors")

    return edit


def _cut(name: str, length: int):
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:length])


def _other_version(folder: Path) -> None:
    about = json.loads((folder / "counts.json").read_text())
    (folder / "counts.json").write_text(json.dumps(about | {"format_version": 99}))


DAMAGES = {
    "no folder": shutil.rmtree,
    "no JSON": lambda folder: (folder / "counts.json").unlink(),
    "no arrays": lambda folder: (folder / "counts.safetensors").unlink(),
    "empty JSON": _cut("counts.json", 0),
    "cut JSON": _cut("counts.json", -20),
    "another version": _other_version,
    "empty arrays": _cut("counts.safetensors", 0),
    "cut in the header": _cut("counts.safetensors", 100),
    "cut in the arrays": _cut("counts.safetensors", -10),
    "rubbish": lambda folder: (folder / "counts.safetensors").write_bytes(bytes(range(256))),
    "no center": _edit(lambda arrays: arrays.pop("center")),
    "a center too large": _edit(lambda arrays: arrays["center"].__setitem__(-1, 99)),
    "a negative center": _edit(lambda arrays: arrays["center"].__setitem__(0, -1)),
}
UNCHECKED = {
    "no context": _edit(lambda arrays: arrays.pop("context")),
    "no count": _edit(lambda arrays: arrays.pop("count")),
    "no statements": _edit(lambda arrays: arrays.pop("statements")),
    "fewer statements": _edit(lambda arrays: arrays.update(statements=arrays["statements"][:-1].copy())),
    "fewer counts": _edit(lambda arrays: arrays.update(count=arrays["count"][:-1].copy())),
    "a context too large": _edit(lambda arrays: arrays["context"].__setitem__(-1, 99)),
    "a negative context": _edit(lambda arrays: arrays["context"].__setitem__(0, -1)),
}


@pytest.mark.parametrize(
    "damage",
    [*DAMAGES, *UNCHECKED],
)
def test_a_damaged_part_is_named(parts, tmp_path, damage):
    (DAMAGES | UNCHECKED)[damage](parts[2])
    with pytest.raises(AssetError, match=r"part2/counts\.(json|safetensors)"):
        merge_counts(parts, tmp_path / "sum", max_pairs=7)
    assert not list(tmp_path.glob("sum/*"))


def test_a_folder_that_can_not_be_written_is_named(parts, tmp_path):
    (tmp_path / "sum").write_text("a file\n")
    with pytest.raises(OutputError, match=r"sum: can't be written: File exists"):
        merge_counts(parts, tmp_path / "sum")
