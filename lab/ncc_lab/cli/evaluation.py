"""``ncc evaluate``: embeddings, and every task's methods beside their controls."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click

from ncc.cli.printing import print_message, print_progress
from ncc.errors import InputError
from ncc.ir.frontend.options import CompileOptions
from ncc.system.files.provenance import command_line
from ncc.system.files.writing import check_writable, write_output
from ncc.verbs.types import CompilingCorpora, Words, command
from ncc_lab.cli.options import (
    CardOptions,
    Classes,
    Compilers,
    DataFolder,
    EmbeddingFolder,
    FigureOptions,
    Figures,
    FilesOptions,
    Inst2vec,
    Levels,
    Methods,
    ProgramFolder,
    ProgramsCache,
    Seed,
    Study,
    StudyOptions,
    split_list,
)
from ncc_lab.environment import environment

if TYPE_CHECKING:
    from ncc.learning.embedding.embedding import Embedding


def _measured_embedding(folder: Path | None, inst2vec: tuple[Path, Path] | None) -> "Embedding":
    """The embedding that a command is to measure."""
    import ncc
    from ncc_lab.vectors.inst2vec import load_inst2vec

    return load_inst2vec(*inst2vec) if inst2vec else ncc.load_embedding(folder)


@command(compiles=False)
def evaluate_embedding(
    *,
    embedding: EmbeddingFolder | None = None,
    inst2vec: Inst2vec | None = None,
    k: Annotated[int, Words(option=("-k",), help="How many nearest words may contain the answer.")] = 5,
    plot: Annotated[Path | None, Words(metavar="FILE.png", help="Draw the words, colored by family.")] = None,
    files: FigureOptions = Figures(),
) -> None:
    """Run the inst2vec paper's analogies and semantic distance test on an embedding, and draw it."""
    import ncc_lab

    files.check(plot)
    table = _measured_embedding(embedding, inst2vec)
    scores = ncc_lab.evaluate_embedding(table, k=k)
    if plot:
        ncc_lab.draw_embedding(table, plot=plot)
    files.show({"num_words": len(table.vocabulary), **scores.to_dict()}, scores.to_text(), scores.to_card)


@command()
def evaluate_coverage(
    inputs: list[str],
    *,
    embedding: EmbeddingFolder | None = None,
    inst2vec: Inst2vec | None = None,
    misses: Annotated[int, Words(help="How many of the most frequent misses to show.")] = 20,
    files: FilesOptions = Figures(),
    options: CompileOptions | None = None,
) -> None:
    """Count how many statements of code or corpora an embedding has exactly, and how far the others back off."""
    import ncc_lab

    files.check()
    table = _measured_embedding(embedding, inst2vec)
    coverage = ncc_lab.evaluate_coverage(inputs, embedding=table, misses=misses, options=options)
    for reason in coverage.failures.values():
        print_message(f"ncc: {reason}")
    files.show({"num_words": len(table.vocabulary), **coverage.to_dict()}, coverage.to_text())
    if coverage.failures:
        raise click.exceptions.Exit(1)


@command(resumes=True)
def evaluate_devmap(
    *,
    protocol: Annotated[
        str, Words(metavar="published|kernel|application|suite|all", help="What is held out for a test.")
    ] = "all",
    platform: Annotated[str, Words(metavar="amd|nvidia|all", help="Platforms to measure on.")] = "all",
    method: Methods = None,
    study: StudyOptions = Study(),
) -> None:
    """Evaluate device mapping under every protocol: controls, published methods and ours.

    Run again after a stop to resume from the folds that were finished.
    """
    own = {name: value for name, value in locals().items() if name != "study"}
    import ncc_lab

    study.compare(ncc_lab.evaluate_devmap, **own)


@command(resumes=True)
def evaluate_coarsening(
    *,
    protocol: Annotated[
        str, Words(metavar="kernel|source|pair|device|all", help="What is held out for a test.")
    ] = "all",
    method: Methods = None,
    networks: Annotated[
        bool, Words(option=("--networks",), help="Also run our LSTM, DeepTune and DeepTune-TL (hours).")
    ] = False,
    study: StudyOptions = Study(),
) -> None:
    """Evaluate thread coarsening under every protocol: controls, published methods and ours."""
    import ncc_lab

    study.compare(ncc_lab.evaluate_coarsening, protocol=protocol, method=method, networks=networks)


