"""Making models: ``ncc corpus build`` and ``ncc train``."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from ncc.errors import InputError, check_positive
from ncc.ir.frontend.options import CompileOptions
from ncc.learning.embedding.config import EmbeddingConfig
from ncc.learning.encoder.config import EncoderTraining
from ncc.system.files.writing import check_folder
from ncc.tasks.classification.config import ClassifierTraining
from ncc.verbs.types import IN_PYTHON, Answer, CompilingCorpora, Count, PathLike, TrainingDevice, Words, verb

if TYPE_CHECKING:
    from ncc.learning.corpus.build import CorpusReport
    from ncc.learning.corpus.recipe import Recipe
    from ncc.learning.embedding.embedding import AnyEmbedding, Embedding
    from ncc.learning.encoder.linear import LinearEncoder
    from ncc.learning.encoder.network_numpy import LSTMEncoder
    from ncc.tasks.classification.head import ClassifierHead
    from ncc.tasks.coarsening.head import CoarseningHead
    from ncc.tasks.devices.head import TimesHead
    from ncc.tasks.gpus.head import GpuHead

_Model = TypeVar("_Model", "Embedding", "ClassifierHead", "CoarseningHead", "TimesHead", "GpuHead")


def card_answer(model: Any) -> Answer:
    """A model that was trained and its card, or that of its last extension; nothing on other ranks than the first."""
    from ncc.learning.training.ranks import is_first_rank
    from ncc.system.files.summaries import Summary

    if not is_first_rank():
        return Answer()
    card = [model.card, *model.card.get("extensions", ())][-1]
    width = max(map(len, card), default=0) + 2
    details = [(name.replace("_", " ").ljust(width), _shown(value)) for name, value in card.items()]
    return Answer(text=[Summary(verdict=repr(model), details=details)])


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_shown(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return " ".join(map(_shown, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _save(model: _Model, output: PathLike | None, card: dict[str, Any] | None) -> _Model:
    """Add fields to a model's card, and save the model if a folder is given."""
    model.card.update(card or {})
    if output is not None:
        model.save(output)
    return model


@verb(show=lambda report: Answer(text=[report.summary()]), resumes=True)
def build_corpus(
    recipe: "Recipe | PathLike",
    output: PathLike,
    *,
    jobs: Count | None = None,
    ir: PathLike | None = None,
    options: CompilingCorpora | None = None,
    progress: Callable[[str], None] | None = None,
) -> "CorpusReport":
    """Compile, read and count every file of a recipe. Run again to resume.

    Args:
        recipe: TOML recipe, or folder of code.
        output: Output folder: ``width-N/counts.*``, ``report.json`` and ``shards/``.
        jobs: Number of worker processes; default: one per core.
        ir: Folder to cache compiled IR in, for later builds of the same files with the same options. Changes to headers
            go unnoticed.
        options: Header paths, macros, flags and compilation database for all sources; the recipe sets the others.

    Returns:
        Numbers of files, lines, statements and pairs, and the files that failed.

    Raises:
        InputError: The recipe can't be read, no file matches, or the folder holds another recipe's corpus.
        OutputError: A folder can't be written, or another build or training writes to it.
        NccError: Workers can't be started.
    """
    from ncc.learning.corpus.build import count_recipe
    from ncc.learning.corpus.recipe import load_recipe
    from ncc.learning.programs.ir_cache import CachingCompiler
    from ncc.system.workers.pool import Pool

    folder = Path(output).absolute()  # workers may stand in another folder
    ir_folder = Path(ir).absolute() if ir else None
    check_positive(jobs=jobs)
    check_folder(folder, ir_folder)
    recipe = load_recipe(recipe) if isinstance(recipe, str | os.PathLike) else recipe
    recipe = recipe.compiled_with(options) if options else recipe
    compiler = CachingCompiler(folder / "headers", ir_folder)
    return count_recipe(recipe, folder, compiler, Pool(jobs or os.cpu_count() or 1), progress)


