"""The frame: what methods see, what is kept and run again, what is refused, and what a comparison says."""

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from lab.tests.rooms import mean
from ncc.errors import InputError, NccError
from ncc_lab import Comparison, HoldOut, Method, Subset, Task, compare
from tests.support.refuses import refuses

try:
    import cloudpickle
except ImportError:  # before 1.6, joblib has it inside
    from joblib.externals import cloudpickle

HERE = sys.modules[__name__]
Split = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Numbers:
    """Rows with an input and an answer."""

    x: np.ndarray
    y: np.ndarray

    def __len__(self) -> int:
        return len(self.x)

    def without_answers(self, rows: np.ndarray) -> "Numbers":
        y = self.y.copy()
        y[rows] = np.nan
        return replace(self, y=y)


def level(
    slope: float = 1.0, name: str = "level", version: str = "1", log: Path | None = None, **more: Any
) -> Method[Numbers]:
    """Predicts the mean of the training answers plus a multiple of the input and a random number, and counts fits."""

    def predict(train: Subset[Numbers], test: Subset[Numbers], rng: np.random.Generator) -> np.ndarray:
        if log:
            with log.open("a") as file:
                file.write(f"{np.flatnonzero(np.isnan(train.table.y)).tolist()}\n")
        average = train.table.y[train.rows].mean() + rng.random()
        return np.asarray(average + slope * test.table.x[test.rows])

    return Method(name, "control", predict, slope, version, **more)


def thirds(num_rows: int = 12) -> tuple[Split, ...]:
    rows = np.arange(num_rows)
    return tuple((rows[rows % 3 != fold], rows[rows % 3 == fold]) for fold in range(3))


def terms(samples: Numbers, rows: np.ndarray, predicted: np.ndarray) -> dict[str, np.ndarray]:
    if (predicted[:, 0] > 1e6).any():
        raise InputError("expected small numbers")
    return {"error": np.abs(predicted[:, 0] - samples.y[rows]), "is_even": rows % 2 == 0}


