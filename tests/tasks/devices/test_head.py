"""Device heads: what they learn, how they widen, and that files keep them."""

import dataclasses
import shutil
from pathlib import Path

import numpy as np
import pytest

import ncc
from ncc.errors import DataError, InputError
from tests.fixtures.tables import write_times
from tests.rooms import CompileOptions, TimesHead
from tests.support.refuses import refuses
from tests.support.tiny import Tiny


@pytest.fixture
def table(tiny: Tiny) -> Path:
    """Eight kernels, k0.cl to k7.cl; the other device takes 1 ms to start, and is ten times as fast."""
    return tiny.times


@pytest.fixture
def head(tiny: Tiny) -> TimesHead:
    return ncc.load_device_head(tiny.device_head)


def test_times_of_a_like_kernel_are_near_those_measured(head, table):
    [answer] = ncc.predict_device(table.with_name("k1.cl"), global_size=1 << 20, wgsize=64, head=head)
    assert answer.device == "other"
    assert answer.familiar
    assert answer.distance is not None
    assert answer.distance < 0.1
    assert answer.nearest[0] == "k1.cl:k1"
    assert answer.times_ms is not None
    assert answer.times_ms["one"][0] == pytest.approx((1 << 20) / 1e5 * 1.1, rel=0.8)
    for value, low, high in answer.times_ms.values():
        assert low <= value <= high
    assert answer.times_ms["one"][0] / answer.times_ms["other"][0] == pytest.approx(answer.speedup_gpu_over_cpu)
    [small] = ncc.predict_device(table.with_name("k1.cl"), global_size=1 << 11, wgsize=64, head=head)
    assert small.device == "one"


def test_a_kernel_unlike_all_others_is_said_to_be_so(head):
    text = b"""__kernel void far(__global double* a, __local double* b, __global int* c, __global float* d, int n) {
      for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) { barrier(1); atomic_add(c, (int)(a[j * k] / b[k]));
        if (d[k] > sin(d[j])) b[j] = cos(b[k]) + pow(a[k], 3.0); } }"""
    options = CompileOptions(language="opencl")
    [answer] = ncc.predict_device(text, global_size=1 << 20, wgsize=64, head=head, options=options)
    assert not answer.familiar
    assert "no similar kernel was measured" in str(answer)
    # nothing from elsewhere was measured, so that odds are even until the interval leaves 1
    errors = head.machine_model_errors
    assert errors.is_prior

    def ask(slower: float, **changes: bool) -> ncc.DevicePrediction:
        """Where one device's machine is slower."""
        machine = dataclasses.replace(head.machine, constants=head.machine.constants + np.array([[slower], [0]]))
        other = dataclasses.replace(head, machine=machine, machine_model_errors=dataclasses.replace(errors, **changes))
        return ncc.predict_device(text, global_size=1 << 20, wgsize=64, head=other, options=options)[0]

    sure, guess, known = ask(6), ask(3), ask(3, is_prior=False)
    assert sure.interval[0] > 1 and sure.confidence == 0.9
    assert guess.interval == known.interval and guess.interval[0] < 1
    assert guess.confidence == pytest.approx(0.5, abs=1e-4)
    assert known.confidence > 0.6
    text = b"__kernel void k(__global float* a, int n) { int i = get_global_id(0); a[i] = a[i] + 2; }"
    [near] = ncc.predict_device(text, global_size=1 << 20, wgsize=64, head=head, options=options)
    assert near.interval[1] / near.interval[0] < answer.interval[1] / answer.interval[0]


