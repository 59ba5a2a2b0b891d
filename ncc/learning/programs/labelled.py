"""Labeled programs: a folder for each class, compiled at several levels, read once and cached.

Reference: Mou et al. 2016 (POJ-104, 104 problems of an online judge); Ben-Nun et al. 2018, section 6.1.
"""

import functools
import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from ncc.arrays import Ints
from ncc.errors import InputError, InputFileError, NccError, check_positive, naming_extras
from ncc.ir.frontend.languages import SOURCE_EXTENSIONS
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.reader.abstraction import Abstraction
from ncc.ir.reader.module import NO_FUNCTION, Module
from ncc.ir.reader.objects import IR_EXTENSIONS, is_ir_path, modules_of
from ncc.ir.reader.reader import read_module
from ncc.learning.data.registry import cache_folder, extracted
from ncc.learning.programs.ir_cache import CachingCompiler, check_compiler, compiled_by, file_key
from ncc.learning.programs.table import ProgramTable, concatenate, describe_program, no_program
from ncc.learning.training.ranks import all_gather_object, rank_and_world, share_files
from ncc.system.files.models import read_tensors
from ncc.system.files.reading import InputFile, refuse_link_out
from ncc.system.files.writing import check_folder, write_atomically
from ncc.system.workers.pool import ITEM_SECONDS, Batch, Pool

if TYPE_CHECKING:
    from torch_geometric.data import InMemoryDataset

    from ncc.learning.embedding.embedding import AnyEmbedding

BATCH_FILES = 64
"""Programs that are read and cached together, so that a killed reader loses few."""
_MAX_TIMEOUTS = 8
"""Compilations of one program that may each take the compiler's time limit."""
_READ = 5
"""Incremented whenever programs are read differently, which invalidates the cache."""
_ARRAYS = ("start", "text_id", "opcode", "literal_start", "literal")


@dataclass(frozen=True)
class LabelledFiles:
    """Files and their classes: names of folders, with numbers in numeric order."""

    paths: tuple[str, ...]  # class by class
    label: Ints  # (n,) int64 index into classes
    classes: tuple[str, ...]
    folder: str | None = None  # folder that links of files may not leave; None for files that are named one by one


@dataclass(frozen=True, eq=False)
class ProgramSamples:
    """Labeled programs at several levels, without those that fail at any of them."""

    label: Ints  # (n,) int64 index into classes, -1 where it is hidden
    classes: tuple[str, ...]
    row: Ints  # (n,) int64 index among the requested files
    variants: dict[str, ProgramTable]  # level → the n programs
    ways: dict[str, int] = field(default_factory=dict)  # how it compiled, see `compile_program` → number of files
    failures: dict[str, str] = field(default_factory=dict)  # file → reason

    def __len__(self) -> int:
        return len(self.label)

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
    extensions = SOURCE_EXTENSIONS | IR_EXTENSIONS
    modules: dict[str, list[str]] = {}
    for place in sorted((place for place in folder.iterdir() if place.is_dir()), key=_natural):
        refuse_link_out(place, folder)
        paths = [path for path in place.rglob("*") if path.suffix in extensions and _is_own_file(path, folder)]
        modules[place.name] = [module for path in sorted(paths, key=_natural) for module in modules_of(path, folder)]
    classes = {name: paths for name, paths in modules.items() if paths}
    if len(classes) < 2:
        raise InputError(f"{folder}: expected subfolders of programs for at least two classes, found {len(classes)}")
    label = np.repeat(np.arange(len(classes)), [len(paths) for paths in classes.values()])
    together = tuple(path for paths in classes.values() for path in paths)
    return LabelledFiles(together, label, tuple(classes), str(folder))


def _is_own_file(path: Path, folder: Path) -> bool:
    """Whether a path is a regular file: pipes and devices may never end, and links may lead anywhere."""
    if path.is_symlink():
        refuse_link_out(path, folder)
    if path.is_file():
        return True
    if not path.is_dir():
        raise InputError(f"{path}: is a pipe, a device or a broken link; expected a file")
    return False


def _natural(path: Path) -> tuple[int, int, str]:
    """Sort key: numbers in numeric order, before other names."""
    return (0, int(path.stem), path.name) if path.stem.isdecimal() else (1, 0, path.name)


