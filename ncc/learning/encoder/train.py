"""``ncc train encoder``: trains the encoder, linear or LSTM, on classes of programs and builds of functions."""

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ncc.errors import InputError, NccError, check_positive
from ncc.ir.reader.abstraction import Abstraction
from ncc.ir.reader.module import Module
from ncc.ir.reader.reader import read_module

if TYPE_CHECKING:
    from ncc.arrays import Bools, Ints
    from ncc.learning.corpus.recipe import Recipe
    from ncc.learning.embedding.embedding import AnyEmbedding, Embedding
    from ncc.learning.encoder.batches import Sequences
    from ncc.learning.encoder.contrastive import ContrastiveTraining
    from ncc.learning.encoder.linear import LinearEncoder
    from ncc.learning.encoder.linear_fit import LabelledPatterns
    from ncc.learning.encoder.network_numpy import LSTMEncoder
    from ncc.learning.programs.labelled import LabelledFiles

Progress = Callable[[str], None]

_FEWEST_STATEMENTS = 5
_FILES_AT_A_TIME = 256


def train_encoder(
    output: str | Path,
    *,
    programs: str | Path | None = None,
    classes: str = "1-64",
    per_class: int | None = None,
    functions: "str | Path | Recipe | None" = None,
    functions_of: "str | Path | LinearEncoder | None" = None,
    clangs: Sequence[str | Path] = (),
    model: str = "linear",
    dim: int = 256,
    least: int = 60,
    embedding: "AnyEmbedding | None" = None,
    epochs: int = 10,
    steps: int = 100,
    batch_size: int = 128,
    hidden: int = 128,
    longest: int = 256,
    learning_rate: float = 2e-3,
    temperature: float = 0.1,
    function_share: float = 0.5,
    pretrained: bool = True,
    literals: bool = True,
    levels: Sequence[str] = ("1",),
    seed: int = 204,
    jobs: int = 1,
    device: str = "cpu",
    cache: str | Path | None = None,
    data: str | None = None,
    about: dict[str, Any] | None = None,
    progress: Progress | None = None,
) -> "LinearEncoder | LSTMEncoder":
    """Train the encoder on classes of programs and on builds of the same functions, and write it.

    The linear one is what ships: it finds classes that it has not seen better than the LSTM does.

    Args:
        output: Folder of the encoder.
        programs: Folder of folders, one a class; default POJ-104.
        classes: Those to learn from, as names and ranges of numbers.
        per_class: So many programs of each class, drawn by the seed; default all.
        functions: Recipe of a corpus, or a folder; each file is compiled at all levels that its source names.
        functions_of: In their place, a linear encoder or its folder: all of it is kept but what tells classes apart.
        clangs: Other compilers, by which every file is compiled at its first and third level as well.
        model: "linear", of patterns of the code, or "lstm", trained by contrast; under torchrun its ranks share the
            work.
        dim: Number of dimensions of its vectors.
        least: Programs and builds of functions that a pattern is in at least, to be known by the linear model.
        embedding: Vectors of statements that the LSTM begins with; default those that ship with ncc.
        epochs: Of the LSTM.
        steps: Batches of an epoch.
        batch_size: Programs and functions of a batch, of each rank; a batch has two of each class and function.
        hidden: Units of each direction.
        longest: Statements that it reads of a program or function, the first ones.
        learning_rate: Of AdamW.
        temperature: What similarities are divided by.
        function_share: Share of a batch that is functions; 0 learns from labels alone, 1 from functions.
        pretrained: Whether it begins with the embedding's vectors, or with random ones.
        literals: Whether it reads constants and outside names.
        levels: Optimization levels of the programs.
        seed: Of what is drawn.
        jobs: Compilers at a time.
        device: Where the LSTM is trained: "cpu" or "cuda".
        cache: Folder for IR; default ncc's own.
        data: Folder where data sets lie.
        about: For its card.
        progress: Called with lines of text.

    Returns:
        The encoder.

    Raises:
        InputError: There are too few programs or functions, or no such model, class or level.
        DataError: POJ-104 is asked for and is missing or damaged.
        OutputError: A folder can't be written.
    """
    from ncc.learning.corpus.recipe import load_recipe
    from ncc.learning.embedding.embedding import load_embedding
    from ncc.learning.encoder.network_numpy import LSTMEncoder
    from ncc.learning.encoder.pooling import load_encoder, save_encoder
    from ncc.learning.programs.labelled import choose_classes, labelled_files, level_names, programs_cache
    from ncc.system.files.writing import check_folder

    if model not in ("linear", "lstm"):
        raise InputError(f"model is {model!r}; expected linear or lstm")

    def tell(line: str) -> None:
        if progress and (model == "linear" or _is_first_rank()):
            progress(line)

    check_positive(jobs=jobs, per_class=per_class, dim=dim, least=least)
    if missing := [str(clang) for clang in clangs if not shutil.which(clang)]:
        raise InputError(f"clangs: {missing[0]} is not there, or can't be run")
    place = Path(cache) if cache else programs_cache()
    check_folder(Path(output), place)
    if (functions is None) == (functions_of is None) or (functions_of is not None and model != "linear"):
        raise InputError("functions, functions_of: expected one of the two, the second for the linear model alone")
    words = load_embedding(embedding) if model == "lstm" else None
    abstraction = words.abstraction if words else Abstraction()

    def labelled() -> Iterator[tuple[Module, int]]:
        files = labelled_files(programs, levels, data)[0]
        files = choose_classes(files, classes, per_class=per_class, seed=seed)
        return _programs(files, level_names(",".join(levels)), place, abstraction, jobs, tell)

    recipe = load_recipe(Path(functions)) if isinstance(functions, str | Path) else functions

    def builds() -> Iterator[tuple[Module, list[int], list[int]]]:
        assert recipe
        return _functions(recipe, clangs, place, abstraction=abstraction, jobs=jobs, tell=tell)

    if words is None:
        known = builds() if functions is not None else load_encoder(functions_of)
        if isinstance(known, LSTMEncoder):
            raise InputError(f"{functions_of}: is an LSTM encoder; expected a linear one")
        found = _fit_linear(labelled(), known, dim=dim, least=least, about=about, seed=seed, progress=tell)
        save_encoder(found, output)
        return found
    from ncc.learning.encoder.contrastive import ContrastiveTraining, lstm_of_size
    from ncc.learning.training.config import TrainingConfig

    training = ContrastiveTraining(
        encoder=lstm_of_size(hidden, literals=literals),
        dim=dim,
        longest=longest,
        temperature=temperature,
        function_share=function_share,
        steps=steps,
        pretrained=pretrained,
        loop=TrainingConfig(epochs=epochs, batch_size=batch_size, learning_rate=learning_rate, seed=seed),
    )
    return _train_lstm(Path(output), labelled, builds, words, training, device, about=about, tell=tell)


