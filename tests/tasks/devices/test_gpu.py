"""A CPU that was measured against a GPU of a data sheet: two halves, their ratio, and what is needed for both."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ncc
from ncc.errors import InputError
from tests.fixtures.tables import write_times
from tests.rooms import KernelWork, Launch, compare_times, load_module
from tests.support.refuses import refuses

OPERATIONS = ("a[i] + 1", "a[i] * a[i]", "sqrt(a[i])", "a[i] - 2", "a[i] / 3", "exp(a[i])", "sin(a[i])", "cos(a[i])")
CUDA = 'extern "C" __global__ void k(float* a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; a[i] += 1; }'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Eight kernels at four sizes on a CPU of 4 GB/s."""
    folder = tmp_path_factory.mktemp("times")
    rows = []
    for number, operation in enumerate(OPERATIONS):
        (folder / f"k{number}.cl").write_text(
            f"__kernel void k{number}(__global float* a, int n) {{ int i = get_global_id(0); a[i] = {operation}; }}\n"
        )
        for size in (1 << 10, 1 << 14, 1 << 18, 1 << 22):
            launch = {"kernel_file": f"k{number}.cl", "kernel": f"k{number}", "global_size": size, "local_size": 64}
            rows.append(launch | {"device": "my CPU", "time_ms": 0.02 + 8 * size / 4e6})
    write_times(folder / "times.csv", rows)
    return folder


@pytest.fixture(scope="module")
def head(folder):
    return ncc.train_devmap(folder / "mine", tables=[folder / "times.csv"], card={"name": "mine"})


def test_the_gpu_takes_as_long_as_predict_gpu_says_beside_start_and_copies(folder, head):
    [answer] = ncc.predict_device(folder / "k1.cl", transfer=2**23, wgsize=256, gpu="RTX 3080", head=head)
    [run] = ncc.predict_gpu(folder / "k1.cl", grid=4096, block=256, arguments={"n": 2**20}, gpu="RTX 3080")
    copies = [1e3 * 2**23 / (31.5e9 * share) for share in (1, 0.1)]
    assert run.time_ms + copies[0] < answer.times_ms["GPU"][0] < run.time_ms + copies[1] + 0.1
    assert answer.times_ms["GPU"][1] > copies[0]
    [alone] = ncc.predict_device(folder / "k1.cl", transfer=2**23, wgsize=256, gpu="rtx3080", head=folder / "mine")
    assert answer.times_ms["CPU"] == alone.times_ms["CPU"] == pytest.approx(answer.times_ms["CPU"])
    assert answer.times_ms["CPU"][0] == pytest.approx(0.02 + 2**23 / 4e6, rel=0.5)
    assert answer.devices == ("CPU", "GPU")
    assert answer.machines == {"CPU": "my CPU (head mine)", "GPU": "RTX 3080"}
    halves = [math.log(high / expected) for expected, _, high in answer.times_ms.values()]
    assert math.log(answer.speedup_gpu_over_cpu / answer.interval[0]) == pytest.approx(math.hypot(*halves))
    text = str(answer)
    assert "devices   my CPU (head mine) against RTX 3080" in text
    assert f"the {'CPU' if halves[0] > halves[1] else 'GPU'}'s time is the less certain one" in " ".join(text.split())


def test_sizes_and_languages(folder, head, tmp_path):
    [answer] = ncc.predict_device(folder / "k1.cl", gpu="A100", head=head)
    assert answer.crossovers is not None and len(answer.curve([1e4, 1e8]).low) == 2
    (tmp_path / "k.cu").write_text(CUDA)
    [cuda] = ncc.predict_device(tmp_path / "k.cu", global_size=2**20, gpu="A100", head=head)
    [opencl] = ncc.predict_device(folder / "k0.cl", global_size=2**20, gpu="A100", head=head)
    assert cuda.speedup_gpu_over_cpu == pytest.approx(opencl.speedup_gpu_over_cpu, rel=0.5)


def test_a_copy_that_takes_longer_than_the_whole_cpu_decides(folder, head):
    model = replace(head.machine, constants=head.machine.constants - 7)
    quick = replace(head, machine=model)
    [answer] = ncc.predict_device(folder / "k1.cl", transfer=2**30, gpu="V100", head=quick)
    assert answer.verdict == "CPU" and answer.interval[1] < 1 and answer.confidence >= 0.9
    assert "longer than the CPU's whole time" in answer.reasons[0]
    assert "because" in str(answer)


def test_what_is_missing_is_asked_for(folder, head, tmp_path, monkeypatch):
    kernel = folder / "k1.cl"
    monkeypatch.delenv("NCC_DEVICE_HEAD", raising=False)
    with refuses(InputError, "ncc calibrate", "--head", "NCC_DEVICE_HEAD"):
        ncc.predict_device(kernel, gpu="RTX 3080")
    with refuses(InputError, "my CPU", "--gpu"):
        ncc.predict_device(kernel, head=head)
    with refuses(InputError, "--platform"):
        ncc.predict_device(kernel, gpu="RTX 3080", platform="amd")
    with refuses(InputError, "'RTX 3070'", "RTX 3080, RTX 3090", "closest"):
        ncc.predict_device(kernel, gpu="RTX 3070", head=head)
    with refuses(InputError, "--explain"):
        ncc.predict_device(kernel, gpu="RTX 3080", head=head)[0].explain()
    monkeypatch.setenv("NCC_DEVICE_HEAD", str(folder / "mine"))
    [answer] = ncc.predict_device(kernel, transfer=1e6, gpu="RTX 3080")
    assert answer == ncc.predict_device(kernel, transfer=1e6, gpu="RTX 3080", head=folder / "mine")[0]