def load_programs(
    files: LabelledFiles,
    levels: Sequence[str] = ("-O1",),
    *,
    options: CompileOptions | None = None,
    abstraction: Abstraction | None = None,
    cache: Path | None = None,
    jobs: int = 1,
    progress: Callable[[str], None] | None = None,
) -> ProgramSamples:
    """Compile and read programs, except those in the cache. Ranks share the work."""
    options, abstraction, cache = options or CompileOptions(), abstraction or Abstraction(), cache or programs_cache()
    check_folder(cache)
    variants = [replace(options, optimization=level) for level in levels]
    paths = tuple(InputFile(path, files.folder) for path in files.paths)
    chunks = [paths[start : start + BATCH_FILES] for start in range(0, len(paths), BATCH_FILES)]
    keys = ["".join(file_key(path, options) for path in chunk) for chunk in chunks]  # once for all levels
    batches = []
    for variant in variants:
        identity = _READ, compiled_by(variant), abstraction
        for chunk, key in zip(chunks, keys, strict=True):
            name = hashlib.sha256(repr((identity, key)).encode()).hexdigest()[:32]
            file = cache / "programs" / name[:2] / f"{name}.safetensors"
            batches.append(_Batch(chunk, file, _MAX_TIMEOUTS * variant.timeout_s, variant, abstraction, cache))
    rank, world_size = rank_and_world()
    # all ranks have looked before anything is added
    exists = all_gather_object([batch.file.exists() for batch in batches])
    missing = [batch for batch, *there in zip(batches, *exists, strict=True) if not any(there)][rank::world_size]
    if missing:
        for variant in variants:
            check_compiler(variant)
    tell = progress or (lambda _: None)
    Pool(jobs).run(missing, lambda done: tell(f"{done} of programs compiled and read"))
    share_files([batch.file for batch in batches])
    loaded = [batch.load() for batch in batches]
    samples = _assemble(files, levels, [loaded[i : i + len(chunks)] for i in range(0, len(loaded), len(chunks))])
    if not rank:
        tell(f"{len(samples)} programs of {len(samples.classes)} classes; {len(samples.failures)} left out")
    return samples


def _read_program(
    item: InputFile, options: CompileOptions, abstraction: Abstraction, cache: Path
) -> tuple[Module, str]:
    """Read a program, compiled unless its IR is cached, and return how it compiled."""
    if is_ir_path(item):
        return read_module(item, abstraction=abstraction), "IR"
    ir, way = CachingCompiler.below(cache).program_ir(item, options)
    return read_module(ir, name=item.path, abstraction=abstraction), way


_Outcome = tuple[str, str]
"""How a program compiled, or why it could not be read; the other is empty."""


@dataclass(frozen=True)
class _Batch(Batch):
    """Programs that are read together, and the file of their statements."""

    options: CompileOptions
    abstraction: Abstraction
    cache: Path

    def read(self, item: InputFile) -> tuple[ProgramTable, str]:
        """Read a program, and return how it compiled."""
        module, way = _read_program(item, self.options, self.abstraction, self.cache)
        return describe_program(module), way

    def write(self, outcomes: Sequence[tuple[tuple[ProgramTable, str] | None, str | None]]) -> None:
        """Write the programs, and how each compiled or why it failed."""
        from safetensors.numpy import save

        read = [(*(result or (no_program(), "")), reason or "") for result, reason in outcomes]
        table = concatenate([program for program, *_ in read])
        arrays = {name: np.asarray(getattr(table, name)) for name in _ARRAYS}
        for name, values in (("texts", table.texts), ("outcomes", [outcome for _, *outcome in read])):
            arrays[name] = np.frombuffer(json.dumps(values).encode(), np.uint8)
        write_atomically(self.file, save(arrays))

    def load(self) -> tuple[ProgramTable, list[_Outcome]]:
        """Return what was written."""
        arrays = read_tensors(self.file, (*_ARRAYS, "texts", "outcomes"))
        texts, outcomes = (json.loads(arrays.pop(name).tobytes()) for name in ("texts", "outcomes"))
        return ProgramTable(texts=tuple(texts), **arrays), [(str(way), str(reason)) for way, reason in outcomes]


def _assemble(
    files: LabelledFiles, levels: Sequence[str], batches: Sequence[Sequence[tuple[ProgramTable, list[_Outcome]]]]
) -> ProgramSamples:
    """Join the batches of each level; programs that are missing at any level are failures."""
    outcomes = [[outcome for _, of_batch in level for outcome in of_batch] for level in batches]
    tables = [concatenate([table for table, _ in level]) for level in batches]
    failures: dict[str, str] = {}
    for level in outcomes:
        failures |= {path: reason for path, (_, reason) in zip(files.paths, level, strict=True) if reason}
    is_empty = np.any([np.diff(table.start) == 0 for table in tables], axis=0)  # also if it could not be read
    for row in np.flatnonzero(is_empty).tolist():
        failures.setdefault(files.paths[row], f"{files.paths[row]}: {NO_FUNCTION}")
    rows = np.flatnonzero(~is_empty)
    if not len(rows):
        raise InputError(f"none of {len(files.paths)} files can be read: {next(iter(failures.values()))}")
    return ProgramSamples(
        label=files.label[rows],
        classes=files.classes,
        row=rows,
        variants={level: table.rows(rows) for level, table in zip(levels, tables, strict=True)},
        ways=dict(Counter(outcomes[0][row][0] for row in rows.tolist())),
        failures=failures,
    )


