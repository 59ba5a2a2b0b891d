"""Device mapping: does a kernel run faster on the CPU or on the GPU? Protocols, figures, controls and all methods."""

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import LeaveOneGroupOut, StratifiedKFold

from ncc.arrays import Bools, Floats, Ints, Split
from ncc.errors import InputError
from ncc.ir.reader.native import OPCODES
from ncc.learning.embedding.embedding import load_embedding
from ncc.learning.heads.folds import balanced_folds, check_folds
from ncc.tasks.devices.features import KernelFeatures
from ncc.tasks.devices.fit import OWN, fit_times
from ncc.tasks.devices.models import Launches
from ncc_lab.controls import RandomVectors, WithInputs, constant, majority, sklearn_method
from ncc_lab.devices.samples import (
    DeviceMappingSamples,
    MappingUnit,
    describe_kernels,
    load_inputs,
    load_vectors,
)
from ncc_lab.figures import SEED, geomean, macro_f1, mean
from ncc_lab.frame import HoldOut, Method, Subset, Task

NUM_TREES = 300
_ROUNDING = 1e-9
_FILE_NAME = re.compile(rb"^(?:; ModuleID|source_filename) = .*\n", re.MULTILINE)

DeviceMethod = Method[DeviceMappingSamples]
"""A method that predicts what is known of log(CPU time / GPU time) of each row.

One number, (m,) or (m, 1): the log ratio, positive if the GPU is faster, or a score of that sign; 0 stands for the CPU.
Three, (m, 3): median, low and high end of the interval that should hold the measured value in 80% of rows. Four,
(m, 4): also the probability that the GPU is faster. The first number alone decides on the device.
"""

UNITS: dict[str, MappingUnit] = {
    "published": "kernel",
    "kernel": "kernel",
    "application": "application",
    "suite": "suite",
}
"""Protocol → what may count as independent for an interval on its result; never rows, as a kernel's are alike."""
PROTOCOLS = tuple(UNITS)
_TITLES = {
    "published": "folds over rows, as in the papers, so that most kernels are known from training",
    "kernel": "kernels held out, with all their data sizes",
    "application": "applications held out, with all their kernels",
    "suite": "one benchmark suite held out after the other",
}


def device_mapping(samples: DeviceMappingSamples, ir: Sequence[bytes] | None = None) -> Task[DeviceMappingSamples]:
    """Return one platform's table as a task.

    Args:
        samples: The n samples.
        ir: Text of each row's kernel, for the audit; None leaves the IR out.
    """

    def hold_out(name: str, unit: MappingUnit) -> HoldOut:
        # the other protocols are the papers' folds, and there is one way to split suites
        is_drawn = name in ("kernel", "application")
        return HoldOut(
            _TITLES[name],
            lambda seed: tuple(splits(samples, name, seed if is_drawn else SEED)),
            unit,
            samples.groups(unit),
        )

    leaks: dict[str, Iterable[Hashable] | None] = {
        "kernel": samples.benchmark,
        "source": samples.source,  # kernels of different names can have one text
        "ir": None if ir is None else [_FILE_NAME.sub(b"", text) for text in ir],
        "transfer": samples.transfer_bytes,
        "auxiliary": list(zip(samples.transfer_bytes, samples.wgsize, strict=True)),
        "application": samples.application,
        "suite": samples.suite,
    }
    return Task(
        samples=samples,
        protocols={name: hold_out(name, unit) for name, unit in UNITS.items()},
        terms=terms,
        widths=(1, 3, 4),
        figures={
            "accuracy": mean("right"),
            "macro_f1": macro_f1("is_gpu", "chosen_gpu"),
            "geomean_speedup": geomean("log_speedup"),
            "mean_speedup": mean("speedup", "×", 2),
            "share_of_oracle": geomean("log_share", "%", 1),
            "coverage": mean("is_covered", is_better_high=None),
        },
        perfect=samples.log_ratio[:, None],
        leaks=leaks,
        platform=samples.platform,
        notes={"static_choice": "GPU" if static_choice_is_gpu(samples.is_gpu) else "CPU"},
    )


