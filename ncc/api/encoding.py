"""What ``ncc train encoder`` does: labelled programs and builds of functions → the encoder of functions and modules."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ncc.errors import InputError, NccError
from ncc.ir import Abstraction, Module, read_module

if TYPE_CHECKING:
    from ncc.corpus import Recipe
    from ncc.encoder.discriminant import DiscriminantEncoder
    from ncc.encoder.discriminant_fit import LabelledPatterns

__all__ = ["train_encoder"]

Progress = Callable[[str], None]

_FEWEST_STATEMENTS = 5
_FILES_AT_A_TIME = 256


def train_encoder(
    output: str | Path,
    *,
    programs: str | Path | None = None,
    classes: str = "1-64",
    functions: "str | Path | Recipe",
    clangs: Sequence[str | Path] = (),
    dim: int = 256,
    least: int = 60,
    levels: Sequence[str] = ("1",),
    seed: int = 204,
    jobs: int = 1,
    cache: str | Path | None = None,
    data: str | None = None,
    about: dict[str, Any] | None = None,
    progress: Progress | None = None,
) -> "DiscriminantEncoder":
    """Fits the encoder to classes of programs and to builds of the same functions, and writes it.

    Args:
        output: Folder of the encoder.
        programs: Folder of folders, one a class; default POJ-104.
        classes: Those to learn from, as names and ranges of numbers.
        functions: Recipe of a corpus, or a folder; each file is compiled at all levels that its source names.
        clangs: Other compilers, by which every file is compiled at its first and third level as well.
        dim: Number of dimensions of its vectors.
        least: Programs and builds of functions that a pattern is in at least, to be known.
        levels: Optimisation levels of the programs.
        seed: Of the directions to begin with.
        jobs: Compilers at a time.
        cache: Folder for IR; default ncc's own.
        data: Folder where data sets lie.
        about: For its card.
        progress: Called with lines of text.

    Returns:
        The encoder.

    Raises:
        InputError: There are too few programs or functions, or no such class or level.
        DataError: POJ-104 is asked for and is missing or damaged.
        OutputError: A folder can't be written.
    """
    from ncc.classification.loading import programs_cache
    from ncc.corpus import Recipe, load_recipe
    from ncc.encoder.discriminant import save_encoder
    from ncc.encoder.discriminant_fit import DiscriminantTraining, fit_encoder
    from ncc.runtime.writable import check_folder

    tell = progress or (lambda _: None)
    place = Path(cache) if cache else programs_cache()
    check_folder(Path(output), place)
    recipe = functions if isinstance(functions, Recipe) else load_recipe(Path(functions))
    labelled = _program_patterns(programs, classes, levels, place, data, jobs, tell)
    builds = _function_patterns(recipe, clangs, place, jobs, tell)
    training = DiscriminantTraining(dim=dim, least=least)
    encoder = fit_encoder(labelled, builds, training, about=about, seed=seed, progress=tell)
    save_encoder(encoder, output)
    return encoder


def _program_patterns(
    folder: str | Path | None,
    classes: str,
    levels: Sequence[str],
    cache: Path,
    data: str | None,
    jobs: int,
    tell: Progress,
) -> "LabelledPatterns":
    from ncc.classification.loading import labelled_files
    from ncc.classification.reading import ProgramReader
    from ncc.encoder.patterns import count_patterns
    from ncc.encoder.program import own_functions
    from ncc.frontend import CompileOptions
    from ncc.runtime.found import FoundFile
    from ncc.study.retrieval.programs import choose_classes

    files, names = labelled_files(folder, levels, data)
    files = choose_classes(files, classes)
    readers = [ProgramReader(CompileOptions(optimization=level), Abstraction(), cache) for level in names]
    for reader in readers:
        reader.check_compiler()

    def read(path: str, reader: ProgramReader) -> Module:
        return read_module(reader.ir_of(FoundFile(path, files.folder))[0], name=path)

    work = [(path, reader, label) for reader in readers for path, label in zip(files.paths, files.label, strict=True)]
    found = []
    for (_, _, label), module in _read_all(work, lambda one: read(one[0], one[1]), jobs, tell, "programs"):
        if module.num_functions:
            found.append((count_patterns(module, own_functions(module)), [int(label)]))
    return _joined(found)


def _function_patterns(
    recipe: "Recipe", clangs: Sequence[str | Path], cache: Path, jobs: int, tell: Progress
) -> "LabelledPatterns":
    from ncc.corpus.compiler import Compiler
    from ncc.corpus.files import CorpusFile, find_files
    from ncc.encoder.names import is_library_function
    from ncc.encoder.patterns import count_patterns

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
        return read_module(compiler.ir_of(file), name=file.path)

    known: dict[tuple[str, str], int] = {}
    found = []
    for file, module in _read_all(files, read, jobs, tell, "builds of files"):
        sizes = np.diff(module.function_start) - 1
        names = module.function_names
        kept = [
            number
            for number, name in enumerate(names)
            if sizes[number] >= _FEWEST_STATEMENTS and not is_library_function(name)
        ]
        if kept:
            bag = np.full(module.num_functions, -1)
            bag[kept] = np.arange(len(kept))
            labels = [known.setdefault((file.path, names[number]), len(known)) for number in kept]
            found.append((count_patterns(module, bag), labels))
    return _joined(found)


def _read_all(
    work: Sequence[Any], read: Callable[[Any], Module], jobs: int, tell: Progress, what: str
) -> Iterator[tuple[Any, Module]]:
    """Items with their modules, in order; those that can't be read are left out.

    Raises:
        InputError: None can be read.
    """
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
    from ncc.encoder.discriminant_fit import LabelledPatterns
    from ncc.encoder.patterns import PatternCounts

    parts = [counts for counts, _ in found]
    lengths = np.concatenate([np.zeros(0, np.int64), *(np.diff(counts.start) for counts in parts)])
    counts = PatternCounts(
        np.concatenate([[0], np.cumsum(lengths)]),
        np.concatenate([np.zeros(0, np.uint32), *(counts.key for counts in parts)]),
        np.concatenate([np.zeros(0, np.int32), *(counts.times for counts in parts)]),
    )
    return LabelledPatterns(counts, np.array([label for _, labels in found for label in labels], np.int64))
