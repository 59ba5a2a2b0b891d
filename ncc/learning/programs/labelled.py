"""Labelled programs: a folder for each class, compiled at several levels, read once and cached.

Reference: Mou et al. 2016 (POJ-104, 104 problems of an online judge); Ben-Nun et al. 2018, section 6.1.
"""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Ints
from ncc.errors import AssetError, InputError, InputFileError
from ncc.ir.frontend.languages import SOURCE_EXTENSIONS
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.reader.abstraction import Abstraction
from ncc.ir.reader.module import NO_FUNCTION
from ncc.ir.reader.objects import IR_EXTENSIONS, modules_of
from ncc.learning.data.registry import cache_folder, extracted
from ncc.learning.embedding.embedding import Embedding
from ncc.learning.programs.ir_cache import ProgramReader, file_key
from ncc.learning.programs.table import ProgramTable, concatenate, no_program
from ncc.learning.training.ranks import all_gather_object, barrier, rank_and_world, share_files
from ncc.system.files.models import read_tensors
from ncc.system.files.reading import InputFile, refuse_link_out
from ncc.system.files.writing import check_folder, write_atomically
from ncc.system.workers.failures import failure_reason
from ncc.system.workers.pool import Pool, Task

BATCH_FILES = 64
_MOST_TIMEOUTS = 8
"""Compilations of one program that may run into the compiler's own limit of time."""
_ARRAYS = ("start", "text_id", "opcode", "literal_start", "literal", "texts", "ways")


@dataclass(frozen=True)
class LabelledFiles:
    """Files and their classes.

    Attributes:
        paths: Of the n files, class by class.
        label: (n,) int64 index into `classes`.
        classes: Names of the folders; numbers in the order of numbers.
        folder: Of these folders, out of which no file may lead; None for files that the user named one by one.
    """

    paths: tuple[str, ...]
    label: Ints
    classes: tuple[str, ...]
    folder: str | None = None


@dataclass(frozen=True, eq=False)
class ProgramSamples:
    """Labelled programs at several levels.

    Attributes:
        files: Names of the n programs, class and file.
        label: (n,) int64 index into `classes`, -1 where it is hidden.
        classes: Names of the classes.
        row: (n,) int64 place of each program among the files that were asked for.
        views: Level → the n programs at that level.
        ways: How many files took which way to compile, see `compile_program`.
        failures: File → reason, of those that compile at no level or not at all of them, or end the processes that read
            them; they are not samples.
    """

    files: tuple[str, ...]
    label: Ints
    classes: tuple[str, ...]
    row: Ints
    views: dict[str, ProgramTable]
    ways: dict[str, int] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.files)

    def without_answers(self, rows: Ints) -> Self:
        """Return a copy in which the classes of some rows are -1."""
        label = self.label.copy()
        label[rows] = -1
        return replace(self, label=label)


def find_labelled_files(folder: str | Path) -> LabelledFiles:
    """Find the files of a folder of folders, one for each class."""
    folder = Path(folder)
    if not folder.is_dir():
        raise InputFileError(f"{folder}: not a folder")
    known = SOURCE_EXTENSIONS | IR_EXTENSIONS
    places = sorted((place for place in folder.iterdir() if place.is_dir()), key=_natural)
    for place in places:
        refuse_link_out(place, folder)
    own = {
        place.name: [path for path in place.rglob("*") if path.suffix in known and _is_own_file(path, folder)]
        for place in places
    }
    modules = {
        name: [module for path in sorted(paths, key=_natural) for module in modules_of(path, folder)]
        for name, paths in own.items()
    }
    found = {name: paths for name, paths in modules.items() if paths}
    if len(found) < 2:
        raise InputError(f"{folder}: expected a folder of programs for each of two classes or more, found {len(found)}")
    label = np.repeat(np.arange(len(found)), [len(paths) for paths in found.values()])
    return LabelledFiles(tuple(path for paths in found.values() for path in paths), label, tuple(found), str(folder))


def _is_own_file(path: Path, folder: Path) -> bool:
    """Whether it is a file, not a folder; what is neither may never end, and links may lead to anybody's files."""
    if path.is_symlink():
        refuse_link_out(path, folder)
    if path.is_file():
        return True
    if not path.is_dir():
        raise InputError(f"{path}: is a pipe, a device or a broken link; expected a file")
    return False


def _natural(path: Path) -> tuple[int, int, str]:
    """Numbers in their order, before other names."""
    return (0, int(path.stem), path.name) if path.stem.isdecimal() else (1, 0, path.name)


