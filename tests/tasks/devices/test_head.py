"""Device heads: what they learn, how they widen, and that files keep them."""

import dataclasses

import pytest

import ncc
from ncc.errors import DataError, InputError
from tests.fixtures.tables import write_times
from tests.support.refuses import refuses

OPERATIONS = (
    "a[i] + 1",
    "a[i] * a[i]",
    "sqrt(a[i])",
    "a[i] - 2 * a[i]",
    "a[i] / 3",
    "exp(a[i])",
    "sin(a[i])",
    "a[n-i]",
)
SIZES = (1 << 10, 1 << 14, 1 << 18, 1 << 22)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Eight kernels; the GPU takes 1 ms to start and is ten times as fast."""
    folder = tmp_path_factory.mktemp("times")
    rows = []
    for number, operation in enumerate(OPERATIONS):
        text = (
            f"__kernel void k{number}(__global float* a, int n) {{ int i = get_global_id(0); a[i] = {operation}; }}\n"
        )
        (folder / f"k{number}.cl").write_text(text)
        for size in SIZES:
            own = {"kernel_file": f"k{number}.cl", "kernel": f"k{number}", "global_size": size, "local_size": 64}
            work = size / 1e5 * (1 + number / 10)
            rows += [own | {"device": "CPU", "time_ms": work}, own | {"device": "GPU", "time_ms": 1 + work / 10}]
    write_times(folder / "times.csv", rows)
    return folder / "times.csv"


@pytest.fixture(scope="module")
def head(table):
    return ncc.train_devmap(tables=[table])


def test_times_of_a_like_kernel_are_near_those_measured(head, table):
    [answer] = ncc.predict_device(table.with_name("k1.cl"), global_size=1 << 20, wgsize=64, head=head)
    assert answer.device == "GPU"
    assert answer.familiar
    assert answer.distance is not None
    assert answer.distance < 0.1
    assert answer.nearest[0] == "k1.cl:k1"
    assert answer.times_ms is not None
    assert answer.times_ms["CPU"][0] == pytest.approx((1 << 20) / 1e5 * 1.1, rel=0.8)
    for value, low, high in answer.times_ms.values():
        assert low <= value <= high
    assert answer.times_ms["CPU"][0] / answer.times_ms["GPU"][0] == pytest.approx(answer.speedup_gpu_over_cpu)
    [small] = ncc.predict_device(table.with_name("k1.cl"), global_size=1 << 11, wgsize=64, head=head)
    assert small.device == "CPU"


def test_a_kernel_unlike_all_others_is_said_to_be_so(head):
    text = b"""__kernel void far(__global double* a, __local double* b, __global int* c, __global float* d, int n) {
      for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) { barrier(1); atomic_add(c, (int)(a[j * k] / b[k]));
        if (d[k] > sin(d[j])) b[j] = cos(b[k]) + pow(a[k], 3.0); } }"""
    from tests.rooms import CompileOptions

    options = CompileOptions(language="opencl")
    [answer] = ncc.predict_device(text, global_size=1 << 20, wgsize=64, head=head, options=options)
    assert not answer.familiar
    assert "no similar kernel was measured" in str(answer)
    # nothing from elsewhere was measured, so that odds are even until the interval leaves 1
    assert head.machine_model_errors.is_prior
    tried = dataclasses.replace(
        head, machine_model_errors=dataclasses.replace(head.machine_model_errors, is_prior=False)
    )
    assert answer.interval[0] > 1 and answer.confidence == 0.9
    guess, known = (
        ncc.predict_device(text, global_size=256, wgsize=64, head=one, options=options)[0] for one in (head, tried)
    )
    assert guess.interval == known.interval and guess.interval[0] < 1
    assert guess.confidence == pytest.approx(0.5, abs=1e-4)
    assert known.confidence > 0.6
    text = b"__kernel void k(__global float* a, int n) { int i = get_global_id(0); a[i] = a[i] + 2; }"
    [near] = ncc.predict_device(text, global_size=1 << 20, wgsize=64, head=head, options=options)
    assert near.interval[1] / near.interval[0] < answer.interval[1] / answer.interval[0]


def test_three_devices(table, tmp_path):
    text = table.read_text().splitlines()
    more = [line.replace(",GPU,", ",NPU,") for line in text if ",GPU," in line]
    (tmp_path / "t.csv").write_text("\n".join([text[0], *text[1:], *more]))
    for number in range(len(OPERATIONS)):
        (tmp_path / f"k{number}.cl").write_text(table.with_name(f"k{number}.cl").read_text())
    head = ncc.train_devmap(tables=[tmp_path / "t.csv"])
    [answer] = ncc.predict_device(tmp_path / "k1.cl", global_size=1 << 20, head=head)
    assert set(answer.times_ms or {}) == {"CPU", "GPU", "NPU"}


def test_bad_tables_and_models_are_refused(table):
    with refuses(InputError, "'times'", "gp, trees, lstm"):
        ncc.train_devmap(tables=[table], model="times")  # type: ignore[arg-type]
    text, bad = table.read_text(), table.with_name("bad.csv")
    bad.write_text(text.replace(",k1,", ",other,"))
    with refuses(DataError, "k1.cl", "'other'", "k1"):
        ncc.train_devmap(tables=[bad])
    bad.write_text("\n".join(line for line in text.splitlines() if not line.startswith("k7")))
    with refuses(InputError, "7 kernels", "8"):
        ncc.train_devmap(tables=[bad])
    bad.write_text(text.replace(",GPU,", ",NPU,"))
    with refuses(DataError, "CPU, NPU", "CPU, GPU"):
        ncc.train_devmap(tables=[table, bad])
