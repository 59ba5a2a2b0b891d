"""What choosing is worth: error on families held out over minutes of measuring, launches chosen against random ones.

    python benchmarks/calibration.py TABLE.parquet [-o benchmarks/results/calibration.json] [--plot calibration.svg]

TABLE is one of ``ncc measure`` over the kernels that ship. It is replayed: launches of the families that are not held
out are taken one after the other, in the order that ``ncc calibrate`` would choose or by chance, each at the price in
seconds that it had; now and then a head's model is fitted to those that were taken, and asked about the families held
out.
"""

import argparse
import json
from collections import OrderedDict
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ncc.kernels.measure.choice import Chooser
from ncc.kernels.measure.devices_table import read_times
from ncc.kernels.measure.table import MeasuredTable
from ncc.learning.embedding.embedding import load_embedding
from ncc.learning.heads.folds import balanced_folds
from ncc.system.files.provenance import command_line, environment
from ncc.tasks.devices.constants import own_constants
from ncc.tasks.devices.devices_head import times_of
from ncc.tasks.devices.fit import LaunchSamples, try_split
from ncc.tasks.devices.train import describe_launches

CHECKPOINTS = (20, 40, 80, 120, 160, 240, 320, 480, 640, 960)
ORDERS = ("chosen", "random", "kernel by kernel")
"""As ``ncc calibrate`` chooses; launches by chance; kernels by chance, each at all sizes."""
OPEN = 8


