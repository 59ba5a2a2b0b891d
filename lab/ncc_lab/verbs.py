"""The lab's verbs: ``ncc evaluate`` and ``ncc bench``, and the same as functions."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from ncc.errors import InputError
from ncc.ir.frontend.options import CompileOptions
from ncc.system.files.writing import check_folder
from ncc.verbs.types import CompilingCorpora, Words
from ncc_lab.options import Clangs, Classes, Inst2vec, Methods, ProgramFolder, ProgramsCache, Runs, evaluation
from ncc_lab.scaling.plan import Numbers, SweepConfig

if TYPE_CHECKING:
    from ncc.learning.embedding.embedding import AnyEmbedding
    from ncc.learning.encoder.pooling import AnyEncoder
    from ncc.tasks.classification.head import ClassifierHead
    from ncc_lab.coarsening.coarsening import CoarseningMethod
    from ncc_lab.comparison import Comparison
    from ncc_lab.devices.times import TimesScores
    from ncc_lab.embedding.coverage import Coverage
    from ncc_lab.embedding.intrinsic import IntrinsicScores
    from ncc_lab.gpus.comparison import GpuScores
    from ncc_lab.programs.robustness import RobustnessTable
    from ncc_lab.scaling.sweep import ScalingSweep


@evaluation("output", "into", compiles=False)
def evaluate_embedding(
    *,
    embedding: "AnyEmbedding | None" = None,
    inst2vec: Inst2vec = None,
    k: Annotated[int, Words(option=("-k",))] = 5,
    plot: Annotated[Path | None, Words(metavar="FILE.png")] = None,
) -> "IntrinsicScores":
    """Run the inst2vec paper's analogies and semantic distance test on an embedding, and draw it.

    Args:
        k: How many nearest words may contain the answer.
        plot: Draw the most frequent words in two dimensions, colored by family.

    Returns:
        Scores of each kind of analogy and of the distance test, in percent.

    Raises:
        InputError: ``k`` is below 1, or the embedding has too few words to draw.
        OutputError: The picture can't be written.

    Reference: Ben-Nun et al. 2018, section 5.1.
    """
    from ncc.learning.embedding.embedding import load_embedding
    from ncc_lab.embedding.intrinsic import score_embedding
    from ncc_lab.embedding.picture import project, write_png
    from ncc_lab.vectors.inst2vec import load_inst2vec

    table = load_inst2vec(*inst2vec) if inst2vec else load_embedding(embedding)
    scores = score_embedding(table, k)
    if plot:
        write_png(project(table), plot)
    return scores


@evaluation("output", failures=lambda found: [*found.failures.values()])
def evaluate_coverage(
    inputs: list[str],
    *,
    embedding: "AnyEmbedding | None" = None,
    inst2vec: Inst2vec = None,
    misses: int = 20,
    options: CompileOptions | None = None,
) -> "Coverage":
    """Count how many statements of code or corpora an embedding has exactly, and how far the others back off.

    Args:
        inputs: Files, folders and globs, and folders of corpora that `ncc.build_corpus` made.
        misses: How many of the most frequent misses to show.

    Returns:
        The counts; files that could not be read are named in ``failures``.

    Raises:
        InputError: ``misses`` is negative, or a corpus was counted with another abstraction.
        AssetError: A corpus is damaged.
    """
    from ncc.learning.embedding.embedding import load_embedding
    from ncc_lab.embedding.coverage import count_statements, measure_coverage
    from ncc_lab.vectors.inst2vec import load_inst2vec

    table = load_inst2vec(*inst2vec) if inst2vec else load_embedding(embedding)
    counts, failures = count_statements(inputs, table.abstraction, options)
    return replace(measure_coverage(counts, table.vocabulary, num_misses=misses), failures=failures)


@evaluation("output", "into", resumes=True, is_brief=True)
def evaluate_devmap(
    *,
    protocol: Annotated[str, Words(metavar="published|kernel|application|suite|all")] = "all",
    platform: Annotated[str, Words(metavar="amd|nvidia|all")] = "all",
    method: Methods = None,
    runs: Runs = Runs(),
    progress: Callable[[str], None] | None = None,
) -> "Comparison":
    """Evaluate device mapping under every protocol: controls, published methods and ours.

    After an interruption, run the same command again to resume from the finished folds.

    Args:
        protocol: Rule for holding out test rows.
        platform: Platform to measure on.
        runs: How methods are run; those that train a recurrent network, a minute a fold, from one seed.

    Returns:
        Scores of every method under every protocol, with 95% intervals.

    Raises:
        InputError: A protocol, platform or method is unknown.
        DataError: The tables or the IR are missing or damaged.
        OutputError: The cache can't be written.

    Reference: Cummins et al. 2017 (data); Ben-Nun et al. 2018, section 6.2 (task).
    """
    from ncc.tasks.devices.head import Platform
    from ncc.tasks.devices.train import load_legacy_ir
    from ncc_lab.comparison import compare, join
    from ncc_lab.devices.devmap import PROTOCOLS, device_mapping, standard_methods
    from ncc_lab.devices.samples import load_samples
    from ncc_lab.frame import choose, choose_methods

    protocols = choose("protocol", protocol, PROTOCOLS)
    platforms = choose("platform", platform, get_args(Platform))
    cache, comparisons = runs.cache_folder(), []
    for name in platforms:
        samples = load_samples(name, runs.data)
        known = standard_methods(samples, runs.data, num_trees=runs.trees)
        methods = [known[one]() for one in choose_methods(method, known)]
        legacy = load_legacy_ir(runs.data)
        task = device_mapping(samples, [legacy[samples.ir_name(row)] for row in range(len(samples))])

        def tell(line: str, platform: str = name) -> None:
            if progress:
                progress(f"{platform}, {line}")

        found = compare(
            task, methods, protocols, runs.all_seeds, num_slow_seeds=1, jobs=runs.jobs, cache=cache, progress=tell
        )
        comparisons.append(found)
    return join(comparisons)


@evaluation("output", "into", resumes=True, is_brief=True)
def evaluate_coarsening(
    *,
    protocol: Annotated[str, Words(metavar="kernel|source|pair|device|all")] = "all",
    method: Methods = None,
    networks: bool = False,
    runs: Runs = Runs(),
    progress: Callable[[str], None] | None = None,
) -> "Comparison":
    """Evaluate thread coarsening under every protocol: controls, published methods and ours.

    Args:
        protocol: Rule for holding out test rows.
        networks: Also run our LSTM, DeepTune and DeepTune-TL (hours).
        runs: How methods are run.

    Returns:
        Scores of every method under every protocol, with 95% intervals.

    Raises:
        InputError: A protocol or method is unknown.
        DataError: The table or the IR is missing or damaged.
        OutputError: The cache can't be written.

    Reference: Magni, Dubach, O'Boyle 2014 (data); Ben-Nun et al. 2018, section 6.3 (task).
    """
    from ncc.learning.embedding.embedding import load_embedding
    from ncc.tasks.coarsening.train import load_kernel_ir, load_words
    from ncc_lab.coarsening.coarsening import PROTOCOLS, all_methods, lstm, thread_coarsening
    from ncc_lab.coarsening.samples import load_samples
    from ncc_lab.comparison import compare
    from ncc_lab.devices.samples import load_samples as load_device_samples
    from ncc_lab.frame import choose, choose_methods
    from ncc_lab.peers.sequences import coarsening_deeptune, pretrain_language_model

    def transferred() -> "CoarseningMethod":
        if progress:
            progress("DeepTune-TL: training on device mapping")
        return coarsening_deeptune(pretrain_language_model(load_device_samples("amd", runs.data)))

    protocols, cache = choose("protocol", protocol, PROTOCOLS), runs.cache_folder()
    samples, ir = load_samples(runs.data), load_kernel_ir(runs.data)
    quick = {one.name: one for one in all_methods(samples, runs.data, runs.trees)}
    slow: dict[str, Callable[[], CoarseningMethod]] = {
        "lstm": lambda: lstm(embedding := load_embedding(), load_words(samples, ir, embedding)),
        "DeepTune": coarsening_deeptune,
        "DeepTune-TL": transferred,
    }
    known = [*quick, *slow]
    names = choose_methods(method, known) if method else known if networks else list(quick)
    methods = [slow[name]() if name in slow else quick[name] for name in names]
    task = thread_coarsening(samples, ir, protocols)
    return compare(task, methods, protocols, runs.all_seeds, jobs=runs.jobs, cache=cache, progress=progress)


@evaluation("output", "into", resumes=True, is_brief=True)
def evaluate_classification(
    folder: ProgramFolder | None = None,
    *,
    classes: Classes = None,
    protocol: Annotated[str, Words(metavar="grouped|published|all")] = "grouped",
    method: Methods = None,
    per_class: Annotated[Sequence[int] | None, Words(metavar="N")] = None,
    levels: "Sequence[str]" = ("1",),
    embedding: "AnyEmbedding | None" = None,
    epochs: Annotated[int, Words(minimum=1)] = 12,
    programs: ProgramsCache | None = None,
    options: CompilingCorpora | None = None,
    runs: Runs = Runs(seeds=1),
    progress: Callable[[str], None] | None = None,
) -> "Comparison":
    """Compare program classifiers with controls, on POJ-104 or on a folder of folders.

    Args:
        protocol: Rule for holding out test rows.
        per_class: Training programs per class; several numbers make a learning curve.
        epochs: Passes over the programs, for our methods.
        options: Compiler options, except the level.
        runs: How methods are run.

    Returns:
        Scores of every method under every protocol, with 95% intervals.

    Raises:
        InputError: A protocol, method or level is unknown, or there are too few classes or programs.
        DataError: POJ-104 is needed, but missing or damaged.
        OutputError: A cache can't be written.

    Reference: Ben-Nun et al. 2018, section 6.1 (task); Mou et al. 2016 (data).
    """
    from ncc.learning.embedding.embedding import load_embedding
    from ncc.learning.programs.labelled import labelled_files, load_programs, programs_cache
    from ncc.tasks.classification.config import NetworkTraining
    from ncc_lab.comparison import compare
    from ncc_lab.frame import choose, choose_methods
    from ncc_lab.programs.classify import PROTOCOLS, all_methods, classification
    from ncc_lab.programs.methods import frozen_methods

    protocols = choose("protocol", protocol, PROTOCOLS)
    sizes = sorted(per_class or (), reverse=True)
    if sizes and sizes[-1] < 1:
        raise InputError(f"programs of a class: expected 1 or more, found {sizes[-1]}")
    cache, kept = runs.cache_folder(), Path(programs) if programs else programs_cache()
    embedding = load_embedding(embedding)
    files, names = labelled_files(folder, levels, runs.data, classes)
    samples = load_programs(
        files,
        names,
        options=options,
        abstraction=embedding.abstraction,
        cache=kept,
        jobs=runs.jobs,
        progress=progress,
    )
    training = NetworkTraining()
    training = replace(training, loop=replace(training.loop, epochs=epochs))
    methods = (*all_methods(embedding, training, runs.trees), *frozen_methods(files, names, embedding, kept))
    chosen = choose_methods(method, [one.name for one in methods])
    return compare(
        classification(samples, sizes),
        [one for one in methods if one.name in chosen],
        [f"{name}/{size}" for name in protocols for size in sizes] or protocols,
        runs.all_seeds,
        jobs=runs.jobs,
        cache=cache,
        progress=progress,
    )


@evaluation("output", is_brief=True)
def evaluate_classifier(
    head: "ClassifierHead | str | Path",
    folder: ProgramFolder | None = None,
    *,
    levels: "Sequence[str]" = ("1",),
    clang: Clangs = None,
    embedding: "AnyEmbedding | None" = None,
    jobs: Annotated[int, Words(minimum=1)] = 1,
    programs: ProgramsCache | None = None,
    data: str | None = None,
    options: CompilingCorpora | None = None,
    progress: Callable[[str], None] | None = None,
) -> "RobustnessTable":
    """Measure a trained classifier on its test programs, compiled at other levels and by other compilers.

    Args:
        head: The classifier, or its folder.
        folder: Folder with all programs, those that it was trained on included; default: POJ-104.
        clang: Additional compilers.
        embedding: Embedding that the classifier was trained on, or its folder; default: the shipped one.
        jobs: Files to compile in parallel.
        options: Compiler options, except level and compiler.

    Returns:
        Scores for each level and compiler, with 95% intervals.

    Raises:
        InputError: A level is unknown, or there are too few classes or programs.
        AssetError: The classifier knows other classes, or another embedding, or was trained on all programs.
        DataError: POJ-104 is needed, but missing or damaged.
    """
    from ncc.learning.embedding.embedding import load_embedding
    from ncc.learning.programs.labelled import labelled_files, programs_cache
    from ncc.tasks.classification.head import load_classifier
    from ncc_lab.programs.robustness import measure_head

    files, names = labelled_files(folder, levels, data)
    options = options or CompileOptions()
    variants = [replace(options, optimization=level, clang=path) for path in (None, *(clang or ())) for level in names]
    cache = Path(programs) if programs else programs_cache()
    return measure_head(
        load_classifier(head),
        load_embedding(embedding),
        files,
        variants,
        options=options,
        cache=cache,
        jobs=jobs,
        progress=progress,
    )


@evaluation("into", is_brief=True)
def evaluate_retrieval(
    folder: ProgramFolder | None = None,
    *,
    classes: Classes = None,
    per_class: Annotated[int | None, Words("N", minimum=2)] = None,
    method: Methods = None,
    encoder: "AnyEncoder | None" = None,
    levels: "Sequence[str]" = ("1",),
    rerank: bool = False,
    embedding: "AnyEmbedding | None" = None,
    seed: int = 204,
    jobs: Annotated[int, Words(minimum=1)] = 1,
    programs: ProgramsCache | None = None,
    data: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> "Comparison":
    """Evaluate how well vectors find programs of the same class: MAP@R, each program compared with all others.

    ncc evaluate retrieval my-programs --method 'TF-IDF bag*'

    Args:
        per_class: Programs per class, drawn at random by the seed; default: all.
        encoder: Also measure this encoder, made by 'ncc train encoder', or its folder.
        rerank: Also move vectors towards their nearest neighbors among all programs.
        seed: Random seed, also of the encoder that is not trained.
        jobs: Files to compile in parallel.

    Returns:
        Scores of every method, with 95% intervals over classes.

    Raises:
        InputError: A class, method or level is unknown.
        DataError: POJ-104 is needed, but missing or damaged.
        OutputError: The folder of programs can't be written.

    Reference: Lu et al. 2021 (CodeXGLUE); Mou et al. 2016 (data).
    """
    from functools import partial

    from ncc.learning.embedding.embedding import load_embedding
    from ncc.learning.encoder.pooling import load_pooler
    from ncc.learning.programs.ir_cache import CachingCompiler
    from ncc.learning.programs.labelled import choose_classes, labelled_files, load_programs, programs_cache
    from ncc_lab.frame import choose_methods
    from ncc_lab.retrieval.methods import all_representations, pooled
    from ncc_lab.retrieval.programs import compare_retrieval

    embedding = load_embedding(embedding)
    cache = Path(programs) if programs else programs_cache()
    files, names = labelled_files(folder, levels, data)
    if classes or per_class:
        files = choose_classes(files, classes or ",".join(files.classes), per_class=per_class, seed=seed)
    own = [pooled(load_pooler("encoder", embedding, encoder), "ncc, this encoder")] if encoder else []
    known = [*all_representations(embedding, seed), *own]
    chosen = choose_methods(method, [one.name for one in known])
    check_folder(cache)
    samples = load_programs(files, names, abstraction=embedding.abstraction, cache=cache, jobs=jobs, progress=progress)
    methods = [one for one in known if one.name in chosen]
    compiler = CachingCompiler.below(cache)
    readers = [partial(compiler.program_ir, options=CompileOptions(optimization=level)) for level in names]
    return compare_retrieval(files, samples, methods, readers, rerank=rerank, progress=progress)


@evaluation("into", is_brief=True)
def evaluate_functions(
    projects: Annotated[Sequence[str | Path], Words(metavar="PROJECT...")],
    *,
    method: Methods = None,
    clang: Clangs = None,
    embedding: "AnyEmbedding | None" = None,
    seed: int = 204,
    jobs: Annotated[int, Words(minimum=1)] = 1,
    ir: Annotated[str | Path | None, Words(metavar="FOLDER")] = None,
    progress: Callable[[str], None] | None = None,
) -> "Comparison":
    """Measure how often a function finds itself among all of its project, compiled at -O0 or by another compiler.

    ncc evaluate functions my-project --clang clang-19

    The pool is a project compiled at -O2 by the bundled clang; the queries are its functions at -O0, and those of other
    compilers at -O2. The project's identifiers and strings are removed; tables with and without the names of external
    callees follow each other.

    Args:
        projects: Folders of sources, and recipes of such (.toml), each source a project.
        clang: Another compiler whose -O2 builds are also used as queries.
        seed: Random seed of the encoder that is not trained.
        jobs: Files to compile in parallel.
        ir: Keep compiled IR there; default: the user's cache.

    Returns:
        Scores of every method, with 95% intervals over projects.

    Raises:
        InputError: A project or method is unknown, or every project has fewer than two functions.
        OutputError: A folder can't be written.
    """
    from ncc.learning.data.registry import cache_folder
    from ncc.learning.embedding.embedding import load_embedding
    from ncc.learning.programs.ir_cache import CachingCompiler
    from ncc_lab.frame import choose_methods
    from ncc_lab.retrieval.functions import compare_functions, find_projects
    from ncc_lab.retrieval.methods import all_representations

    embedding = load_embedding(embedding)
    known = all_representations(embedding, seed)
    chosen = choose_methods(method, [one.name for one in known])
    folder = Path(ir) if ir else cache_folder() / "functions"
    check_folder(folder)
    compiler = CachingCompiler(cache_folder() / "headers", folder)
    methods = [one for one in known if one.name in chosen]
    return compare_functions(
        find_projects(projects),
        methods,
        clang or (),
        compiler,
        embedding.abstraction,
        jobs=jobs,
        progress=progress,
    )


@evaluation("output", "into")
def evaluate_gpu(
    *,
    method: str = "all",
    seed: int = 204,
    data: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> "GpuScores":
    """Evaluate predicted times and bounds of GPU kernel launches, with programs held out, against controls.

    Example: ncc evaluate gpu --method ncc

    Every method learns from launches with and without their program's arguments, and is asked both ways.

    Args:
        method: Any of ncc, process, lstm, vectors, trees, physics, counts, sizes, median, 'perfect counts' or all.

    Returns:
        Method → "with_program_args" and "without_program_args" → figures, with 95% intervals over programs.

    Raises:
        InputError: The method is unknown.
        DataError: The files are missing or damaged.

    Reference: gpuFLOPBench, arXiv 2512.04355 (data).
    """
    from ncc.tasks.gpus.train import published_launches
    from ncc_lab.frame import choose
    from ncc_lab.gpus.comparison import METHODS, ON_CODE, GpuScores, measure_methods

    names = choose("method", method, (*METHODS, *ON_CODE))
    return GpuScores(measure_methods(names, published_launches(data, progress), seed, data, progress))


@evaluation("output")
def evaluate_times(
    *,
    protocol: Annotated[
        str, Words(metavar="kernel|application|suite|clgen-kernel|clgen-to-suites|suites-to-clgen|all")
    ] = "all",
    platform: Literal["amd", "nvidia"] = "amd",
    model: Annotated[str, Words(metavar="gp|trees|lstm|all")] = "all",
    seed: int = 204,
    data: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> "TimesScores":
    """Evaluate predicted times: accuracy, factor, coverage of intervals, and accuracy on the most confident launches.

    Example: ncc evaluate times --protocol suites-to-clgen --platform nvidia --model gp

    Args:
        protocol: Rule for holding out test rows: parts of the suites, quarters of CLgen's kernels, or the source of
            kernels that was not trained on.
        platform: GPU, amd (Tahiti 7970) or nvidia (GTX 970).
        model: Models to measure.

    Returns:
        Protocol → method → its figures.

    Raises:
        InputError: The protocol or model is unknown.
        DataError: The tables or the IR are missing or damaged.

    Reference: Cummins et al., CGO 2017 (data).
    """
    from ncc.tasks.devices.models import MODELS
    from ncc_lab.devices.times import PROTOCOLS, measure_models
    from ncc_lab.frame import choose

    protocols, models = choose("protocol", protocol, PROTOCOLS), choose("model", model, MODELS)
    return measure_models(protocols, platform, models, seed, data, progress)


@evaluation("output", failures=lambda sweep: [f"{sweep.num_failed} runs failed"] if sweep.num_failed else [])
def bench_scaling(
    folder: ProgramFolder | None = None,
    *,
    config: SweepConfig = SweepConfig(),
    levels: "Sequence[str]" = ("1",),
    embedding: Annotated[str | Path | None, Words("FOLDER")] = None,
    programs: ProgramsCache | None = None,
    data: str | None = None,
    predict: Numbers = (),
    link: Annotated[str, Words(metavar="nvlink|infiniband|ethernet")] = "infiniband",
    progress: Callable[[str], None] | None = None,
) -> "ScalingSweep":
    """Measure how training a program classifier scales over ranks, and how large a model must be for that to pay.

    Each run has separate processes, and is in the answer even if it failed; the exit code is then 1.

    Args:
        config: Settings of the sweep.
        embedding: Statement embedding that each run reads; default: the shipped one.
        predict: Predict speedups for these numbers of ranks, such as '8,64,512'; needs --world 1,2,4.
        link: Network between the ranks of --predict.

    Returns:
        Every run and the scores of every setting: seconds, programs per second, speedups.

    Raises:
        InputError: A value is out of its range, unknown, or does not go with another.
        DataError: POJ-104 is needed, but missing or damaged.
    """
    from ncc_lab.scaling.prediction import LINKS, predict_scaling
    from ncc_lab.scaling.programs import ProgramSource
    from ncc_lab.scaling.sweep import run_sweep

    is_plain = "mirrored" in config.strategy and "none" in config.compression
    if predict and (min(predict) < 2 or len(set(config.world)) < 3 or not is_plain):
        raise InputError("a prediction needs runs of 1, 2 and more mirrored ranks, and asks for 2 ranks or more")
    if link not in LINKS:
        raise InputError(f"link is {link!r}; expected one of {', '.join(LINKS)}")
    source = ProgramSource.find(folder, levels, cache=programs, embedding=embedding, data=data)
    sweep = run_sweep(config, source, progress=progress)
    if not predict:
        return sweep
    return replace(sweep, prediction=predict_scaling(sweep.results, predict, link, seed=config.seed))
