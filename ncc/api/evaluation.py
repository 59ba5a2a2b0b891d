"""What ``ncc evaluate`` does for tasks, as functions: every score beside its controls, and reports of them.

Results have ``to_dict()``, which is what ``--json`` prints, and ``to_text()``, a table for people.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ncc.api.programs import labelled_files, load_labelled_programs, tell_batches
from ncc.embedding import Embedding, load_embedding
from ncc.errors import InputError
from ncc.frontend import CompileOptions
from ncc.runtime.writable import check_folder

if TYPE_CHECKING:
    from ncc.classification.head import ClassifierHead
    from ncc.study.classification.comparison import ClassificationComparison
    from ncc.study.classification.robustness import RobustnessTable
    from ncc.study.coarsening.comparison import CoarseningComparison
    from ncc.study.devices.comparison import DeviceComparison
    from ncc.study.scaling import ScalingSweep

__all__ = [
    "evaluate_classification",
    "evaluate_classifier",
    "evaluate_coarsening",
    "evaluate_devmap",
    "write_report",
]

Progress = Callable[[str], None]


def evaluate_devmap(
    protocol: str = "all",
    platform: str = "all",
    *,
    method: Sequence[str] | None = None,
    seeds: int = 5,
    seed: int = 204,
    network_seeds: int = 1,
    trees: int = 300,
    ir2vec: str | Path | None = None,
    jobs: int = 1,
    cache: str | Path | None = None,
    no_cache: bool = False,
    data: str | None = None,
    progress: Progress | None = None,
) -> "DeviceComparison":
    """Measures device mapping under every protocol, controls beside published methods and ours.

    A call that was stopped goes on from the folds that were finished.

    Args:
        protocol: "published", "kernel", "application", "suite", or "all".
        platform: "amd", "nvidia", or "all".
        method: Patterns of the names of methods to run, such as "opcode*"; default all.
        seeds: Number of runs.
        seed: Of the first of them.
        network_seeds: Number of runs of methods that train a recurrent network, a minute a fold.
        trees: Trees of the controls' forests.
        ir2vec: File of IR2Vec's seed vectors; default those of our embedding.
        jobs: Folds run at a time, each with one thread.
        cache: Folder that keeps results of folds; default the user's cache.
        no_cache: Whether to run every fold, and keep none.
        data: Folder of datasets; default NCC_DATA, then the cache.
        progress: Called with a line of text after each fold.

    Returns:
        Scores of every method under every protocol, with 95 % intervals.

    Raises:
        InputError: There is no such protocol, platform or method.
        DataError: The tables or the IR are missing or damaged.
        OutputError: The cache can't be written.

    Reference: Cummins et al. 2017 (data); Ben-Nun et al. 2018, section 6.2 (task).
    """
    from ncc.study.devices import comparison

    return comparison.compare_devices(
        protocol,
        platform,
        methods=method or ("*",),
        seeds=_seeds(seed, seeds),
        num_trees=trees,
        jobs=jobs,
        num_network_seeds=network_seeds,
        ir2vec=None if ir2vec is None else Path(ir2vec),
        cache_folder=_runs_folder(cache, no_cache),
        folder=data,
        progress=progress,
    )


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
    progress: Progress | None = None,
) -> "CoarseningComparison":
    """Measures thread coarsening under every protocol, controls beside published methods and ours.

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
    from ncc.study.coarsening import comparison

    return comparison.compare_coarsening(
        protocol,
        _seeds(seed, seeds),
        methods=method or (),
        with_networks=networks,
        num_trees=trees,
        jobs=jobs,
        cache=_runs_folder(cache, no_cache),
        folder=data,
        progress=progress,
    )


def evaluate_classification(
    folder: str | Path | None = None,
    *,
    protocol: str = "grouped",
    method: Sequence[str] | None = None,
    per_class: Sequence[int] | None = None,
    levels: Sequence[str] = ("1",),
    embedding: Embedding | None = None,
    epochs: int = 12,
    seeds: int = 1,
    seed: int = 204,
    trees: int = 300,
    jobs: int = 1,
    cache: str | Path | None = None,
    no_cache: bool = False,
    programs: str | Path | None = None,
    data: str | None = None,
    progress: Progress | None = None,
) -> "ClassificationComparison":
    """Measures classifiers of programs beside their controls.

    Args:
        folder: Has a folder of programs for each class; default POJ-104.
        protocol: "grouped", "published", or "all".
        method: As for `evaluate_devmap`.
        per_class: Train on so many programs of a class; several numbers make a learning curve.
        levels: Optimisation levels to compile programs at.
        embedding: Vectors to begin with; default those that ship with ncc.
        epochs: Passes over the programs, for ours.
        seeds: As for `evaluate_devmap`.
        seed: As for `evaluate_devmap`.
        trees: As for `evaluate_devmap`.
        jobs: As for `evaluate_devmap`.
        cache: As for `evaluate_devmap`.
        no_cache: As for `evaluate_devmap`.
        programs: Folder where programs are kept once read; default the user's cache.
        data: As for `evaluate_devmap`.
        progress: As for `evaluate_devmap`.

    Returns:
        Scores of every method under every protocol, with 95 % intervals.

    Raises:
        InputError: There is no such protocol, method or level, or there are too few classes or programs.
        DataError: POJ-104 is asked for and is missing or damaged.
        OutputError: A cache can't be written.

    Reference: Ben-Nun et al. 2018, section 6.1 (task); Mou et al. 2016 (data).
    """
    from ncc.classification.network_fit import NetworkTraining
    from ncc.study.classification.comparison import all_methods, compare_classifiers

    runs = _runs_folder(cache, no_cache)
    embedding = embedding or load_embedding()
    samples = load_labelled_programs(folder, levels, embedding, cache=programs, data=data, jobs=jobs, progress=progress)
    training = NetworkTraining()
    training = replace(training, loop=replace(training.loop, epochs=epochs))
    return compare_classifiers(
        samples,
        all_methods(embedding, training, trees),
        protocol=protocol,
        patterns=method or ("*",),
        per_class=per_class or (),
        seeds=_seeds(seed, seeds),
        jobs=jobs,
        cache=runs,
        progress=progress,
    )


