"""Tables of times: read as written, and refused with what is wrong."""

import numpy as np
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


def test_a_table_of_one_device_or_without_launches_in_common_is_refused(folder):
    write_times(folder / "t.csv", ROWS[::2])
    with refuses(DataError, "one device, 'cpu'"):
        read_times(folder / "t.csv")
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
