"""Commands that measure: embeddings, their coverage of code, and device mapping beside its controls."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ncc.cli.figures import (
    Jobs,
    NoCache,
    NumSeeds,
    ReportFile,
    ResultFile,
    RunsFolder,
    Trees,
    answer,
    check_outputs,
    now_and_then,
    runs_folder,
    told_errors,
)
from ncc.cli.output import (
    Clang,
    DataFolder,
    Define,
    EmbeddingFolder,
    Flag,
    Include,
    Inputs,
    Json,
    Language,
    Optimization,
    Seed,
    Timeout,
    check_writable,
    compile_options,
    fail,
    say,
)
from ncc.errors import NccError
from ncc.runtime.provenance import command_line, environment

if TYPE_CHECKING:
    from ncc.embedding import Embedding

__all__ = ["register"]

Inst2vec = Annotated[
    tuple[Path, Path] | None,
    typer.Option(metavar="DICTIONARY MATRIX", help="Measure an inst2vec embedding as spcl/ncc publishes it instead."),
]
evaluation = typer.Typer(no_args_is_help=True, help="Measure methods beside their controls.", rich_markup_mode=None)


def _embedding(folder: Path | None, inst2vec: tuple[Path, Path] | None) -> "Embedding":
    from ncc.embedding import load_embedding
    from ncc.study.vectors import load_inst2vec

    return load_inst2vec(*inst2vec) if inst2vec else load_embedding(folder)


@evaluation.command("embedding")
def evaluate_embedding(
    embedding: EmbeddingFolder = None,
    inst2vec: Inst2vec = None,
    ir2vec: Annotated[
        Path | None, typer.Option(metavar="FILE", help="IR2Vec's seed vectors, for the words of the embedding.")
    ] = None,
    nearest: Annotated[
        list[str] | None, typer.Option(metavar="STATEMENT", help="Show the neighbours of this statement.")
    ] = None,
    k: Annotated[int, typer.Option("-k", help="Nearest words among which an answer must be.")] = 5,
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE.png", help="Draw the words, coloured by family.")
    ] = None,
    page: Annotated[Path | None, typer.Option(metavar="FILE.html", help="The same, to explore in a browser.")] = None,
    method: Annotated[str, typer.Option(help="Projection of the pictures: umap or tsne.")] = "tsne",
    output: ResultFile = None,
    as_json: Json = False,
) -> None:
    """Ask the paper's analogies and semantic distance test of an embedding, and draw it."""
    from ncc.study import embedding as intrinsic
    from ncc.study.vectors import load_ir2vec

    if method not in ("umap", "tsne"):
        fail(f"--method is {method!r}; expected umap or tsne", code=2)
    for path in (picture, page, output):
        if path:
            check_writable(path)
    try:
        table = _embedding(embedding, inst2vec)
        if ir2vec:
            table = load_ir2vec(ir2vec, table.vocabulary, abstraction=table.abstraction)
        scores = intrinsic.evaluate_embedding(table, neighbors_of=nearest or intrinsic.DEFAULT_STATEMENTS, k=k)
        if picture or page:
            projection = intrinsic.project(table, method=method)
            if picture:
                intrinsic.write_png(projection, picture)
            if page:
                intrinsic.write_html(projection, page)
        answer({"num_words": len(table.vocabulary), **scores.to_dict()}, scores.to_text(), output, as_json)
    except NccError as error:
        fail(str(error))


@evaluation.command("coverage")
def evaluate_coverage(
    inputs: Inputs,
    embedding: EmbeddingFolder = None,
    inst2vec: Inst2vec = None,
    misses: Annotated[int, typer.Option(help="Most frequent misses to show.")] = 20,
    output: ResultFile = None,
    as_json: Json = False,
    clang: Clang = None,
    include: Include = None,
    define: Define = None,
    flag: Flag = None,
    optimization: Optimization = "1",
    language: Language = None,
    timeout: Timeout = 60.0,
) -> None:
    """Count how many statements of code, or of corpora, an embedding has as they stand, and how far others back off."""
    from ncc.corpus import count_statements
    from ncc.study.embedding import measure_coverage

    options = compile_options(clang, include, define, flag, optimization, language, timeout)
    try:
        table = _embedding(embedding, inst2vec)
        found = count_statements(inputs, abstraction=table.abstraction, options=options)
        coverage = measure_coverage(found.counts, table.vocabulary, num_misses=misses)
        for reason in found.failures.values():
            say(f"ncc: {reason}")
        figures = {"num_words": len(table.vocabulary), "failures": found.failures, **coverage.to_dict()}
        answer(figures, coverage.to_text(), output, as_json)
    except NccError as error:
        fail(str(error))
    if found.failures:
        raise typer.Exit(1)


