"""Thread coarsening: how many work-items should become one? Protocols, figures, controls and all methods.

A factor that was not measured for a kernel on a device counts as the largest factor that was: the convention of the
published programs, and what a compiler that can't coarsen any further would do. It favors no method that stays inside
the measured range, and it flatters the constant 32, measured for 5 kernels of 17; how often it was needed is a figure.
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from ncc.arrays import Floats, Ints, Split
from ncc.errors import InputError
from ncc.learning.data.registry import Folder
from ncc.learning.embedding.embedding import Embedding
from ncc.tasks.coarsening.train import (
    DEVICES,
    FACTORS,
    LSTMTraining,
    clamp_to_measured,
    complete_log_speedups,
    describe_kernels,
    fit_lstm,
    load_kernel_ir,
)
from ncc_lab.coarsening.chosen_line import chosen_line, fit_chosen_line
from ncc_lab.coarsening.features import coarsening_features
from ncc_lab.coarsening.samples import CoarseningSamples, CoarseningUnit
from ncc_lab.controls import RandomVectors, WithInputs, constant, majority, sklearn_method
from ncc_lab.figures import geomean, mean
from ncc_lab.frame import HoldOut, Kind, Method, Subset, Task
from ncc_lab.peers.counts import magni_cascade

NUM_TREES = 300

CoarseningMethod = Method[CoarseningSamples]
"""A method that predicts (m, 6), a number for each of `FACTORS`; the highest is its choice."""

UNITS: dict[str, CoarseningUnit] = {"kernel": "kernel", "source": "source", "pair": "kernel", "device": "kernel"}
"""Protocol → what may count as independent when an interval is put on its result; never pairs of a kernel and a device,
as a kernel's are alike."""
PROTOCOLS = tuple(UNITS)
_TITLES = {
    "kernel": "kernels never seen, each left out with all its devices (the headline)",
    "source": "the same, but kernels of one text are left out together",
    "pair": "one pair of kernel and device is left out, so the kernel is in training on other devices (IR2Vec's)",
    "device": "a kernel on one device is left out, trained on that device's other rows (Magni et al.'s, DeepTune's)",
}


def thread_coarsening(
    samples: CoarseningSamples, ir: dict[str, bytes] | None = None, protocols: Sequence[str] = PROTOCOLS
) -> Task[CoarseningSamples]:
    """Return pairs of kernel and device as a task.

    Args:
        samples: The n samples.
        ir: Name of the kernel → its IR, for the audit; None leaves the IR out.
        protocols: Those that will be run.
    """

    def hold_out(name: str) -> HoldOut:
        folds = splits(samples, name)  # the protocols leave nothing to chance
        return HoldOut(_TITLES[name], lambda _seed: folds, UNITS[name], samples.groups(UNITS[name]))

    return Task(
        samples=samples,
        protocols={name: hold_out(name) for name in protocols},
        terms=terms,
        widths=(len(FACTORS),),
        figures={
            "mean_speedup": mean("speedup", "×", 2),
            "geomean_speedup": geomean("log_speedup"),
            "share_of_oracle": geomean("log_share", "%", 1),
            "accuracy": mean("right"),
            "share_unmeasured": mean("is_unmeasured", is_better_high=None),
        },
        perfect=np.eye(len(FACTORS))[samples.best],
        leaks={
            "kernel": samples.kernel,
            "source": samples.groups("source"),
            "ir": None if ir is None else [ir[str(name)] for name in samples.kernel],
        },
        part="device",
    )


def splits(samples: CoarseningSamples, protocol: str) -> tuple[Split, ...]:
    """Split samples into training and test rows, every row being tested exactly once.

    References: Magni et al. 2014, section 6; Cummins et al. 2017, case study B; Ben-Nun et al. 2018, section 6.3
    (`device`). VenkataKeerthy et al. 2020, section 6 (`pair`).
    """
    rows = np.arange(len(samples))
    if protocol in ("kernel", "source"):
        names = samples.groups(UNITS[protocol])
        folds = [(rows[names != name], rows[names == name]) for name in dict.fromkeys(names.tolist())]
    elif protocol == "pair":
        folds = [(np.delete(rows, row), rows[row : row + 1]) for row in rows]
    elif protocol == "device":
        same = samples.device[:, None] == samples.device[None, :]
        np.fill_diagonal(same, False)
        folds = [(rows[same[row]], rows[row : row + 1]) for row in rows]
    else:
        raise InputError(f"no protocol {protocol!r}; expected one of {', '.join(PROTOCOLS)}")
    if not folds or any(len(train) == 0 for train, _ in folds):
        raise InputError(f"protocol {protocol!r}: a fold has no training rows; expected two {protocol}s or more")
    return tuple(folds)


def terms(samples: CoarseningSamples, rows: Ints, predicted: Floats) -> dict[str, NDArray[Any]]:
    """Return what chosen factors are worth, row by row; equal runtimes are equally right."""
    runtime, chosen = samples.runtime[rows], predicted.argmax(axis=1)
    used = clamp_to_measured(runtime, chosen)
    time, fastest = runtime[np.arange(len(rows)), used], np.nanmin(runtime, axis=1)
    speedup = runtime[:, 0] / time
    return {
        "device": samples.device[rows],
        "factor": np.array(FACTORS)[chosen],
        "speedup": speedup,
        "log_speedup": np.log(speedup),
        "log_share": np.log(fastest / time),
        "right": time == fastest,
        "is_unmeasured": used != chosen,
    }


