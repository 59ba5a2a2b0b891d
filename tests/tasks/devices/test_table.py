"""Tables of times: read as written, and refused with what is wrong."""

import csv
import datetime
import itertools
import os

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from ncc.errors import DataError
from tests.fixtures.tables import write_times
from tests.rooms import devices_read_times as read_times
from tests.support.refuses import refuses

ROWS = [
    {"kernel_file": "k.cl", "kernel": "A", "device": device, "global_size": size, "local_size": 64, "time_ms": time}
    for size, times in ((1024, (1.0, 2.0)), (4096, (3.0, 2.5)))
    for device, time in zip(("cpu", "gpu"), times, strict=True)
]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "k.cl").write_text("__kernel void A(__global float* a) { a[get_global_id(0)] = 1; }\n")
    return tmp_path


@pytest.mark.parametrize("extension", ["csv", "parquet"])
def test_a_table_is_read_as_it_was_written(folder, extension):
    write_times(folder / f"t.{extension}", ROWS)
    table = read_times(folder / f"t.{extension}")
    assert table.devices == ("cpu", "gpu")
    np.testing.assert_array_equal(table.times_ms, [[1, 2], [3, 2.5]])
    np.testing.assert_array_equal(table.global_size, [1024, 4096])
    assert np.isnan(table.transfer_bytes).all()
    assert set(table.family) == {"k"}
    assert set(table.groups("kernel")) == {f"{folder}/k.cl:A"}


def test_launches_that_a_device_lacks_are_left_out(folder):
    write_times(folder / "t.csv", ROWS[:3])
    assert len(read_times(folder / "t.csv")) == 1


@pytest.mark.parametrize(
    ("change", "nouns"),
    [
        ({"time_ms": -1}, ("row 0 (of 4, from 0)", "time_ms is '-1'")),
        ({"time_ms": 0}, ("time_ms is '0'", "above 0")),
        ({"time_ms": "inf"}, ("time_ms is 'inf'",)),
        ({"time_ms": "nan"}, ("time_ms is 'nan'",)),
        ({"time_ms": "fast"}, ("time_ms is 'fast'",)),
        ({"time_ms": ""}, ("time_ms is ''",)),
        ({"time_ms": 1e-300}, ("time_ms is '1e-300'", "from 1e-06")),
        ({"time_ms": 1e12}, ("time_ms is '1000000000000.0'", "to 1e+09")),
        ({"local_size": 65537}, ("local_size is '65537'", "to 65536")),
        ({"global_size": 1e17}, ("global_size is '1e+17'",)),
        ({"global_size": -4}, ("global_size is '-4'",)),
        ({"device": "gpu"}, ("rows 0 and 1", "'gpu'")),
        ({"device": ""}, ("device is ''",)),
        ({"kernel_file": "other.cl"}, ("other.cl", "'A'")),
    ],
)
def test_a_bad_row_is_named(folder, change, nouns):
    write_times(folder / "t.csv", [ROWS[0] | change, *ROWS[1:]])
    with refuses(DataError, *nouns):
        read_times(folder / "t.csv")


def test_one_device_has_all_its_launches_and_two_those_in_common(folder):
    write_times(folder / "t.csv", ROWS[::2])
    assert len(read_times(folder / "t.csv")) == len(ROWS[::2])
    write_times(folder / "t.csv", [ROWS[0], ROWS[3]])
    with refuses(DataError, "cpu, gpu"):
        read_times(folder / "t.csv")


def test_missing_columns_rows_and_files_are_named(folder):
    path = folder / "t.csv"
    path.write_text("kernel,device\nA,cpu\n")
    with refuses(DataError, "kernel_file, time_ms", "kernel, device"):
        read_times(path)
    write_times(path, [])
    with refuses(DataError, "no rows"):
        read_times(path)
    path.with_suffix(".parquet").write_bytes(b"\xff\x00")
    with refuses(DataError, "t.parquet"):
        read_times(path.with_suffix(".parquet"))


# ---- tables that are made to take memory or time


@pytest.mark.parametrize("extension", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("change", "nouns"),
    [
        ({"device": "d" * 201}, ("device is 'ddd", "at most 200 letters")),
        ({"kernel": "k" * 201}, ("kernel is 'kkk", "at most 200 letters")),
        ({"family": "f" * 201}, ("family is 'fff", "at most 200 letters")),
        ({"kernel_file": "/proc/kmsg"}, ("/proc/kmsg: no such file",)),
        ({"kernel_file": "/dev/zero"}, ("/dev/zero: no such file",)),
        ({"kernel_file": "large.cl"}, ("large.cl: no such file",)),
        ({"kernel_file": "pipe.cl"}, ("pipe.cl: no such file",)),
        ({"kernel_file": "folder.cl"}, ("folder.cl: no such file",)),
        ({"kernel_file": "k\0.cl"}, ("no such file",)),
    ],
)
def test_names_and_files_that_are_none_are_refused_unread(folder, extension, change, nouns):
    (folder / "large.cl").touch()
    os.truncate(folder / "large.cl", 8 << 30)
    os.mkfifo(folder / "pipe.cl")
    (folder / "folder.cl").mkdir()
    rows = [{"family": "", **row, **change} for row in ROWS]
    write_times(folder / f"t.{extension}", rows)
    with refuses(DataError, f"t.{extension}: row 0 (of 4, from 0)", *nouns):
        read_times(folder / f"t.{extension}")


