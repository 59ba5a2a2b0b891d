"""Kernels measured on PoCL's two devices, and what is wrong with others."""

import fcntl
import os
import shutil
import sys

import pytest

import ncc
from ncc.errors import InputError, NccError, OutputError
from tests.kernels.measure.conftest import KERNELS
from tests.rooms import (
    COLUMNS,
    SHIPPED_KERNELS,
    Pool,
    choose_devices,
    find_kernels,
    load_rows,
    open_device,
)
from tests.rooms import devices_read_times as read_times
from tests.support.refuses import refuses
from tests.support.verbs import run_here


def _measure(kernels, output, pocl, **options):
    """Kernels by name, of the folder beside this file, or by path."""
    given = {"sizes": (1024, 4096), "wgsize": (64,), "measurement_time": 0.02, "timeout": 250, "device": pocl} | options
    paths = [KERNELS / f"{kernel}.cl" if isinstance(kernel, str) else kernel for kernel in kernels]
    return ncc.measure_kernels(paths, output, **given)


def _reason(reasons, where):
    """The only reason about a kernel on a device, whatever its file."""
    [reason] = [reason for name, reason in reasons.items() if name.endswith(f".cl: {where}")]
    return reason


def test_two_devices_are_listed(pocl):
    assert [name.split("-")[0] for name in pocl] == ["basic", "pthread"]
    device = ncc.list_devices()[0]
    assert device.kind == "CPU"
    assert device.max_wgsize >= 64


def test_a_device_is_chosen_by_number_or_part_of_its_name(pocl):
    assert [one.name for one in choose_devices(["2", "BASIC", "1"])] == pocl[::-1]
    with refuses(InputError, "device 'tpu'", "1: basic"):
        choose_devices(["tpu"])


def test_what_is_missing_says_what_to_install(monkeypatch):
    cl = pytest.importorskip("pyopencl", reason="needs the extra measure")
    monkeypatch.setattr(cl, "get_platforms", list)
    with refuses(NccError, "no OpenCL driver", "pip install -c constraints.txt '.[measure]'"):
        ncc.list_devices()
    monkeypatch.setitem(sys.modules, "pyopencl", None)
    with refuses(NccError, "pyopencl", "missing"):
        ncc.list_devices()


def test_devices_that_compile_nothing_are_passed_over(pocl, driver):
    driver("fail", f"program._context.devices[0].name == {pocl[0]!r}")
    told: list[str] = []
    assert [one.name for one in choose_devices(None, told.append)] == pocl[1:]
    assert told[0].startswith(f"passed over: {pocl[0]} ")
    with refuses(NccError, pocl[0], "OpenCL C", "'generic'", "the processor is newer"):
        choose_devices(["1"])


def test_a_device_whose_compiler_aborts_is_passed_over(pocl, driver):
    driver("abort", f"program._context.devices[0].name == {pocl[0]!r}")
    told: list[str] = []
    assert [one.name for one in choose_devices(None, told.append)] == pocl[1:]
    assert told == [f"passed over: {pocl[0]} compiles no OpenCL C at all: worker killed (SIGABRT)"]


def test_a_kernel_whose_build_aborts_costs_itself(pocl, tmp_path, driver):
    driver("abort", "'deaf' in program._source")
    found = _measure(["deaf", "good"], tmp_path / "t.parquet", pocl[1:])
    assert found.num_rows == 2
    assert "kernel deaf: worker killed (SIGABRT)" in _reason(found.failed, f"deaf on {pocl[1]}")


def test_two_devices_of_one_name_are_numbered(pocl, monkeypatch, driver):
    import pyopencl as cl

    [platform] = [one for one in cl.get_platforms() if one.name == "Portable Computing Language"]
    handle = platform.get_devices()[0]

    class Twice:
        name = platform.name

        def get_devices(self):
            return [handle, handle]

    driver("twice")
    monkeypatch.setattr(cl, "get_platforms", lambda: [Twice()])
    assert [one.name for one in choose_devices(["1", "#2"])] == [pocl[0], f"{pocl[0]} #2"]
    assert open_device(f"{pocl[0]} #2") is handle
    with refuses(NccError, "#3", "gone", "basic"):
        open_device(f"{pocl[0]} #3")