@naming_extras()
def load_program_graphs(
    folder: str | os.PathLike[str],
    *,
    embedding: "AnyEmbedding | None" = None,
    hetero: bool = False,
    options: CompileOptions | None = None,
    jobs: int = 1,
) -> "InMemoryDataset":
    """Read labeled programs as a dataset for PyTorch Geometric, with a graph per program, class by class.

    Args:
        folder: Folder with a subfolder of programs per class, sources or IR, as `train_classifier` takes it.
        embedding: Statement embedding, or its folder or name; default: the shipped one.
        hetero: Make ``HeteroData``, as `XFG.to_pyg` does.
        options: Compiler options; default: `ncc.CompileOptions()`. The IR is kept in the cache.
        jobs: Number of worker processes; with several, a crash affects only its own program.

    Returns:
        An ``InMemoryDataset`` of the graphs of `XFG.to_pyg`, each with ``y``, (1,) int64 index into the dataset's
        ``classes``, and ``path``. Programs that can't be read are in its ``failures``, path → reason.

    Raises:
        InputError: The folder has fewer than two classes, ``jobs`` is below 1, or no program can be read.
        CompileError: The compiler can't be used.
        AssetError: The embedding can't be read.
        MissingExtraError: torch_geometric is missing; it comes with the extra ``pyg``.
    """
    from torch_geometric.data import InMemoryDataset  # before torch, so that an error names the extra with both
    import torch  # isort: skip

    from ncc.ir.graph.xfg import build_xfg
    from ncc.learning.embedding.embedding import load_embedding

    check_positive(jobs=jobs)
    files, options = find_labelled_files(Path(folder)), options or CompileOptions()
    embedding = load_embedding(embedding)
    check_compiler(options)
    items = [InputFile(path, files.folder) for path in files.paths]
    read = functools.partial(_read_program, options=options, abstraction=embedding.abstraction, cache=programs_cache())
    pool = Pool(jobs, seconds=ITEM_SECONDS + _MAX_TIMEOUTS * options.timeout_s)
    calls = pool.in_order(items, read, name_of=str, runs_inline=lambda _: False)
    graphs, failures = [], {}
    for path, label, call in zip(files.paths, files.label.tolist(), calls, strict=True):
        try:
            module, _ = call()
            module.check_functions()
            graphs.append(build_xfg(module).to_pyg(embedding, hetero=hetero))
        except NccError as error:
            failures[path] = str(error)
        else:
            graphs[-1].y, graphs[-1].path = torch.tensor([label]), path
    if not graphs:
        raise InputError(f"none of {len(files.paths)} files can be read: {next(iter(failures.values()))}")
    dataset = InMemoryDataset()
    dataset.data, dataset.slices = dataset.collate(graphs)
    dataset.classes, dataset.failures = files.classes, failures
    return dataset


def labelled_files(
    folder: str | os.PathLike[str] | None, levels: Sequence[str], data: str | None, classes: str | None = None
) -> tuple[LabelledFiles, tuple[str, ...]]:
    """Find the files of a folder of classes, all or some, POJ-104's by default; return them with names of levels."""
    names = level_names(",".join(levels))
    files = find_labelled_files(programs_folder(None if folder is None else Path(folder), data))
    return (choose_classes(files, classes) if classes else files), names


def choose_classes(
    files: LabelledFiles, classes: str, *, per_class: int | None = None, seed: int = 204
) -> LabelledFiles:
    """Select the files of some classes, by names and ranges of numbers, such as "1-64,81,trees"."""
    chosen: set[str] = set()
    for word in map(str.strip, classes.split(",")):
        first, dash, last = word.partition("-")
        span = range(int(first), int(last) + 1) if dash and first.isdecimal() and last.isdecimal() else ()
        named = {word} if word in files.classes else {str(n) for n in span} & set(files.classes)
        if not named:
            raise InputError(f"classes: {word!r} is unknown; expected some of {', '.join(files.classes[:5])}, …")
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


def programs_folder(folder: Path | None = None, data: str | None = None) -> Path:
    """A folder with a subfolder of programs per class; default: POJ-104."""
    return folder or extracted("poj104", "poj104.tar.xz", data) / "poj104"


def programs_cache() -> Path:
    """Folder of the cache of programs."""
    return cache_folder() / "programs"


def level_names(levels: str) -> tuple[str, ...]:
    """Convert "1,2" to "-O1" and "-O2"."""
    names = (CompileOptions(optimization=level.strip()).optimization for level in levels.split(","))
    return tuple(dict.fromkeys(names))