def test_a_csv_is_bounded(folder):
    path = folder / "t.csv"
    header = "kernel_file,kernel,device,time_ms"
    for text, *nouns in (
        (f"{header}\n" + "k.cl,A,cpu,1\n" * 131_073, "more than 131,072 rows"),
        (f"{header}\n" + "".join(f"k.cl,A,{index},1\n" for index in range(101)), "101 devices", "at most 100"),
        (f"{header},{','.join(f'c{index}' for index in range(300))}\n", "304 columns", "at most 256"),
        (f"{header},time_ms\nk.cl,A,cpu,1,2\n", "two columns are called 'time_ms'"),
        (f"{header}\nk.cl,A,cpu\n", "row 0", "too few cells"),
        (f"{header}\n" + "k" * csv.field_size_limit() + "k,A,cpu,1\n", "can't be read as a table"),
        ("\udcff", "can't be read as a table"),
    ):
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        with refuses(DataError, path, *nouns):
            read_times(path)
    os.truncate(path, 8 << 30)
    with refuses(DataError, path, "8,589,934,592 bytes"):
        read_times(path)


def test_a_byte_order_mark_is_no_part_of_a_name(folder):
    write_times(folder / "t.csv", ROWS)
    (folder / "t.csv").write_bytes(b"\xef\xbb\xbf" + (folder / "t.csv").read_bytes())
    assert len(read_times(folder / "t.csv")) == 2


TIMES = {"kernel_file": ["k.cl", "k.cl"], "kernel": ["A", "A"], "device": ["cpu", "gpu"], "time_ms": [1.0, 2.0]}
DAY = datetime.date(2020, 1, 1)


@pytest.mark.parametrize(
    ("columns", "nouns"),
    [
        ({"time_ms": [DAY, DAY]}, ("column time_ms has date32",)),
        ({"time_ms": [[1.0], [2.0]]}, ("column time_ms has list",)),
        ({"time_ms": [{"a": 1}, {"a": 2}]}, ("column time_ms has struct",)),
        ({"kernel": [b"A", b"A"]}, ("column kernel has binary",)),
        ({"global_size": [[1], [2]]}, ("column global_size has list",)),
        ({"kernel": pyarrow.nulls(2)}, ("row 0", "kernel is ''")),
        ({f"c{index}": [1, 2] for index in range(300)}, ("304 columns",)),
        (dict.fromkeys(TIMES, pyarrow.array([])), ("no rows",)),
        ({name: pyarrow.nulls(131_073) for name in TIMES}, ("more than 131,072 rows",)),
    ],
)
def test_a_parquet_of_other_types_or_sizes_is_refused(folder, columns, nouns):
    pyarrow.parquet.write_table(pyarrow.table(TIMES | columns), folder / "t.parquet")
    with refuses(DataError, "t.parquet", *nouns):
        read_times(folder / "t.parquet")


def test_columns_that_no_one_asked_for_may_have_any_type(folder):
    pyarrow.parquet.write_table(pyarrow.table(TIMES | {"day": [DAY, DAY], "list": [[1], [2]]}), folder / "t.parquet")
    assert read_times(folder / "t.parquet").devices == ("cpu", "gpu")


def test_two_parquet_columns_of_one_name_are_refused(folder):
    table = pyarrow.table([*TIMES.values(), [1, 2]], names=[*TIMES, "time_ms"])
    pyarrow.parquet.write_table(table, folder / "t.parquet")
    with refuses(DataError, "t.parquet", "two columns are called 'time_ms'"):
        read_times(folder / "t.parquet")


@pytest.mark.parametrize(("letters", "nouns"), [(10**4, ("67,108,864 letters", "split")), (10**6, ("t.parquet",))])
def test_a_small_parquet_does_not_grow(folder, letters, nouns):
    """A dictionary of one long text, which twenty thousand rows name: 200 MB, or 20 GB."""
    texts = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 20_000, "int32"), pyarrow.array(["x" * letters]))
    columns = dict.fromkeys(TIMES, texts)
    pyarrow.parquet.write_table(pyarrow.table(columns), folder / "t.parquet", compression="zstd")
    assert (folder / "t.parquet").stat().st_size < 4000
    with refuses(DataError, *nouns):
        read_times(folder / "t.parquet")


def test_deep_schemas_and_damage_are_refused(folder):
    kind = pyarrow.int32()
    for _ in itertools.repeat(None, 1000):
        kind = pyarrow.struct([("a", kind)])
    path = folder / "t.parquet"
    pyarrow.parquet.write_table(pyarrow.schema([("a", kind)]).empty_table(), path, store_schema=False)
    with refuses(DataError, path):
        read_times(path)
    write_times(path, ROWS)
    content = path.read_bytes()
    for damaged in (content[:-1], content[:100], b"", content[:40] + b"\xff" * 40 + content[80:]):
        path.write_bytes(damaged)
        with refuses(DataError, path):
            read_times(path)
    os.truncate(path, 8 << 30)
    with refuses(DataError, path, "8,589,934,592 bytes"):
        read_times(path)
