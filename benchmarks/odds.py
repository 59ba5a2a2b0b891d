"""Ways to be less sure of kernels from elsewhere: calibration errors on shifts that their constants were not chosen on.

NCC_DATA=FOLDER python benchmarks/odds.py -o benchmarks/results/odds.json

Heads of processes are asked about CLgen's kernels from the suites, the reverse, each suite held out, kernels of both
held out, and families of PoCL's kernels held out. A way's one constant is that of the least mean error on other shifts:
on PoCL's, or on those of the other machine.
"""

import argparse
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from scipy.stats import norm, t
from sklearn.cluster import KMeans

from ncc.arrays import Split
from ncc.kernels.measure.devices_table import LaunchTimes, read_times
from ncc.learning.embedding.embedding import load_embedding
from ncc.learning.heads.calibration_error import calibration_error
from ncc.learning.heads.folds import balanced_folds
from ncc.system.files.provenance import command_line, environment
from ncc.tasks.devices.columns import CODE, launch_columns, launch_physics
from ncc.tasks.devices.constants import own_constants
from ncc.tasks.devices.devices_head import sureness
from ncc.tasks.devices.devices_published import SOURCES, clgen_launches, combine, suite_launches
from ncc.tasks.devices.features import INTERVAL, KernelInputs
from ncc.tasks.devices.fit import LaunchSamples, Trial, fit_times, hold_out, owners
from ncc.tasks.devices.head import predict_targets
from ncc.tasks.devices.train import describe_launches

Array = NDArray[np.float64]
Launches = tuple[LaunchTimes, KernelInputs]

POCL = Path(__file__).with_name("results") / "pocl.parquet"
MACHINES = ("amd", "nvidia")
SHIFTS = ("clgen-to-suites", "suites-to-clgen", "suite")
POCL_SHIFTS = ("family", "cluster", "from one cluster")
_WIDTH = norm.ppf((1 + INTERVAL) / 2)
_PRIOR = np.log(10)


class Asked(NamedTuple):
    """What is known of n launches that were asked about, (n,) each."""

    ratio: Array
    shipped: Array
    sure: Array
    half: Array
    distance: Array
    far: NDArray[np.bool_]
    spread: Array
    between: Array
    model: Array
    physics: Array
    right: NDArray[np.bool_]

    @property
    def log_odds(self) -> Array:
        """Of the answer."""
        return np.asarray(logit(np.clip(self.sure, 0.5, 1 - 1e-6)))


class Way(NamedTuple):
    """Confidence from what is known and a constant, and the constants to choose from."""

    sure: Callable[[Asked, float], Array]
    constants: tuple[float, ...]


def _random_effects(asked: Asked, times: float) -> Array:
    variance = asked.spread**2 + np.where(asked.far, (times * asked.between) ** 2, 0)
    return np.asarray(norm.cdf(np.abs(asked.ratio) / np.sqrt(variance)))


def _pool(asked: Asked, share: float) -> Array:
    """Mean of the model's odds and the constants' of the machine, for the device that was answered."""
    both = (1 - share) * asked.model + share * asked.physics
    of_answer = np.where(asked.ratio > 0, both, 1 - both)
    return np.where(asked.far, np.maximum(of_answer, 0.5), asked.sure)


_DISTANCES = (0.1, 0.2, 0.5, 1, 2, 4, 8, 16, 1e9)
WAYS = {
    "without the rule": Way(lambda asked, _: asked.sure, (0,)),
    "even odds where nothing was seen to err": Way(lambda asked, _: asked.shipped, (0,)),
    "log odds by exp(-distance / c)": Way(lambda one, c: expit(one.log_odds * np.exp(-one.distance / c)), _DISTANCES),
    "log odds by 1 / (1 + (distance / c)^2)": Way(
        lambda one, c: expit(one.log_odds / (1 + (one.distance / c) ** 2)), _DISTANCES
    ),
    "Student's t of c degrees": Way(
        lambda one, c: t.cdf(np.abs(one.ratio) * t.ppf((1 + INTERVAL) / 2, c) / one.half, c), (1, 2, 3, 5, 30)
    ),
    "variance between suites, times c": Way(_random_effects, (0.5, 1, 2)),
    "pooled with the constants' odds, share c": Way(_pool, (0.25, 0.5, 0.75, 1)),
}


