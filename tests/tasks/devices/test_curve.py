"""Curves of predictions: over sizes of data, where they cross 1, and pictures of them."""

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import ncc
from ncc.errors import InputError
from tests.rooms import PLATFORMS, format_bytes, load_device_head
from tests.support.refuses import refuses

KERNELS = Path(__file__).parents[2] / "samples" / "two_kernels.cl"
SVG = "{http://www.w3.org/2000/svg}"
LEFT, RIGHT, HEIGHT = 60, 624, 240
"""Of the frame, in pixels."""


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


def test_a_picture_shows_the_curve_its_crossovers_and_what_training_saw(curves):
    for curve in curves:
        picture = Picture(curve)
        assert len(picture.paths("expected")) == 1
        assert picture.ratios("expected") == pytest.approx(curve.speedup_gpu_over_cpu, rel=0.02)
        decided = [size for path in picture.paths("decided") for size, _ in picture.points(path)]
        assert decided == pytest.approx(curve.transfer_bytes[curve.is_decided], rel=0.02)
        ends = np.concatenate([curve.high, curve.low[::-1]])
        assert picture.ratios("gpu") == pytest.approx(ends, rel=0.02)
        dashed = [picture.points(path)[0][0] for path in picture.paths("cpu")]
        assert dashed == pytest.approx(curve.crossovers, rel=0.02)
        assert curve.kernel in picture.texts
        assert {format_bytes(size) for size in curve.crossovers} <= set(picture.texts.split("\n"))
        # training saw the smallest sizes that are drawn, but not the largest
        (grey,) = picture.root.iterfind(f".//{SVG}rect")
        start = float(grey.attrib["x"])
        assert picture.size(start) == pytest.approx(curve.seen[1], rel=0.02)
        assert start + float(grey.attrib["width"]) == pytest.approx(RIGHT)


class Picture:
    """A curve's picture, and where its paths lie on the axes."""

    def __init__(self, curve: ncc.DeviceCurve) -> None:
        self.curve, self.root = curve, ElementTree.fromstring(curve.to_svg())
        self.texts = "\n".join(element.text or "" for element in self.root.iter(f"{SVG}text"))

    def paths(self, name: str) -> list[str]:
        return [path.attrib["d"] for path in self.root.iter(f"{SVG}path") if path.attrib["class"] == name]

    def size(self, x: float) -> float:
        smallest, largest = self.curve.transfer_bytes[[0, -1]]
        return smallest * (largest / smallest) ** ((x - LEFT) / (RIGHT - LEFT))

    def points(self, path: str) -> list[tuple[float, float]]:
        """Sizes and ratios of a path, or of where it starts if it goes straight down."""
        bottom, top = min(self.curve.low.min(), 0.5), max(self.curve.high.max(), 2)
        pairs = [pair.split() for pair in path.strip("MZ").partition("V")[0].split("L")]
        return [(self.size(float(x)), bottom * (top / bottom) ** (1 - float(y) / HEIGHT)) for x, y in pairs]

    def ratios(self, name: str) -> list[float]:
        return [ratio for path in self.paths(name) for _, ratio in self.points(path)]


def test_a_kernel_named_by_anything_is_drawn():
    source = b"__kernel void cost_$x(__global int *y) { y[get_global_id(0)] = 7; }\n"
    curve = ncc.predict_device(source, language="opencl")[0].curve([1.0, 2.0])
    assert curve.seen[0] > 2
    text = replace(curve, kernel="cost_$x^{$ \\frac --> \x1b[31m\u202e\n<b>").to_svg()
    assert all(line.isprintable() for line in text.splitlines())
    ElementTree.fromstring(text)
