"""``ncc evaluate classify``: program classifiers against controls, or a trained one on other programs."""

from pathlib import Path
from typing import Annotated, Any

from ncc.cli.printing import throttle
from ncc.errors import InputError
from ncc.verbs.types import CompilingCorpora, Words, command, split_list
from ncc_lab.cli.comparing import Study, StudyOptions
from ncc_lab.cli.figures import print_figures
from ncc_lab.cli.options import EmbeddingFolder, Levels, ProgramFolder, ProgramsCache


@command(resumes=True)
def evaluate_classify(
    folder: ProgramFolder | None = None,
    *,
    classes: Annotated[
        str | None,
        Words(metavar="NAMES", help="Classes to compare, such as '81-104' or 'sort,search'; default: all."),
    ] = None,
    protocol: Annotated[str, Words(metavar="grouped|published|all", help="What is held out for a test.")] = "grouped",
    method: Annotated[
        list[str] | None, Words(metavar="PATTERN", help="Methods to run, such as 'ncc*'; default: all.")
    ] = None,
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
        table = ncc_lab.evaluate_classifier(ncc.load_classifier(head), clang=clang, **where, progress=throttle())
        print_figures(table.to_dict(), table.parts(), study.output, study.as_json, study.into)
        return
    own = {"classes": classes, "protocol": protocol, "method": method, "per_class": per_class, "epochs": epochs}
    study.show(ncc_lab.evaluate_classification, **own, **where)
