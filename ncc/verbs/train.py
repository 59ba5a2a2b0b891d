"""Making models: ``ncc corpus build`` and ``ncc train``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from ncc.learning.embedding.config import EmbeddingConfig
from ncc.learning.encoder.config import EncoderTraining
from ncc.tasks.classification.config import ClassifierTraining
from ncc.verbs.types import (
    Answer,
    Card,
    ClassifierLike,
    Command,
    CompilingCorpora,
    Count,
    DataFolder,
    Device,
    EmbeddingLike,
    Folder,
    LinearEncoderLike,
    Name,
    Names,
    Output,
    Progress,
    PythonOptions,
    RecipeLike,
    Words,
    defined_in,
)

if TYPE_CHECKING:
    from ncc.learning.corpus.build import CorpusReport
    from ncc.learning.embedding.embedding import Embedding
    from ncc.learning.encoder.linear import LinearEncoder
    from ncc.learning.encoder.network_numpy import LSTMEncoder
    from ncc.tasks.classification.head import ClassifierHead
    from ncc.tasks.coarsening.head import CoarseningHead
    from ncc.tasks.devices.head import TimesHead
    from ncc.tasks.gpus.head import GpuHead

Paths = Annotated[Sequence[Path | str], Words(metavar="CORPUS...")]
Clangs = Annotated[Sequence[Path | str], Words(metavar="CLANG", option=("--with-clang",))]
Programs = Annotated[Path | str, Words(metavar="[FOLDER]", is_argument=True)]
LaunchTable = Annotated[Path | str, Words(metavar="[TABLE]", is_argument=True)]
EmbeddingOrShipped = Annotated[EmbeddingLike, Words(metavar="FOLDER|shipped")]

_IN_PYTHON = Words(is_option=False)

_TRAINING = {
    "lr_scaling": Words(metavar="sqrt|linear|none"),
    "strategy": Words(metavar="mirrored|central|stale|local"),
    "compression": Words(metavar="none|fp16|bf16|topk|int8|int4"),
}
EmbeddingOptions = Annotated[EmbeddingConfig, Words(fields=dict.fromkeys(EmbeddingConfig.__dataclass_fields__))]
EncoderOptions = Annotated[
    EncoderTraining, Words(fields=dict.fromkeys(EncoderTraining.__dataclass_fields__) | _TRAINING)
]
ClassifierOptions = Annotated[
    ClassifierTraining, Words(fields=dict.fromkeys(ClassifierTraining.__dataclass_fields__) | _TRAINING)
]


def card_answer(model: Any, card: Mapping[str, Any] | None = None) -> Answer:
    """A model that was trained, and its card."""
    from ncc.system.files.summaries import Summary

    card = model.card if card is None else card
    width = max(map(len, card), default=0) + 2
    details = [(name.replace("_", " ").ljust(width), [_shown(value)]) for name, value in card.items()]
    return Answer(text=[Summary(verdict=repr(model), details=details)])


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_shown(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return " ".join(map(_shown, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)


@defined_in("ncc.learning.corpus.build")
def build_corpus(
    recipe: RecipeLike,
    output: Output,
    *,
    jobs: Count | None = None,
    ir: Folder | None = None,
    options: CompilingCorpora | None = None,
    progress: Progress | None = None,
    file_seconds: Annotated[float, _IN_PYTHON] = 300.0,
    memory_bytes: Annotated[int, _IN_PYTHON] | None = None,
) -> "CorpusReport":
    """Compile, read and count every file of a recipe; run again to resume after a stop.

    Args:
        recipe: Recipe in TOML, a folder of code, or a `ncc.learning.corpus.recipe.Recipe`.
        output: Folder of the corpus: ``width-N/counts.*``, ``report.json`` and ``shards/``.
        jobs: Worker processes; default one per core.
        ir: Folder that keeps the compiled IR, and gives it back to a later build of the same files with the same
            options, so that another abstraction or width costs no compilation. Headers are not looked at.
        options: Header paths, macros, flags and compilation database for all sources; other options are the recipe's.
        progress: Called with a line of text after each batch.
        file_seconds: Time limit of a file, without its compilation.
        memory_bytes: Memory limit of a worker; default NCC_MEMORY_GB, then the machine's memory divided among the
            workers, but at least 4 GiB.

    Returns:
        Numbers of files, lines, statements and pairs, and the files that failed.

    Raises:
        InputError: The recipe can't be read, no file matches, or the folder holds another recipe's corpus.
        OutputError: A folder can't be written, or another build or training writes to it.
        NccError: Workers can't be started.
    """


corpus_build_command = Command(run=build_corpus, show=lambda report: Answer(text=report.to_text()), resumes=True)


@defined_in("ncc.learning.embedding.train")
def train_embedding(
    corpora: Paths,
    output: Output | None = None,
    *,
    config: EmbeddingOptions = EmbeddingConfig(),
    threads: int = 1,
    device: Device = "cpu",
    extend: EmbeddingOrShipped | None = None,
    card: Card | None = None,
    progress: Progress | None = None,
) -> "Embedding":
    """Train statement vectors on the counts of corpora.

    Under torchrun the ranks share the work: torchrun --nproc-per-node 2 -m ncc train embedding …

    Args:
        corpora: Folders made by ``ncc corpus build``.
        output: Folder that gets the embedding.
        config: Options of the training.
        threads: Threads for matrix products.
        device: Where to train, cpu or cuda; under torchrun each rank uses its own GPU.
        extend: An embedding, its folder, or "shipped": instead of training, induce vectors for the words of the corpora
            that it lacks, and keep its own. Of the options only the context width and the minimum count matter.
        card: Additional fields of the card, such as the command.
        progress: Called with a line of text after each epoch, on rank 0.

    Returns:
        The embedding, on all ranks.

    Raises:
        InputError: A value is out of its range, or the corpora can't be used together.
        AssetError: A folder holds no corpus, or a damaged one.
        OutputError: A folder can't be written.

    Reference: Ben-Nun et al. 2018, section 4.
    """


def _embedding_card(embedding: "Embedding") -> Answer:
    from ncc.learning.training.ranks import is_first_rank

    if not is_first_rank():
        return Answer()
    extensions = embedding.card.get("extensions")
    return card_answer(embedding, extensions[-1] if extensions else None)


train_embedding_command = Command(run=train_embedding, show=_embedding_card)


@defined_in("ncc.learning.encoder.train")
def train_encoder(
    output: Output,
    *,
    programs: Programs | None = None,
    classes: Annotated[str, Words(metavar="NAMES")] = "1-64",
    per_class: Annotated[int, Words(minimum=2)] | None = None,
    levels: Names = ("1",),
    functions: RecipeLike | None = None,
    functions_from: LinearEncoderLike | None = None,
    clangs: Clangs = (),
    embedding: EmbeddingLike | None = None,
    config: EncoderOptions = EncoderTraining(),
    jobs: Count = 1,
    device: Device = "cpu",
    cache: Folder | None = None,
    data: DataFolder | None = None,
    card: Card | None = None,
    progress: Progress | None = None,
) -> "LinearEncoder | LSTMEncoder":
    """Train the encoder: it places programs of a class, and builds of a function, near each other.

    The linear model is the one that ships: it finds classes that it has not seen better than the LSTM does. Under
    torchrun the ranks of an LSTM share the work; run again to resume after a stop.

    Args:
        output: Folder of the encoder.
        programs: Folder with a folder of programs for each class; default POJ-104.
        classes: Classes to learn from: names, and ranges of numbers.
        per_class: Programs per class, drawn at random; default all.
        levels: Optimization levels of the programs, such as '1,2'.
        functions: Recipe of a corpus, or a folder of code; each file is compiled at all levels that its source names.
        functions_from: Linear encoder, or its folder, whose part for functions is kept instead; classes are learned
            anew.
        clangs: Another compiler, by which each file is compiled at its first and third level as well; may be repeated.
        embedding: Vectors of statements that the LSTM starts from, or their folder; default the shipped ones.
        config: Model and options.
        jobs: Number of compilers to run in parallel.
        device: Where to train the LSTM, cpu or cuda; under torchrun each rank uses its own GPU.
        cache: Folder that keeps IR; default the user's cache.
        data: Folder of the datasets; default NCC_DATA, then the cache.
        card: Further entries of the model card.
        progress: Called with lines of text.

    Returns:
        The encoder.

    Raises:
        InputError: There are too few programs or functions, or an unknown class, level or compiler.
        DataError: POJ-104 is asked for and is missing or damaged.
        OutputError: A folder can't be written.
    """


def _encoder_card(encoder: "LinearEncoder | LSTMEncoder") -> Answer:
    is_lstm = type(encoder).__name__ == "LSTMEncoder"
    return card_answer(encoder) if not is_lstm or "losses" in encoder.card else Answer()  # the first rank's alone


train_encoder_command = Command(run=train_encoder, show=_encoder_card)


@defined_in("ncc.tasks.devices.train")
def train_devmap(
    output: Output | None = None,
    *,
    tables: Annotated[Sequence[str | Path], Words(metavar="[TABLE]...", is_argument=True)] = (),
    platform: Literal["amd", "nvidia"] = "nvidia",
    model: Literal["gp", "trees", "lstm"] | None = None,
    embedding: EmbeddingLike | None = None,
    seed: int = 204,
    data: DataFolder | None = None,
    card: Card | None = None,
    progress: Progress | None = None,
) -> "TimesHead":
    """Fit a device head to measured times, scored on kernels and families held out.

    Example: ncc train devmap times.csv -o mine && ncc predict-device kernel.cl --global-size 1048576 --head mine

    Args:
        output: Folder that gets the head.
        tables: Your own tables of times, .csv or .parquet, all of the same devices; default the published times.
        platform: Without tables, amd (Tahiti 7970) or nvidia (GTX 970).
        model: Either gp (Gaussian processes) or trees (gradient boosting), both on sizes, what kernels do and what a
            thread does at the launch, or lstm, which reads statements and takes longer. Default gp, and for CLgen's
            kernels among the published ones trees, as in the heads that ship.
        embedding: Vectors of statements that lstm reads, or their folder; default the shipped ones.
        seed: Random seed of the folds and of training.
        data: Folder of the datasets; default NCC_DATA, then the cache.
        card: Additional fields of the card, such as the command.
        progress: Called with a line of text now and then.

    Returns:
        The head, with its scores in the card.

    Raises:
        InputError: There is no such platform, or no such model for what is learned from.
        DataError: A table, or the IR, is missing or damaged.
        OutputError: The folder can't be written.

    Reference: Cummins et al. 2017 (data); Ben-Nun et al. 2018, section 6.2 (task).
    """


train_devmap_command = Command(run=train_devmap, show=card_answer)


@defined_in("ncc.tasks.coarsening.train")
def train_coarsening(
    output: Output | None = None,
    *,
    model: Literal["line", "lstm"] = "line",
    embedding: EmbeddingLike | None = None,
    seed: int = 204,
    data: DataFolder | None = None,
    card: Card | None = None,
) -> "CoarseningHead":
    """Fit a thread-coarsening head to the published times (PACT'14), scored on kernels held out.

    Example: ncc train coarsening -o mine && ncc predict-coarsening kernel.cl --head mine

    Args:
        output: Folder that gets the head.
        model: Either line (a line in the share of divergent statements, like the shipped head; nothing is random), or
            lstm (an ensemble of LSTMs on the kernel's statements in order).
        embedding: Vectors that the LSTMs read, or their folder; default the shipped ones.
        seed: Random seed of the LSTMs' training.
        data: Folder of the datasets; default NCC_DATA, then the cache.
        card: Additional fields of the card, such as the command.

    Returns:
        The head, with its scores in the card.

    Raises:
        InputError: There is no such model.
        DataError: The table or the IR is missing or damaged.
        OutputError: The folder can't be written.

    Reference: Magni, Dubach, O'Boyle 2014.
    """


train_coarsening_command = Command(run=train_coarsening, show=card_answer)


@defined_in("ncc.tasks.gpus.train")
def train_gpu(
    output: Output | None = None,
    *,
    table: LaunchTable | None = None,
    sources: Folder | None = None,
    gpu: Name = "RTX 3080",
    options: PythonOptions | None = None,
    seed: int = 204,
    data: DataFolder | None = None,
    card: Card | None = None,
    progress: Progress | None = None,
) -> "GpuHead":
    """Fit a head to measured launches of GPU kernels on one card.

    Example: ncc train gpu profile.csv --sources src --gpu A100 -o mine

    Args:
        output: Folder that gets the head.
        table: Measured launches, .csv: your own, or from nsys; default gpuFLOPBench's, of an RTX 3080.
        sources: Folder of the sources that the table's are relative to; default the table's folder.
        gpu: The card that the table was measured on.
        options: How the sources are compiled; default by the Makefiles beside them.
        seed: Random seed of folds and of training.
        data: Folder of the datasets; default NCC_DATA, then the cache.
        card: Additional fields of the card, such as the command.
        progress: Called with a line of text now and then.

    Raises:
        InputError: There is no such card or folder, the table is none that ncc reads, or it has fewer than four
            programs whose kernels are found.
        DataError: The files of gpuFLOPBench are missing or damaged.
        OutputError: The folder can't be written.
    """


train_gpu_command = Command(run=train_gpu, show=card_answer)


@defined_in("ncc.tasks.classification.train")
def train_classifier(
    folder: Programs | None = None,
    output: Output | None = None,
    *,
    levels: Names = ("1", "2", "0"),
    refit: ClassifierLike | None = None,
    embedding: EmbeddingLike | None = None,
    config: ClassifierOptions = ClassifierTraining(),
    jobs: Count = 1,
    device: Device = "cpu",
    cache: Folder | None = None,
    data: DataFolder | None = None,
    options: CompilingCorpora | None = None,
    card: Card | None = None,
    progress: Progress | None = None,
) -> "ClassifierHead | None":
    """Train a classifier on labelled folders of programs; run again to resume after a stop.

    Under torchrun the ranks share the work: torchrun --nproc-per-node 2 -m ncc train classify …

    Args:
        folder: Folder with a folder of programs for each class; default POJ-104.
        output: Folder of the classifier, and of a checkpoint that a stopped training resumes from.
        levels: Optimization levels to compile programs at, such as '0,1,2'.
        refit: Classifier, or its folder, to train further on all programs; its calibration and scores are kept.
        embedding: Vectors to start from, or their folder; default the shipped ones.
        config: Options of the training.
        jobs: Number of compilers to run in parallel.
        device: Where to train, cpu or cuda; under torchrun each rank uses its own GPU.
        cache: Folder that keeps programs once read; default the user's cache.
        data: Folder of the datasets; default NCC_DATA, then the cache.
        options: Options of the compiler other than the level.
        card: Further entries of the model card.
        progress: Called with lines of text, most of them on the first rank.

    Returns:
        The classifier; None on all ranks but the first.

    Raises:
        InputError: Too few programs, an unknown level, or no such compiler.
        DataError: POJ-104 is asked for and is missing or damaged.
        AssetError: The classifier to refit knows other classes, levels or words.
        OutputError: A folder can't be written.

    Reference: Ben-Nun et al. 2018, section 6.1 (task); Mou et al. 2016 (data).
    """


train_classify_command = Command(
    run=train_classifier, show=lambda head: card_answer(head) if head else Answer(), resumes=True
)
