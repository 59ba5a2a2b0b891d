"""Every method of thread coarsening under every protocol: the table that a score has to stand in."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from joblib import hash as content_hash
from numpy.typing import NDArray

from ncc.coarsening.features import opcode_histograms, sample_features
from ncc.coarsening.fit import ChosenLine
from ncc.coarsening.lstm import LSTMMethod, load_words
from ncc.coarsening.samples import CoarseningSamples, Folder, load_kernel_ir, load_samples
from ncc.devices.samples import load_samples as load_device_samples
from ncc.embedding import load_embedding
from ncc.kernels.coarsening import FEATURE_NAMES
from ncc.runtime.storage import write_atomically
from ncc.study.coarsening.controls import NUM_TREES, forest, standard_controls
from ncc.study.coarsening.metrics import Metrics
from ncc.study.coarsening.protocols import PROTOCOLS
from ncc.study.coarsening.task import CoarseningMethod, ThreadCoarsening
from ncc.study.evaluation import Comparison, Score, choose, choose_methods, estimates, evaluate_all
from ncc.study.peers.deeptune_coarsening import DeepTune, LanguageModel, pretrain_language_model
from ncc.study.peers.magni import MagniCascade
from ncc.study.report.coarsening import coarsening_text

__all__ = ["CoarseningComparison", "all_methods", "compare_coarsening"]

SEEDS = (204, 205, 206, 207, 208)


@dataclass(frozen=True, eq=False, repr=False)
class CoarseningComparison(Comparison[Metrics]):
    """Scores of all that was run, protocol by protocol."""

    def describe(self, score: Score[Metrics]) -> dict[str, Any]:
        """Means over the seeds with their intervals, what each seed gave, and the same figures on each device."""
        return {
            **_figures(score.metrics),
            "share_unmeasured": score.metrics.share_unmeasured,
            "per_seed": {name: figure.per_seed.tolist() for name, figure in estimates(score.metrics).items()},
            "by_device": {device: _figures(metrics) for device, metrics in score.parts.items()},
            "num_groups": score.num_groups,
        }

    def describe_protocol(self, score: Score[Metrics]) -> dict[str, Any]:
        """A perfect choice."""
        return {"oracle": _figures(score.oracle)}

    def to_text(self) -> str:
        """Tables for people: every method under every protocol."""
        return coarsening_text(self)


def compare_coarsening(
    protocol: str = "all",
    seeds: Sequence[int] = SEEDS,
    *,
    methods: Sequence[str] = (),
    with_networks: bool = True,
    num_trees: int = NUM_TREES,
    jobs: int = 1,
    cache: Path | None = None,
    folder: Folder = None,
    progress: Callable[[str], None] | None = None,
) -> CoarseningComparison:
    """Run the controls, the published methods and ours under protocols.

    Args:
        protocol: One of `PROTOCOLS`, or "all".
        seeds: Seeds of the runs; no run is left out.
        methods: Patterns of names, as a shell matches files; none for all, networks as `with_networks` says.
        with_networks: Run our LSTM, DeepTune and DeepTune-TL as well, which take nearly all the time: some ten seconds
            a fold, and minutes to train DeepTune-TL on device mapping first.
        num_trees: Trees of the controls' forests.
        jobs: Folds run at a time.
        cache: Folder of earlier results; None keeps none.
        folder: The data folder; None stands for NCC_DATA, then the cache.
        progress: Called with a line of text after each fold.

    Raises:
        InputError: There is no such protocol or method, or there are no seeds.
        DataError: The tables or the IR are missing or damaged.
    """
    protocols = choose("protocol", protocol, PROTOCOLS)
    samples = load_samples(folder)
    quick = {method.name: method for method in all_methods(samples, folder, num_trees)}
    networks: dict[str, Callable[[], CoarseningMethod]] = {
        LSTMMethod.name: lambda: _lstm(samples, folder),
        "DeepTune": DeepTune,
        "DeepTune-TL": lambda: DeepTune(_language_model(cache, folder, progress)),
    }
    known = [*quick, *networks]
    names = choose_methods(methods, known) if methods else known if with_networks else list(quick)
    scores = evaluate_all(
        ThreadCoarsening(samples),
        [networks[name]() if name in networks else quick[name] for name in names],
        protocols,
        seeds,
        jobs=jobs,
        cache=cache,
        progress=progress,
    )
    return CoarseningComparison(tuple(scores))


def _lstm(samples: CoarseningSamples, folder: Folder) -> LSTMMethod:
    embedding = load_embedding()
    return LSTMMethod(embedding, load_words(samples, load_kernel_ir(folder), embedding))


def all_methods(
    samples: CoarseningSamples, folder: Folder = None, num_trees: int = NUM_TREES
) -> tuple[CoarseningMethod, ...]:
    """Return ours, its ablations, the controls and the published methods that are no neural network on text.

    Args:
        samples: The samples of `load_samples`.
        folder: The data folder; None stands for NCC_DATA, then the cache.
        num_trees: Trees of each forest.

    Raises:
        DataError: The IR is missing or damaged.
    """
    ir = load_kernel_ir(folder)
    features = sample_features(samples, ir)
    return (
        ChosenLine(features),
        ChosenLine(_without_divergence(features), name="ncc without divergence"),
        forest("ncc's features, forest", features, "label", num_trees, kind="ours"),
        forest("ncc's features, forest", features, "log_speedup", num_trees, kind="ours"),
        ChosenLine(samples.components[:, 0], name="ncc on Magni's components"),
        *standard_controls(opcode_histograms(samples, ir), num_trees),
        MagniCascade(),
    )


def _without_divergence(features: NDArray[np.float64]) -> NDArray[np.float64]:
    return features[:, [not name.startswith("divergent") for name in FEATURE_NAMES]]


def _language_model(cache: Path | None, folder: Folder, progress: Callable[[str], None] | None) -> LanguageModel:
    """DeepTune's network trained on device mapping, once for all seeds as in the original, from the cache if there."""
    samples = load_device_samples("amd", folder)
    key = content_hash((vars(samples), DeepTune.version, version("torch")))
    file = cache / f"deeptune-{key}.npz" if cache else None
    if file and file.exists():
        with np.load(file, allow_pickle=False) as arrays:
            tensors = {name: arrays[name] for name in arrays.files if name != "tokens"}
            return LanguageModel(tuple(arrays["tokens"].tolist()), tensors)
    if progress:
        progress("DeepTune-TL: training on device mapping")
    model = pretrain_language_model(samples)
    if file:
        buffer = BytesIO()
        np.savez(buffer, tokens=np.array(model.tokens), **model.tensors)  # type: ignore[arg-type]
        write_atomically(file, buffer.getvalue())
    return model


def _figures(metrics: Metrics) -> dict[str, Any]:
    found = estimates(metrics)
    values = {name: estimate.value for name, estimate in found.items()}
    return values | {"intervals": {name: [estimate.low, estimate.high] for name, estimate in found.items()}}
