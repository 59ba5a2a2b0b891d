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
    "compression": Words(metavar="none|fp16|bf16|topk|int8"),
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
    """Compile, read and count every file of a recipe. Run again to resume.

    Args:
        recipe: TOML recipe or folder of code; in Python also a `ncc.learning.corpus.recipe.Recipe`.
        output: Output folder: ``width-N/counts.*``, ``report.json`` and ``shards/``.
        jobs: Number of worker processes; default: one per core.
        ir: Folder to cache compiled IR in, for later builds of the same files with the same options. Changes to headers
            go unnoticed.
        options: Header paths, macros, flags and compilation database for all sources; the recipe sets the others.
        progress: Called with a line of text after each batch.
        file_seconds: Time limit per file in seconds, not counting compilation.
        memory_bytes: Memory limit per worker; default: NCC_MEMORY_GB, or an equal part of the machine's memory, at
            least 4 GiB.

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
    """Train a statement embedding on corpus counts.

    With torchrun, ranks share the work: torchrun --nproc-per-node 2 -m ncc train embedding …

    Args:
        corpora: Corpus folders, made by ``ncc corpus build``.
        output: Output folder.
        config: Training options.
        threads: Number of threads for matrix products.
        device: Device to train on, cpu or cuda; with torchrun, each rank uses its own GPU.
        extend: Embedding to extend, its folder, or "shipped": keep its vectors and infer vectors for new words in the
            corpora instead of training. Only the context width and minimum count apply.
        card: Additional model card fields, such as the command.
        progress: Called with a line of text after each epoch, on rank 0.

    Returns:
        The embedding, on all ranks.

    Raises:
        InputError: A value is out of range, or the corpora are incompatible.
        AssetError: A folder has no corpus, or a damaged one.
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
    """Train an encoder that places programs of a class, and builds of a function, near each other.

    The shipped encoder is linear, which works better than the LSTM on classes not seen in training. With torchrun,
    ranks share the LSTM's work. Run again to resume.

    Args:
        output: Output folder.
        programs: Folder with a subfolder of programs per class; default: POJ-104.
        classes: Classes to train on: names, or ranges of numbers.
        per_class: Number of programs per class, drawn at random; default: all.
        levels: Optimization levels to compile programs at, such as '1,2'.
        functions: Corpus recipe or folder of code; each file is compiled at every level that the recipe lists.
        functions_from: Linear encoder, or its folder, whose function part to reuse; only the class part is trained.
        clangs: Another compiler that also compiles each file at its first and third level; may be repeated.
        embedding: Embedding that the LSTM starts from, or its folder; default: the shipped one.
        config: Model and training options.
        jobs: Number of compilers to run in parallel.
        device: Device to train the LSTM on, cpu or cuda; with torchrun, each rank uses its own GPU.
        cache: Folder to cache IR in; default: the user's cache.
        data: Dataset folder; default: NCC_DATA, then the cache.
        card: Additional model card fields.
        progress: Called with lines of text.

    Returns:
        The encoder.

    Raises:
        InputError: Too few programs or functions, or an unknown class, level or compiler.
        DataError: POJ-104 is needed, and missing or damaged.
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
    """Fit a device head to measured times, with scores on held-out kernels and families.

    Example: ncc train devmap times.csv -o mine && ncc predict-device kernel.cl --global-size 1048576 --head mine

    Args:
        output: Output folder.
        tables: Tables of measured times (.csv or .parquet), all from the same devices; default: the published times.
        platform: GPU of the published times, amd (Tahiti 7970) or nvidia (GTX 970).
        model: One of gp (Gaussian processes) and trees (gradient boosting), both on sizes and execution counts, and
            lstm, which reads statements and takes longer; default: gp, or trees for the published CLgen kernels, as in
            the shipped heads.
        embedding: Embedding that lstm reads, or its folder; default: the shipped one.
        seed: Random seed for folds and training.
        data: Dataset folder; default: NCC_DATA, then the cache.
        card: Additional model card fields, such as the command.
        progress: Called with lines of text.

    Returns:
        The head, with its scores in the card.

    Raises:
        InputError: The platform is unknown, or the model can't be trained on these times.
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
    """Fit a thread-coarsening head to the published times (PACT'14), with scores on held-out kernels.

    Example: ncc train coarsening -o mine && ncc predict-coarsening kernel.cl --head mine

    Args:
        output: Output folder.
        model: One of line (linear in the fraction of divergent statements, as in the shipped head) and lstm (an
            ensemble of LSTMs over the kernel's statements).
        embedding: Embedding that the LSTMs read, or its folder; default: the shipped one.
        seed: Random seed for training the LSTMs.
        data: Dataset folder; default: NCC_DATA, then the cache.
        card: Additional model card fields, such as the command.

    Returns:
        The head, with its scores in the card.

    Raises:
        InputError: The model is unknown.
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
    """Fit a head to measured kernel launches on one GPU.

    Example: ncc train gpu profile.csv --sources src --gpu A100 -o mine

    Args:
        output: Output folder.
        table: Measured launches (.csv), your own or from nsys; default: gpuFLOPBench's, on an RTX 3080.
        sources: Folder that source paths in the table are relative to; default: the table's folder.
        gpu: GPU that the table was measured on.
        options: Compiler options; default: from the Makefiles next to the sources.
        seed: Random seed for folds and training.
        data: Dataset folder; default: NCC_DATA, then the cache.
        card: Additional model card fields, such as the command.
        progress: Called with lines of text.

    Raises:
        InputError: The GPU or folder is unknown, the table's format is unknown, or kernels of fewer than four programs
            were found.
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
    """Train a classifier on labeled folders of programs. Run again to resume.

    With torchrun, ranks share the work: torchrun --nproc-per-node 2 -m ncc train classify …

    Args:
        folder: Folder with a subfolder of programs per class; default: POJ-104.
        output: Output folder, also for the checkpoint to resume from.
        levels: Optimization levels to compile programs at, such as '0,1,2'.
        refit: Classifier, or its folder, to train further on all programs, keeping its calibration and scores.
        embedding: Embedding to start from, or its folder; default: the shipped one.
        config: Training options.
        jobs: Number of compilers to run in parallel.
        device: Device to train on, cpu or cuda; with torchrun, each rank uses its own GPU.
        cache: Folder to cache parsed programs in; default: the user's cache.
        data: Dataset folder; default: NCC_DATA, then the cache.
        options: Compiler options except the optimization level.
        card: Additional model card fields.
        progress: Called with lines of text, mostly on rank 0.

    Returns:
        The classifier on rank 0, None on other ranks.

    Raises:
        InputError: Too few programs, or an unknown level or compiler.
        DataError: POJ-104 is needed, and missing or damaged.
        AssetError: The classifier to refit has other classes, levels or words.
        OutputError: A folder can't be written.

    Reference: Ben-Nun et al. 2018, section 6.1 (task); Mou et al. 2016 (data).
    """


train_classify_command = Command(
    run=train_classifier, show=lambda head: card_answer(head) if head else Answer(), resumes=True
)