def ask(launches: Launches, splits: Iterable[Split], source: str | None, known: Mapping[str, Any]) -> Asked:
    """Asks heads about launches that they have not seen."""
    parts = [_ask(launches, *split, source, known) for split in splits]
    return Asked(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _ask(launches: Launches, train: Any, test: Any, source: str | None, known: Mapping[str, Any]) -> Asked:
    table, inputs = launches
    constants = own_constants(table.rows(train), inputs.rows(train), known.get("sources"))
    trained, tested = (LaunchSamples.of(table.rows(rows), inputs.rows(rows), constants) for rows in (train, test))
    trials = hold_out(trained, "gp", 204)
    of_all = dict.fromkeys(owners(trained.table, known.get("sources")), trials)
    head = fit_times(trained.table, inputs.rows(train), trials=of_all, **known)
    expert = head.experts[0]
    bare_far, bare_astray = (replace(errors, is_guess=False) for errors in (expert.far, head.astray))
    bare = replace(head, experts=(replace(expert, far=bare_far),), astray=bare_astray)
    shipped, answers = (each.predict(inputs.rows(test), tested.table.sizes, source) for each in (head, bare))
    ratio = np.array([one.log_ratio for one in answers])
    sure, rule = (
        np.array([max(one.probability_gpu, 1 - one.probability_gpu) for one in some]) for some in (answers, shipped)
    )
    distance = np.array([one.distance for one in answers])
    own = predict_targets(expert.model, tested.columns, tested.sequences)[:, 1] + tested.base[:, 1]
    physics = head.physics.targets(launch_physics(inputs.rows(test), tested.table.sizes))[:, 1]

    def errors(some: list[Trial]) -> list[Array]:
        return [trained.targets[one.rows, 1] - one.said[:, 1] for one in some]

    def odds(said: Array, of: Any) -> Array:
        high = np.array([float(sureness(one, of.ratio, of.sharpness)) for one in said.tolist()])
        return np.where(said > 0, high, 1 - high)

    spread = np.quantile(np.abs(np.concatenate(errors(trials.kernels))), INTERVAL) / _WIDTH
    offsets = [one.mean() for one in errors(trials.suites)]
    between = float(np.sqrt(np.mean(np.square(offsets)))) if len(offsets) > 3 else _PRIOR / _WIDTH
    return Asked(
        ratio=ratio,
        shipped=rule,
        sure=sure,
        half=np.array([max(abs(end - one.log_ratio) for end in one.interval) for one in answers]),
        distance=distance,
        far=distance > expert.familiar,
        spread=np.full(len(ratio), spread),
        between=np.full(len(ratio), between),
        model=odds(own, expert.near),
        physics=odds(physics, head.astray),
        right=(ratio > 0) == (tested.targets[:, 1] > 0),
    )


def ask_published(machine: str) -> dict[str, Asked]:
    """Shifts of one of the machines of the paper, and kernels held out."""
    embedding = load_embedding(None)
    known = {"sources": SOURCES, "whole": "clgen"}
    suites, clgen = suite_launches(machine, embedding), clgen_launches(machine, embedding)  # type: ignore[arg-type]
    both, table = combine(suites, clgen), suites[0]
    ours, others = np.arange(len(table)), np.arange(len(table), len(both[0]))
    by_suite = balanced_folds(table.suite, len(set(table.suite)), 204)
    return {
        "clgen-to-suites": ask(both, [(others, ours)], None, known),
        "suites-to-clgen": ask(both, [(ours, others)], None, known),
        "suite": ask(suites, by_suite, "suites", known),
        "kernel": ask(suites, balanced_folds(table.groups("kernel"), 10, 204), "suites", known),
        "clgen-kernel": ask(clgen, balanced_folds(clgen[0].groups("kernel"), 4, 204), None, known),
    }


def ask_pocl() -> dict[str, Asked]:
    """Families held out, clusters of kernels of like code, and all clusters but one."""
    table = read_times(POCL)
    inputs = describe_launches(table, load_embedding(None))
    kernels, owner = np.unique(launch_columns(inputs, table.sizes)[:, CODE], axis=0, return_inverse=True)
    cluster = KMeans(4, n_init=4, random_state=0).fit_predict(kernels)[owner.ravel()]
    apart = [(np.flatnonzero(cluster != one), np.flatnonzero(cluster == one)) for one in range(4)]
    families = balanced_folds(table.groups("family"), 6, 204)
    turned = [(test, train) for train, test in apart]
    return dict(
        zip(POCL_SHIFTS, (ask((table, inputs), some, None, {}) for some in (families, apart, turned)), strict=True)
    )


def error(way: Way, constant: float, asked: Asked) -> float:
    """Calibration error of a way."""
    return calibration_error(way.sure(asked, constant), asked.right, 10, 0.5)


def compare(asked: Mapping[str, Mapping[str, Asked]]) -> dict[str, Any]:
    """Way → what it was chosen on → machine → the constant, and the calibration error of each shift."""
    found: dict[str, Any] = {}
    for name, way in WAYS.items():
        for on in ("PoCL", "the other machine") if len(way.constants) > 1 else ("nothing",):
            for machine, other in zip(MACHINES, MACHINES[::-1], strict=True):
                judges = list(asked["pocl"].values()) if on == "PoCL" else [asked[other][one] for one in SHIFTS]
                best = min(way.constants, key=lambda c: float(np.mean([error(way, c, one) for one in judges])))
                errors = {shift: round(error(way, best, one), 3) for shift, one in asked[machine].items()}
                found.setdefault(name, {}).setdefault(on, {})[machine] = {"constant": best} | errors
        own = {one: round(error(way, way.constants[0], asked["pocl"][one]), 3) for one in POCL_SHIFTS}
        found[name] |= {"pocl": own} if len(way.constants) == 1 else {}
    return found


def main() -> None:
    """Measures, prints, and writes if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    asked = {machine: ask_published(machine) for machine in MACHINES} | {"pocl": ask_pocl()}
    found = {"command": command_line("python benchmarks/odds.py"), **environment(), "errors": compare(asked)}
    text = json.dumps(found, indent=1)
    print(text)
    if options.output:
        options.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