def test_intervals_are_as_wide_as_errors_at_such_times(tmp_path):
    """Short launches take 0.3 to 3 times as long as expected on the GPU, long ones exactly as long."""
    rows, draw = [], np.random.default_rng(0)
    operations = ("+ 1", "* a[i]", "- 2 * a[i]", "/ 3", "* exp(a[i])", "* sin(a[i])", "+ sqrt(a[i])", "+ a[n-i]")
    for number, operation in enumerate(f"a[i] {rest}" for rest in operations):
        text = f"__kernel void k{number}(__global float* a, int n) {{ int i = get_global_id(0); a[i] = {operation}; }}"
        (tmp_path / f"k{number}.cl").write_text(text)
        for size in np.geomspace(1 << 8, 1 << 24, 50).astype(int).tolist():
            launch = {"kernel_file": f"k{number}.cl", "kernel": f"k{number}", "global_size": size, "local_size": 64}
            noise = float(np.exp(draw.normal(0, 1))) if size < 1 << 16 else 1.0
            for device, ms in (("CPU", size / 1e5), ("GPU", noise * (0.001 + size / 2e5))):
                rows.append(launch | {"device": device, "time_ms": ms})
    write_times(tmp_path / "times.csv", rows)
    head = ncc.train_devmap(tmp_path / "head", tables=[tmp_path / "times.csv"])
    widths = {}
    for size in (1 << 12, 1 << 22):
        [answer], [again] = (
            ncc.predict_device(tmp_path / "k1.cl", global_size=size, wgsize=64, head=one)
            for one in (head, tmp_path / "head")
        )
        assert again.interval == pytest.approx(answer.interval, rel=0.01)
        widths[size] = answer.interval[1] / answer.interval[0]
    assert widths[1 << 22] < 0.5 * widths[1 << 12]
    assert answer.verdict == "GPU"
    at = head.experts[0].errors_by_time["at"]
    for bad in ({"at": at[::-1]}, {"at": at[:1]}, {"at": at[:0]}):
        with pytest.raises(InputError, match="errors by time"):
            errors = head.experts[0].errors_by_time | bad
            dataclasses.replace(head.experts[0], errors_by_time=errors)


def test_sizes_that_differ_by_rounding_alone_are_one_size(table, tmp_path):
    rows = [
        {"kernel_file": str(table.with_name(f"k{number}.cl")), "kernel": f"k{number}", "device": device}
        | {"global_size": size, "local_size": 64, "time_ms": 1 + number}
        for number in range(8)
        for size in (1 << 20, (1 << 20) + 1)
        for device in ("one", "other")
    ]
    write_times(tmp_path / "t.csv", rows)
    head = ncc.train_devmap(tables=[tmp_path / "t.csv"])
    [answer] = ncc.predict_device(table.with_name("k1.cl"), global_size=1 << 20, head=head)
    assert answer.times_ms["one"][0] == pytest.approx(2, rel=1)


def test_three_devices(table, tmp_path):
    text = table.read_text().splitlines()
    more = [line.replace(",other,", ",NPU,") for line in text if ",other," in line]
    (tmp_path / "t.csv").write_text("\n".join([text[0], *text[1:], *more]))
    for number in range(8):
        (tmp_path / f"k{number}.cl").write_text(table.with_name(f"k{number}.cl").read_text())
    head = ncc.train_devmap(tables=[tmp_path / "t.csv"])
    [answer] = ncc.predict_device(tmp_path / "k1.cl", global_size=1 << 20, head=head)
    assert set(answer.times_ms or {}) == {"one", "other", "NPU"}


def test_bad_tables_and_models_are_refused(table, tmp_path):
    with refuses(InputError, "'times'", "gp, trees, lstm"):
        ncc.train_devmap(tables=[table], model="times")  # type: ignore[arg-type]
    shutil.copytree(table.parent, tmp_path / "kernels")
    text, bad = table.read_text(), tmp_path / "kernels" / "bad.csv"
    bad.write_text(text.replace(",k1,", ",other,"))
    with refuses(DataError, "k1.cl", "'other'", "k1"):
        ncc.train_devmap(tables=[bad])
    bad.write_text("\n".join(line for line in text.splitlines() if not line.startswith("k7")))
    with refuses(InputError, "7 kernels", "8"):
        ncc.train_devmap(tables=[bad])
    bad.write_text(text.replace(",other,", ",NPU,"))
    with refuses(DataError, "one, NPU", "one, other"):
        ncc.train_devmap(tables=[table, bad])
