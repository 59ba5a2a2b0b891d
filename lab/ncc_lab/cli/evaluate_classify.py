"""``ncc evaluate classify``: program classifiers against controls, or a trained one on other programs."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ncc.cli.options import (
    SOURCES_AS_THEY_ARE,
    EmbeddingFolder,
    Levels,
    ProgramFolder,
    ProgramsCache,
    split_list,
    takes_compile_options,
)
from ncc.cli.output import now_and_then
from ncc.errors import InputError
from ncc_lab.cli.comparing import Study, takes_study_options
from ncc_lab.cli.figures import print_figures


@takes_study_options(seeds=1)
@takes_compile_options(without=SOURCES_AS_THEY_ARE)
def evaluate_classify(
    folder: ProgramFolder = None,
    classes: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Classes to compare, such as '81-104' or 'sort,search'; default: all."),
    ] = None,
    protocol: Annotated[
        str, typer.Option(metavar="grouped|published|all", help="What is held out for a test.")
    ] = "grouped",
    method: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="Methods to run, such as 'ncc*'; default: all.")
    ] = None,
    per_class: Annotated[
        list[int] | None, typer.Option(metavar="N", help="Training programs per class; repeat for a learning curve.")
    ] = None,
    levels: Levels = "1",
    head: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Instead measure this classifier on its test programs at other --levels."),
    ] = None,
    clang: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH", help="With --head: also measure programs compiled by this compiler."),
    ] = None,
    embedding: EmbeddingFolder = None,
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the programs, for our methods.")] = 12,
    programs: ProgramsCache = None,
    *,
    options: Any,
    study: Study,
) -> None:
    """Compare program classifiers with controls, on POJ-104 or on a folder of folders."""
    import ncc_lab
    from ncc import api

    study.check()
    if clang and not head:
        raise InputError("--clang goes with --head")
    where: dict[str, Any] = {"folder": folder, "levels": split_list(levels), "programs": programs, "options": options}
    where |= {"embedding": api.load_embedding(embedding)}
    if head:
        where |= {name: study.how[name] for name in ("data", "jobs")}
        table = ncc_lab.evaluate_classifier(api.load_classifier(head), clang=clang, **where, progress=now_and_then())
        print_figures(table.to_dict(), table.parts(), study.output, study.as_json, study.into)
        return
    own = {"classes": classes, "protocol": protocol, "method": method, "per_class": per_class, "epochs": epochs}
    study.show(ncc_lab.evaluate_classification, **own, **where)
