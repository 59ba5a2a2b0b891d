"""Thread coarsening: its table, folds, what factors are worth, controls, and Magni et al.'s cascade."""

import csv
import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lab.tests.rooms import (
    COARSENING_PROTOCOLS,
    best_constant,
    chosen_line,
    coarsening_controls,
    coarsening_splits,
    coarsening_terms,
    forests,
    magni_cascade,
)
from ncc.errors import DataError, InputError
from ncc_lab import Comparison, Method, Subset, compare, evaluate_coarsening, thread_coarsening
from tests.rooms import DEVICES, FACTORS, CoarseningSamples, clamp_to_measured, locate, read_runtimes
from tests.support.refuses import refuses

NAN = np.nan
RUNTIME = np.array([[8.0, 4, 2, 1, NAN, NAN], [1, 2, 4, NAN, 8, NAN]])


def rows(samples: CoarseningSamples, *kernels: str) -> NDArray[np.int64]:
    return np.flatnonzero(np.isin(samples.kernel, kernels))


def predict(method: Any, samples: CoarseningSamples, train: np.ndarray, test: np.ndarray) -> np.ndarray:
    return np.asarray(method.predict(Subset(samples, train), Subset(samples, test), np.random.default_rng(7)))


def run(samples: CoarseningSamples, *methods: Method[CoarseningSamples], protocol: str = "kernel") -> Comparison:
    return compare(thread_coarsening(samples, protocols=[protocol]), methods, [protocol])


def control(name: str) -> Method[CoarseningSamples]:
    return next(method for method in coarsening_controls(num_trees=10) if method.name == name)


def test_what_is_left_out_and_what_leaks(toy: CoarseningSamples) -> None:
    for protocol, number in zip(COARSENING_PROTOCOLS, (8, 7, 32, 32), strict=True):
        folds = coarsening_splits(toy, protocol)
        assert len(folds) == number
        assert sorted(np.concatenate([test for _, test in folds]).tolist()) == list(range(len(toy)))
        assert all(not np.isin(test, train).any() for train, test in folds)
    for train, test in coarsening_splits(toy, "device"):
        assert set(toy.device[train]) == set(toy.device[test])
    leakage = compare(thread_coarsening(toy), [control("always 1")], COARSENING_PROTOCOLS).leakage
    assert leakage.shared_kernel.tolist() == [0, 0, 32, 0]
    assert leakage.shared_source.tolist() == [8, 0, 32, 8]  # k0 and k1


def test_wrong_protocols_are_refused(toy: CoarseningSamples) -> None:
    for use in (lambda: coarsening_splits(toy, "suite"), lambda: evaluate_coarsening(protocol="suite")):
        with refuses(InputError, "suite", "kernel, source, pair, device"):
            use()
    alone = CoarseningSamples(**{name: column[:4] for name, column in vars(toy).items()})
    with refuses(InputError, "training rows", "kernel"):
        coarsening_splits(alone, "kernel")


def test_factors_that_were_not_measured_count_as_the_largest_that_was(toy: CoarseningSamples) -> None:
    every = np.arange(6)[:, None].repeat(2, axis=1)
    assert clamp_to_measured(RUNTIME, every).T.tolist() == [[0, 1, 2, 3, 3, 3], [0, 1, 2, 2, 4, 4]]
    samples = dataclasses.replace(toy, runtime=np.concatenate([RUNTIME, toy.runtime[2:]]))
    for chosen, speedup, share, unmeasured in (([3, 1], [8, 0.5], [1, 0.5], 0), ([5, 0], [8, 1], [1, 1], 0.5)):
        found = coarsening_terms(samples, np.arange(2), np.eye(6)[chosen])
        assert found["speedup"].tolist() == speedup
        assert np.exp(found["log_share"]) == pytest.approx(share)
        assert found["right"].tolist() == [one == 1 for one in share]
        assert found["is_unmeasured"].mean() == unmeasured


def test_a_comparison_has_every_device(toy: CoarseningSamples, toy_features: NDArray[np.float64]) -> None:
    found = compare(thread_coarsening(toy), [chosen_line(toy_features), control("always 2")], ["kernel"], (1, 2))
    figures = json.loads(json.dumps(found.to_dict()))["protocols"]["kernel"]
    ours = figures["methods"]["ncc"]
    assert ours["mean_speedup"] == figures["oracle"]["mean_speedup"] == pytest.approx(1.3)
    assert ours["per_seed"]["accuracy"] == [1, 1]
    assert list(ours["by_device"]) == list(DEVICES)
    assert "1.30×" in found.to_text()


def test_majority_goes_by_counts_and_best_constant_by_speedups(toy: CoarseningSamples) -> None:
    majority = control("majority")
    found = predict(majority, toy, rows(toy, "k1", "k3", "k0"), np.array([0]))
    np.testing.assert_allclose(found[0], [1 / 3, 0, 2 / 3, 0, 0, 0])
    found = predict(best_constant(per_device=False), toy, rows(toy, "k0", "k1"), np.array([8, 9]))
    np.testing.assert_allclose(found[:, :3], [[1, 1, 1.05]] * 2)
    runtime = toy.runtime.copy()
    runtime[toy.device == "Kepler", 1] /= 10
    changed, method = dataclasses.replace(toy, runtime=runtime), best_constant(per_device=True)
    found = predict(method, changed, rows(changed, "k1", "k3"), np.arange(4))
    assert found.argmax(axis=1).tolist() == [2, 1, 2, 2]
    both = predict(method, changed, np.flatnonzero(changed.device == "Fermi"), np.arange(2))
    np.testing.assert_array_equal(both[0], both[1])  # Kepler was not in training: all there is stands for it