def _is_first_rank() -> bool:
    from ncc.learning.training.ranks import rank_and_world

    return rank_and_world()[0] == 0


def _programs(
    files: "LabelledFiles", levels: Sequence[str], cache: Path, abstraction: Abstraction, jobs: int, tell: Progress
) -> Iterator[tuple[Module, int]]:
    """Modules of labelled programs, each with the number of its class."""
    from ncc.ir.frontend.options import CompileOptions
    from ncc.learning.programs.ir_cache import ProgramReader
    from ncc.system.files.reading import InputFile

    readers = [ProgramReader(CompileOptions(optimization=level), abstraction, cache) for level in levels]
    for reader in readers:
        reader.check_compiler()

    def read(path: str, reader: ProgramReader) -> Module:
        ir = reader.ir_of(InputFile(path, files.folder))[0]
        return read_module(ir, name=path, abstraction=abstraction)

    work = [(path, reader, label) for reader in readers for path, label in zip(files.paths, files.label, strict=True)]
    for (_, _, label), module in _read_all(work, lambda one: read(one[0], one[1]), jobs, tell, "programs"):
        if module.num_functions:
            yield module, int(label)


def _functions(
    recipe: "Recipe",
    clangs: Sequence[str | Path],
    cache: Path,
    *,
    abstraction: Abstraction,
    jobs: int,
    tell: Progress,
) -> Iterator[tuple[Module, list[int], list[int]]]:
    """Modules of builds of files, each with its author's functions and the numbers that they have in all builds."""
    from ncc.learning.corpus.recipe import CorpusFile, find_files
    from ncc.learning.programs.ir_cache import Compiler
    from ncc.learning.programs.names import is_library_function

    compiler = Compiler(cache / "headers", cache / "ir")
    files = find_files(recipe)
    levels: dict[str, int] = {}
    for file in list(files):
        number = levels[file.path] = levels.get(file.path, -1) + 1
        if number in (0, 2):
            files += [
                replace(
                    file, attempts=tuple((replace(options, clang=str(clang)), head) for options, head in file.attempts)
                )
                for clang in clangs
            ]

    def read(file: CorpusFile) -> Module:
        return read_module(compiler.ir_of(file), name=file.path, abstraction=abstraction)

    known: dict[tuple[str, str], int] = {}
    for file, module in _read_all(files, read, jobs, tell, "builds of files"):
        sizes, names = np.diff(module.function_start) - 1, module.function_names
        kept = [
            number
            for number, name in enumerate(names)
            if sizes[number] >= _FEWEST_STATEMENTS and not is_library_function(name)
        ]
        if kept:
            yield module, kept, [known.setdefault((file.path, names[number]), len(known)) for number in kept]