@evaluation.command("devmap")
def evaluate_devmap(
    protocol: Annotated[str, typer.Option(help="published, kernel, application, suite or all.")] = "all",
    platform: Annotated[str, typer.Option(help="amd, nvidia or all.")] = "all",
    method: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="Methods to run, as 'opcode*'; default all.")
    ] = None,
    seeds: NumSeeds = 5,
    seed: Seed = 204,
    network_seeds: Annotated[
        int, typer.Option(min=1, help="Runs of methods that train a recurrent network, a minute a fold.")
    ] = 1,
    trees: Trees = 300,
    ir2vec: Annotated[
        Path | None, typer.Option(metavar="FILE", help="IR2Vec's seed vectors; default those of our embedding.")
    ] = None,
    jobs: Jobs = 1,
    cache: RunsFolder = None,
    no_cache: NoCache = False,
    data: DataFolder = None,
    report: ReportFile = None,
    output: ResultFile = None,
    as_json: Json = False,
) -> None:
    """Measure device mapping under every protocol, controls beside published methods and ours.

    A run that was stopped goes on from the folds that were finished when the command is given again.
    """
    from ncc.devices.samples import load_samples
    from ncc.runtime.storage import write_atomically
    from ncc.study.devices.comparison import compare_devices
    from ncc.study.report import device_report

    folder = runs_folder(cache, no_cache)
    check_outputs(output, report)
    with told_errors():
        scores = compare_devices(
            protocol,
            platform,
            methods=method or ("*",),
            seeds=range(seed, seed + seeds),
            num_trees=trees,
            jobs=jobs,
            num_network_seeds=network_seeds,
            ir2vec=ir2vec,
            cache_folder=folder,
            folder=data,
            progress=now_and_then(say),
        )
        if report:
            samples = {name: load_samples(name, data) for name in dict.fromkeys(s.platform for s in scores.scores)}  # type: ignore[arg-type]
            page = device_report(scores, samples, {"command": command_line(), **environment()})
            write_atomically(report, page.encode())
        answer(scores.to_dict(), scores.to_text(), output, as_json)


@evaluation.command("coarsening")
def evaluate_coarsening(
    protocol: Annotated[str, typer.Option(help="kernel, source, pair, device or all.")] = "all",
    seeds: NumSeeds = 5,
    seed: Seed = 204,
    networks: Annotated[
        bool, typer.Option("--networks/--no-networks", help="Run DeepTune and DeepTune-TL too (hours).")
    ] = False,
    trees: Trees = 300,
    jobs: Jobs = 1,
    cache: RunsFolder = None,
    no_cache: NoCache = False,
    data: DataFolder = None,
    report: ReportFile = None,
    output: ResultFile = None,
    as_json: Json = False,
) -> None:
    """Measure thread coarsening under every protocol, controls beside published methods and ours."""
    from ncc.coarsening.samples import load_samples
    from ncc.runtime.storage import write_atomically
    from ncc.study.coarsening.comparison import compare_coarsening
    from ncc.study.report import coarsening_report

    folder = runs_folder(cache, no_cache)
    check_outputs(output, report)
    with told_errors():
        scores = compare_coarsening(
            protocol,
            range(seed, seed + seeds),
            with_networks=networks,
            num_trees=trees,
            jobs=jobs,
            cache=folder,
            folder=data,
            progress=now_and_then(say),
        )
        if report:
            page = coarsening_report(scores, load_samples(data), {"command": command_line(), **environment()})
            write_atomically(report, page.encode())
        answer(scores.to_dict(), scores.to_text(), output, as_json)


def register(app: typer.Typer) -> None:
    """Adds the group of commands to the application."""
    app.add_typer(evaluation, name="evaluate")
