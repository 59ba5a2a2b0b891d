"""The build of a corpus: files to counts, in parallel, in shards that survive a kill, with the same result.

Files are cut into batches in a fixed order. Each finished batch is a shard on disk; a run that starts again does the
batches that are missing and adds all shards up.
"""

import hashlib
import json
import os
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np
from msgspec import convert

from ncc.errors import AssetError, InputError, check_positive
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.graph.contexts import count_contexts
from ncc.ir.graph.xfg import build_xfg
from ncc.ir.reader.reader import read_module
from ncc.learning.corpus.recipe import CorpusFile, Recipe, find_files, load_recipe
from ncc.learning.embedding.counts import CountsBuilder, save_counts, sum_counts, width_folder
from ncc.learning.programs.ir_cache import CachingCompiler
from ncc.system.files.pages import html_table
from ncc.system.files.text import align_columns
from ncc.system.files.writing import check_folder, folder_lock, write_atomically
from ncc.system.workers.failures import failure_reason
from ncc.system.workers.pool import ITEM_SECONDS, Pool, Task

BATCH_FILES = 64
"""Files of a shard: what a killed worker loses at most."""

_STEPS = ("compile", "read", "count")
_HEADING = ("source", "files", "IR lines", "statements")


@dataclass(frozen=True)
class CorpusReport:
    """Numbers of a recipe's files, lines and statements, and its failures."""

    files: dict[str, int] = field(default_factory=dict)  # read, per source
    lines: dict[str, int] = field(default_factory=dict)  # of IR, per source
    statements: dict[str, int] = field(default_factory=dict)  # per source
    pairs: dict[int, int] = field(default_factory=dict)  # ordered pairs of statements, per context width
    num_distinct: int = 0  # statements
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(_STEPS, 0.0))  # summed over the workers
    failures: dict[str, str] = field(default_factory=dict)  # path → reason

    def add(self, other: "CorpusReport") -> None:
        """Add the report of other files, except pairs and distinct statements."""
        for name in ("files", "lines", "statements", "seconds"):
            total = getattr(self, name)
            for key, value in getattr(other, name).items():
                total[key] = total.get(key, 0) + value
        self.failures.update(other.failures)

    def __repr__(self) -> str:
        files, statements = sum(self.files.values()), sum(self.statements.values())
        return f"CorpusReport({files} files, {statements} statements, {len(self.failures)} failures)"

    def _repr_html_(self) -> str:
        return html_table(repr(self), _HEADING, self._rows())

    def to_text(self) -> str:
        """Format a table with a row per source, and the sums."""
        lines = [*align_columns([_HEADING, *self._rows()]), f"{self.num_distinct} distinct statements"]
        lines += [f"{pairs} pairs within {width} hop(s)" for width, pairs in self.pairs.items()]
        if counting := sum(self.seconds.get(step, 0.0) for step in ("read", "count")):
            speed = sum(self.lines.values()) / counting
            lines.append(f"{speed:,.0f} IR lines/s a core read and counted; seconds: {self.seconds}")
        return "\n".join([*lines, f"{len(self.failures)} files failed: see report.json"])

    def _rows(self) -> list[tuple[str, ...]]:
        columns = self.files, self.lines, self.statements
        rows = [(source, *(str(column[source]) for column in columns)) for source in self.files]
        return rows if len(rows) <= 1 else [*rows, ("together", *(str(sum(column.values())) for column in columns))]


@dataclass(frozen=True)
class Batch:
    """Files of a recipe that are counted together into a shard, which is a folder."""

    files: tuple[CorpusFile, ...]
    recipe: Recipe
    shard: Path
    compiler: CachingCompiler

    def task(self) -> Task:
        """Make a task for a pool; compilers end themselves, each attempt and its header after their time limit."""
        seconds = [
            sum(options.timeout_s * (2 if header else 1) for options, header in file.attempts) for file in self.files
        ]
        return Task(str(self.shard), [file.path for file in self.files], self.run, seconds)

    def run(self, failed: Mapping[int, str]) -> Generator[None]:
        """Make the shard, yielding after each file; those that failed leave their reasons in the report."""
        builders = {width: CountsBuilder(width) for width in self.recipe.widths}
        report = CorpusReport(failures={self.files[index].path: reason for index, reason in failed.items()})
        for index, file in enumerate(self.files):
            if index not in failed:
                try:
                    report.add(_count_file(file, self.recipe, builders, self.compiler))
                except MemoryError:  # the pool tries the file alone
                    raise
                except Exception as error:
                    report.failures[file.path] = failure_reason(file.path, error)
                yield
        for width, builder in builders.items():
            save_counts(builder.finish(), width_folder(self.shard, width))
        write_atomically(self.shard / "report.json", json.dumps(asdict(report)).encode())

    def report(self) -> CorpusReport:
        """Read the shard's report."""
        path = self.shard / "report.json"
        try:
            content = json.loads(path.read_bytes())
            if content.keys() != CorpusReport.__dataclass_fields__.keys():
                raise ValueError("unexpected fields")
            return convert(content, CorpusReport, str_keys=True)
        except (OSError, ValueError, AttributeError, RecursionError) as error:
            raise AssetError(f"{path}: is damaged ({error!r}); remove {self.shard} to count it again") from error