@verb(show=card_answer)
def train_embedding(
    corpora: Sequence[PathLike],
    output: PathLike | None = None,
    *,
    config: EmbeddingConfig = EmbeddingConfig(),
    threads: int = 1,
    device: TrainingDevice = "cpu",
    extend: "AnyEmbedding | None" = None,
    card: dict[str, Any] | None = None,
    progress: Callable[[str], None] | None = None,
) -> "Embedding":
    """Train a statement embedding on corpus counts.

    With torchrun, ranks share the work: torchrun --nproc-per-node 2 -m ncc train embedding …

    Args:
        corpora: Corpus folders, made by ``ncc corpus build``.
        config: Training options.
        threads: Number of threads for matrix products.
        extend: Embedding to extend, its folder, or "shipped": keep its vectors and infer vectors for new words in the
            corpora instead of training. Only the context width and minimum count apply.

    Returns:
        The embedding, on all ranks.

    Raises:
        InputError: A value is out of range, or the corpora are incompatible.
        AssetError: A folder has no corpus, or a damaged one.
        OutputError: A folder can't be written.

    Reference: Ben-Nun et al. 2018, section 4.
    """
    from ncc.learning.embedding.embedding import load_embedding
    from ncc.learning.embedding.extend import extend_embedding
    from ncc.learning.embedding.train import fit_embedding, load_abstraction, load_corpora
    from ncc.learning.training.ranks import process_group, rank_and_world, torch_threads, training_lock

    folder, counted = None if output is None else Path(output), [Path(corpus) for corpus in corpora]
    check_positive(threads=threads)
    check_folder(folder)
    card = {**(card or {}), "corpora": [corpus.name for corpus in counted]}
    counts, abstraction = load_corpora(counted, config.context_width), load_abstraction(counted)
    if extend is not None:
        known, min_count = load_embedding(extend), config.min_count
        embedding = extend_embedding(known, counts, min_count=min_count, abstraction=abstraction, card=card)
        return _save(embedding, folder, None)
    with process_group(device) as rank_device, training_lock(folder), torch_threads(threads):
        rank, world_size = rank_and_world()
        if world_size > 1 and config.engine == "gensim":
            raise InputError("gensim trains in one process; run it without torchrun")
        embedding = fit_embedding(
            counts,
            config,
            abstraction=abstraction,
            card=card,
            threads=threads,
            device=rank_device,
            progress=(lambda epoch, loss: progress(f"epoch {epoch}: {loss:.4f}")) if progress and not rank else None,
        )
        return _save(embedding, None if rank else folder, None)


@verb(show=card_answer)
def train_encoder(
    output: PathLike,
    *,
    programs: PathLike | None = None,
    classes: str = "1-64",
    per_class: Annotated[int, Words(minimum=2)] | None = None,
    levels: "Sequence[str]" = ("1",),
    functions: "Recipe | PathLike | None" = None,
    functions_from: "LinearEncoder | PathLike | None" = None,
    clangs: Sequence[PathLike] = (),
    embedding: "AnyEmbedding | None" = None,
    config: EncoderTraining = EncoderTraining(),
    jobs: Count = 1,
    device: TrainingDevice = "cpu",
    cache: PathLike | None = None,
    data: str | None = None,
    card: dict[str, Any] | None = None,
    progress: Callable[[str], None] | None = None,
) -> "LinearEncoder | LSTMEncoder":
    """Train an encoder that places programs of a class, and builds of a function, near each other.

    The shipped encoder is linear, which works better than the LSTM on classes not seen in training. With torchrun,
    ranks share the LSTM's work. Run again to resume.

    Args:
        programs: Folder with a subfolder of programs per class; default: POJ-104.
        classes: Classes to train on: names, or ranges of numbers.
        per_class: Number of programs per class, drawn at random; default: all.
        functions: Corpus recipe or folder of code; each file is compiled at every level that the recipe lists.
        functions_from: Linear encoder, or its folder, whose function part to reuse; only the class part is trained.
        clangs: Another compiler that also compiles each file at its first and third level; may be repeated.
        embedding: Embedding that the LSTM starts from, or its folder; default: the shipped one.
        config: Model and training options.
        jobs: Number of compilers to run in parallel.
        cache: Folder to cache IR in; default: the user's cache.

    Returns:
        The encoder.

    Raises:
        InputError: Too few programs or functions, or an unknown class, level or compiler.
        DataError: POJ-104 is needed, and missing or damaged.
        OutputError: A folder can't be written.
    """
    from shutil import which

    from ncc.ir.reader.abstraction import Abstraction
    from ncc.learning.corpus.recipe import load_recipe
    from ncc.learning.embedding.embedding import load_embedding
    from ncc.learning.encoder import network_numpy, pooling, train
    from ncc.learning.programs import ir_cache, labelled
    from ncc.learning.training.ranks import is_first_rank

    is_linear = config.model == "linear"
    check_positive(jobs=jobs, per_class=per_class)
    if missing := [str(clang) for clang in clangs if not which(clang)]:
        raise InputError(f"clangs: {missing[0]} is missing or can't be run")
    place = Path(cache) if cache else labelled.programs_cache()
    check_folder(output, place)
    if (functions is None) == (functions_from is None) or (functions_from is not None and not is_linear):
        raise InputError("functions, functions_from: expected one of the two; functions_from needs a linear encoder")
    known = None if functions_from is None else pooling.load_encoder(functions_from)
    if isinstance(known, network_numpy.LSTMEncoder):
        raise InputError(f"functions_from: {functions_from} is an LSTM; expected a linear encoder")
    words = None if is_linear else load_embedding(embedding)
    files, names = labelled.labelled_files(programs, levels, data)
    code = train.TrainingCode(
        files=labelled.choose_classes(files, classes, per_class=per_class, seed=config.seed),
        levels=names,
        recipe=load_recipe(Path(functions)) if isinstance(functions, str | os.PathLike) else functions,
        clangs=clangs,
        abstraction=words.abstraction if words else Abstraction(),
        compiler=ir_cache.CachingCompiler.below(place),
        jobs=jobs,
        tell=progress if progress and (is_linear or is_first_rank()) else lambda _: None,
    )
    if words:
        return train.train_lstm(Path(output), code, words, config, device, card or {})
    return train.train_linear(Path(output), code, known, config, card)


