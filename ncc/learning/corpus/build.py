"""Builds a corpus: files to counts, in parallel, in shards that survive a kill, with the same result.

Files are cut into batches in a fixed order. Each finished batch is a shard on disk; a run that starts again does the
batches that are missing and adds all shards up.
"""

import hashlib
import json
import logging
import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ncc.errors import AssetError, InputError, check_positive
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.graph.contexts import count_contexts
from ncc.ir.graph.xfg import build_xfg
from ncc.ir.reader.reader import read_module
from ncc.learning.corpus.recipe import CorpusFile, Recipe, find_files, load_recipe
from ncc.learning.embedding.counts import CountsBuilder, load_counts, merge_counts, save_counts, width_folder
from ncc.learning.programs.ir_cache import Compiler
from ncc.system.files.pages import html_table
from ncc.system.files.text import align_columns
from ncc.system.files.writing import check_folder, folder_lock, write_atomically
from ncc.system.workers.failures import failure_reason, summarize_failure
from ncc.system.workers.pool import ITEM_SECONDS, Pool, Task, cluster_executor, run_on_executor


@dataclass
class Tally:
    """What some files come to, as a shard's report."""

    files: Counter[str] = field(default_factory=Counter)
    lines: Counter[str] = field(default_factory=Counter)
    statements: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=lambda: {"compile": 0.0, "read": 0.0, "count": 0.0})
    failures: dict[str, str] = field(default_factory=dict)

    def add(self, report: dict[str, Any]) -> None:
        """Add a shard's report."""
        for name in ("files", "lines", "statements"):
            getattr(self, name).update(report[name])
        for step, seconds in report["seconds"].items():
            self.seconds[step] += seconds
        self.failures |= report["failures"]

    def add_shard(self, shard: Path) -> None:
        """Add the report of a shard on disk."""
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
    """Add one file's counts, or the reason why it has none."""
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


logger = logging.getLogger(__name__)

BATCH_FILES = 64


@dataclass(frozen=True)
class CorpusReport:
    """What became of a recipe's files.

    Attributes:
        files: Per source, how many files were read.
        lines: Per source, lines of IR.
        statements: Per source, statements.
        pairs: Per context width, ordered pairs of statements.
        num_distinct: Distinct statements.
        seconds: Per step (compile, read, count), summed over the workers.
        failures: Path → reason, for the files that could not be compiled or read, or over which workers died.
    """

    files: dict[str, int] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    statements: dict[str, int] = field(default_factory=dict)
    pairs: dict[int, int] = field(default_factory=dict)
    num_distinct: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        files, statements = sum(self.files.values()), sum(self.statements.values())
        return f"CorpusReport({files} files, {statements} statements, {len(self.failures)} failures)"

    def _repr_html_(self) -> str:
        rows = ((name, *(f"{part[name]:,}" for part in self._columns())) for name in self.files)
        return html_table(repr(self), ("source", "files", "IR lines", "statements"), rows)

    def to_text(self) -> str:
        """A table for people: a row a source, and the sums."""
        rows: list[tuple[str, ...]] = [("source", "files", "IR lines", "statements")]
        rows += [(source, *(str(part[source]) for part in self._columns())) for source in self.files]
        if len(self.files) > 1:
            rows.append(("together", *(str(sum(part.values())) for part in self._columns())))
        lines = [*align_columns(rows), f"{self.num_distinct} distinct statements"]
        lines += [f"{pairs} pairs within {width} hop(s)" for width, pairs in self.pairs.items()]
        counting = sum(self.seconds.get(step, 0.0) for step in ("read", "count"))
        if counting:
            speed = sum(self.lines.values()) / counting
            lines.append(f"{speed:,.0f} IR lines/s a core read and counted; seconds: {self.seconds}")
        lines.append(f"{len(self.failures)} files failed: see report.json")
        return "\n".join(lines)

    def _columns(self) -> tuple[dict[str, int], ...]:
        return self.files, self.lines, self.statements


