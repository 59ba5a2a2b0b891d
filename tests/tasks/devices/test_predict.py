"""`predict_device` with the heads that ship: every kernel of a file, what of it counts, and what is refused."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ncc
from ncc.errors import AssetError, InputError
from tests.rooms import PLATFORMS, CompileOptions, TimesHead, kernel_features, load_device_head, predict_device

TESTS = Path(__file__).parents[2]
IR = TESTS / "data" / "ir"
SOURCES = TESTS / "ir" / "frontend" / "sources"
KERNELS = TESTS / "samples" / "two_kernels.cl"


@pytest.fixture(autouse=True)
def _bundled_clang(monkeypatch):
    monkeypatch.delenv("NCC_CLANG", raising=False)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("given", [{}, {"transfer_bytes": 1e6}, {"wgsize": 64}, {"transfer_bytes": 0, "wgsize": 1}])
def test_every_kernel_gets_an_answer_that_does_not_contradict_itself(platform, given):
    answers = predict_device(KERNELS, platform=platform, **given)
    assert [answer.kernel for answer in answers] == ["scale", "fill"]
    for answer in answers:
        assert 0.5 <= answer.confidence < 1
        low, high = answer.interval
        assert 0 < low <= answer.speedup_gpu_over_cpu <= high < np.inf
        assert low < high
        assert answer.device == ("GPU" if answer.speedup_gpu_over_cpu > 1 else "CPU")
        found = answer.platform, answer.transfer_bytes, answer.wgsize
        assert found == (platform, given.get("transfer_bytes"), given.get("wgsize"))
        assert 0 <= answer.unknown_rate <= 1
        assert set(answer.to_dict()) == {*answer.__dataclass_fields__, "demangled", "verdict", "probabilities"}
        _is_consistent(answer)
        assert json.loads(json.dumps(answer.to_dict()))["interval"] == list(answer.interval)


def _is_consistent(answer):
    """Ratio, interval, confidence, verdict and text say the same."""
    low, high = answer.interval
    assert sum(answer.probabilities.values()) == pytest.approx(1)
    assert answer.probabilities[answer.device] == answer.confidence == max(answer.probabilities.values())
    if answer.crossovers is not None:
        beginning = (
            f"{answer.decided_ranges[0][0]} from "
            if answer.decided_ranges
            else "undecided at every size from 1 KiB to 4 GiB; "
        )
        everywhere = [(answer.decided_ranges[0][0], 2.0**10, 2.0**32)] if answer.decided_ranges else []
        leaning = f"leaning {answer.fastest_at_smallest}"
        assert (leaning in str(answer)) == (list(answer.decided_ranges) != everywhere or not everywhere)
    elif low < 1 < high:
        beginning = f"undecided (CPU {answer.probabilities['CPU']:.0%} GPU {answer.probabilities['GPU']:.0%})"
    else:
        beginning = f"{answer.device} (confidence {answer.confidence:.0%})"
    far = f"nothing like it was measured (nearest: {answer.nearest[0]}), so measure it; "
    assert (far in str(answer)) == (not answer.familiar)
    assert str(answer).startswith(beginning)
    assert answer.verdict == ("undecided" if low < 1 < high else "GPU" if low >= 1 else "CPU")
    if answer.crossovers is None:
        assert f"80 % interval {low:.2f}x to {high:.2f}x" in str(answer)
    assert (answer.crossovers is None) == bool(answer.assumptions)


def test_an_answer_whose_interval_includes_1_is_undecided():
    verdicts = set()
    for platform in PLATFORMS:
        for transfer_bytes in np.geomspace(1e3, 1e9, 7):
            for answer in predict_device(KERNELS, platform=platform, transfer_bytes=transfer_bytes):
                _is_consistent(answer)
                verdicts.add(answer.verdict)
    assert "undecided" in verdicts
    assert len(verdicts) > 1
    answer = replace(
        answer, times_ms=None, familiar=True, assumptions={"global_size": 4096.0, "integer_arguments": 64.0}
    )
    sure = replace(answer, device="GPU", confidence=0.96, speedup_gpu_over_cpu=3.0, interval=(1.5, 6.0))
    assert (sure.verdict, sure.probabilities["GPU"]) == ("GPU", 0.96)
    assert str(sure) == "GPU (confidence 96%); GPU over CPU 3.00x, 80 % interval 1.50x to 6.00x" + (
        "; assuming 4,096 work-items and integer arguments of 64"
    )
    close = replace(sure, confidence=0.5, speedup_gpu_over_cpu=1.2, interval=(0.5, 6.0))
    assert str(close) == "undecided (CPU 50% GPU 50%); GPU over CPU 1.20x, 80 % interval 0.50x to 6.00x" + (
        "; assuming 4,096 work-items and integer arguments of 64"
    )
    _is_consistent(sure)


def test_a_kernel_is_its_own_statements_and_those_that_it_calls():
    options = CompileOptions(optimization="0")  # nothing is inlined
    scale, fill = predict_device(KERNELS, options=options)
    module = ncc.embed(KERNELS, options=options).module
    size = dict(zip(module.function_names, np.diff(module.function_start).tolist(), strict=True))
    # clang 22 puts a kernel's body into a function of its own, which the kernel calls
    assert scale.num_statements == size["scale"] + size.get("__clang_ocl_kern_imp_scale", 0) + size["twice"]
    assert fill.num_statements == size["fill"] + size.get("__clang_ocl_kern_imp_fill", 0)
    assert scale.num_statements + fill.num_statements == sum(size.values())


@pytest.mark.parametrize("given", [(1e5, 128.0, None), (1e5, None, 4096.0)])
def test_an_answer_is_the_heads_about_the_kernel(given):
    source = SOURCES / "vector_add.cu"
    names = ("transfer_bytes", "wgsize", "global_size")
    (answer,) = predict_device(source, **dict(zip(names, given, strict=True)))
    embedded = ncc.embed(source)
    (kernel,) = np.flatnonzero(embedded.module.function_is_kernel).tolist()
    inputs = kernel_features(embedded.module, kernel, embedded.statements)
    head = load_device_head(platform="nvidia")
    assert isinstance(head, TimesHead)
    (expected,) = head.predict(inputs, np.array([[np.nan if one is None else one for one in given]]))
    assert (answer.speedup_gpu_over_cpu, answer.interval) == (expected.speedup_gpu_over_cpu, expected.interval)
    assert answer.times_ms == expected.times_ms
    assert (answer.distance, answer.familiar, answer.nearest) == (
        expected.distance,
        expected.familiar,
        expected.nearest,
    )
    assert (answer.device, answer.confidence) == (expected.device, expected.confidence)


DATA = TESTS.parent / "datasets"


@pytest.mark.parametrize("platform", PLATFORMS)
def test_kernels_that_everybody_knows_get_answers_that_everybody_expects(platform):
    def ask(name, transfer):
        return predict_device(DATA / name, transfer_bytes=transfer, wgsize=256, platform=platform)[0]

    product, serial = ask("samples/matmul.cl", 2**30), ask("kernels/serial_sum.cl", 2**24)
    assert product.device == "GPU"
    assert product.speedup_gpu_over_cpu > 3
    assert serial.device == "CPU"
    assert serial.speedup_gpu_over_cpu < 0.5
    assert ask("kernels/nbody.cl", 2**24).speedup_gpu_over_cpu > ask("kernels/spmv.cl", 2**24).speedup_gpu_over_cpu
    times = [ask("samples/matmul.cl", 2.0**power).times_ms or {} for power in (18, 24, 30)]
    for device in ("CPU", "GPU"):
        assert times[0][device][0] < times[1][device][0] < times[2][device][0]


def test_a_head_of_ones_own_is_asked():
    head = load_device_head(platform="amd")
    (theirs, _), (ours, _) = predict_device(KERNELS), predict_device(KERNELS, head=head)
    assert ours != theirs
    assert ours == predict_device(KERNELS, platform="amd")[0]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_sizes_matter(platform):
    answers = [
        predict_device(KERNELS, transfer_bytes=transfer, wgsize=wgsize, platform=platform)[0].speedup_gpu_over_cpu
        for transfer, wgsize in ((1e4, 64), (1e8, 64), (1e8, 256))
    ]
    assert abs(np.log(answers[0] / answers[1])) > 0.1
    assert answers[1] != answers[2]


@pytest.mark.parametrize("name", ["saxpy.clang14.ll", "saxpy.clang16-typed.ll"])
def test_old_ir_with_a_kernel_is_answered(name):
    assert {answer.kernel for answer in predict_device(IR / name)} >= {"saxpy"}


def test_debug_information_changes_no_answer():
    options = CompileOptions(debug_lines=True)
    assert predict_device(KERNELS, options=options) == predict_device(KERNELS)


def test_a_file_without_a_kernel_is_refused():
    with pytest.raises(InputError, match=r"dot\.c: no kernel among its 2 function.*__kernel .OpenCL. or __global__"):
        predict_device(SOURCES / "dot.c")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"transfer_bytes": -1.0}, r"transfer is -1 bytes; expected 0 to 1e\+15"),
        ({"transfer_bytes": np.inf}, "transfer is inf bytes"),
        ({"transfer_bytes": 1e30}, r"transfer is 1e\+30 bytes"),
        ({"wgsize": float("nan")}, "wgsize is nan work-items; expected a whole number from 1 to 65536"),
        ({"wgsize": 0}, "wgsize is 0 work-items"),
        ({"wgsize": 1.5}, "wgsize is 1.5 work-items"),
        ({"wgsize": 1e6}, r"wgsize is 1e\+06 work-items"),
    ],
)
def test_inputs_that_can_not_be_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        predict_device(KERNELS, **given)


def test_a_head_of_another_embedding_is_refused():
    head = replace(load_device_head(platform="nvidia"), embedding_id="cafe")
    with pytest.raises(AssetError, match=r"was trained on embedding cafe, but .* train the head again"):
        predict_device(KERNELS, head=head)


@pytest.mark.parametrize("ask", [predict_device, ncc.predict_device_curve, ncc.explain_device])
@pytest.mark.parametrize("with_head", [True, False])
def test_an_unknown_platform_is_refused(ask, with_head):
    head = load_device_head(platform="nvidia") if with_head else None
    message = ", but the head was trained on 'nvidia'" if with_head else "; expected one of amd, nvidia"
    with pytest.raises(InputError, match=f"platform is 'intel'{message}"):
        ask(KERNELS, platform="intel", head=head)


def test_a_head_is_read_once():
    assert load_device_head(platform="amd") is load_device_head(platform="amd")
    with pytest.raises(InputError, match="platform is 'intel'"):
        load_device_head(platform="intel")
