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
from ncc.coarsening.samples import CoarseningSamples, Folder, load_kernel_ir, load_samples
from ncc.devices.samples import load_samples as load_device_samples
from ncc.errors import InputError
from ncc.kernels.coarsening import FEATURE_NAMES
from ncc.runtime.storage import write_atomically
from ncc.study.bootstrap import Estimate
from ncc.study.coarsening.controls import ForestConfig, ForestMethod, standard_controls
from ncc.study.coarsening.evaluation import CoarseningMethod, CoarseningScore, plan_runs, score_runs
from ncc.study.coarsening.metrics import Metrics
from ncc.study.coarsening.protocols import PROTOCOLS, Protocol
from ncc.study.code import code_of
from ncc.study.peers.deeptune_coarsening import DeepTune, LanguageModel, pretrain_language_model
from ncc.study.peers.magni import MagniCascade
from ncc.study.report.coarsening import coarsening_text
from ncc.study.runs import run_plans

__all__ = ["CoarseningComparison", "all_methods", "compare_coarsening"]

SEEDS = (204, 205, 206, 207, 208)
_FIGURES = ("mean_speedup", "geomean_speedup", "share_of_oracle", "accuracy")


@dataclass(frozen=True)
class CoarseningComparison:
    """Scores of all that was run, protocol by protocol."""

    scores: tuple[CoarseningScore, ...]

    def to_dict(self) -> dict[str, Any]:
        """``protocols`` → protocol → ``methods`` → figures, as ``--json`` prints them, the oracle beside."""
        protocols: dict[str, Any] = {}
        for score in self.scores:
            entry = protocols.setdefault(score.protocol, {"oracle": _figures(score.oracle), "methods": {}})
            entry["methods"][score.method] = {
                **_figures(score.metrics),
                "share_unmeasured": score.metrics.share_unmeasured,
                "per_seed": {name: _estimate(score.metrics, name).per_seed.tolist() for name in _FIGURES},
                "by_device": {device: _figures(metrics) for device, metrics in score.by_device.items()},
                "num_samples": score.num_samples,
                "num_groups": score.num_groups,
                "seeds": list(score.seeds),
                "seconds": round(score.seconds, 2),
            }
        return {"protocols": protocols}

    def to_text(self) -> str:
        """Tables for people: every method under every protocol."""
        return coarsening_text(self)


def compare_coarsening(
    protocol: str = "all",
    seeds: Sequence[int] = SEEDS,
    *,
    with_networks: bool = True,
    num_trees: int = 300,
    jobs: int = 1,
    cache: Path | None = None,
    folder: Folder = None,
    progress: Callable[[str], None] | None = None,
) -> CoarseningComparison:
    """Run the controls, the published methods and ours under protocols.

    Args:
        protocol: One of `PROTOCOLS`, or "all".
        seeds: Seeds of the runs; no run is left out.
        with_networks: Run DeepTune and DeepTune-TL as well, which take nearly all the time: some ten seconds a fold,
            and minutes to train DeepTune-TL on device mapping first.
        num_trees: Trees of the controls' forests.
        jobs: Folds run at a time.
        cache: Folder of earlier results; None keeps none.
        folder: The data folder; None stands for NCC_DATA, then the cache.
        progress: Called with a line of text after each fold.

    Raises:
        InputError: There is no such protocol, or there are no seeds.
        DataError: The tables or the IR are missing or damaged.
    """
    if protocol != "all" and protocol not in PROTOCOLS:
        raise InputError(f"protocol is {protocol!r}; expected one of {', '.join(PROTOCOLS)}, all")
    protocols: list[Protocol] = [name for name in PROTOCOLS if protocol in ("all", name)]
    samples = load_samples(folder)
    methods = list(all_methods(samples, folder, ForestConfig(num_trees=num_trees)))
    if with_networks:
        methods += [DeepTune(), DeepTune(_language_model(cache, folder, progress))]
    cells = [(name, plan_runs(samples, method, name, seeds)) for name in protocols for method in methods]
    plans = [plan for _, of_cell in cells for plan in of_cell]
    runs = iter(run_plans(samples, plans, jobs=jobs, cache=cache, progress=progress))
    return CoarseningComparison(
        tuple(score_runs(samples, name, [next(runs) for _ in of_cell]) for name, of_cell in cells)
    )


def all_methods(
    samples: CoarseningSamples, folder: Folder = None, config: ForestConfig | None = None
) -> tuple[CoarseningMethod, ...]:
    """Return ours, its ablations, the controls and the published methods that are no neural network on text.

    Args:
        samples: The samples of `load_samples`.
        folder: The data folder; None stands for NCC_DATA, then the cache.
        config: Size of the forests; None for the defaults.

    Raises:
        DataError: The IR is missing or damaged.
    """
    ir = load_kernel_ir(folder)
    features = sample_features(samples, ir)
    return (
        ChosenLine(features),
        ChosenLine(_without_divergence(features), name="ncc without divergence"),
        ForestMethod("ncc's features, forest", features, target="label", config=config),
        ForestMethod("ncc's features, forest", features, target="log_speedup", config=config),
        ChosenLine(samples.components[:, 0], name="ncc on Magni's components"),
        *standard_controls(opcode_histograms(samples, ir), config),
        MagniCascade(),
    )


def _without_divergence(features: NDArray[np.float64]) -> NDArray[np.float64]:
    return features[:, [not name.startswith("divergent") for name in FEATURE_NAMES]]


def _language_model(cache: Path | None, folder: Folder, progress: Callable[[str], None] | None) -> LanguageModel:
    """DeepTune's network trained on device mapping, once for all seeds as in the original, from the cache if there."""
    samples = load_device_samples("amd", folder)
    code = code_of(pretrain_language_model)
    file = cache / f"deeptune-{content_hash((vars(samples), code, version('torch')))}.npz" if cache and code else None
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


def _estimate(metrics: Metrics, name: str) -> Estimate:
    found: Estimate = getattr(metrics, name)
    return found


def _figures(metrics: Metrics) -> dict[str, Any]:
    found = {name: _estimate(metrics, name) for name in _FIGURES}
    values = {name: estimate.value for name, estimate in found.items()}
    return values | {"intervals": {name: [estimate.low, estimate.high] for name, estimate in found.items()}}
