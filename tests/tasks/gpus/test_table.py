"""Tables of launches, one's own and nsys's, and what is refused; which sources of a program hold device code."""

import os

import pytest

from ncc.errors import DataError
from tests.rooms import device_sources, read_launches
from tests.support.refuses import refuses

_OWN = """kernel,grid,block,time_ms,source,arguments,program_arguments,bound,traffic_bytes
saxpy,4096,256,0.5,a.cu,n=1000;a=2,1000 3,compute,1e6
"step(int, float)",64x32,16x16,1.5,b.cu,,,,
"""
_NSYS = """Processing [report.sqlite] with [cuda_gpu_trace.py]...

Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),Name
100,2500,1,8,4,1,128,1,1,16,0,0,,"step(int, float)"
200,900,2,,,,,,,,,,4.1,[CUDA memcpy Host-to-Device]
"""


def _read(tmp_path, text):
    path = tmp_path / "table.csv"
    path.write_text(text)
    return read_launches(path)


def test_a_table_of_ones_own(tmp_path):
    first, second = _read(tmp_path, _OWN)
    assert (first.kernel, first.launch.grid, first.launch.arguments) == ("saxpy", (4096, 1, 1), {"n": 1000, "a": 2})
    assert (first.program_args, first.is_compute_bound, first.traffic_bytes) == (("1000", "3"), True, 1e6)
    assert first.time_s == pytest.approx(0.5e-3)
    assert (second.launch.grid, second.launch.block) == ((64, 32, 1), (16, 16, 1))
    assert (second.is_compute_bound, second.traffic_bytes) == (None, None)


def test_what_nsys_prints(tmp_path):
    (one,) = _read(tmp_path, _NSYS)
    assert (one.kernel, one.launch.grid, one.launch.block) == ("step(int, float)", (8, 4, 1), (128, 1, 1))
    assert one.time_s == pytest.approx(2.5e-6)


@pytest.mark.parametrize(
    ("text", "noun"),
    [
        ("a,b\n1,2\n", "no header of a known table"),
        ("kernel,grid,block,time_ms\n", "no rows"),
        ("kernel,grid,block,time_ms\nk,1,1,soon\n", "'time_ms' is 'soon'; expected a number"),
        ("kernel,grid,block,time_ms\nk,1,1,0\n", "expected a time above 0"),
        ("kernel,grid,block,time_ms\nk,,1,1\n", "'grid' is ''; expected sizes"),
        ("kernel,grid,block,time_ms\nk,1,2048,1\n", "expected 1 to 1,024"),
        ("kernel,grid,block,time_ms\nk,1,1,1\nk,1,1,fast\n", "table.csv: row 1 (from 0): column 'time_ms'"),
        ("kernel,grid,block,time_ms\nk,1,1\n", "row 0 (from 0): too few cells"),
        (f"kernel,grid,block,time_ms\nk,{'9' * 5000},1,1\n", "row 0 (from 0)"),
        ("kernel,grid,block,time_ms,arguments\nk,1,1,1,n=inf\n", "'arguments' is 'inf'; expected a number of at most"),
        ("kernel,grid,block,time_ms,traffic_bytes\nk,1,1,1,1e300\n", "'traffic_bytes' is '1e300'"),
        ("kernel,grid,block,time_ms\nk,1,1,1e-300\n", "expected a time above 0"),
        (_NSYS.replace("8,4,1", "nan,4,1"), "row 0 (from 0)"),
        (_NSYS.replace("8,4,1", "inf,4,1"), "row 0 (from 0)"),
        ("kernel,grid,block,time_ms,bound\nk,1,1,1,cache\n", "expected bandwidth or compute"),
    ],
)
def test_what_is_wrong_with_a_table_is_said(tmp_path, text, noun):
    with refuses(DataError, noun):
        _read(tmp_path, text)


def test_devices_pipes_and_large_files_are_refused_unread(tmp_path):
    path = tmp_path / "table.csv"
    path.touch()
    os.truncate(path, 8 << 30)
    with refuses(DataError, "table.csv", "8,589,934,592 bytes"):
        read_launches(path)
    os.mkfifo(tmp_path / "pipe")
    for name in (tmp_path / "pipe", "/dev/zero"):
        with refuses(DataError, name, "pipe or a device"):
            read_launches(name)


def test_sources_with_device_code_are_found_but_for_those_that_others_include(tmp_path):
    texts = {
        "main.cu": '#include "kernels.cu"\nint main() { work<<<1, 32>>>(); }',
        "kernels.cu": "__global__ void work() {}",
        "deep/other.hip": "__global__ void other() {}",
        "plain.cu": "int f() { return 1; }",
        "host.cpp": "__global__ void not_cuda() {}",
    }
    (tmp_path / "deep").mkdir()
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    assert [str(file.relative_to(tmp_path)) for file in device_sources(tmp_path)] == ["deep/other.hip", "main.cu"]
    assert device_sources(tmp_path / "plain.cu") == [tmp_path / "plain.cu"]
    (tmp_path / "Makefile").write_text("all:\n\tnvcc -x cu host.cpp\n")
    assert tmp_path / "host.cpp" in device_sources(tmp_path)
