"""`predict_device` with the heads that ship: every kernel of a file, what of it counts, and what is refused."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ncc
from ncc.errors import AssetError, InputError
from tests.rooms import PLATFORMS, CompileOptions, compile_source, load_device_head
from tests.support.refuses import refuses

TESTS = Path(__file__).parents[2]
SOURCES = TESTS / "ir" / "frontend" / "sources"
KERNELS = TESTS / "samples" / "two_kernels.cl"
DATASETS = TESTS.parent / "datasets"


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("given", [{}, {"transfer": 1e6}, {"wgsize": 64}, {"transfer": 0, "wgsize": 1}])
def test_every_kernel_gets_an_answer_that_does_not_contradict_itself(platform, given):
    answers = ncc.predict_device(KERNELS, platform=platform, **given)
    assert [answer.kernel for answer in answers] == ["scale", "fill"]
    for answer in answers:
        low, high = answer.interval
        assert 0 < low < high < np.inf
        assert low <= answer.speedup_gpu_over_cpu <= high
        assert answer.device == ("GPU" if answer.speedup_gpu_over_cpu > 1 else "CPU")
        assert answer.verdict == ("undecided" if low < 1 < high else answer.device)
        assert 0.5 <= answer.confidence == answer.probabilities[answer.device] < 1
        assert sum(answer.probabilities.values()) == pytest.approx(1)
        assert (answer.crossovers is None) == bool(answer.assumptions) == bool(answer.times_ms)
        assert answer.platform == platform
        assert json.loads(json.dumps(answer.to_dict()))["interval"] == list(answer.interval)


def test_an_answer_for_all_sizes_is_undecided_if_the_intervals_of_all_hold_1():
    (answer,) = ncc.predict_device(DATASETS / "kernels" / "nbody.cl")
    curve = answer.curve()
    assert curve.decided_ranges and not curve.is_same
    assert answer.interval == (curve.low.min(), curve.high.max())
    assert answer.verdict == str(answer).split()[0] == str(curve).split()[0] == "undecided"


def test_a_kernel_is_its_own_statements_and_those_that_it_calls():
    options = CompileOptions(optimization="0")  # nothing is inlined
    scale, fill = ncc.predict_device(KERNELS, options=options)
    module = ncc.embed(KERNELS, options=options).module
    size = dict(zip(module.function_names, np.diff(module.function_start).tolist(), strict=True))
    # clang 22 puts a kernel's body into a function of its own, which the kernel calls
    assert scale.num_statements == size["scale"] + size.get("__clang_ocl_kern_imp_scale", 0) + size["twice"]
    assert scale.num_statements + fill.num_statements == sum(size.values())


@pytest.mark.parametrize("platform", PLATFORMS)
def test_kernels_that_everybody_knows_get_answers_that_everybody_expects(platform):
    def ask(name, transfer):
        return ncc.predict_device(DATASETS / name, transfer=transfer, wgsize=256, platform=platform)[0]

    product, serial = ask("samples/matmul.cl", 2**30), ask("kernels/serial_sum.cl", 2**24)
    assert product.device == "GPU"
    assert product.speedup_gpu_over_cpu > 3
    assert serial.device == "CPU"
    assert serial.speedup_gpu_over_cpu < 0.5
    assert ask("kernels/nbody.cl", 2**24).speedup_gpu_over_cpu > ask("kernels/spmv.cl", 2**24).speedup_gpu_over_cpu
    times = [ask("samples/matmul.cl", 2.0**power).times_ms or {} for power in (18, 24, 30)]
    for device in ("CPU", "GPU"):
        assert times[0][device][0] < times[1][device][0] < times[2][device][0]


SIDES = {  # kernel → side length of its data if 16 MB are moved, half of them there: 8 MB of 4-byte elements
    "copy(global float* a, global float* b, int n) { int i = get_global_id(0); if (i < n) b[i] = a[i]; }": 1e6,
    "copy4(global float4* a, global float4* b, int n) { int i = get_global_id(0); if (i < n) b[i] = a[i]; }": 250e3,
    """rows(global float* a, global float* x, global float* y, int n) { int i = get_global_id(0); if (i >= n) return;
       float s = 0; for (int j = 0; j < n; j++) s += a[i * n + j] * x[j]; y[i] = s; }""": 2e6**0.5,
    """columns(global float* a, global float* y, int n) { int j = get_global_id(0); float s = 0;
       for (int i = 0; i < n; i++) s += a[i * n + j]; y[j] = s; }""": 2e6**0.5,
    """products(global float* a, global float* b, int n) { int i = get_global_id(0);
       for (int j = i; j < n; j++) { float s = 0; for (int k = 0; k < n; k++) s += a[k * n + i] * a[k * n + j];
       b[i * n + j] = s; } }""": 1e6**0.5,
    """layers(global float* a, global float* b, int n) { int i = get_global_id(0), j = get_global_id(1);
       for (int k = 0; k < n; k++) b[(k * n + j) * n + i] = a[(k * n + j) * n + i]; }""": 1e6 ** (1 / 3),
    "gather(global int* at, global float* a, int n) { int i = get_global_id(0); a[at[i]] += n; }": 1e6,
}


@pytest.mark.parametrize(("code", "side"), SIDES.items(), ids=[code.partition("(")[0] for code in SIDES])
def test_accesses_of_the_assumed_launch_stay_within_the_data(code, side, tmp_path):
    path = tmp_path / "kernel.cl"
    path.write_text(f"kernel void {code}")
    [answer] = ncc.predict_device(path, transfer=16e6)
    assert answer.assumptions["integer_arguments"] == pytest.approx(side, rel=0.05)
    dimensions = 2 if "get_global_id(1)" in code else 1
    assert answer.assumptions["global_size"] == pytest.approx(side**dimensions, rel=0.1)
    assert max(middle for middle, *_ in answer.times_ms.values()) < 1000  # at most 2 GFLOP
    [backwards] = ncc.predict_device(path, global_size=answer.assumptions["global_size"])
    assert backwards.assumptions["transfer_bytes"] == pytest.approx(16e6, rel=0.05)


def test_debug_information_changes_no_answer():
    ir = compile_source(KERNELS.read_bytes(), CompileOptions(language="opencl")).ir
    assert ncc.predict_device(ir) == ncc.predict_device(KERNELS)


def test_a_head_of_another_embedding_or_platform_is_refused():
    head = load_device_head(platform="nvidia")
    with refuses(InputError, "platform", "intel", "nvidia"):
        ncc.predict_device(KERNELS, platform="intel", head=head)
    with refuses(AssetError, "embedding cafe"):
        ncc.predict_device(KERNELS, head=replace(head, embedding_id="cafe"))


def test_a_long_text_is_asked_about_like_a_file():
    text = f"// {'x' * 5000}\n__kernel void k(__global float *a) {{ a[get_global_id(0)] *= 2; }}\n"
    (answer,) = ncc.predict_device(text, language="opencl")
    assert answer.kernel == "k"
