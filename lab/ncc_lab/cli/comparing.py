"""Options shared by the commands that compare methods: how to run them, and where the figures go."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ncc.cli.options import (
    DataFolder,
    Jobs,
    NoCache,
    NumSeeds,
    OneJson,
    ReportFile,
    ResultFile,
    RunsFolder,
    Seed,
    Trees,
    takes_options,
)
from ncc.cli.output import now_and_then, provenance
from ncc.system.files.writing import check_writable
from ncc_lab.cli.figures import Into, card_of, print_figures


@dataclass(frozen=True)
class Study:
    """How methods are compared, and what is done with their scores."""

    how: Mapping[str, Any]
    report: Path | None
    output: Path | None
    as_json: bool
    into: Path | None = None

    def check(self) -> None:
        """Refuse, before hours of runs, what can't be written after them."""
        check_writable(self.output, self.report)
        if self.into:
            card_of(self.into)

    def show(self, measure: Callable[..., Any], **own: Any) -> None:
        """Measure, print the figures and write the report."""
        import ncc_lab

        self.check()
        scores = measure(**own, **self.how, progress=now_and_then())
        if self.report:
            ncc_lab.write_report(scores, self.report, about=provenance())
        print_figures(scores.to_dict(), scores.parts(), self.output, self.as_json, self.into, scores.to_card)


def _study(
    seeds: NumSeeds = 5,
    seed: Seed = 204,
    trees: Trees = 300,
    jobs: Jobs = 1,
    cache: RunsFolder = None,
    no_cache: NoCache = False,
    data: DataFolder = None,
    report: ReportFile = None,
    output: ResultFile = None,
    as_json: OneJson = False,
    into: Into = None,
) -> Study:
    how: dict[str, Any] = {"seeds": seeds, "seed": seed, "trees": trees, "jobs": jobs}
    how |= {"cache": cache, "no_cache": no_cache, "data": data}
    return Study(how, report, output, as_json, into)


def takes_study_options(**defaults: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Gives a command the options of comparisons; it takes them as one `Study`, named ``study``."""
    return takes_options(_study, "study", **defaults)