def test_times_are_a_table_that_heads_are_trained_on(pocl, tmp_path):
    found = _measure(["good"], tmp_path / "t.parquet", pocl)
    assert (found.num_rows, found.num_kernels, found.failed) == (4, 1, {})
    times = read_times(tmp_path / "t.parquet")
    assert times.devices == tuple(pocl)
    assert times.global_size.tolist() == [1024, 4096]
    assert times.transfer_bytes.tolist() == [12 * 1024, 12 * 4096]
    row = load_rows(tmp_path / "t.parquet")[0]
    assert set(COLUMNS) <= set(vars(row))
    assert row.time_low <= row.time_ms <= row.time_high
    assert 0 < row.kernel_ms < 1e4
    # again: nothing is left to do; more sizes: only these are measured
    told: list[str] = []
    assert _measure(["good"], tmp_path / "t.parquet", pocl, progress=told.append).num_rows == 4
    assert told == ["1 of 1: good: 0 rows"]
    assert _measure(["good"], tmp_path / "t.parquet", pocl, sizes=(1024, 16384)).num_rows == 6


def test_the_kernels_that_ship_are_many_and_of_many_families():
    kernels, failed = find_kernels([str(SHIPPED_KERNELS)])
    assert not failed
    assert len({kernel.name for kernel in kernels}) == len(kernels) == 168
    assert len({kernel.family for kernel in kernels}) == 33
    assert all(kernel.nd_range(16384, 64) for kernel in kernels)


@pytest.mark.full
@pytest.mark.timeout(900)
def test_without_kernels_of_ones_own_it_is_those_that_ship(pocl, tmp_path):
    options = {"device": pocl[1:], "sizes": (16384,), "wgsize": (64,), "measurement_time": 0.02}
    found = ncc.measure_kernels([], tmp_path / "t.parquet", timeout=250, **options)
    assert found.num_rows == 168
    assert all("larger sizes are left out" in reason for reason in found.failed.values())  # of a slow machine


def test_a_kernel_that_has_changed_is_measured_again(pocl, tmp_path):
    path = tmp_path / "good.cl"
    for factor in ("2.0f", "3.0f"):
        path.write_text((KERNELS / "good.cl").read_text().replace("s *", f"{factor} * s *"))
        # 1,050 work-items in groups of 64 are 1,024, too
        found = _measure([path], tmp_path / "t.parquet", pocl, sizes=(1024, 1050))
        assert found.num_rows == 2
    assert len(read_times(tmp_path / "t.parquet")) == 1


@pytest.mark.parametrize(
    ("name", "sizes", "num_rows", "reason"),
    [
        ("outside", (1024,), 0, "writes outside its buffer 'b'"),
        ("reads_outside", (1024,), 0, "reads outside its buffers"),
        ("silent", (1024,), 0, "writes no output"),
        ("structure", (1024,), 0, "argument 'p' is of type Pair"),
        ("undeclared", (1024,), 0, "pocl_only_elsewhere"),
        ("outside_later", (1024, 4096), 1, "writes outside its buffer 'b'"),
        ("greedy", (1024, 2**20), 1, "needs 32 GiB in a buffer at 1,048,576"),
    ],
)
def test_a_kernel_that_is_nothing_to_be_timed_is_named(pocl, tmp_path, name, sizes, num_rows, reason):
    found = _measure([name], tmp_path / "t.parquet", pocl[:1], sizes=sizes)
    assert found.num_rows == num_rows
    assert reason in _reason(found.failed, f"{name} on {pocl[0]}")