@command(resumes=True)
def evaluate_classify(
    folder: ProgramFolder | None = None,
    *,
    classes: Classes = None,
    protocol: Annotated[str, Words(metavar="grouped|published|all", help="What is held out for a test.")] = "grouped",
    method: Methods = None,
    per_class: Annotated[
        list[int] | None, Words(metavar="N", help="Training programs per class; repeat for a learning curve.")
    ] = None,
    levels: Levels = "1",
    head: Annotated[
        Path | None,
        Words(metavar="FOLDER", help="Instead measure this classifier on its test programs at other --levels."),
    ] = None,
    clang: Annotated[
        list[str] | None,
        Words(metavar="PATH", help="With --head: also measure programs compiled by this compiler."),
    ] = None,
    embedding: EmbeddingFolder | None = None,
    epochs: Annotated[int, Words(minimum=1, help="Passes over the programs, for our methods.")] = 12,
    programs: ProgramsCache | None = None,
    options: CompilingCorpora | None = None,
    study: StudyOptions = Study(seeds=1),
) -> None:
    """Compare program classifiers with controls, on POJ-104 or on a folder of folders."""
    import ncc
    import ncc_lab

    study.check()
    if clang and not head:
        raise InputError("--clang goes with --head")
    where: dict[str, Any] = {"folder": folder, "levels": split_list(levels), "programs": programs, "options": options}
    where |= {"embedding": ncc.load_embedding(embedding)}
    if head:
        where |= {name: study.how[name] for name in ("data", "jobs")}
        table = ncc_lab.evaluate_classifier(ncc.load_classifier(head), clang=clang, **where, progress=print_progress())
        study.show(table.to_dict(), table.to_text())
        return
    own = {"classes": classes, "protocol": protocol, "method": method, "per_class": per_class, "epochs": epochs}
    study.compare(ncc_lab.evaluate_classification, **own, **where)


@command()
def evaluate_retrieval(
    folder: ProgramFolder | None = None,
    *,
    classes: Classes = None,
    per_class: Annotated[
        int | None, Words(minimum=2, help="Programs per class, drawn at random; default: all.")
    ] = None,
    method: Methods = None,
    encoder: Annotated[
        Path | None,
        Words(metavar="FOLDER", help="Also measure this encoder, made by 'ncc train encoder'."),
    ] = None,
    levels: Levels = "1",
    rerank: Annotated[
        bool, Words(option=("--rerank",), help="Also move vectors towards their nearest neighbors among all programs.")
    ] = False,
    embedding: EmbeddingFolder | None = None,
    seed: Seed = 204,
    jobs: Compilers = 1,
    programs: ProgramsCache | None = None,
    data: DataFolder | None = None,
    files: CardOptions = Figures(),
) -> None:
    """Evaluate how well vectors find programs of the same class: MAP@R, each program compared with all others.

    ncc evaluate retrieval my-programs --method 'TF-IDF bag*'
    """
    given = {name: value for name, value in locals().items() if name != "files"} | {"levels": split_list(levels)}
    import ncc_lab

    files.check()
    found = ncc_lab.evaluate_retrieval(**given, progress=print_progress())
    files.show(found.to_dict(), found.to_text(), found.to_card)


@command()
def evaluate_functions(
    projects: Annotated[
        list[str], Words(metavar="PROJECT...", help="Folders of sources, and recipes of such (.toml).")
    ],
    *,
    method: Methods = None,
    clang: Annotated[
        list[str] | None, Words(metavar="PATH", help="A further compiler, whose -O2 asks as well.")
    ] = None,
    embedding: EmbeddingFolder | None = None,
    seed: Seed = 204,
    jobs: Compilers = 1,
    ir: Annotated[
        Path | None, Words(metavar="FOLDER", help="Keep compiled IR there; default the user's cache.")
    ] = None,
    files: CardOptions = Figures(),
) -> None:
    """Measure how often a function finds itself among all of its project, compiled at -O0 or by another compiler.

    ncc evaluate functions my-project --clang clang-19
    """
    given = {name: value for name, value in locals().items() if name != "files"}
    import ncc_lab

    files.check()
    found = ncc_lab.evaluate_functions(**given, progress=print_progress())
    files.show(found.to_dict(), found.to_text(), found.to_card)