def task_of(samples: Numbers, folds: tuple[Split, ...] | None = None, **more: Any) -> Task[Numbers]:
    splits = folds or thirds(len(samples))
    return Task(
        samples=samples,
        protocols={"thirds": HoldOut("every third row", lambda _seed: splits, "pair", np.arange(len(samples)) // 2)},
        terms=terms,
        widths=(1,),
        figures={"error": mean("error", "", 3), "unknown": mean("unknown")},
        perfect=samples.y[:, None],
        leaks={"pair": (np.arange(len(samples)) // 2).tolist(), "name": None},
        draws=50,
        **more,
    )


@pytest.fixture
def numbers() -> Numbers:
    rng = np.random.default_rng(0)
    return Numbers(rng.normal(size=12), rng.normal(size=12))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "fits.txt"


@pytest.fixture
def other_processes_know_this_module() -> Iterator[None]:
    cloudpickle.register_pickle_by_value(HERE)
    yield
    cloudpickle.unregister_pickle_by_value(HERE)


def run(samples: Numbers, *methods: Method[Numbers], seeds: tuple[int, ...] = (1,), **options: Any) -> Comparison:
    return compare(task_of(samples), methods or [level()], ["thirds"], seeds, **options)


def num_fits(log: Path) -> int:
    return len(log.read_text().splitlines()) if log.exists() else 0


def assert_equal(first: Comparison, again: Comparison) -> None:
    assert [one.method for one in first.results] == [one.method for one in again.results]
    for one, other in zip(first.results, again.results, strict=True):
        np.testing.assert_array_equal(one.predicted, other.predicted)


def test_predictions_stand_in_their_rows(numbers: Numbers) -> None:
    found = compare(task_of(numbers, thirds()[:2]), [level()], ["thirds"], (5, 7))
    (result,) = found.results
    for place, seed in enumerate((5, 7)):
        for fold, (train, test) in enumerate(thirds()[:2]):
            average = numbers.y[train].mean() + np.random.default_rng((seed, fold)).random()
            np.testing.assert_array_equal(result.predicted[place, test, 0], average + numbers.x[test])
    assert result.rows.tolist() == np.delete(np.arange(12), thirds()[2][1]).tolist()  # those of no fold are left out
    assert (result.method, result.protocol, result.seeds) == ("level", "thirds", (5, 7))
    assert result.seconds > 0


def test_answers_of_test_rows_are_hidden(numbers: Numbers, log: Path) -> None:
    run(numbers, level(log=log))
    assert log.read_text().splitlines() == [str(test.tolist()) for _, test in thirds()]


def test_slow_methods_are_run_from_fewer_seeds(numbers: Numbers) -> None:
    found = run(numbers, level(), level(name="slow", is_slow=True), seeds=(1, 2, 3), num_slow_seeds=2)
    assert [one.seeds for one in found.results] == [(1, 2, 3), (1, 2)]


def test_progress_tells_of_every_fold(numbers: Numbers, tmp_path: Path) -> None:
    for _ in range(2):  # run, then read from the cache
        lines: list[str] = []
        run(numbers, seeds=(1, 2), cache=tmp_path, progress=lines.append)
        assert lines[0] == "1 of 6: thirds, level, seed 1, fold 1"
        assert lines[-1] == "6 of 6: thirds, level, seed 2, fold 3"
        assert len(lines) == 6


@pytest.mark.usefixtures("other_processes_know_this_module")
def test_processes_give_what_one_gives_and_share_the_cache(numbers: Numbers, tmp_path: Path, log: Path) -> None:
    method = level(log=log)
    first = run(numbers, method, seeds=(1, 2), jobs=2, cache=tmp_path / "runs")
    assert num_fits(log) == len(list((tmp_path / "runs").iterdir())) == 6
    for jobs in (1, 2):
        assert_equal(first, run(numbers, method, seeds=(1, 2), jobs=jobs, cache=tmp_path / "runs"))
    assert num_fits(log) == 6
    assert_equal(first, run(numbers, method, seeds=(1, 2)))


FIRST, SECOND, THIRD = thirds()
CHANGES: dict[str, tuple[dict[str, Any], int]] = {
    "nothing": ({}, 0),
    "option": ({"slope": 1.5}, 3),
    "name": ({"name": "another"}, 3),
    "version": ({"version": "2"}, 3),
    "input": ({"x": 0.5}, 3),
    "answer": ({"y": 0.5}, 3),
    "seed": ({"seed": 2}, 3),
    "rows": ({"folds": (FIRST, (SECOND[0][1:], SECOND[1]), THIRD)}, 1),
    "place": ({"folds": (FIRST, THIRD, SECOND)}, 2),  # a fold's random numbers depend on it
}
"""What is changed → how, and how many folds of three are computed again."""


@pytest.mark.parametrize("what", CHANGES)
def test_only_what_a_result_depends_on_is_computed_again(
    numbers: Numbers, tmp_path: Path, log: Path, what: str
) -> None:
    options, computed = CHANGES[what]
    changes = dict(options)
    seeds, folds = (changes.pop("seed", 1),), changes.pop("folds", thirds())
    samples = Numbers(numbers.x.copy(), numbers.y.copy())
    samples.x[7], samples.y[7] = changes.pop("x", numbers.x[7]), changes.pop("y", numbers.y[7])
    run(numbers, level(log=log), cache=tmp_path / "runs")
    task, method = task_of(samples, folds), level(log=log, **changes)
    again = compare(task, [method], ["thirds"], seeds, cache=tmp_path / "runs")
    assert num_fits(log) == 3 + computed
    assert_equal(again, compare(task, [method], ["thirds"], seeds))


@pytest.mark.parametrize("damage", ["truncated", "empty", "rubbish", "flipped", "other rows", "not finite", "another"])
def test_damaged_results_are_computed_again(numbers: Numbers, tmp_path: Path, log: Path, damage: str) -> None:
    cache = tmp_path / "runs"
    first = run(numbers, level(log=log), cache=cache)
    file = min(cache.iterdir())
    whole = file.read_bytes()
    middle = len(whole) // 4  # inside the predictions
    if damage in ("other rows", "not finite", "another"):
        predicted = np.zeros((5 if damage == "other rows" else 4, 1))
        predicted[0] = np.nan if damage == "not finite" else 0
        arrays: dict[str, Any] = {"else" if damage == "another" else "predicted": predicted, "seconds": 1.0}
        np.savez(file, **arrays)
    else:
        file.write_bytes(
            {
                "truncated": whole[: len(whole) // 2],
                "empty": b"",
                "rubbish": bytes(range(256)),
                "flipped": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
            }[damage]
        )
    for _ in range(2):
        assert_equal(first, run(numbers, level(log=log), cache=cache))
        assert num_fits(log) == 4  # it was mended


def test_a_run_that_was_stopped_goes_on_where_it_was(numbers: Numbers, tmp_path: Path, log: Path) -> None:
    def stop(line: str) -> None:
        if line.startswith("5 of 6"):
            raise KeyboardInterrupt

    method, cache = level(log=log), tmp_path / "runs"
    with pytest.raises(KeyboardInterrupt):
        run(numbers, method, seeds=(1, 2), cache=cache, progress=stop)
    kept = len(list(cache.glob("*.npz")))
    assert 4 <= kept <= num_fits(log) <= 5
    log.unlink()
    resumed = run(numbers, method, seeds=(1, 2), cache=cache)
    assert num_fits(log) == 6 - kept
    assert_equal(resumed, run(numbers, level(), seeds=(1, 2)))


def wrong(answer: Callable[[int, int], Any]) -> Method[Numbers]:
    """Returns what a function makes of the number of test rows and the fold."""
    return Method("wrong", "control", lambda _train, test, _rng: np.asarray(answer(len(test), int(test.rows[0]))))


@pytest.mark.parametrize(
    ("answer", "nouns"),
    [
        (lambda n, fold: np.full(n, np.nan if fold == 1 else 0), ("fold 1", "4 not finite")),
        (lambda n, fold: np.full((n, 3), [0, np.inf, 0]), ("fold 0", "(4, 3)")),
        (lambda n, fold: np.zeros(n - 1), ("fold 0", "4 rows", "(3,)")),
        (lambda n, fold: np.zeros((n, 2, 2)), ("fold 0", "(4, 2, 2)")),
        (lambda n, fold: np.zeros((n, 1 + fold)), ("thirds", "[1, 2, 3]")),
        (lambda n, fold: np.full(n, 1e7), ("small numbers",)),
    ],
)
def test_unusable_answers_are_refused(numbers: Numbers, answer: Any, nouns: tuple[str, ...]) -> None:
    with refuses(InputError, "wrong", *nouns):
        run(numbers, wrong(answer))


@pytest.mark.usefixtures("other_processes_know_this_module")
def test_errors_and_deaths_of_other_processes_are_raised_here(numbers: Numbers) -> None:
    with refuses(InputError, "wrong", "fold", "4 rows"):
        run(numbers, wrong(lambda n, fold: np.full(n, np.nan)), jobs=2)
    with refuses(NccError, "process", "jobs"):
        run(numbers, wrong(lambda n, fold: os.kill(os.getpid(), signal.SIGKILL)), jobs=2)


def test_a_fold_has_one_thread(numbers: Numbers) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        found = run(numbers, wrong(lambda n, fold: np.full(n, torch.get_num_threads())))
        assert set(found.results[0].predicted[0, :, 0]) == {1}
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_no_jobs_and_no_seeds_are_refused(numbers: Numbers) -> None:
    with refuses(InputError, "jobs", "0"):
        run(numbers, jobs=0)
    with refuses(InputError, "seed"):
        run(numbers, seeds=())


HOSTILE = "IR2Vec <script>alert('1')</script> & \"$\\frac{x\" \x00"


@pytest.fixture
def found(numbers: Numbers) -> Comparison:
    worse = level(3.0, HOSTILE)
    return compare(task_of(numbers, part="is_even"), [level(), worse], ["thirds"], (1, 2))


def test_rows_are_tidy(found: Comparison) -> None:
    assert len(found.rows) == 2 * 2 * 12
    assert list(found.rows.columns) == ["platform", "protocol", "method", "kind", "seed", "row", "error", "is_even"]
    errors = found.rows[found.rows.method == "level"].groupby("seed").error.mean()
    assert found.value("level", "error") == pytest.approx(errors.mean())


def test_scores_hold_every_figure_of_every_part(found: Comparison, numbers: Numbers) -> None:
    scores = found.scores[found.scores.figure == "error"].set_index(["method", "part"])
    (result, _) = found.results
    even = [terms["error"][::2].mean() for terms in result.terms]
    assert scores.loc[("level", "True"), "value"] == pytest.approx(np.mean(even))
    assert (scores.low <= scores.value).all()
    assert (scores.value <= scores.high).all()
    assert np.isnan(found.scores[found.scores.figure == "unknown"].value).all()


def test_json_has_values_intervals_and_every_seed(found: Comparison) -> None:
    (entry,) = json.loads(json.dumps(found.to_dict(), allow_nan=False))["protocols"].values()
    assert (entry["interval_unit"], entry["num_groups"]) == ("pair", 6)
    assert entry["oracle"] == {"error": 0}
    ours = entry["methods"]["level"]
    assert ours["error"] == found.value("level", "error") == pytest.approx(np.mean(ours["per_seed"]["error"]))
    assert ours["unknown"] is None
    assert ours["intervals"]["error"][0] < ours["error"] < ours["intervals"]["error"][1]
    assert set(ours["by_is_even"]) == {"True", "False"}
    assert (ours["num_samples"], ours["seeds"]) == (12, [1, 2])


def test_the_audit_counts_test_rows_with_a_twin_in_training(found: Comparison) -> None:
    (leak,) = found.leakage.to_dict("records")
    assert (leak["num_folds"], leak["num_test_rows"], leak["shared_pair"]) == (3, 12, 12)
    assert leak["shared_name"] is None
    assert "100.0%" in found.to_text().split("\n")[-1]


def test_a_card_gets_ours_or_all_if_none_is_ours(found: Comparison) -> None:
    assert list(found.to_card()["thirds"]) == ["level", HOSTILE]
    mine = Comparison((*found.results[1:], replace(found.results[0], kind="ours")), found.leakage)
    assert list(mine.to_card()["thirds"]) == ["level"]


def test_text_is_plain_and_marks_the_best(found: Comparison) -> None:
    lines = found.to_text().split("\n")
    assert lines[0] == "thirds: every third row; 12 rows, intervals over pairs"
    assert lines[1].split()[:2] == ["kind", "error"]
    assert sum("★" in line for line in lines) == 1
    assert "\x00" not in found.to_text()
    assert any(line.startswith("perfect choice") for line in lines)