def test_one_that_crashes_costs_itself(pocl, tmp_path):
    found = _measure(["crash", "good"], tmp_path / "t.parquet", pocl[1:])
    assert found.num_rows == 2
    assert "kernel crash: worker killed (SIGSEGV)" in _reason(found.failed, f"crash on {pocl[1]}")


def test_one_that_never_ends_at_a_size_keeps_smaller_ones(pocl, tmp_path):
    found = _measure(["endless_later"], tmp_path / "t.parquet", pocl[1:], sizes=(1024, 4096, 16384), timeout=4)
    assert "took longer than 4 s (at 4,096" in _reason(found.failed, f"endless_later on {pocl[1]}")
    assert [row.size for row in load_rows(tmp_path / "t.parquet")] == [1024]


def test_a_device_that_breaks_keeps_what_there_is(pocl, tmp_path, monkeypatch):
    answers, original = iter([1, 2]), Pool.call

    def call(self, name, function, *args):
        if function.__name__ == "time_launch" and next(answers, None) is None:
            raise NccError("the driver broke")
        return original(self, name, function, *args)

    monkeypatch.setattr(Pool, "call", call)
    found = _measure(["good"], tmp_path / "t.parquet", pocl[:1], sizes=(1024, 4096, 16384))
    assert "the driver broke" in _reason(found.failed, f"good on {pocl[0]}")
    assert len(load_rows(tmp_path / "t.parquet")) == 2


def test_a_table_of_another_kind_is_refused(pocl, tmp_path):
    (tmp_path / "t.parquet").write_text("x")
    with refuses(InputError, tmp_path / "t.parquet", "ncc measure"):
        _measure(["good"], tmp_path / "t.parquet", pocl)
    with refuses(InputError, "t.csv", ".parquet"):
        _measure(["good"], tmp_path / "t.csv", pocl)


def test_the_command(pocl, tmp_path, caplog):
    shutil.copy(KERNELS / "good.cl", tmp_path)
    words = ["measure", tmp_path, "-o", tmp_path / "t.parquet", "--sizes", "1K", "--wgsize", "64"]
    assert run_here(*words, "--json").row["num_rows"] == 2
    assert "with all your rights: measure only kernels that you trust" in caplog.text


def test_nothing_is_said_of_the_rights_of_kernels_that_ship(pocl, tmp_path, caplog):
    _measure([SHIPPED_KERNELS / "copies.cl"], tmp_path / "t.parquet", pocl[1:], sizes=(1024,))
    assert not caplog.text


def test_a_fill_is_measured_with_a_warning(pocl, tmp_path):
    found = _measure(["deaf", "good"], tmp_path / "t.parquet", pocl[:1], sizes=(1024,))
    assert (found.num_rows, found.failed) == (2, {})
    assert "does not depend on its input" in _reason(found.warnings, f"deaf on {pocl[0]}")
    assert "caution" in str(found)


def test_kernels_of_one_name_are_measured_each(pocl, tmp_path):
    for name, factor in (("a", 2), ("b", 3), ("c", 0), ("d", 3)):
        body = f"a[i] = a[i] * {factor}.5f" if factor else "(void)a"
        source = f"kernel void A(global float *a) {{ size_t i = get_global_id(0); {body}; }}\n"
        (tmp_path / f"{name}.cl").write_text(source)
    found = _measure([tmp_path], tmp_path / "t.parquet", pocl[:1], sizes=(1024,))
    assert {row.kernel_file for row in load_rows(tmp_path / "t.parquet")} == {"a.cl", "b.cl"}
    twin = "kernel A: has the source of b.cl, which is measured"
    assert found.failed == {f"c.cl: A on {pocl[0]}": "kernel A: writes no output", "d.cl: A": twin}