# --- methods ---------------------------------------------------------------------------------------------------------


def best_constant(*, per_device: bool) -> CoarseningMethod:
    """Return the factor of highest mean speedup over the training rows, for all devices or for each."""

    def predict(train: Subset[CoarseningSamples], test: Subset[CoarseningSamples], _rng: np.random.Generator) -> Floats:
        speedup = np.exp(complete_log_speedups(train.table.runtime[train.rows]))
        average = {"": speedup.mean(axis=0)}
        if per_device:
            device = train.table.device[train.rows]
            average |= {str(name): speedup[device == name].mean(axis=0) for name in np.unique(device)}
        return np.stack([average.get(str(name), average[""]) for name in test.table.device[test.rows]])

    return Method("best constant per device" if per_device else "best constant", "control", predict)


def labels_of(samples: CoarseningSamples) -> tuple[Ints, int]:
    """Return the index of the best factor of each row, (n,), and how many factors there are."""
    return samples.best, len(FACTORS)


def _log_speedup(samples: CoarseningSamples) -> Floats:
    return complete_log_speedups(samples.runtime)


def _kernel(samples: CoarseningSamples) -> NDArray[Any]:
    return samples.kernel


def device_inputs(samples: CoarseningSamples) -> Floats:
    """Return a column per device with 1 in its rows and 0 in others, (n, devices) float64."""
    return (samples.device[:, None] == np.array(DEVICES)).astype(np.float64)


def forests(name: str, features: Any, num_trees: int = NUM_TREES, kind: Kind = "control") -> list[CoarseningMethod]:
    """Return forests that classify the best factor and regress all log speedups, from features and the device."""
    inputs = WithInputs(features, device_inputs)
    classifier, regressor = (model(num_trees) for model in (RandomForestClassifier, RandomForestRegressor))
    return [
        sklearn_method(f"{name} (label)", inputs, classifier, labels=labels_of, kind=kind),
        sklearn_method(f"{name} (log_speedup)", inputs, regressor, values=_log_speedup, kind=kind),
    ]


def dealt_features(features: Floats) -> CoarseningMethod:
    """Return our method on features shuffled among the kernels of each fold, to measure chance.

    Reference: Ojala and Garriga 2010 ("Permutation tests for studying classifier performance"), section 3.1.
    """

    def predict(train: Subset[CoarseningSamples], test: Subset[CoarseningSamples], rng: np.random.Generator) -> Floats:
        _, first, owner = np.unique(train.table.kernel, return_index=True, return_inverse=True)
        dealt = features[first][rng.permutation(len(first))][owner]
        line = fit_chosen_line(train.table, train.rows, dealt)
        return line.predict(test.table.device[test.rows], dealt[test.rows])

    return Method("ncc, features dealt out anew", "control", predict, features)


def lstm(embedding: Embedding, words: list[Ints]) -> CoarseningMethod:
    """Return the LSTM of ``ncc train coarsening --model lstm`` on the rows' kernels as words of an embedding.

    Reference: Ben-Nun et al. 2018, section 6.3 (task); predicting speedups in place of the best factor is ours.
    """
    options = LSTMTraining()

    def predict(train: Subset[CoarseningSamples], test: Subset[CoarseningSamples], rng: np.random.Generator) -> Floats:
        head = fit_lstm(train.table, words, embedding, options, rng, train.rows)
        devices = train.table.device
        return np.stack([head.speedups(embedding.vectors[words[row]], str(devices[row])) for row in test.rows.tolist()])

    return Method("lstm", "ours", predict, (embedding.vectors, words, asdict(options)), "2", is_slow=True)


def standard_controls(histograms: Floats | None = None, num_trees: int = NUM_TREES) -> tuple[CoarseningMethod, ...]:
    """Return every control that is not a published method; histograms are counts of opcodes, (n, k), if there are."""
    features: dict[str, Any] = {"random vector per kernel": RandomVectors(_kernel)}
    if histograms is not None:
        features["opcode histogram"] = histograms
    return (
        *(constant(f"always {factor}", [float(other == factor) for other in FACTORS]) for factor in FACTORS),
        majority(labels_of),
        best_constant(per_device=False),
        best_constant(per_device=True),
        *(method for name, columns in features.items() for method in forests(name, columns, num_trees)),
    )


def sample_features(samples: CoarseningSamples, ir: dict[str, bytes]) -> Floats:
    """Return the features of each row's kernel, (n, 16) float64."""
    return np.stack(describe_kernels(samples, ir, coarsening_features))


def opcode_histograms(samples: CoarseningSamples, ir: dict[str, bytes]) -> Floats:
    """Count how often each opcode occurs in each row's kernel: (n, number of opcodes that occur) float64."""
    opcodes = describe_kernels(samples, ir, lambda module: np.bincount(module.opcode, minlength=256))
    counts = np.stack(opcodes).astype(np.float64)
    return counts[:, counts.any(axis=0)]


def all_methods(
    samples: CoarseningSamples, folder: Folder = None, num_trees: int = NUM_TREES
) -> tuple[CoarseningMethod, ...]:
    """Return ours, its ablations, the controls and the published methods that are not neural networks on text."""
    ir = load_kernel_ir(folder)
    features = sample_features(samples, ir)
    return (
        chosen_line(features),
        *forests("ncc's features, forest", features, num_trees, "ours"),
        dealt_features(features),
        *standard_controls(opcode_histograms(samples, ir), num_trees),
        magni_cascade(),
    )
