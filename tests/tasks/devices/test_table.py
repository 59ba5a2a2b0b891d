"""Tables of times: read as written, and refused with what is wrong."""

import numpy as np
import pytest

from ncc.errors import DataError
from tests.fixtures.tables import write_times
from tests.rooms import devices_read_times as read_times

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
    ("change", "message"),
    [
        ({"time_ms": -1}, r"row 0 \(of 4, from 0\): time_ms is '-1'; expected a number from 0"),
        ({"time_ms": 0}, r"time_ms is '0'; expected a time above 0"),
        ({"time_ms": "inf"}, r"time_ms is 'inf'"),
        ({"time_ms": "nan"}, r"time_ms is 'nan'"),
        ({"time_ms": "fast"}, r"time_ms is 'fast'"),
        ({"time_ms": ""}, r"time_ms is ''"),
        ({"global_size": -4}, r"global_size is '-4'"),
        ({"device": "gpu"}, r"rows 0 and 1 \(from 0\) are one launch of A on one device, 'gpu'"),
        ({"device": ""}, r"device is ''"),
        ({"kernel_file": "other.cl"}, r"other\.cl: there is no such file, and it should hold 'A'"),
    ],
)
def test_a_bad_row_is_named(folder, change, message):
    write_times(folder / "t.csv", [ROWS[0] | change, *ROWS[1:]])
    with pytest.raises(DataError, match=message):
        read_times(folder / "t.csv")


def test_a_table_of_one_device_or_without_launches_in_common_is_refused(folder):
    write_times(folder / "t.csv", ROWS[::2])
    with pytest.raises(DataError, match="one device, 'cpu'; expected two or more"):
        read_times(folder / "t.csv")
    write_times(folder / "t.csv", [ROWS[0], ROWS[3]])
    with pytest.raises(DataError, match="no launch was measured on all of cpu, gpu"):
        read_times(folder / "t.csv")


@pytest.mark.parametrize("extension", ["csv", "parquet"])
def test_missing_columns_rows_and_files_are_named(folder, extension):
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet

    path = folder / f"t.{extension}"
    write = pyarrow.csv.write_csv if extension == "csv" else pyarrow.parquet.write_table
    write(pyarrow.table({"kernel": ["A"], "device": ["cpu"]}), path)
    with pytest.raises(DataError, match="missing column kernel_file, time_ms; found kernel, device"):
        read_times(path)
    write_times(path, [])
    with pytest.raises(DataError, match="no rows"):
        read_times(path)
    path.write_bytes(b"\xff\x00")
    with pytest.raises(DataError, match=r"t\."):
        read_times(path)