@pytest.mark.parametrize(
    "rule", ["local 0", "local 1e400", "items 1e400", "items 0 - 5", f"items {' * '.join(['9999999'] * 60)}"]
)
def test_a_size_that_can_not_be_costs_its_kernel(pocl, tmp_path, rule):
    (tmp_path / "bad.cl").write_text(
        f"// ncc: bad: {rule}\nkernel void bad(global float *a) {{ a[get_global_id(0)] *= 2; }}\n"
    )
    shutil.copy(KERNELS / "good.cl", tmp_path)
    told: list[str] = []
    found = _measure([tmp_path], tmp_path / "t.parquet", pocl[:1], sizes=(1024,), progress=told.append)
    assert found.num_rows == 1
    [(where, reason)] = found.failed.items()
    assert "bad.cl" in where
    assert rule.split()[0] in reason or "work-group" in reason


def test_rows_of_another_run_stay(pocl, tmp_path, monkeypatch):
    table, original = tmp_path / "t.parquet", Pool.call

    def call(self, name, function, *args):
        monkeypatch.setattr(Pool, "call", original)
        _measure(["outside_later"], table, pocl[:1], sizes=(1024,))
        return original(self, name, function, *args)

    monkeypatch.setattr(Pool, "call", call)
    found = _measure(["good"], table, pocl[:1], sizes=(1024,))
    assert found.num_rows == 2
    assert {row.kernel for row in load_rows(table)} == {"good", "outside_later"}


def test_rows_that_can_not_be_saved_yet_are_saved_later(pocl, tmp_path):
    table, handle, told = tmp_path / "t.parquet", os.open(tmp_path, os.O_RDONLY), []

    def progress(line):
        told.append((line.split()[3], table.exists()))
        fcntl.flock(handle, fcntl.LOCK_UN)

    fcntl.flock(handle, fcntl.LOCK_EX)
    assert _measure(["good", "outside_later"], table, pocl[:1], sizes=(1024,), progress=progress).num_rows == 2
    os.close(handle)
    assert told == [("good:", False), ("outside_later:", True)]
    assert {row.kernel for row in load_rows(table)} == {"good", "outside_later"}


def test_rows_stay_if_the_table_is_damaged_meanwhile(pocl, tmp_path):
    table = tmp_path / "t.parquet"
    with refuses(OutputError, table, "not a table", "measured rows are in"):
        _measure(["good"], table, pocl[:1], sizes=(1024,), progress=lambda _line: table.write_text("x"))
    assert table.read_text() == "x"
    [rescued] = [path for path in tmp_path.iterdir() if path != table]
    assert [row.kernel for row in load_rows(rescued)] == ["good"]


def test_what_a_kernel_prints_stays_inside(pocl, tmp_path, capfd):
    (tmp_path / "loud.cl").write_text(
        'kernel void loud(global float *a) { a[get_global_id(0)] *= 2; printf("\\x1b[2J loud"); }\n'
    )
    found = _measure([tmp_path], tmp_path / "t.parquet", pocl[:1], sizes=(64,))
    assert found.num_rows == 1
    assert "loud" not in "".join(capfd.readouterr())


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_file_whose_name_no_table_can_hold_costs_itself(pocl, tmp_path):
    shutil.copy(KERNELS / "good.cl", tmp_path / "a\udcff.cl")
    shutil.copy(KERNELS / "good.cl", tmp_path / "b.cl")
    found = _measure([tmp_path], tmp_path / "t.parquet", pocl[:1], sizes=(64,))
    assert found.failed == {"a\udcff.cl: good": "kernel good: names in tables must be UTF-8; rename the file"}
    assert [row.kernel_file for row in load_rows(tmp_path / "t.parquet")] == ["b.cl"]


def test_a_file_that_does_not_compile_is_named_in_one_line(pocl, tmp_path):
    (tmp_path / "bad.cl").write_text("kernel void bad(global float *a) { a = 1.5f; }\n")
    [reason] = _measure([tmp_path / "bad.cl", "good"], tmp_path / "t.parquet", pocl[:1], sizes=(64,)).failed.values()
    assert "bad.cl:1:38: error" in reason
    assert "\n" not in reason
    assert "-emit-llvm" not in reason