@verb(show=card_answer)
def train_devmap(
    output: PathLike | None = None,
    *,
    tables: Sequence[PathLike] = (),
    platform: Literal["amd", "nvidia"] = "nvidia",
    model: Literal["gp", "trees", "lstm"] | None = None,
    embedding: "AnyEmbedding | None" = None,
    seed: int = 204,
    data: str | None = None,
    card: dict[str, Any] | None = None,
    progress: Callable[[str], None] | None = None,
) -> "TimesHead":
    """Fit a device head to measured times, with scores on held-out kernels and families.

    Example: ncc train devmap times.csv -o mine && ncc predict-device kernel.cl --global-size 1048576 --head mine

    Args:
        tables: Tables of measured times (.csv or .parquet), all from the same devices; default: the published times.
        platform: GPU of the published times, amd (Tahiti 7970) or nvidia (GTX 970).
        model: One of gp (Gaussian processes) and trees (gradient boosting), both on sizes and execution counts, and
            lstm, which reads statements and takes longer; default: gp, or trees for the published CLgen kernels, as in
            the shipped heads.
        embedding: Embedding that lstm reads, or its folder; default: the shipped one.

    Returns:
        The head, with its scores in the card.

    Raises:
        InputError: The platform is unknown, or the model can't be trained on these times.
        DataError: A table, or the IR, is missing or damaged.
        OutputError: The folder can't be written.

    Reference: Cummins et al. 2017 (data); Ben-Nun et al. 2018, section 6.2 (task).
    """
    from ncc.tasks.devices.train import fit_head

    check_folder(output)
    head = fit_head([Path(table) for table in tables], platform, model, embedding, seed, data, progress)
    return _save(head, output, card)


@verb(show=card_answer)
def train_coarsening(
    output: PathLike | None = None,
    *,
    model: Literal["line", "lstm"] = "line",
    embedding: "AnyEmbedding | None" = None,
    seed: int = 204,
    data: str | None = None,
    card: dict[str, Any] | None = None,
) -> "CoarseningHead":
    """Fit a thread-coarsening head to the published times (PACT'14), with scores on held-out kernels.

    Example: ncc train coarsening -o mine && ncc predict-coarsening kernel.cl --head mine

    Args:
        model: One of line (linear in the fraction of divergent statements, as in the shipped head) and lstm (an
            ensemble of LSTMs over the kernel's statements).
        embedding: Embedding that the LSTMs read, or its folder; default: the shipped one.
        seed: Random seed for training the LSTMs.

    Returns:
        The head, with its scores in the card.

    Raises:
        InputError: The model is unknown.
        DataError: The table or the IR is missing or damaged.
        OutputError: The folder can't be written.

    Reference: Magni, Dubach, O'Boyle 2014.
    """
    from ncc.tasks.coarsening.train import fit_head

    check_folder(output)
    return _save(fit_head(model, embedding, seed, data), output, card)