def load_programs(
    files: LabelledFiles,
    levels: Sequence[str] = ("-O1",),
    *,
    options: CompileOptions | None = None,
    abstraction: Abstraction | None = None,
    cache: Path,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> ProgramSamples:
    """Compile and read programs; what was done before is read from the cache. Ranks share the work."""
    options = options or CompileOptions()
    readers = [
        ProgramReader(replace(options, optimization=level), abstraction or Abstraction(), cache) for level in levels
    ]
    paths = tuple(InputFile(path, files.folder) for path in files.paths)
    batches = [paths[start : start + BATCH_FILES] for start in range(0, len(paths), BATCH_FILES)]
    keys = ["".join(file_key(path, options) for path in batch) for batch in batches]  # once for all levels
    tasks = [
        _ReadBatch(reader, batch, _place(reader, key))
        for reader in readers
        for batch, key in zip(batches, keys, strict=True)
    ]
    rank, world = rank_and_world()
    here = all_gather_object(
        [task.place.exists() for task in tasks]
    )  # all have seen what is missing before anything is added
    missing = [task for task, *there in zip(tasks, *here, strict=True) if not any(there)][rank::world]
    done = len(tasks) - len(missing)
    if progress:
        progress(done, len(tasks))
    if missing:
        for reader in readers:
            reader.check_compiler()
    for _ in Pool(jobs).run([batch.task() for batch in missing]):
        done += 1
        if progress:
            progress(done, len(tasks))
    barrier()
    share_files([task.place for task in tasks])
    read = [task.load() for task in tasks]
    return _assemble(files, levels, [read[i : i + len(batches)] for i in range(0, len(read), len(batches))])


def _place(reader: ProgramReader, key: str) -> Path:
    name = hashlib.sha256(repr((reader.identity, key)).encode()).hexdigest()[:32]
    return reader.cache / "programs" / name[:2] / f"{name}.safetensors"


@dataclass(frozen=True)
class _Failure:
    """Why a program could not be read."""

    reason: str


_Way = str | _Failure
"""How a program compiled, or why not."""


@dataclass(frozen=True, eq=False)
class _Batch:
    """A batch of programs, with how each compiled or why not."""

    table: ProgramTable
    ways: tuple[_Way, ...]


@dataclass(frozen=True)
class _ReadBatch:
    """A batch of files to be read, and the file that holds what was read."""

    reader: ProgramReader
    paths: tuple[InputFile, ...]
    place: Path

    def task(self) -> Task:
        """For a pool; compilers end themselves."""
        seconds = [_MOST_TIMEOUTS * self.reader.options.timeout_s] * len(self.paths)
        return Task(str(self.place), [str(path) for path in self.paths], self.run, seconds)

    def run(self, failed: Mapping[int, str]) -> Generator[None]:
        """Read the files, yielding after each, and write down what they hold."""
        from safetensors.numpy import save

        programs: list[ProgramTable] = []
        ways: list[_Way] = []
        for index, path in enumerate(self.paths):
            program, way = (no_program(), _Failure(failed[index])) if index in failed else self._read(path)
            programs.append(program)
            ways.append(way)
            if index not in failed:
                yield
        table = concatenate(programs)
        arrays = {name: np.asarray(getattr(table, name)) for name in ("start", "text_id", "opcode")}
        arrays |= {"literal_start": table.literal_start, "literal": table.literal}
        kept = [{"failed": way.reason} if isinstance(way, _Failure) else way for way in ways]
        arrays |= {"texts": _packed(table.texts), "ways": _packed(kept)}
        write_atomically(self.place, save(arrays))

    def _read(self, path: InputFile) -> tuple[ProgramTable, _Way]:
        try:
            return self.reader.read(path)
        except Exception as error:
            return no_program(), _Failure(failure_reason(str(path), error))

    def load(self) -> _Batch:
        """What was written down; where that is damaged, once more."""
        try:
            return _unpack(self.place, len(self.paths))
        except (AssetError, LookupError, TypeError, ValueError):
            list(Pool().run([self.task()]))
            return _unpack(self.place, len(self.paths))


def _packed(values: Sequence[Any]) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(list(values)).encode(), np.uint8)


def _unpack(place: Path, num_files: int) -> _Batch:
    arrays = read_tensors(place, _ARRAYS)
    texts, kept = (json.loads(arrays.pop(name).tobytes()) for name in ("texts", "ways"))
    ways = tuple(way if isinstance(way, str) else _Failure(str(way["failed"])) for way in kept)
    if len(ways) != num_files:
        raise ValueError("another number of files")
    return _Batch(ProgramTable(texts=tuple(texts), **arrays), ways)