def _count_file(
    file: CorpusFile, recipe: Recipe, builders: Mapping[int, CountsBuilder], compiler: CachingCompiler
) -> CorpusReport:
    """Add one file's counts; one that fails adds nothing."""
    times = [time.perf_counter()]
    ir = compiler.ir_of(file)
    times.append(time.perf_counter())
    module = read_module(ir, name=file.path, abstraction=recipe.abstraction)
    graph = build_xfg(module)
    times.append(time.perf_counter())
    statements = np.bincount(module.text_id, minlength=len(module.texts)).astype(np.int64)
    contexts = {width: count_contexts(graph, module.text_id, width, max_degree=recipe.max_degree) for width in builders}
    for width, pairs in contexts.items():
        columns = (pairs.center, pairs.context, pairs.count)
        builders[width].add(module.texts, statements, columns, num_lines=module.num_lines)
    times.append(time.perf_counter())
    return CorpusReport(
        files={file.source: 1},
        lines={file.source: module.num_lines},
        statements={file.source: module.num_statements},
        seconds=dict(zip(_STEPS, np.diff(times).tolist(), strict=True)),
    )


def build_corpus(
    recipe: str | Path | Recipe,
    output: str | Path,
    *,
    jobs: int | None = None,
    ir: str | Path | None = None,
    options: CompileOptions | None = None,
    progress: Callable[[str], None] | None = None,
    file_seconds: float = ITEM_SECONDS,
    memory_bytes: int | None = None,
) -> CorpusReport:
    """Compile, read and count every file of a recipe; run again to resume."""
    folder = Path(output).absolute()  # workers may stand in another folder
    ir_folder = Path(ir).absolute() if ir else None
    check_positive(jobs=jobs, file_seconds=file_seconds, memory_bytes=memory_bytes)
    check_folder(folder, ir_folder)
    recipe = recipe if isinstance(recipe, Recipe) else load_recipe(Path(recipe))
    recipe = recipe.compiled_with(options) if options else recipe
    files = find_files(recipe)
    if not files:
        folders = ", ".join(dict.fromkeys(source.folder for source in recipe.sources))
        raise InputError(f"{recipe.name}: no source file in {folders} matches")
    compiler = CachingCompiler(folder / "headers", ir_folder)
    batches = [
        Batch(tuple(files[start : start + BATCH_FILES]), recipe, folder / "shards" / f"{number:06d}", compiler)
        for number, start in enumerate(range(0, len(files), BATCH_FILES))
    ]
    with folder_lock(folder, wait_s=0):
        _check_plan(folder, recipe, files)
        missing = [batch.task() for batch in batches if not (batch.shard / "report.json").exists()]
        with closing(Pool(jobs or os.cpu_count() or 1, memory_bytes, file_seconds).run(missing)) as work:
            for done, _ in enumerate(work, len(batches) - len(missing) + 1):
                if progress:
                    progress(f"{done} of {len(batches)} batches")
        return _merge(folder, recipe, batches)


def _check_plan(folder: Path, recipe: Recipe, files: Sequence[CorpusFile]) -> None:
    """Write down what this folder is being built from, or check that it is the same as last time."""
    identity = (recipe.widths, recipe.max_degree, recipe.abstraction, BATCH_FILES, files)
    digest = hashlib.sha256(repr(identity).encode()).hexdigest()
    plan = folder / "plan.json"
    if plan.exists():
        try:
            planned = json.loads(plan.read_bytes())["files_sha256"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):  # damaged, or another tool's
            planned = None
        if planned != digest:
            raise InputError(f"{folder}: has the corpus of another recipe or of other files; pass an empty folder")
    write_atomically(plan, json.dumps({"recipe": recipe.name, "files_sha256": digest}).encode())


def _merge(folder: Path, recipe: Recipe, batches: Sequence[Batch]) -> CorpusReport:
    """Write the sums of all shards' counts and reports."""
    report = CorpusReport()
    for batch in batches:
        report.add(batch.report())
    num_distinct = 0
    for width in recipe.widths:
        counts = sum_counts(width_folder(batch.shard, width) for batch in batches)
        save_counts(counts, width_folder(folder, width))
        report.pairs[width], num_distinct = int(counts.matrix.sum()), len(counts.texts)
    seconds = {step: round(seconds, 1) for step, seconds in report.seconds.items()}
    report = replace(report, num_distinct=num_distinct, seconds=seconds)
    summary = {"recipe": recipe.name, "abstraction": asdict(recipe.abstraction)} | asdict(report)
    write_atomically(folder / "report.json", json.dumps(summary, indent=1).encode())
    return report
