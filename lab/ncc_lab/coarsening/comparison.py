"""Compares all thread-coarsening methods under every protocol."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import hash as content_hash

from ncc.arrays import Floats
from ncc.learning.data.registry import Folder
from ncc.learning.embedding.embedding import load_embedding
from ncc.system.files.models import write_atomically
from ncc.tasks.coarsening.samples import CoarseningSamples, load_kernel_ir, load_samples
from ncc.tasks.coarsening.train import load_words
from ncc.tasks.devices.published import load_samples as load_device_samples
from ncc_lab.coarsening.chosen_line import ChosenLine
from ncc_lab.coarsening.controls import NUM_TREES, forest, standard_controls
from ncc_lab.coarsening.features import FEATURE_NAMES
from ncc_lab.coarsening.lstm import LSTMMethod
from ncc_lab.coarsening.metrics import CoarseningMetrics
from ncc_lab.coarsening.protocols import PROTOCOLS, audit_leakage
from ncc_lab.coarsening.sample_features import opcode_histograms, sample_features
from ncc_lab.coarsening.task import CoarseningMethod, CoarseningScore, ThreadCoarsening
from ncc_lab.evaluation import (
    Comparison,
    choose,
    choose_methods,
    estimates,
    evaluate_all,
    runs_folder,
    seeds_from,
)
from ncc_lab.leakage import leakage_table
from ncc_lab.peers.magni import MagniCascade
from ncc_lab.report.coarsening import scores_table, summary_table
from ncc_lab.report.coarsening_figures import coarsening_figures
from ncc_lab.report.kinds import by_protocol
from ncc_lab.report.table import Table

if TYPE_CHECKING:
    from ncc_lab.peers.deeptune_coarsening import LanguageModel


@dataclass(frozen=True, eq=False, repr=False)
class CoarseningComparison(Comparison[CoarseningMetrics]):
    """Scores of all that was run, protocol by protocol.

    Args:
        samples: What it was run on.
    """

    title = "Thread coarsening: every method under every protocol"
    template = "coarsening.html.j2"
    samples: CoarseningSamples

    def describe(self, score: CoarseningScore) -> dict[str, Any]:
        """Means over the seeds with their intervals, what each seed gave, and the same figures on each device."""
        return {
            **_figures(score.metrics),
            "share_unmeasured": score.metrics.share_unmeasured,
            "per_seed": {name: figure.per_seed.tolist() for name, figure in estimates(score.metrics).items()},
            "by_device": {device: _figures(metrics) for device, metrics in score.parts.items()},
            "num_groups": score.num_groups,
        }

    def describe_protocol(self, score: CoarseningScore) -> dict[str, Any]:
        """A perfect choice."""
        return {"oracle": _figures(score.oracle)}

    def table(self, scores: Sequence[CoarseningScore]) -> Table:
        """Return the scores of one protocol, and those of a perfect choice."""
        return scores_table(scores)

    def page_values(self) -> dict[str, Any]:
        """Return the best of each kind, what the protocols let through, and pictures."""
        protocols = by_protocol(self.scores)
        leakage = leakage_table([audit_leakage(self.samples, protocol) for protocol in protocols])
        pictures = coarsening_figures(self.scores, self.samples)
        return {"summary": summary_table(protocols), "leakage": leakage, "pictures": pictures}


def evaluate_coarsening(
    protocol: str = "all",
    *,
    method: Sequence[str] | None = None,
    seeds: int = 5,
    seed: int = 204,
    networks: bool = False,
    trees: int = 300,
    jobs: int = 1,
    cache: str | Path | None = None,
    no_cache: bool = False,
    data: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> CoarseningComparison:
    """Evaluates thread coarsening under every protocol: controls, published methods and ours.

    Args:
        protocol: "kernel", "source", "pair", "device", or "all".
        method: Patterns of names of methods to run, as "*line*"; default all, networks if asked for.
        seeds: As for `evaluate_devmap`.
        seed: As for `evaluate_devmap`.
        networks: Whether to run our LSTM, DeepTune and DeepTune-TL too, which takes hours.
        trees: As for `evaluate_devmap`.
        jobs: As for `evaluate_devmap`.
        cache: As for `evaluate_devmap`.
        no_cache: As for `evaluate_devmap`.
        data: As for `evaluate_devmap`.
        progress: As for `evaluate_devmap`.

    Returns:
        Scores of every method under every protocol, with 95 % intervals.

    Raises:
        InputError: There is no such protocol.
        DataError: The table or the IR is missing or damaged.
        OutputError: The cache can't be written.

    Reference: Magni, Dubach, O'Boyle 2014 (data); Ben-Nun et al. 2018, section 6.3 (task).
    """
    from ncc_lab.peers.deeptune_coarsening import CoarseningDeepTune

    protocols = choose("protocol", protocol, PROTOCOLS)
    runs, numbers = runs_folder(cache, no_cache), seeds_from(seed, seeds)
    samples = load_samples(data)
    quick = {one.name: one for one in all_methods(samples, data, trees)}
    slow: dict[str, Callable[[], CoarseningMethod]] = {
        LSTMMethod.name: lambda: LSTMMethod(
            table := load_embedding(), load_words(samples, load_kernel_ir(data), table)
        ),
        "DeepTune": CoarseningDeepTune,
        "DeepTune-TL": lambda: CoarseningDeepTune(_language_model(runs, data, progress)),
    }
    known = [*quick, *slow]
    names = choose_methods(method, known) if method else known if networks else list(quick)
    methods = [slow[name]() if name in slow else quick[name] for name in names]
    scores = evaluate_all(
        ThreadCoarsening(samples), methods, protocols, numbers, jobs=jobs, cache=runs, progress=progress
    )
    return CoarseningComparison(tuple(scores), samples)


def all_methods(
    samples: CoarseningSamples, folder: Folder = None, num_trees: int = NUM_TREES
) -> tuple[CoarseningMethod, ...]:
    """Return ours, its ablations, the controls and the published methods that are not neural networks on text.

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


def _without_divergence(features: Floats) -> Floats:
    return features[:, [not name.startswith("divergent") for name in FEATURE_NAMES]]


def _language_model(cache: Path | None, folder: Folder, progress: Callable[[str], None] | None) -> "LanguageModel":
    """DeepTune's network trained on device mapping, once for all seeds as in the original, from the cache if there."""
    from ncc_lab.peers.deeptune_coarsening import CoarseningDeepTune, LanguageModel, pretrain_language_model

    samples = load_device_samples("amd", folder)
    key = content_hash((vars(samples), CoarseningDeepTune.version, version("torch")))
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


def _figures(metrics: CoarseningMetrics) -> dict[str, Any]:
    found = estimates(metrics)
    values = {name: estimate.value for name, estimate in found.items()}
    return values | {"intervals": {name: [estimate.low, estimate.high] for name, estimate in found.items()}}
