"""A head for the machine at hand: what is measured, in which order, and what comes of it."""

import json
import math

import pytest

import ncc
from ncc.errors import InputError, NccError
from tests.rooms import SHIPPED_KERNELS, Device, MeasuredTime, Sweep, load_rows, opencl
from tests.support.refuses import refuses

FILES = [SHIPPED_KERNELS / f"{name}.cl" for name in ("vectors", "polynomials")]
DEVICES = [Device(name, "CPU", "none", 1, 1024, 2**30, 2**15) for name in ("slow start", "slow work")]


@pytest.fixture
def pretended(monkeypatch):
    """Two devices that take the time that they are told to; returns what was measured, in order."""
    measured = []

    def time(_self, _worker, kernel, device, size, wgsize, *_):
        if kernel.name == "triad":
            raise InputError("kernel triad: writes no output")
        measured.append((kernel.name, size, device))
        time_ms = 1.0 + size * 1e-6 if device == "slow start" else 1e-3 + size * 1e-5
        row = MeasuredTime(
            kernel_file=kernel.file, kernel=kernel.name, device=device, global_size=size, local_size=wgsize,
            transfer_bytes=8 * size, time_ms=time_ms, kernel_ms=time_ms, transfer_ms=0.0, time_low=time_ms,
            time_high=time_ms, family=kernel.family, size=size, source_id=kernel.source_id,
        )  # fmt: skip
        return row, ""

    monkeypatch.setattr(Sweep, "time", time)
    monkeypatch.setattr(opencl, "choose_devices", lambda *_: DEVICES)
    return measured


def test_a_head_knows_what_was_measured(pretended, tmp_path):
    told: list[str] = []
    head = ncc.calibrate(
        tmp_path / "mine", kernels=FILES, sizes="1K:16M", wgsize=(64,), card={"who": "I"}, progress=told.append
    )
    assert head.card["who"] == "I"
    failed = {where.rpartition("/")[2]: reason for where, reason in head.card["failed"].items()}
    assert failed["vectors.cl: triad on slow start"] == "kernel triad: writes no output"
    assert head.devices == ("slow start", "slow work")
    assert len(load_rows(tmp_path / "mine" / "times.parquet")) == len(pretended) == 2 * 8 * 13
    assert any("triad: 0 rows; kernel triad: writes no output" in line for line in told)
    answers = {
        size: ncc.predict_device(FILES[0], head=ncc.load_device_head(tmp_path / "mine"), transfer=8.0 * size)[0]
        for size in (1024, 4**12)
    }
    ratio = [math.log(answer.speedup_gpu_over_cpu) for answer in answers.values()]
    assert ratio[0] > 1 > -1 > ratio[1]
    # again: all is known
    pretended.clear()
    ncc.calibrate(tmp_path / "mine", kernels=FILES, sizes="1K:16M", wgsize=(64,))
    assert not pretended


@pytest.mark.parametrize(
    ("kind", "options", "nouns"),
    [
        (InputError, {"budget": 0}, ("budget",)),
        (InputError, {"kernels": ["missing.cl"]}, ("missing.cl",)),
        (InputError, {"sizes": "1"}, ("work-group", "[64, 256]", "[1]")),
        (NccError, {"kernels": FILES[:1], "sizes": "1K"}, ("5 kernels", "at least 8", "triad")),
    ],
)
def test_bad_input_is_refused(pretended, tmp_path, kind, options, nouns):
    with refuses(kind, *nouns):
        ncc.calibrate(tmp_path / "mine", **({"kernels": FILES} | options))


def test_one_device_is_compared_with_a_gpu_of_a_data_sheet(pretended, tmp_path, monkeypatch):
    monkeypatch.setattr(opencl, "choose_devices", lambda *_: DEVICES[:1])
    head = ncc.calibrate(tmp_path / "mine", kernels=FILES, sizes="1K:16M", wgsize=(64,))
    assert head.card["name"] == "mine" and head.card["kinds"] == {"slow start": "CPU"}
    with refuses(InputError, "slow start", "--gpu"):
        ncc.predict_device(FILES[0], head=head, transfer=65536)
    answer = ncc.predict_device(FILES[0], head=head, transfer=65536, gpu="RTX 3080")[0]
    assert answer.machines == {"CPU": "slow start (head mine)", "GPU": "RTX 3080"}


@pytest.mark.full
@pytest.mark.timeout(900)
def test_two_devices_of_this_machine_are_calibrated(pocl, tmp_path):
    head = ncc.calibrate(tmp_path, kernels=FILES, device=pocl, sizes="1K,16K", wgsize=(64,))
    assert head.devices == tuple(pocl)
    card = json.loads((tmp_path / "head.json").read_text())
    assert "failed" in json.dumps(card)
    [answer, *_] = ncc.predict_device(FILES[0], head=head, transfer=65536.0)
    assert set(answer.times_ms) == set(pocl)