def splits(samples: DeviceMappingSamples, protocol: str, seed: int = SEED, num_folds: int = 10) -> Iterator[Split]:
    """Split samples into training and test rows, every row being tested exactly once.

    Reference: Cummins et al., PACT 2017, case study A (`published`).
    """
    if protocol == "published":
        check_folds(np.bincount(samples.is_gpu, minlength=2).min(), num_folds, "rows of either label")
        folds = StratifiedKFold(num_folds, shuffle=True, random_state=seed)
        return iter(folds.split(samples.counts, samples.is_gpu))
    if protocol == "suite":
        check_folds(len(np.unique(samples.suite)), 2, "suites")
        return iter(LeaveOneGroupOut().split(samples.counts, groups=samples.suite))
    if protocol not in UNITS:
        raise InputError(f"no protocol {protocol!r}; expected one of {', '.join(PROTOCOLS)}")
    return balanced_folds(samples.groups(UNITS[protocol]), num_folds, seed)


def static_choice_is_gpu(is_gpu: Bools) -> bool:
    """Return whether the GPU is the device that is faster in most rows (ties: CPU), which speedups are relative to.

    Reference: Cummins et al., PACT 2017, case study A.
    """
    return bool(2 * is_gpu.sum() > len(is_gpu))


def terms(samples: DeviceMappingSamples, rows: Ints, predicted: Floats) -> dict[str, NDArray[Any]]:
    """Return what device choices are worth, row by row."""
    log_ratio, chosen = samples.log_ratio[rows], predicted[:, 0] > 0
    is_gpu = log_ratio > 0
    log_speedup = log_ratio * (chosen.astype(np.float64) - float(static_choice_is_gpu(is_gpu)))
    columns = {
        "predicted": predicted[:, 0],
        "is_gpu": is_gpu,
        "chosen_gpu": chosen,
        "right": chosen == is_gpu,
        "log_speedup": log_speedup,
        "speedup": np.exp(log_speedup),
        "log_share": np.where(chosen == is_gpu, 0.0, -np.abs(log_ratio)),
    }
    if predicted.shape[1] > 1:
        median, low, high = predicted[:, :3].T
        wrong = (low > median + _ROUNDING) | (median > high + _ROUNDING)
        if wrong.any():
            raise InputError(f"the median is outside its interval in {wrong.sum()} predictions")
        columns |= {"low": low, "high": high, "is_covered": (low <= log_ratio) & (log_ratio <= high)}
    if predicted.shape[1] > 3:
        if ((predicted[:, 3] < 0) | (predicted[:, 3] > 1)).any():
            raise InputError("expected probabilities between 0 and 1, found others")
        columns["probability"] = predicted[:, 3]
    return columns


# --- methods ---------------------------------------------------------------------------------------------------------


def labels_of(samples: DeviceMappingSamples) -> tuple[Ints, int]:
    """Return 1 for the GPU and 0 for the CPU, (n,), and how many there are."""
    return samples.is_gpu.astype(np.int64), 2


def as_score(method: DeviceMethod) -> DeviceMethod:
    """Return the method with the probability of the GPU less one half in place of two probabilities."""

    def predict(
        train: Subset[DeviceMappingSamples], test: Subset[DeviceMappingSamples], rng: np.random.Generator
    ) -> Floats:
        return method.predict(train, test, rng)[:, 1] - 0.5

    return replace(method, predict=predict)


def _auxiliary(samples: DeviceMappingSamples, _seed: int = 0) -> Floats:
    return np.stack([np.log1p(samples.transfer_bytes), np.log1p(samples.wgsize)], axis=1)


def _numeric(samples: DeviceMappingSamples, _seed: int) -> Floats:
    return np.log1p(samples.counts)


def _kernel(samples: DeviceMappingSamples) -> NDArray[Any]:
    return samples.benchmark