def build_corpus(
    recipe: str | Path | Recipe,
    output: str | Path,
    *,
    jobs: int | None = None,
    ir: str | Path | None = None,
    options: CompileOptions | None = None,
    scheduler: str | None = None,
    executor: Executor | None = None,
    progress: Callable[[str], None] | None = None,
    file_seconds: float = ITEM_SECONDS,
    memory_bytes: int | None = None,
) -> CorpusReport:
    """Compiles, reads and counts every file of a recipe; called again, it resumes where it was stopped.

    Args:
        recipe: In TOML, a folder of code, or a `ncc.learning.corpus.recipe.Recipe`.
        output: Folder of the corpus: ``width-N/counts.*``, ``report.json`` and ``shards/``.
        jobs: Worker processes; default one a core.
        ir: Folder that keeps the compiled IR, and gives it back to a later build of the same files with the same
            options, so that another abstraction or width costs no compilation. Headers are not looked at.
        options: Header paths, macros, flags and compilation database for all sources; other options are the recipe's.
        scheduler: Address of a Dask scheduler to work on instead; its workers must see the files.
        executor: Any other executor to work on instead, under the same condition. It is not watched: a file that ends
            or holds up one of its workers ends or holds up the build.
        progress: Called with a line of text after each batch.
        file_seconds: Time that a file may take, its compilation not counted in; after that it is a failure.
        memory_bytes: What a worker may take; default NCC_MEMORY_GB, then the machine's memory by the workers, but not
            less than 4 GiB.

    Returns:
        Numbers of files, lines, statements and pairs, and the files that failed.

    Raises:
        InputError: The recipe can't be read, no file matches, or the folder holds another recipe's corpus.
        OutputError: A folder can't be written, or another build or training writes to it.
        NccError: Workers can't be started, one of an executor was killed, or no scheduler answers.
    """
    folder = Path(output).absolute()  # workers may stand in another folder
    ir_folder = Path(ir).absolute() if ir else None
    check_positive(jobs=jobs, file_seconds=file_seconds, memory_bytes=memory_bytes)
    check_folder(folder, ir_folder)
    recipe = recipe if isinstance(recipe, Recipe) else load_recipe(Path(recipe))
    recipe = recipe.compiled_with(options) if options else recipe
    files = find_files(recipe)
    if not files:
        where = ", ".join(dict.fromkeys(source.folder for source in recipe.sources))
        raise InputError(f"{recipe.name}: no file of code in {where} matches")
    batches = [
        Batch(tuple(files[start : start + BATCH_FILES]), recipe, _shard(folder, number), folder / "headers", ir_folder)
        for number, start in enumerate(range(0, len(files), BATCH_FILES))
    ]
    with cluster_executor(scheduler, executor) as workers, folder_lock(folder, wait_s=0):
        _check_plan(folder, recipe, files)
        missing = [batch.task() for batch in batches if not batch.is_done()]
        if workers:
            work = run_on_executor(workers, missing)
        else:
            work = Pool(jobs or os.cpu_count() or 1, memory_bytes, file_seconds).run(missing)
        with closing(work):
            for done, _ in enumerate(work, len(batches) - len(missing) + 1):
                if progress:
                    progress(f"{done} of {len(batches)} batches")
        return _merge(folder, recipe, len(batches))


def _shard(folder: Path, number: int) -> Path:
    return folder / "shards" / f"{number:06d}"


def _check_plan(folder: Path, recipe: Recipe, files: Sequence[CorpusFile]) -> None:
    """Write down what this folder is being built from, or check that it is the same as last time."""
    digest = hashlib.sha256(
        repr((recipe.widths, recipe.max_degree, recipe.abstraction, BATCH_FILES, files)).encode()
    ).hexdigest()
    plan = folder / "plan.json"
    if plan.exists() and _planned_digest(plan) != digest:
        raise InputError(f"{folder}: holds the corpus of another recipe or of other files; give an empty folder")
    write_atomically(plan, json.dumps({"recipe": recipe.name, "files_sha256": digest}).encode())


def _planned_digest(plan: Path) -> str | None:
    try:
        return str(json.loads(plan.read_bytes())["files_sha256"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):  # damaged, or another tool's
        return None


def _merge(folder: Path, recipe: Recipe, num_batches: int) -> CorpusReport:
    tally = Tally()
    for number in range(num_batches):
        tally.add_shard(_shard(folder, number))
    pairs = {}
    for width in recipe.widths:
        shards = [width_folder(_shard(folder, number), width) for number in range(num_batches)]
        merged = merge_counts(shards, width_folder(folder, width))
        pairs[width] = merged.num_pairs
    report = CorpusReport(
        files=dict(tally.files),
        lines=dict(tally.lines),
        statements=dict(tally.statements),
        pairs=pairs,
        num_distinct=merged.num_texts,
        seconds={step: round(seconds, 1) for step, seconds in tally.seconds.items()},
        failures=tally.failures,
    )
    summary = {"recipe": recipe.name, "abstraction": asdict(recipe.abstraction)} | asdict(report)
    write_atomically(folder / "report.json", json.dumps(summary, indent=1).encode())
    logger.info("corpus %s: %d files, %d failures", recipe.name, sum(tally.files.values()), len(tally.failures))
    return report
