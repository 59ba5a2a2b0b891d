"""Counts a batch of files into a shard; the report is written last and marks the shard as whole."""

import json
import shutil
import time
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
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
from ncc.system.files.writing import write_atomically
from ncc.system.workers.failures import failure_reason, summarize_failure
from ncc.system.workers.pool import Task


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
class Batch:
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

    def task(self) -> Task:
        """For a pool; compilers end themselves, each attempt and its header after their time."""
        seconds = [
            sum(options.timeout_s * (2 if header else 1) for options, header in file.attempts) for file in self.files
        ]
        return Task(str(self.shard), [file.path for file in self.files], self.run, seconds)

    def run(self, failed: Mapping[int, str]) -> Generator[None]:
        """Make the shard, yielding after each file; those that failed leave their reasons in the report."""
        compiler = Compiler(headers=self.headers, kept=self.kept_ir)
        sums = _Sums(self.recipe.widths, self.shard / "pieces")
        tally = Tally(failures={self.files[index].path: reason for index, reason in failed.items()})
        for index, file in enumerate(self.files):
            if index not in failed:
                try:
                    _count_file(file, self.recipe, sums.builders, compiler, tally)
                except MemoryError:  # the files before it may have taken what it lacks
                    sums.set_aside()
                    try:
                        _count_file(file, self.recipe, sums.builders, compiler, tally)
                    except MemoryError as error:
                        tally.failures[file.path] = summarize_failure(file.path, error)
                yield
        sums.save(self.shard)
        write_atomically(self.shard / "report.json", json.dumps(vars(tally)).encode())

    def is_done(self) -> bool:
        """Whether the shard is whole."""
        return (self.shard / "report.json").exists()


class _Sums:
    """Counts of files by width, of which a part may be on disk."""

    def __init__(self, widths: Sequence[int], folder: Path) -> None:
        self.builders = {width: CountsBuilder(width) for width in widths}
        self._folder = folder
        self._pieces: list[Path] = []

    def set_aside(self) -> None:
        """Move all counts to the disk."""
        piece = self._folder / f"{len(self._pieces):06d}"
        for width, builder in self.builders.items():
            save_counts(builder.finish(), width_folder(piece, width))
            self.builders[width] = CountsBuilder(width)
        self._pieces.append(piece)

    def save(self, shard: Path) -> None:
        """Save the sums of all counts."""
        for width, builder in self.builders.items():
            for piece in self._pieces:
                builder.add_counts(load_counts(width_folder(piece, width)))
            save_counts(builder.finish(), width_folder(shard, width))
        shutil.rmtree(self._folder, ignore_errors=True)


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
        tally.failures[file.path] = failure_reason(file.path, error)
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