def _log_ratio(samples: DeviceMappingSamples) -> Floats:
    return samples.log_ratio


def standard_controls(histograms: Floats | None = None, num_trees: int = NUM_TREES) -> tuple[DeviceMethod, ...]:
    """Return every control, to be put beside every score.

    Trees learn the label, or regress the log ratio, from transfer size and work-group size alone; from the 8 numeric
    columns of Grewe et al., as log(1 + count); from a meaningless vector per kernel; and from counts of opcodes,
    (n, k), if there are any.
    """
    extra, forest = (ExtraTreesClassifier, ExtraTreesRegressor), (RandomForestClassifier, RandomForestRegressor)
    features: dict[str, tuple[Any, tuple[type, type]]] = {
        "auxiliary only": (_auxiliary, extra),
        "8 numeric columns": (_numeric, extra),
        "random vector per kernel + auxiliary": (WithInputs(RandomVectors(_kernel), _auxiliary), forest),
    }
    if histograms is not None:
        features["opcode histogram + auxiliary"] = (WithInputs(histograms, _auxiliary), forest)
    by_label = (
        as_score(sklearn_method(f"{name} (label)", made, kinds[0](num_trees), labels=labels_of))
        for name, (made, kinds) in features.items()
    )
    by_ratio = (
        sklearn_method(f"{name} (log_ratio)", made, kinds[1](num_trees), values=_log_ratio)
        for name, (made, kinds) in features.items()
    )
    constants = as_score(majority(labels_of)), constant("always CPU", [-1.0]), constant("always GPU", [1.0])
    return (*constants, *by_label, *by_ratio)


def opcode_histograms(samples: DeviceMappingSamples, folder: str | None = None) -> Floats:
    """Return how often each opcode occurs in each row's kernel (legacy IR): (n, num_opcodes) float64."""
    return describe_kernels(samples, lambda module: np.bincount(module.opcode, minlength=len(OPCODES)), folder)


def times_method(inputs: KernelFeatures) -> DeviceMethod:
    """Return a head that predicts times by processes, as the one that ships, asked for their ratio."""

    def predict(
        train: Subset[DeviceMappingSamples], test: Subset[DeviceMappingSamples], rng: np.random.Generator
    ) -> Floats:
        launches, seed = train.table.launches, int(rng.integers(2**31))
        head = fit_times({OWN: Launches.of(launches, inputs).rows(train.rows)}, {OWN: "gp"}, seed=seed)
        answers = head.predict(inputs.rows(test.rows), launches.sizes[test.rows], as_measured=True)
        return np.array([(one.log_ratio, *np.log(one.interval), one.probabilities["GPU"]) for one in answers])

    return Method("ncc times", "ours", predict, (inputs.profile, inputs.opcodes, inputs.work, "gp"), version="2")


def standard_methods(
    samples: DeviceMappingSamples, folder: str | None = None, *, num_trees: int = NUM_TREES
) -> dict[str, Callable[[], DeviceMethod]]:
    """Return controls, published methods run again, and ours: name → what makes the method."""
    from ncc_lab.devices.mapper import mapper
    from ncc_lab.peers.counts import grewe
    from ncc_lab.peers.ir2vec import function_vectors, ir2vec_trees
    from ncc_lab.peers.sequences import deeptune, inst2vec, read_statements  # with torch

    embedding = cache(load_embedding)
    inputs = cache(lambda: load_inputs(samples, embedding(), folder))

    controls = standard_controls(opcode_histograms(samples, folder), num_trees)
    return {
        **{control.name: partial(lambda made: made, control) for control in controls},
        "Grewe et al.": grewe,
        "DeepTune": deeptune,
        "inst2vec": lambda: inst2vec(read_statements(samples, embedding(), folder), embedding()),
        "IR2Vec flow-aware": lambda: ir2vec_trees(function_vectors(samples, embedding(), folder)),
        "ncc mapper": lambda: mapper(inputs(), load_vectors(samples, embedding(), folder)),
        "ncc times": lambda: times_method(inputs()),
    }
