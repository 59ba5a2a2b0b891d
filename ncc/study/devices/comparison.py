"""Every method under every protocol, controls beside heads: the table that a score has to stand in."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from fnmatch import fnmatchcase
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from ncc.devices.fit import ABLATIONS, MapperConfig, MapperMethod, load_inputs
from ncc.devices.head import KernelInputs
from ncc.devices.lstm import LSTMMethod, load_words
from ncc.devices.samples import DeviceMappingSamples, Platform, load_legacy_ir, load_samples
from ncc.embedding import Embedding, load_embedding
from ncc.errors import InputError
from ncc.ir import OPCODES, read_module
from ncc.study.bootstrap import Estimate
from ncc.study.devices.controls import DeviceMethod, TreeConfig, standard_controls
from ncc.study.devices.evaluation import DeviceMappingScore, fold_seed, plan_runs, score_runs
from ncc.study.devices.metrics import Metrics
from ncc.study.devices.protocols import PROTOCOLS, LeakageReport, audit_leakage
from ncc.study.peers.deeptune import DeepTune
from ncc.study.peers.grewe import Grewe
from ncc.study.peers.inst2vec import Inst2vec, read_statements
from ncc.study.peers.ir2vec import Encoding, IR2Vec, function_vectors, load_seeds
from ncc.study.peers.recurrent import RecurrentMethod
from ncc.study.report.devices import device_text
from ncc.study.runs import run_plans

__all__ = ["DeviceComparison", "compare_devices", "opcode_histograms", "standard_methods"]

SEEDS = (204, 205, 206, 207, 208)

_PLATFORMS: tuple[Platform, ...] = get_args(Platform)

Name = TypeVar("Name", bound=str)


@dataclass(frozen=True)
class DeviceComparison:
    """Scores of all that was run, and what the protocols let through.

    Args:
        scores: In order of platforms, protocols and methods.
        leakage: Of each platform and protocol, in the same order, for the folds of the first seed.
    """

    scores: tuple[DeviceMappingScore, ...]
    leakage: tuple[LeakageReport, ...]

    def to_dict(self) -> dict[str, Any]:
        """``protocols`` → ``"protocol/platform"`` → ``leakage`` and ``methods`` → figures, as ``--json`` prints them.

        Beside a figure, which is the mean over the seeds, its interval stands in ``intervals`` and what each seed gave
        in ``per_seed``.
        """
        protocols: dict[str, Any] = {
            f"{report.protocol}/{report.platform}": {"leakage": asdict(report), "methods": {}}
            for report in self.leakage
        }
        for score in self.scores:
            entry = protocols[f"{score.protocol}/{score.platform}"]
            entry |= {
                "static_choice": score.static_choice,
                "interval_unit": score.interval_unit,
                "num_groups": score.num_groups,
                "oracle": {name: figure.value for name, figure in _figures(score.oracle).items()},
            }
            entry["methods"][score.method] = _method_dict(score)
        return {"protocols": protocols}

    def to_text(self) -> str:
        """Tables for people: every method under every protocol; then the leakage."""
        return device_text(self)


def _figures(metrics: Metrics) -> dict[str, Estimate]:
    return {field.name: getattr(metrics, field.name) for field in fields(metrics)}


def _method_dict(score: DeviceMappingScore) -> dict[str, Any]:
    figures = _figures(score.metrics)
    if score.coverage:
        figures["coverage"] = score.coverage
    return {
        **{name: figure.value for name, figure in figures.items()},
        "coverage": score.coverage.value if score.coverage else None,
        "interval": [figures["accuracy"].low, figures["accuracy"].high],
        "intervals": {name: [figure.low, figure.high] for name, figure in figures.items()},
        "per_seed": {name: figure.per_seed.tolist() for name, figure in figures.items()},
        "num_samples": score.num_samples,
        "seeds": list(score.seeds),
        "seconds": round(score.seconds, 2),
    }


def opcode_histograms(samples: DeviceMappingSamples, folder: str | None = None) -> NDArray[np.float64]:
    """How often each opcode occurs in each row's kernel (legacy IR): (n, num_opcodes) float64.

    Raises:
        DataError: The archive of legacy IR is missing or damaged.
    """
    legacy = load_legacy_ir(folder)
    counts = {
        name: np.bincount(read_module(text, name=name).opcode, minlength=len(OPCODES)) for name, text in legacy.items()
    }
    return np.array([counts[samples.ir_name(row)] for row in range(len(samples))], np.float64)


def standard_methods(
    samples: DeviceMappingSamples, folder: str | None = None, *, num_trees: int = 300, ir2vec: Path | None = None
) -> dict[str, Callable[[], DeviceMethod]]:
    """All methods that a comparison runs: controls, published methods run again, ours, and ours without a part.

    Args:
        samples: The n samples.
        folder: Data folder; None stands for NCC_DATA, then the cache.
        num_trees: Trees of the controls' forests.
        ir2vec: IR2Vec's vocabulary, for its method; None stands for the vectors of our embedding.

    Returns:
        Name → what makes the method, in the order of the table; some compile every kernel, so only those that are
        chosen are made.

    Raises:
        DataError: The archive of legacy IR is missing or damaged.
    """
    controls = standard_controls(opcode_histograms(samples, folder), TreeConfig(num_trees=num_trees))
    inputs = cache(partial(_load_inputs, samples, folder))
    return {
        **{control.name: partial(_itself, control) for control in controls},
        Grewe.name: Grewe,
        DeepTune.name: DeepTune,
        Inst2vec.name: partial(_make_inst2vec, samples, folder),
        **{f"IR2Vec {name}": partial(_make_ir2vec, samples, name, folder, ir2vec) for name in get_args(Encoding)},
        LSTMMethod.name: partial(_make_lstm, samples, folder),
        MapperMethod.name: partial(_make_mapper, inputs, MapperConfig(), MapperMethod.name),
        **{
            f"{MapperMethod.name} without {part}": partial(
                _make_mapper, inputs, config, f"{MapperMethod.name} without {part}"
            )
            for part, config in ABLATIONS.items()
        },
    }


@cache
def _embedding() -> Embedding:
    return load_embedding()


def _load_inputs(samples: DeviceMappingSamples, folder: str | None) -> KernelInputs:
    return load_inputs(samples, _embedding(), folder)


def _make_mapper(inputs: Callable[[], KernelInputs], config: MapperConfig, name: str) -> DeviceMethod:
    return MapperMethod(inputs(), config, name)


def _make_inst2vec(samples: DeviceMappingSamples, folder: str | None) -> DeviceMethod:
    return Inst2vec(read_statements(samples, _embedding(), folder), _embedding())


def _make_ir2vec(
    samples: DeviceMappingSamples, encoding: Encoding, folder: str | None, vocabulary: Path | None
) -> DeviceMethod:
    return IR2Vec(function_vectors(samples, load_seeds(vocabulary), encoding, folder), encoding)


def _itself(method: DeviceMethod) -> DeviceMethod:
    return method


def _make_lstm(samples: DeviceMappingSamples, folder: str | None) -> DeviceMethod:
    return LSTMMethod(_embedding(), load_words(samples, _embedding(), folder))


def compare_devices(
    protocol: str = "all",
    platform: str = "all",
    *,
    methods: Sequence[str] = ("*",),
    seeds: Sequence[int] = SEEDS,
    num_network_seeds: int = 1,
    num_trees: int = 300,
    ir2vec: Path | None = None,
    jobs: int = 1,
    cache_folder: Path | None = None,
    folder: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> DeviceComparison:
    """Runs controls, published methods and ours under protocols and platforms.

    Args:
        protocol: One of `PROTOCOLS`, or "all".
        platform: "amd", "nvidia", or "all".
        methods: Patterns of names, such as "auxiliary*"; a method that matches one of them is run.
        seeds: Of the runs, as for `evaluate`.
        num_network_seeds: How many of these are run by methods that train a recurrent network, a minute a fold.
        num_trees: Trees of the controls' forests.
        ir2vec: IR2Vec's vocabulary, for its method; None stands for the vectors of our embedding.
        jobs: Folds run at a time, each in a process of its own with one thread; 1 runs them here.
        cache_folder: Earlier results; None keeps none.
        folder: Data folder; None stands for NCC_DATA, then the cache.
        progress: Called with a line of text after each fold.

    Raises:
        InputError: There is no such protocol or platform, no method of such a name, or no seed.
        DataError: The tables or the IR are missing or damaged.
    """
    protocols = _chosen("protocol", protocol, PROTOCOLS)
    platforms = _chosen("platform", platform, _PLATFORMS)
    if not seeds:
        raise InputError("expected at least one seed, found none")
    scores: list[DeviceMappingScore] = []
    leakage: list[LeakageReport] = []
    for name in platforms:
        samples = load_samples(name, folder)
        chosen = _matching(standard_methods(samples, folder, num_trees=num_trees, ir2vec=ir2vec), methods)
        legacy = load_legacy_ir(folder)
        ir = [legacy[samples.ir_name(row)] for row in range(len(samples))]
        leakage += [audit_leakage(samples, each, fold_seed(each, seeds[0]), ir) for each in protocols]
        cases = [
            (each, plan_runs(samples, method, each, seeds[: num_network_seeds if _is_network(method) else None]))
            for each in protocols
            for method in chosen
        ]
        tell = partial(_tell, progress, name) if progress else None
        plans = [plan for _, some in cases for plan in some]
        runs = iter(run_plans(samples, plans, jobs=jobs, cache=cache_folder, progress=tell))
        scores += [score_runs(samples, each, [next(runs) for _ in some]) for each, some in cases]
    return DeviceComparison(tuple(scores), tuple(leakage))


def _is_network(method: DeviceMethod) -> bool:
    return isinstance(method, LSTMMethod | RecurrentMethod)


def _tell(progress: Callable[[str], None], platform: str, line: str) -> None:
    progress(f"{platform}, {line}")


def _matching(known: dict[str, Callable[[], DeviceMethod]], patterns: Sequence[str]) -> list[DeviceMethod]:
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in known):
            raise InputError(f"no method {pattern!r}; expected a pattern that matches one of {', '.join(known)}")
    names = [name for name in known if any(fnmatchcase(name, pattern) for pattern in patterns)]
    if not names:
        raise InputError("expected at least one method, found none")
    return [known[name]() for name in names]


def _chosen(what: str, name: str, known: tuple[Name, ...]) -> tuple[Name, ...]:
    if name != "all" and name not in known:
        raise InputError(f"{what} is {name!r}; expected one of {', '.join(known)}, all")
    return tuple(each for each in known if name in (each, "all"))