def test_a_data_sheet_of_your_own(folder, head, tmp_path):
    known = (Path(ncc.__file__).parent / "tasks" / "gpus" / "specs.toml").read_text()
    sheet = tmp_path / "mine.toml"
    sheet.write_text(known[known.index('["V100"]') : known.index('["A100"]')].replace("V100", "My card", 1))
    [mine], [other] = (
        ncc.predict_device(folder / "k1.cl", transfer=1e6, gpu=str(gpu), head=head) for gpu in (sheet, "V100")
    )
    assert mine.machines["GPU"] == "My card"
    assert mine.times_ms == other.times_ms
    figures = [sheet.read_text().replace("num_sms = 80", f"num_sms = {sms}") for sms in ("0", "nan", "inf", 10**19)]
    for text in (
        "",
        "x = 1",
        "[x]\nnum_sms = 1\n",
        *figures,
        f"x = {'[' * 9999}",
        "x = 1\n" + "#" * 2**16 + sheet.read_text(),
    ):
        sheet.write_text(text)
        with refuses(InputError, sheet):
            ncc.predict_device(folder / "k1.cl", transfer=1e6, gpu=str(sheet), head=head)


HOST = """
int main() { int n = 1 << 20; float *a, *b; cudaMalloc(&a, n * sizeof(float)); cudaMalloc(&b, 4 * n);
  rows<<<n / 256, 256>>>(a, b, 64);
  rows<<<16, 64>>>(a, b, 1024); }
"""
ROWS = """__global__ void rows(float* a, float* b, int length) { int i = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0; for (int j = 0; j < length; j++) s += a[i * length + j]; b[i] = s; }"""


def test_launches_in_host_code_are_answered_one_by_one_unless_a_size_is_given(folder, head, tmp_path):
    path = tmp_path / "rows.cu"
    path.write_text(ROWS + HOST)
    for more in ({}, {"gpu": "A100", "head": head}):
        many, few = ncc.predict_device(path, **more)
        assert (many.global_size, many.wgsize, few.global_size, few.wgsize) == (2**20, 256, 1024, 64)
        assert many.transfer_bytes == few.transfer_bytes == 2 * 2 * 4 * 2**20
        assert many.times_ms["CPU"][0] > 2 * few.times_ms["CPU"][0]
        assert any(value.startswith("length = 1,024") and "rows.cu:5" in value for value in few.host)
        assert "rows.cu:4" in " ".join(str(many).split())
        [given] = ncc.predict_device(path, global_size=4096, **more)
        assert given.global_size == 4096 and given.host == ()
    assert many.curve([1e5, 1e6]).low.shape == (2,)


def test_a_launch_in_host_code_keeps_its_size_without_the_lines_that_ask_for_an_index(tmp_path):
    path = tmp_path / "rows.cu"
    path.write_text(ROWS)
    module = load_module(path)
    queries = [row for row in range(module.num_statements) if "sreg" in module.statement_text(row)]
    work, vectors = KernelWork(module, 0, Launch.of(4096, 256, {})), np.zeros((module.num_statements, 1))
    whole, rest = work.features(vectors), work.features(vectors, queries)
    assert [each.feature("dimensions").item() for each in (whole, rest)] == [1, 0]
    assert rest.items.tolist() == whole.items.tolist() == [[math.log(4096 * 256)] * 2]


@pytest.mark.parametrize("widths", [(1.5, 1.5), (1.2, 4), (5, 1.3)])
@pytest.mark.parametrize("draw", ["normal", "laplace"])
def test_the_interval_holds_four_of_five_ratios_whose_halves_do(widths, draw):
    random, scale = np.random.default_rng(1), {"normal": 1 / 1.2816, "laplace": 1 / math.log(5)}[draw]
    held, right, sure = [], [], []
    for _ in range(2000):
        halves = [
            (time, time / width, time * width)
            for time, width in zip(np.exp(random.normal(0, 1, 2)).tolist(), widths, strict=True)
        ]
        truths = [
            each[0] * math.exp(getattr(random, draw)(0, scale * math.log(width)))
            for each, width in zip(halves, widths, strict=True)
        ]
        cpu, gpu = halves
        answer = compare_times(cpu, gpu, 1e-9)
        low, high = answer["interval"]
        held.append(low <= truths[0] / truths[1] <= high)
        right.append((truths[0] > truths[1]) == (answer["device"] == "GPU"))
        sure.append(answer["confidence"])
    assert 0.75 <= np.mean(held) <= 0.85
    assert np.mean(sure) == pytest.approx(np.mean(right), abs=0.05)