@command()
def evaluate_gpu(
    *,
    method: Annotated[
        str,
        Words(help="ncc, process, lstm, vectors, trees, physics, counts, sizes, median, 'perfect counts' or all."),
    ] = "all",
    seed: Seed = 204,
    data: DataFolder | None = None,
    files: FigureOptions = Figures(),
) -> None:
    """Evaluate predicted times and bounds of GPU kernel launches, with programs held out, against controls.

    Example: ncc evaluate gpu --method ncc
    """
    import ncc_lab

    files.check()
    found = ncc_lab.evaluate_gpu(method, seed=seed, data=data, progress=print_progress(0))
    lines = []
    for name, ways in found.items():
        for way, figures in ways.items():
            texts = (
                f"{figure.replace('_', ' ')} {one['value']:.3f} ({one['low']:.3f} to {one['high']:.3f})"
                for figure, one in figures.items()
                if isinstance(one, dict)
            )
            lines.append(f"{name}, {way}: {', '.join(texts)}")
    files.show({"methods": found}, "\n\n".join(lines), lambda: found.get("ncc", found))


@command()
def evaluate_times(
    *,
    protocol: Annotated[
        str,
        Words(
            metavar="kernel|application|suite|clgen-kernel|clgen-to-suites|suites-to-clgen|all",
            help="What is held out for a test.",
        ),
    ] = "all",
    platform: Annotated[Literal["amd", "nvidia"], Words(help="amd (Tahiti 7970) or nvidia (GTX 970).")] = "amd",
    model: Annotated[str, Words(metavar="gp|trees|lstm|all", help="Models to measure.")] = "all",
    seed: Seed = 204,
    data: DataFolder | None = None,
    output: Annotated[
        Path | None,
        Words(
            metavar="FILE",
            option=("-o", "--output"),
            help="Also write the figures as JSON, added to those already in the file.",
        ),
    ] = None,
    files: Annotated[Figures, Words(fields={"as_json": None})] = Figures(),
) -> None:
    """Evaluate predicted times: accuracy, factor, coverage of intervals, and accuracy on the surest launches.

    Example: ncc evaluate times --protocol suites-to-clgen --platform nvidia --model gp
    """
    import ncc_lab

    check_writable(output)
    before = _read(output)
    found = ncc_lab.evaluate_times(protocol, platform, model=model, seed=seed, data=data, progress=print_progress(0))
    lines = [f"{name}, {method}: {_line(one)}" for name, methods in found.items() for method, one in methods.items()]
    if output:
        _add(before, platform, found)
        write_output(output, (json.dumps(before, indent=1, ensure_ascii=False) + "\n").encode())
    files.show({"platform": platform, "protocols": found}, "\n\n".join(lines))


def _read(path: Path | None) -> dict[str, Any]:
    """What a file of this command holds, or nothing yet."""
    if not path or not path.exists():
        return {"command": [], **environment(), "platforms": {}}
    try:
        known: dict[str, Any] = json.loads(path.read_bytes())
        known["command"], known["platforms"] = list(known["command"]), dict(known["platforms"])
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: not a file of 'ncc evaluate times' to add figures to; name another file") from error
    return known


def _add(known: dict[str, Any], platform: str, found: dict[str, dict[str, dict[str, Any]]]) -> None:
    """Adds what a run found, which replaces what a run of the same wrote before; environments are the last run's."""
    command, protocols = command_line().partition(" -o ")[0], known["platforms"].setdefault(platform, {})
    known["command"] = [*(one for one in known["command"] if one != command), command]
    known |= environment()
    for protocol, methods in found.items():
        protocols[protocol] = protocols.get(protocol, {}) | methods


def _line(figures: dict[str, Any]) -> str:
    shown = {name: value for name, value in figures.items() if isinstance(value, float)}
    shown |= {f"factor {name}": value for name, value in figures.get("factors", {}).items()}
    shown |= {f"surest {name}": value for name, value in figures.get("surest", {}).items()}
    return ", ".join(f"{name.replace('_', ' ')} {value:.3f}" for name, value in shown.items())
