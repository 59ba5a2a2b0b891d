"""Curves of predictions: over sizes of data, where they cross 1, and plots of them."""

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

import ncc
from ncc.errors import InputError, OutputError
from tests.rooms import PLATFORMS, load_device_head
from tests.support.refuses import refuses

KERNELS = Path(__file__).parents[2] / "samples" / "two_kernels.cl"


@pytest.fixture(scope="module")
def curves():
    return [answer.curve() for answer in ncc.predict_device(KERNELS, wgsize=64)]


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("wgsize", [None, 128])
def test_a_curve_is_what_is_predicted_at_each_size(platform, wgsize):
    sizes = [1e4, 1e6, 1e8]
    curves = [answer.curve(sizes) for answer in ncc.predict_device(KERNELS, wgsize=wgsize, platform=platform)]
    assert [(curve.kernel, curve.platform, curve.wgsize) for curve in curves] == [
        ("scale", platform, wgsize),
        ("fill", platform, wgsize),
    ]
    for index, size in enumerate(sizes):
        answers = ncc.predict_device(KERNELS, transfer=size, wgsize=wgsize, platform=platform)
        for curve, answer in zip(curves, answers, strict=True):
            assert curve.speedup_gpu_over_cpu[index] == pytest.approx(answer.speedup_gpu_over_cpu)
            assert (curve.low[index], curve.high[index]) == pytest.approx(answer.interval)


def test_a_curve_is_plain_data_over_ascending_sizes(curves):
    for curve in curves:
        sizes = curve.transfer_bytes
        assert (sizes[0], sizes[-1]) == pytest.approx((2**10, 2**32))
        assert (np.diff(sizes) > 0).all()
        assert (curve.low <= curve.speedup_gpu_over_cpu).all()
        assert (curve.speedup_gpu_over_cpu <= curve.high).all()
        assert np.array_equal(curve.is_decided, (curve.low > 1) | (curve.high < 1))
        assert curve.seen == load_device_head(platform="nvidia").transfer_range
        values = json.loads(json.dumps(curve.to_dict()))
        assert set(values) == {*ncc.DeviceCurve.__dataclass_fields__, "crossovers", "is_decided"}
        assert values["transfer_bytes"] == sizes.tolist()


def test_it_crosses_where_the_speedup_passes_1():
    num_crossovers = 0
    for platform in PLATFORMS:
        for prediction in ncc.predict_device(KERNELS, platform=platform, wgsize=64):
            curve = prediction.curve()
            assert curve.crossovers == prediction.crossovers
            is_gpu = curve.speedup_gpu_over_cpu > 1
            turns = np.flatnonzero(is_gpu[:-1] != is_gpu[1:])
            for size, turn in zip(curve.crossovers, turns.tolist(), strict=True):
                assert curve.transfer_bytes[turn] <= size <= curve.transfer_bytes[turn + 1]
                # asked at the crossover itself, neither device is the faster one by much; trees answer in steps
                answers = ncc.predict_device(KERNELS, transfer=size, platform=platform, wgsize=64)
                (answer,) = (each for each in answers if each.kernel == curve.kernel)
                assert answer.speedup_gpu_over_cpu == pytest.approx(1, abs=0.15)
                num_crossovers += 1
    assert num_crossovers > 0


@pytest.mark.parametrize(
    "sizes", [[], [1e5], [2.0, 1.0], [1.0, 1.0], [[1.0, 2.0]], [0.0, 1.0], [-2.0, 1.0], [1.0, np.nan], [np.nan, 1.0]]
)
def test_sizes_that_do_not_ascend_are_refused(sizes):
    with refuses(InputError, "transfer", "ascending"):
        ncc.predict_device(KERNELS)[0].curve(sizes)


def test_a_plot_shows_the_curve_its_crossovers_and_what_training_saw(curves):
    for curve in curves:
        axes = Figure().add_subplot()
        curve.plot(axes=axes)
        lines = {line.get_label(): line for line in axes.lines}
        assert np.array_equal(lines["expected, undecided"].get_ydata(), curve.speedup_gpu_over_cpu)
        assert np.array_equal(np.isfinite(lines["expected, decided"].get_ydata()), curve.is_decided)
        dashed = [np.asarray(line.get_xdata())[0] for line in axes.lines if line.get_linestyle() == "--"]
        assert dashed == list(curve.crossovers)
        assert curve.kernel in axes.get_title(loc="left")
        # training saw the smallest sizes that are drawn, but not the largest
        grey = [patch.get_extents().transformed(axes.transData.inverted()) for patch in axes.patches]
        assert [(box.x0, box.x1) for box in grey] == [pytest.approx((curve.seen[1], curve.transfer_bytes[-1]))]


def test_plots_that_can_not_be_are_refused(curves, tmp_path):
    with refuses(InputError, "plot", "axes"):
        curves[0].plot()
    with refuses(InputError, "plot", "axes"):
        curves[0].plot(tmp_path / "a.png", axes=Figure().add_subplot())
    for name in ("a.gif", "a", "a.PNG", "png"):
        with refuses(InputError, tmp_path / name, ".svg"):
            curves[0].plot(tmp_path / name)
    (tmp_path / "folder.png").mkdir()
    with refuses(OutputError, "folder.png"):
        curves[0].plot(tmp_path / "folder.png")


def test_a_kernel_named_by_anything_is_drawn(tmp_path):
    source = b"__kernel void cost_$x(__global int *y) { y[get_global_id(0)] = 7; }\n"
    curve = ncc.predict_device(source, language="opencl")[0].curve([1.0, 2.0])
    assert curve.seen[0] > 2
    replace(curve, kernel="cost_$x^{$ \\frac --> \x1b[31m\u202e\n<b>").plot(tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert all(line.isprintable() for line in text.splitlines())
    ElementTree.fromstring(text)