@verb(show=card_answer)
def train_gpu(
    output: PathLike | None = None,
    *,
    table: PathLike | None = None,
    sources: PathLike | None = None,
    gpu: str = "RTX 3080",
    options: Annotated[CompileOptions, IN_PYTHON] | None = None,
    seed: int = 204,
    data: str | None = None,
    card: dict[str, Any] | None = None,
    progress: Callable[[str], None] | None = None,
) -> "GpuHead":
    """Fit a head to measured kernel launches on one GPU.

    Example: ncc train gpu profile.csv --sources src --gpu A100 -o mine

    Args:
        table: Measured launches (.csv), your own or from nsys; default: gpuFLOPBench's, on an RTX 3080.
        sources: Folder that source paths in the table are relative to; default: the table's folder.
        gpu: GPU that the table was measured on.
        options: Compiler options; default: from the Makefiles next to the sources.

    Raises:
        InputError: The GPU or folder is unknown, or kernels of fewer than four programs were found.
        DataError: The table is of an unknown format or has a fault, or files of gpuFLOPBench are missing or damaged.
        OutputError: The folder can't be written.
    """
    from ncc.tasks.gpus import specs, tables, train

    check_folder(output)
    spec = specs.find_spec(gpu)
    if table is None:
        launches = train.published_launches(data, progress)
    else:
        base = Path(sources or Path(table).parent)
        if not base.is_dir():
            raise InputError(f"{base}: no such folder")
        launches = train.measured_launches(tables.read_launches(table), base, spec, options, progress)
    return _save(train.fit_gpus(launches, spec.name, seed=seed), output, card)


@verb(show=card_answer, resumes=True)
def train_classifier(
    folder: PathLike | None = None,
    output: PathLike | None = None,
    *,
    levels: "Sequence[str]" = ("1", "2", "0"),
    refit: "ClassifierHead | PathLike | None" = None,
    embedding: "AnyEmbedding | None" = None,
    config: ClassifierTraining = ClassifierTraining(),
    jobs: Count = 1,
    device: TrainingDevice = "cpu",
    cache: PathLike | None = None,
    data: str | None = None,
    options: CompilingCorpora | None = None,
    card: dict[str, Any] | None = None,
    progress: Callable[[str], None] | None = None,
) -> "ClassifierHead | None":
    """Train a classifier on labeled folders of programs. Run again to resume.

    With torchrun, ranks share the work: torchrun --nproc-per-node 2 -m ncc train classify …

    Args:
        folder: Folder with a subfolder of programs per class; default: POJ-104.
        output: Output folder, also for the checkpoint to resume from.
        refit: Classifier, or its folder, to train further on all programs, keeping its calibration and scores.
        embedding: Embedding to start from, or its folder; default: the shipped one.
        config: Training options.
        jobs: Number of compilers to run in parallel.
        cache: Folder to cache parsed programs in; default: the user's cache.
        options: Compiler options except the optimization level.

    Returns:
        The classifier on rank 0, None on other ranks.

    Raises:
        InputError: Too few programs, or an unknown level or compiler.
        DataError: POJ-104 is needed, and missing or damaged.
        AssetError: The classifier to refit has other classes, levels or words.
        OutputError: A folder can't be written.

    Reference: Ben-Nun et al. 2018, section 6.1 (task); Mou et al. 2016 (data).
    """
    from ncc.learning.embedding.embedding import load_embedding
    from ncc.learning.programs.labelled import labelled_files, load_programs
    from ncc.learning.training.ranks import process_group, rank_and_world, torch_threads, training_lock
    from ncc.tasks.classification.head import load_classifier
    from ncc.tasks.classification.train import fit_classifier

    check_positive(jobs=jobs)
    target = None if output is None else Path(output)
    check_folder(target)
    measured = None if refit is None else load_classifier(refit)
    checkpoint = target / "checkpoint.pt" if target else None
    with process_group(device) as rank_device, training_lock(target), torch_threads(1):
        embedding = load_embedding(embedding)
        samples = load_programs(
            *labelled_files(folder, levels, data),
            options=options,
            abstraction=embedding.abstraction,
            cache=None if cache is None else Path(cache),
            jobs=jobs,
            progress=progress,
        )
        tell = progress if progress and rank_and_world()[0] == 0 else lambda _: None
        head = fit_classifier(
            samples,
            embedding,
            config.network,
            refit=measured,
            device=rank_device,
            checkpoint=checkpoint,
            progress=lambda epoch, loss: tell(f"epoch {epoch}: {loss:.4f}"),
        )
        if head:
            head.titles.update((measured or load_classifier()).titles if measured or folder is None else {})
            _save(head, output, card)
            if checkpoint:
                checkpoint.unlink(missing_ok=True)
    return head
