"""Measuring any method of device mapping: folds, hidden answers, intervals, and what is refused."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np
import pytest

from lab.tests.rooms import DEVICES_PROTOCOLS as PROTOCOLS
from lab.tests.rooms import Bootstrap, Constant, DeviceMapping, MajorityDevice, evaluate, fold_seed, learned_controls
from lab.tests.rooms import devices_splits as splits
from ncc.errors import InputError
from tests.rooms import DeviceMappingSamples

SMALL = 20
FEW = Bootstrap(num_resamples=50)
Published = Callable[[str], DeviceMappingSamples]


class Cheat:
    """Reads the answers of the rows that it is tested on."""

    name, slow, version, identity = "cheat", False, "1", ()
    kind: Final = "control"

    def fit(self, samples: DeviceMappingSamples, train_idx: np.ndarray, rng: np.random.Generator) -> None:
        pass

    def predict(self, samples: DeviceMappingSamples, test_idx: np.ndarray) -> np.ndarray:
        return np.where(samples.is_gpu[test_idx], 1.0, -1.0)


class Recorder(Constant):
    """Remembers the rows and random numbers that it was given."""

    def __init__(self) -> None:
        super().__init__("always GPU", [1.0])
        self.seen: list[tuple[int, float]] = []

    def fit(self, samples: DeviceMappingSamples, train_idx: np.ndarray, rng: np.random.Generator) -> None:
        assert np.isfinite(samples.log_ratio[train_idx]).all()
        assert np.isnan(samples.log_ratio).sum() == len(samples) - len(train_idx)
        self.seen.append((len(train_idx), rng.random()))


def test_peeking_does_not_pay(toy: DeviceMappingSamples) -> None:
    score = evaluate(DeviceMapping(toy), Cheat(), "suite", bootstrap=FEW)
    assert score.metrics.accuracy.value == pytest.approx(1 - toy.is_gpu.mean())  # all it sees is "CPU"

    class Greedy(Cheat):
        def predict(self, samples: DeviceMappingSamples, test_idx: np.ndarray) -> np.ndarray:
            return np.asarray(samples.log_ratio[test_idx])

    with pytest.raises(InputError, match=r"method 'cheat', fold 0: expected finite .* 8 rows, .* 8 not finite"):
        evaluate(DeviceMapping(toy), Greedy(), "suite", bootstrap=FEW)


def test_score_tells_how_it_was_made(toy: DeviceMappingSamples) -> None:
    method = Recorder()
    score = evaluate(DeviceMapping(toy), method, "suite", (1, 2), bootstrap=FEW)
    assert (score.method, score.protocol, score.platform) == ("always GPU", "suite", "toy")
    assert (score.seeds, score.num_samples, score.interval_unit, score.num_groups) == ((1, 2), 24, "suite", 3)
    assert score.metrics.static_choice == "CPU"  # 12 of 24 rows: a tie
    assert score.predicted.shape == (2, 24, 1)
    assert score.oracle.accuracy.value == 1
    assert score.oracle.geomean_speedup.value == pytest.approx(np.exp(0.35))
    assert [rows for rows, _ in method.seen] == [16] * 6
    assert len({number for _, number in method.seen}) == 6  # each seed and fold has its own
    assert score.seconds > 0


def test_undecided_means_cpu(toy: DeviceMappingSamples) -> None:
    class Undecided(Cheat):
        def predict(self, samples: DeviceMappingSamples, test_idx: np.ndarray) -> np.ndarray:
            return np.zeros(len(test_idx))

    score = evaluate(DeviceMapping(toy), Undecided(), "suite", bootstrap=FEW)
    assert score.metrics.geomean_speedup.value == 1  # over the CPU, the toy's static choice
    assert score.metrics.accuracy.value == 1 - toy.is_gpu.mean()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_folds_of_groups_come_from_the_seed_and_others_are_fixed(toy: DeviceMappingSamples, protocol: str) -> None:
    seen: list[list[int]] = []

    class Folds(Cheat):
        def fit(self, samples: DeviceMappingSamples, train_idx: np.ndarray, rng: np.random.Generator) -> None:
            seen.append(train_idx.tolist())

    ten = dataclasses.replace(toy, application=toy.benchmark)  # the toy's applications are too few for ten folds
    evaluate(DeviceMapping(ten), Folds(), protocol, (1, 2), bootstrap=FEW)
    first, second = seen[: len(seen) // 2], seen[len(seen) // 2 :]
    fixed = protocol in ("published", "suite")
    assert (first == second) == fixed
    assert first == [train.tolist() for train, _ in splits(ten, protocol, 204 if fixed else 1)]
    assert fold_seed(protocol, 7) == (204 if fixed else 7)


class Oracle(Cheat):
    """Knows every answer, and puts it into an interval of some width, and a probability where asked."""

    name = "oracle"

    def __init__(self, samples: DeviceMappingSamples, *columns: float) -> None:
        self.answers, self.columns = samples.log_ratio, columns

    def predict(self, samples: DeviceMappingSamples, test_idx: np.ndarray) -> np.ndarray:
        truth = self.answers[test_idx, None] + np.zeros(1 + len(self.columns))
        truth[:, 1:3] += self.columns[:2]
        truth[:, 3:] = self.columns[2:]
        return truth


def test_intervals_are_measured_where_there_are_any(toy: DeviceMappingSamples) -> None:
    for columns in ((), (-0.1, 0.1), (-0.1, 0.1, 0.5)):
        score = evaluate(DeviceMapping(toy), Oracle(toy, *columns), "suite", (1, 2), bootstrap=FEW)
        assert score.metrics.accuracy.value == 1
        assert score.predicted.shape == (2, 24, 1 + len(columns))
        assert np.array_equal(score.predicted[:, :, 0], np.stack([toy.log_ratio] * 2))
        assert (score.metrics.coverage.value if score.metrics.coverage else None) == (1 if columns else None)
    low_half = dataclasses.replace(toy, log_ratio=toy.log_ratio + np.where(np.arange(24) % 4 == 0, 0.5, 0))
    covered = evaluate(DeviceMapping(low_half), Oracle(toy, -0.1, 0.1), "suite", bootstrap=FEW).metrics.coverage
    assert covered is not None
    assert covered.value == 0.75


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ((0.1,), r"expected 1 or 3 or 4 numbers for each row, found \[2\]"),
        ((-1, 1, 0.5, 0.5), r"expected 1 or 3 or 4 numbers for each row, found \[5\]"),
        ((0.1, 0.2), "the median is outside its interval in 24 predictions"),
        ((-0.1, -0.05), "the median is outside its interval in 24 predictions"),
        ((-0.1, 0.1, 1.5), "expected probabilities between 0 and 1"),
    ],
)
def test_unusable_predictions_are_refused(toy: DeviceMappingSamples, columns: tuple[float, ...], message: str) -> None:
    with pytest.raises(InputError, match=f"method 'oracle': {message}"):
        evaluate(DeviceMapping(toy), Oracle(toy, *columns), "suite", bootstrap=FEW)


def test_evaluation_is_kept(toy: DeviceMappingSamples, tmp_path: Path) -> None:
    lines: list[str] = []
    first, again = (
        evaluate(
            DeviceMapping(toy),
            learned_controls("label", SMALL)[0],
            "suite",
            bootstrap=FEW,
            cache=tmp_path,
            progress=lines.append,
        )
        for _ in range(2)
    )
    assert len(list(tmp_path.iterdir())) == 3
    assert len(lines) == 6
    assert np.array_equal(first.predicted, again.predicted)
    assert first.seconds == again.seconds > 0


def test_no_seeds_or_a_wrong_shape_is_refused(toy: DeviceMappingSamples) -> None:
    with pytest.raises(InputError, match="at least one seed"):
        evaluate(DeviceMapping(toy), MajorityDevice(), "suite", ())

    class Short(Cheat):
        def predict(self, samples: DeviceMappingSamples, test_idx: np.ndarray) -> np.ndarray:
            return np.zeros(len(test_idx) - 1)

    with pytest.raises(InputError, match=r"expected finite numbers for 8 rows, found shape \(7,\)"):
        evaluate(DeviceMapping(toy), Short(), "suite")


@pytest.mark.parametrize(("platform", "majority", "auxiliary"), [("amd", 58.8, 88.5), ("nvidia", 56.9, 81.0)])
def test_published_figures(published: Published, platform: str, majority: float, auxiliary: float) -> None:
    samples = published(platform)
    score = evaluate(DeviceMapping(samples), MajorityDevice(), "published", bootstrap=FEW)
    assert round(100 * score.metrics.accuracy.value, 1) == majority
    assert score.metrics.geomean_speedup.value == 1
    trees = 40
    by_protocol: dict[str, float] = {
        protocol: 100
        * evaluate(
            DeviceMapping(samples), learned_controls("label", trees)[0], protocol, bootstrap=FEW
        ).metrics.accuracy.value
        for protocol in PROTOCOLS
    }
    assert by_protocol["published"] == pytest.approx(auxiliary, abs=2)
    # What rows of the same kernels or applications give away is gone once a whole suite is left out.
    assert by_protocol["published"] > by_protocol["application"] + 8 > by_protocol["suite"]