def _fit_linear(
    programs: "Iterable[tuple[Module, int]]",
    functions: "Iterable[tuple[Module, list[int], list[int]]] | LinearEncoder",
    *,
    dim: int,
    least: int,
    **options: Any,
) -> "LinearEncoder":
    from ncc.learning.encoder.linear import LinearEncoder
    from ncc.learning.encoder.linear_fit import LinearEncoderTraining, fit_encoder
    from ncc.learning.encoder.patterns import count_patterns
    from ncc.learning.programs.table import own_functions

    def bags(module: Module, kept: list[int]) -> Any:
        bag = np.full(module.num_functions, -1)
        bag[kept] = np.arange(len(kept))
        return count_patterns(module, bag)

    labelled = _joined((count_patterns(module, own_functions(module)), [label]) for module, label in programs)
    builds = (
        functions
        if isinstance(functions, LinearEncoder)
        else _joined((bags(module, kept), numbers) for module, kept, numbers in functions)
    )
    return fit_encoder(labelled, builds, LinearEncoderTraining(dim=dim, least=least), **options)


def _train_lstm(
    output: Path,
    programs: "Callable[[], Iterable[tuple[Module, int]]]",
    functions: "Callable[[], Iterable[tuple[Module, list[int], list[int]]]]",
    embedding: "Embedding",
    training: "ContrastiveTraining",
    device: str,
    *,
    about: dict[str, Any] | None,
    tell: Progress,
) -> "LSTMEncoder":
    """The first rank compiles, and the others read what it has compiled."""
    from ncc.learning.encoder.contrastive import fit_contrastive
    from ncc.learning.encoder.network_numpy import save_lstm_encoder
    from ncc.learning.training.ranks import barrier, process_group, rank_and_world, torch_threads, training_lock

    checkpoint = output / "checkpoint.safetensors"
    losses: list[float] = []

    def report(epoch: int, loss: float) -> None:
        losses.append(round(loss, 5))
        tell(f"epoch {epoch}: loss {loss:.4f}")

    with process_group(device) as own_device, training_lock(output), torch_threads(1):
        rank = rank_and_world()[0]
        if rank:
            barrier()
        data = _sequences(programs(), functions(), embedding, training.encoder.buckets)
        if not rank:
            barrier()
        found = fit_contrastive(
            *data,
            embedding.vectors.astype(np.float32),
            training,
            device=own_device,
            about={**(about or {}), "training": asdict(training), "embedding": embedding.fingerprint},
            checkpoint=checkpoint,
            progress=report,
        )
        if not rank:
            found = replace(found, about={**found.about, "losses": losses})
            save_lstm_encoder(found, output)
            checkpoint.unlink(missing_ok=True)
    return found


def _sequences(
    programs: "Iterable[tuple[Module, int]]",
    functions: "Iterable[tuple[Module, list[int], list[int]]]",
    embedding: "Embedding",
    buckets: int,
) -> "tuple[Sequences, Ints, Bools]":
    """Sequences of programs, then of functions; the label of each; and which are functions."""
    from ncc.learning.encoder.batches import encode_programs
    from ncc.learning.programs.table import concatenate, describe_program, table_of_functions

    tables, labels = [], []
    for module, label in programs:
        tables.append(describe_program(module))
        labels.append(label)
    num_programs, first = len(labels), 1 + max(labels, default=-1)
    for module, kept, numbers in functions:
        tables.append(table_of_functions(module).rows(np.array(kept)))
        labels += [first + number for number in numbers]
    sequences = encode_programs(concatenate(tables), embedding, buckets)
    return sequences, np.array(labels, np.int64), np.arange(len(labels)) >= num_programs


def _read_all(
    work: Sequence[Any], read: Callable[[Any], Module], jobs: int, tell: Progress, what: str
) -> Iterator[tuple[Any, Module]]:
    """Items with their modules, in order; those that can't be read are left out."""
    refused = ""
    lost = done = 0

    def attempt(item: Any) -> Module | NccError:
        try:
            return read(item)
        except NccError as error:
            return error

    with ThreadPoolExecutor(jobs) as pool:
        for start in range(0, len(work), _FILES_AT_A_TIME):
            part = work[start : start + _FILES_AT_A_TIME]
            for item, module in zip(part, pool.map(attempt, part), strict=True):
                done += 1
                if isinstance(module, NccError):
                    lost, refused = lost + 1, refused or str(module)
                else:
                    yield item, module
            tell(f"{done} of {len(work)} {what}")
    if lost == len(work):
        raise InputError(f"none of {len(work)} {what} can be read: {refused or 'there are none'}")
    tell(f"{lost} of {len(work)} {what} can't be read")


def _joined(found: "Iterable[tuple[Any, list[int]]]") -> "LabelledPatterns":
    from ncc.learning.encoder.linear_fit import LabelledPatterns
    from ncc.learning.encoder.patterns import PatternCounts

    bags = list(found)
    labels = [label for _, labels in bags for label in labels]
    return LabelledPatterns(PatternCounts.joined([counts for counts, _ in bags]), np.array(labels, np.int64))
