"""Options of the commands that compare methods: how to run them, and where the figures go."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

from ncc.cli.printing import throttle
from ncc.system.files.writing import check_writable
from ncc.verbs.types import Words
from ncc_lab.cli.figures import card_of, print_figures, provenance
from ncc_lab.cli.options import DataFolder, Into, OneJson, ReportFile, ResultFile, Seed

_FIGURES = ("report", "output", "as_json", "into")


@dataclass(frozen=True, kw_only=True)
class Study:
    """How methods are compared, and what is done with their scores.

    Attributes:
        seeds: Number of runs, with successive seeds from --seed.
        seed: Random seed.
        trees: Trees in the controls' forests.
        jobs: Folds to run in parallel, each with one thread.
        cache: Where to cache results of folds; default: the user's cache.
        no_cache: Run every fold, without the cache.
        data: Folder of the datasets; default: NCC_DATA, then the cache.
        report: Write a report with pictures.
        output: Also write the figures as JSON.
        as_json: Print the answer as JSON.
        into: Add the scores to the card of the model in this folder.
    """

    seeds: Annotated[int, Words(minimum=1)] = 5
    seed: Seed = 204
    trees: Annotated[int, Words(minimum=1)] = 300
    jobs: Annotated[int, Words(minimum=1)] = 1
    cache: Annotated[Path, Words(metavar="FOLDER")] | None = None
    no_cache: bool = False
    data: DataFolder | None = None
    report: ReportFile | None = None
    output: ResultFile | None = None
    as_json: OneJson = False
    into: Into | None = None

    @property
    def how(self) -> dict[str, Any]:
        """How methods are run."""
        return {name: value for name, value in vars(self).items() if name not in _FIGURES}

    def check(self) -> None:
        """Refuse, before hours of runs, what can't be written after them."""
        check_writable(self.output, self.report)
        if self.into:
            card_of(self.into)

    def show(self, measure: Callable[..., Any], **own: Any) -> None:
        """Measure, print the figures and write the report."""
        import ncc_lab

        self.check()
        scores = measure(**own, **self.how, progress=throttle())
        if self.report:
            ncc_lab.write_report(scores, self.report, about=provenance())
        print_figures(scores.to_dict(), scores.parts(), self.output, self.as_json, self.into, scores.to_card)


StudyOptions = Annotated[Study, Words(fields={field.name: None for field in fields(Study)})]
