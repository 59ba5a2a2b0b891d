"""Turns a batch of files into a shard of counts: all at once, or file by file after a crash.

The report is written last and marks a shard as whole. Where a process died over a batch, ``lost.json`` says so: then
every file becomes a shard of its own below the batch's, ``lost.json`` names those that can't be counted, and the parts
are added up, which gives the same counts.
"""

import json
import shutil
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ncc.errors import AssetError
from ncc.ir.graph.contexts import count_contexts
from ncc.ir.graph.xfg import build_xfg
from ncc.ir.reader.reader import read_module
from ncc.learning.corpus.files import CorpusFile
from ncc.learning.corpus.recipe import Recipe
from ncc.learning.embedding.counts import CountsBuilder, load_counts, save_counts, width_folder
from ncc.learning.programs.kept import Compiler
from ncc.system.files.models import write_atomically
from ncc.system.workers.crew import CrewTask
from ncc.system.workers.failures import reason_of, summarize_failure


@dataclass
class Tally:
    """What some files come to, as a shard's report."""

    files: Counter[str] = field(default_factory=Counter)
    lines: Counter[str] = field(default_factory=Counter)
    statements: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=lambda: {"compile": 0.0, "read": 0.0, "count": 0.0})
    failures: dict[str, str] = field(default_factory=dict)

    def add(self, report: dict[str, Any]) -> None:
        """Adds a shard's report."""
        for name in ("files", "lines", "statements"):
            getattr(self, name).update(report[name])
        for step, seconds in report["seconds"].items():
            self.seconds[step] += seconds
        self.failures |= report["failures"]

    def add_shard(self, shard: Path) -> None:
        """Adds the report of a shard on disk.

        Raises:
            AssetError: It is damaged.
        """
        report = shard / "report.json"
        try:
            self.add(json.loads(report.read_bytes()))
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise AssetError(f"{report}: is damaged ({error!r}); remove {shard} to have it counted again") from error


@dataclass(frozen=True)
class Batch(CrewTask):
    """Files that are counted together.

    Attributes:
        files: In the corpus's order.
        recipe: How they are counted.
        shard: Folder for their counts.
        headers: Folder for precompiled headers.
        kept_ir: Folder of IR to look in first and to add to, or None.
    """

    files: tuple[CorpusFile, ...]
    recipe: Recipe
    shard: Path
    headers: Path
    kept_ir: Path | None = None

    @property
    def record(self) -> Path:
        """In the shard."""
        return self.shard / "lost.json"

    def run(self, at: Callable[[int | None], None]) -> None:
        """Makes the shard; what was made of it before is used."""
        lost = self.lost()
        if lost is None:
            _count_files(self, range(len(self.files)), self.shard, at)
            return
        whole = [index for index in range(len(self.files)) if index not in lost]
        for index in whole:
            if not _is_whole(_piece(self, index)):
                _count_files(self, [index], _piece(self, index), at)
        at(None)
        _add_up(self, [_piece(self, index) for index in whole], lost)
        shutil.rmtree(self.shard / "pieces", ignore_errors=True)  # what a kill leaves of them is not read again

    def seconds_for(self, index: int) -> float:
        """What compilers may take, which end themselves: each attempt's time and its header's."""
        return sum(options.timeout_s * (2 if header else 1) for options, header in self.files[index].attempts)

    def name_of(self, index: int | None) -> str:
        """A file's path; the shard's where it is all files."""
        return str(self.shard) if index is None else self.files[index].path

    def is_done(self) -> bool:
        """Whether the shard is whole."""
        return _is_whole(self.shard)


def _is_whole(shard: Path) -> bool:
    return (shard / "report.json").exists()


def _piece(batch: Batch, index: int) -> Path:
    return batch.shard / "pieces" / f"{index:06d}"


def _count_files(batch: Batch, indices: Sequence[int], shard: Path, at: Callable[[int | None], None]) -> None:
    """Some files of a batch to a shard."""
    builders = {width: CountsBuilder(width) for width in batch.recipe.widths}
    tally = Tally()
    compiler = Compiler(headers=batch.headers, kept=batch.kept_ir)
    for index in indices:
        at(index)
        try:
            _count_file(batch.files[index], batch.recipe, builders, compiler, tally)
        except MemoryError as error:
            if len(indices) > 1:  # the files before it may have taken what it lacks
                raise
            tally.failures[batch.files[index].path] = summarize_failure(batch.files[index].path, error)
    if len(indices) > 1:
        at(None)
    _save(builders, tally, shard)


def _save(builders: Mapping[int, CountsBuilder], tally: Tally, shard: Path) -> None:
    for width, builder in builders.items():
        save_counts(builder.finish(), width_folder(shard, width))
    write_atomically(shard / "report.json", json.dumps(vars(tally)).encode())


def _count_file(
    file: CorpusFile, recipe: Recipe, builders: Mapping[int, CountsBuilder], compiler: Compiler, tally: Tally
) -> None:
    """Adds one file's counts, or the reason why it has none."""
    times = [time.perf_counter()]
    try:
        ir = compiler.ir_of(file)
        times.append(time.perf_counter())
        module = read_module(ir, name=file.path, abstraction=recipe.abstraction)
        graph = build_xfg(module)
        times.append(time.perf_counter())
        statements = np.bincount(module.text_id, minlength=len(module.texts)).astype(np.int64)
        contexts = {
            width: count_contexts(graph, module.text_id, width, max_degree=recipe.max_degree) for width in builders
        }
    except MemoryError:  # may not be the fault of the file
        raise
    except Exception as error:
        tally.failures[file.path] = reason_of(file.path, error)
        return
    # nothing is added before all is known, so that a file that fails has added nothing
    for width, pairs in contexts.items():
        builders[width].add(
            module.texts, statements, (pairs.center, pairs.context, pairs.count), num_lines=module.num_lines
        )
    times.append(time.perf_counter())
    tally.files[file.source] += 1
    tally.lines[file.source] += module.num_lines
    tally.statements[file.source] += module.num_statements
    for step, seconds in zip(("compile", "read", "count"), np.diff(times).tolist(), strict=True):
        tally.seconds[step] += seconds


def _add_up(batch: Batch, pieces: Sequence[Path], lost: Mapping[int, str]) -> None:
    """The shards of single files, and the reasons of those that have none, to the batch's shard."""
    builders = {width: CountsBuilder(width) for width in batch.recipe.widths}
    tally = Tally()
    for piece in pieces:
        tally.add_shard(piece)
        for width, builder in builders.items():
            builder.add_counts(load_counts(width_folder(piece, width)))
    tally.failures |= {batch.files[index].path: reason for index, reason in lost.items()}
    _save(builders, tally, batch.shard)