def test_forests_learn_what_features_tell(toy: CoarseningSamples, toy_features: np.ndarray) -> None:
    for method in forests("forest", toy_features[:, 1:2], 50):
        assert run(toy, method).value(method.name, "accuracy") > 0.9


def test_random_vectors_recognize_a_kernel_and_tell_nothing_of_others(toy: CoarseningSamples) -> None:
    method = control("random vector per kernel (label)")
    by_pair, by_kernel = (run(toy, method, protocol=name).value(method.name, "accuracy") for name in ("pair", "kernel"))
    assert by_pair > by_kernel + 0.3


def test_cascade_follows_its_decisions_and_ends_where_the_kernel_can_not_be_coarsened(toy: CoarseningSamples) -> None:
    # the first component says how much coarsening is left to do, as the network has to learn
    components = toy.components.copy()
    components[:, :, 0] = 4 * (toy.best[:, None] - np.arange(len(FACTORS)) - 0.5)
    components[:, :, 1:] = np.where(np.isnan(components[:, :, 1:]), np.nan, 0.0)
    told, cascade = dataclasses.replace(toy, components=components), magni_cascade(hidden=16, max_steps=400)
    assert run(told, cascade).value(cascade.name, "accuracy") > 0.9
    always_further = dataclasses.replace(toy, runtime=np.tile(1000.0 / np.arange(1, 7), (len(toy), 1)))
    components = toy.components.copy()
    components[:, 5] = 0.0
    components[4:8, 3:] = np.nan  # k1
    known = dataclasses.replace(always_further, components=components)
    found = predict(magni_cascade(max_steps=20), known, rows(toy, "k1"), rows(toy, "k1", "k2"))
    assert found.argmax(axis=1).tolist() == [2] * 4 + [5] * 4
    with refuses(InputError, "Kepler", "Fermi"):
        predict(magni_cascade(max_steps=5), toy, np.flatnonzero(toy.device == "Fermi"), np.array([1]))


COMPONENTS = ",".join(f"PCA{i}" for i in range(1, 8))
HEADER = f"kernel,cf,{COMPONENTS},runtime_Fermi,runtime_Kepler,runtime_Cypress,runtime_Tahiti,src,seq\n"
TABLE = HEADER + (
    'zeta,1,1,2,3,4,5,6,7,8,8,8,8,"void zeta()\n{}",[1]\n'
    'zeta,2,2,2,3,4,5,6,7,4,4,4,16,"void zeta()\n{}",[1]\n'
    'zeta,4,3,2,3,4,5,6,7,,2,8,16,"void zeta()\n{}",[1]\n'
    "alpha,1,9,2,3,4,5,6,7,10,10,10,10,void alpha(),[2]\n"
)


def test_texts_and_components_are_those_of_the_kernel_and_factor(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(TABLE)
    samples = read_runtimes(tmp_path / "table.csv")
    assert samples.source.tolist() == ["void alpha()"] * 4 + ["void zeta()\n{}"] * 4
    assert samples.components[4, :3, 0].tolist() == [1, 2, 3]
    assert np.isnan(samples.components[0, 1:]).all()
    assert samples.best.tolist() == [0, 0, 0, 0, 1, 2, 1, 0]


@pytest.mark.parametrize(
    ("old", "new", "nouns"),
    [
        (",PCA3", ",PCB3", ("column PCA3",)),
        ("alpha,1,9,2", "alpha,1,nine,2", ("alpha at factor 1", "nine")),
        ("alpha,1,9,2", "alpha,1,inf,2", ("alpha at factor 1", "finite")),
        ('16,"void zeta()\n{}",[1]\nalpha', '16,"void eta()",[1]\nalpha', ("zeta at factor 4", "another text")),
    ],
)
def test_a_malformed_table_is_refused(tmp_path: Path, old: str, new: str, nouns: tuple[str, ...]) -> None:
    path = tmp_path / "table.csv"
    path.write_text(TABLE.replace(old, new))
    assert path.read_text() != TABLE
    with refuses(DataError, path, *nouns):
        read_runtimes(path)


def test_published_texts_are_those_of_the_kernel_and_not_of_the_line(published: CoarseningSamples) -> None:
    with locate("coarsening", "pact-2014-runtimes.csv").open(newline="") as stream:
        lines = list(csv.DictReader(stream))
    text_of = {line["kernel"]: line["src"] for line in lines}
    assert all(text_of[kernel] == source for kernel, source in zip(published.kernel, published.source, strict=True))
    # what the published programs read for kernel k is line k
    kernels = list(dict.fromkeys(published.kernel.tolist()))
    right = [line["kernel"] == kernel for line, kernel in zip(lines, kernels, strict=False)]
    assert (len(lines), sum(right)) == (89, 2)


def test_published_answers(published: CoarseningSamples) -> None:
    assert (published.runtime[:, 0] / published.runtime[:, FACTORS.index(4)]).mean() == pytest.approx(1.1515, abs=5e-5)
    with locate("coarsening", "pact-2014-oracles.csv").open(newline="") as stream:
        oracles = [float(row[f"cf_{device}"]) for row in csv.DictReader(stream) for device in DEVICES]
    assert np.array(FACTORS)[published.best].tolist() == oracles