def _assemble(files: LabelledFiles, levels: Sequence[str], batches: Sequence[Sequence[_Batch]]) -> ProgramSamples:
    ways = [[way for batch in view for way in batch.ways] for view in batches]
    failures: dict[str, str] = {}
    for view in ways:
        pairs = zip(files.paths, view, strict=True)
        failures |= {path: way.reason for path, way in pairs if isinstance(way, _Failure)}
    tables = [concatenate([batch.table for batch in view]) for view in batches]
    whole = np.array([path not in failures for path in files.paths])
    for table in tables:
        whole &= np.diff(table.start) > 0  # a file without a function says nothing
    kept = np.flatnonzero(whole)
    if not len(kept):
        reason = next(iter(failures.values()), NO_FUNCTION)
        raise InputError(f"none of {len(files.paths)} files can be read: {reason}")
    for row in np.flatnonzero(~whole).tolist():
        failures.setdefault(files.paths[row], f"{files.paths[row]}: {NO_FUNCTION}")
    root = os.path.commonpath(files.paths)
    return ProgramSamples(
        files=tuple(os.path.relpath(files.paths[row], root) for row in kept.tolist()),
        label=files.label[kept],
        classes=files.classes,
        row=kept,
        views={level: table.rows(kept) for level, table in zip(levels, tables, strict=True)},
        ways=dict(Counter(way for row in kept.tolist() if isinstance(way := ways[0][row], str))),
        failures=failures,
    )


def labelled_files(
    folder: str | Path | None, levels: Sequence[str], data: str | None, classes: str | None = None
) -> tuple[LabelledFiles, tuple[str, ...]]:
    """The files of a folder of classes, POJ-104's by default, or of some, and the names of optimization levels."""
    names = level_names(",".join(levels))
    files = find_labelled_files(programs_folder(None if folder is None else Path(folder), data))
    return (choose_classes(files, classes) if classes else files), names


def choose_classes(
    files: LabelledFiles, wanted: str, *, per_class: int | None = None, seed: int = 204
) -> LabelledFiles:
    """The files of some classes, by names and ranges of numbers, as "1-64,81,trees"."""
    chosen: set[str] = set()
    for word in map(str.strip, wanted.split(",")):
        first, dash, last = word.partition("-")
        span = range(int(first), int(last) + 1) if dash and first.isdecimal() and last.isdecimal() else ()
        named = {word} if word in files.classes else {str(n) for n in span} & set(files.classes)
        if not named:
            raise InputError(f"classes: {word!r} names none of {', '.join(files.classes[:5])}, …")
        chosen |= named
    if len(chosen) < 2:
        raise InputError(f"classes: expected two or more, found {', '.join(chosen)}")
    names = tuple(name for name in files.classes if name in chosen)
    number = np.array([names.index(name) if name in chosen else -1 for name in files.classes])
    kept = np.flatnonzero(number[files.label] >= 0)
    if per_class:
        rng = np.random.default_rng(seed)
        drawn = [rng.permutation(kept[number[files.label[kept]] == one])[:per_class] for one in range(len(names))]
        kept = np.sort(np.concatenate(drawn))
    paths = tuple(files.paths[row] for row in kept.tolist())
    return replace(files, paths=paths, label=number[files.label[kept]], classes=names)


def load_labelled_programs(
    folder: str | Path | None,
    levels: Sequence[str],
    embedding: Embedding,
    *,
    cache: str | Path | None,
    data: str | None,
    jobs: int,
    progress: Callable[[str], None] | None,
    options: CompileOptions | None = None,
    classes: str | None = None,
) -> ProgramSamples:
    """The programs of `labelled_files`, compiled at some levels and read for an embedding."""
    files, names = labelled_files(folder, levels, data, classes)
    place = None if cache is None else Path(cache)
    check_folder(place)
    samples = load_programs(
        files,
        names,
        options=options,
        abstraction=embedding.abstraction,
        cache=place or programs_cache(),
        jobs=jobs,
        progress=tell_batches(progress),
    )
    if progress and rank_and_world()[0] == 0:
        progress(f"{len(samples)} programs of {len(samples.classes)} classes; {len(samples.failures)} left out")
    return samples


def tell_batches(progress: Callable[[str], None] | None) -> Callable[[int, int], None] | None:
    """Say how far reading programs has come."""
    if not progress:
        return None
    return lambda done, total: progress(f"{done} of {total} batches of programs compiled and read")


def programs_folder(folder: Path | None = None, data: str | None = None) -> Path:
    """A folder with a folder of programs for each class: the one that is named, or POJ-104."""
    return folder or extracted("poj104", "poj104.tar.xz", data) / "poj104"


def programs_cache() -> Path:
    """Where programs are kept once compiled and read."""
    return cache_folder() / "programs"


def level_names(levels: str) -> tuple[str, ...]:
    """From "1,2" to "-O1" and "-O2"."""
    names = (CompileOptions(optimization=level.strip()).optimization for level in levels.split(","))
    return tuple(dict.fromkeys(names))