def evaluate_classifier(
    head: "ClassifierHead",
    folder: str | Path | None = None,
    *,
    levels: Sequence[str] = ("1",),
    clang: Sequence[str] | None = None,
    embedding: Embedding | None = None,
    jobs: int = 1,
    programs: str | Path | None = None,
    data: str | None = None,
    progress: Progress | None = None,
) -> "RobustnessTable":
    """Measures a trained classifier on its test programs, as other levels and compilers make them.

    Args:
        head: The classifier.
        folder: Has all programs, those that it was trained on included; default POJ-104.
        levels: Optimisation levels.
        clang: Compilers beside the bundled one.
        embedding: That it was trained on; default the one that ships with ncc.
        jobs: Compilers at a time.
        programs: As for `evaluate_classification`.
        data: As for `evaluate_classification`.
        progress: Called with a line of text now and then.

    Returns:
        Scores for each level and compiler, with 95 % intervals.

    Raises:
        InputError: A level is unknown, or there are too few classes or programs.
        AssetError: The classifier knows other classes, or another embedding, or was trained on all programs.
        DataError: POJ-104 is asked for and is missing or damaged.
    """
    from ncc.classification.places import programs_cache
    from ncc.study.classification.robustness import RobustnessTable, measure_head

    files, names = labelled_files(folder, levels, data)
    scores = measure_head(
        head,
        embedding or load_embedding(),
        files,
        [CompileOptions(optimization=level, clang=path) for path in (None, *(clang or ())) for level in names],
        cache=programs_cache() if programs is None else Path(programs),
        jobs=jobs,
        progress=tell_batches(progress),
    )
    return RobustnessTable(tuple(scores))


def write_report(
    result: "DeviceComparison | CoarseningComparison | ClassificationComparison | ScalingSweep",
    path: str | Path,
    *,
    about: dict[str, Any] | None = None,
    data: str | None = None,
) -> None:
    """Writes a page with tables and pictures of what was measured; it needs no other file and no net.

    Args:
        result: From `evaluate_devmap`, `evaluate_coarsening`, `evaluate_classification` or `bench_scaling`.
        path: Of the .html file.
        about: What was run, such as command, hardware and versions.
        data: Folder of datasets; default NCC_DATA, then the cache.

    Raises:
        OutputError: The file can't be written.
    """
    from ncc.runtime.storage import write_output

    write_output(Path(path), _page(result, about or {}, data).encode())


def _page(result: Any, about: dict[str, Any], data: str | None) -> str:
    from ncc.study.classification.comparison import ClassificationComparison
    from ncc.study.coarsening.comparison import CoarseningComparison

    if isinstance(result, ClassificationComparison):
        from ncc.study.report.classification import classification_report

        return classification_report(result, about)
    if isinstance(result, CoarseningComparison):
        from ncc.coarsening.samples import load_samples as load_coarsening_samples
        from ncc.study.report.coarsening import coarsening_report

        return coarsening_report(result, load_coarsening_samples(data), about)
    from ncc.study.devices.comparison import DeviceComparison

    if isinstance(result, DeviceComparison):
        from ncc.devices.samples import load_samples
        from ncc.study.report.devices import device_report

        platforms = dict.fromkeys(score.platform for score in result.scores)
        return device_report(result, {name: load_samples(name, data) for name in platforms}, about)  # type: ignore[arg-type]
    from ncc.study.scaling.report import scaling_report

    return scaling_report(result, about)


def _seeds(first: int, number: int) -> range:
    if number < 1:
        raise InputError(f"seeds is {number}; expected 1 or more")
    return range(first, first + number)


def _runs_folder(cache: str | Path | None, no_cache: bool) -> Path | None:
    """Where results of folds are kept, if anywhere."""
    from ncc.data import cache_folder

    if cache and no_cache:
        raise InputError("--cache and --no-cache exclude each other")
    if cache:
        check_folder(Path(cache))
    return None if no_cache else Path(cache) if cache else cache_folder() / "runs"