def prices(table: MeasuredTable, launches: list[tuple[str, str, int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """Seconds of each launch on all devices, and of getting its kernel onto the bench: (n,), (n,) float64."""
    spent: dict[tuple[str, str, int, int], float] = {}
    for row in table.rows:
        key = (row.kernel_file, row.kernel, row.global_size, row.local_size)
        spent[key] = spent.get(key, 0.0) + row.seconds
    found = np.array([spent[key] for key in launches])
    setup = np.zeros(len(launches))
    kernels = [key[:2] for key in launches]
    for kernel in set(kernels):
        rows = [number for number, one in enumerate(kernels) if one == kernel]
        first = min(rows, key=lambda number: launches[number][2])
        others = [found[number] for number in rows if number != first] or [0.3]
        extra = max(0.0, found[first] - float(np.median(others)))
        found[first] -= extra
        setup[rows] = extra
    return found, setup


def replay(
    sizes: np.ndarray, code: np.ndarray, kernel: np.ndarray, price: np.ndarray, setup: np.ndarray, order: str, seed: int
) -> Iterator[tuple[int, float]]:
    """Launches in an order of `ORDERS`, and minutes spent after each."""
    chooser = Chooser(sizes, code, kernel)
    turn = [] if order == "chosen" else np.random.default_rng(seed).permutation(len(kernel)).tolist()
    if order == "kernel by kernel":
        place = {one: number for number, one in enumerate(kernel[turn].tolist())}
        turn.sort(key=lambda launch: place[int(kernel[launch])])
    bench: OrderedDict[int, None] = OrderedDict()
    allowed = np.ones(len(kernel), bool)
    minutes, usual = 0.0, {size: float(price[sizes[:, 0] == size].mean()) for size in np.unique(sizes[:, 0]).tolist()}
    expected = np.array([usual[size] for size in sizes[:, 0].tolist()])
    while allowed.any():
        waiting = ~np.isin(kernel, list(bench))
        number = turn.pop() if order != "chosen" else chooser.choose(expected + setup.mean() * waiting, allowed)
        minutes += (price[number] + setup[number] * waiting[number]) / 60
        bench[int(kernel[number])] = None
        bench.move_to_end(int(kernel[number]))
        if len(bench) > OPEN:
            bench.popitem(last=False)
        if order == "chosen":
            chooser.observe(number)
        allowed[number] = False
        yield number, minutes


def curve(path: Path, seeds: int, folds: int) -> dict[str, Any]:
    """Order → number of launches → minutes, factor of times and accuracy, means over folds and seeds."""
    launches = read_times(path)
    inputs = describe_launches(launches, load_embedding(None))
    names, logs = launches.groups("kernel"), launches.log_times
    kernel = np.unique(names, return_inverse=True)[1]
    table = MeasuredTable.load(path)
    by_file = {str(path.parent / row.kernel_file): row.kernel_file for row in table.rows}
    keys = [
        (by_file[file], name, int(items), int(group))
        for file, name, items, group in zip(
            launches.file, launches.kernel, launches.global_size, launches.local_size, strict=True
        )
    ]
    price, setup = prices(table, keys)
    sizes = np.log(np.stack([launches.global_size, launches.local_size], axis=1))
    found: dict[str, dict[int, list[tuple[float, float, float]]]] = {name: {} for name in ORDERS}
    for train, test in balanced_folds(launches.family, folds, 204):
        for name, seed in [("chosen", 0), *product(ORDERS[1:], range(seeds))]:
            taken: list[int] = []
            known = sizes[train], inputs.profile[train], kernel[train], price[train], setup[train]
            for step, minutes in replay(*known, name, seed):
                taken.append(int(train[step]))
                if len(taken) not in CHECKPOINTS:
                    continue
                rows = np.array(taken)
                samples = LaunchSamples.of(
                    launches, inputs, own_constants(launches.rows(rows), inputs.rows(rows), None)
                )
                said = times_of(try_split(samples, rows, test, "gp", 204).said)
                factor = float(np.exp(np.median(np.abs(said - logs[test]))))
                right = float((said.argmin(axis=1) == logs[test].argmin(axis=1)).mean())
                found[name].setdefault(len(taken), []).append((minutes, factor, right))
    return {
        name: {
            str(number): dict(
                zip(("minutes", "factor", "accuracy"), np.mean(rows, axis=0).round(4).tolist(), strict=True)
            )
            for number, rows in sorted(points.items())
        }
        for name, points in found.items()
    }


def sooner(found: dict[str, Any]) -> dict[str, dict[str, dict[str, float]]]:
    """Launches and minutes that the chosen order takes to the error of another one, as shares of what that took."""
    chosen = found["chosen"]
    factors = np.array([one["factor"] for one in chosen.values()])
    shares: dict[str, dict[str, dict[str, float]]] = {}
    for other, (number, one) in ((name, point) for name in ORDERS[1:] for point in found[name].items()):
        reached = np.flatnonzero(factors <= one["factor"])
        if len(reached):
            first = list(chosen)[reached[0]]
            shares.setdefault(other, {})[number] = {
                "launches": round(int(first) / int(number), 3),
                "minutes": round(chosen[first]["minutes"] / one["minutes"], 3),
            }
    return shares


def draw(found: dict[str, Any], path: Path) -> None:
    """Error over minutes, a line an order."""
    figure = Figure(figsize=(5, 3.2), layout="constrained")
    axes = figure.subplots()
    for name, points in found.items():
        axes.plot(
            [one["minutes"] for one in points.values()], [one["factor"] for one in points.values()], "o-", label=name
        )
    axes.set(xlabel="minutes of measuring", ylabel="median factor of times, families held out", xscale="log")
    axes.legend()
    figure.savefig(path)


def main() -> None:
    """Prints the curves."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--folds", type=int, default=4)
    given = parser.parse_args()
    found = curve(given.table, given.seeds, given.folds)
    for name, points in found.items():
        for number, one in points.items():
            print(
                f"{name}: {number} launches, {one['minutes']:.2f} min: factor {one['factor']:.3f}, "
                f"accuracy {one['accuracy']:.1%}"
            )
    shares = sooner(found)
    for name, one in shares.items():
        print(f"chosen over {name}, to the same factor: {json.dumps(one)}")
    if given.plot:
        draw(found, given.plot)
    if given.output:
        result = {"command": command_line("python benchmarks/calibration.py"), **environment()}
        given.output.write_text(json.dumps(result | {"curves": found, "chosen_over_others": shares}, indent=1) + "\n")


if __name__ == "__main__":
    main()
