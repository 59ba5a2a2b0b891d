"""What the lab's commands print: tables for people, JSON for machines."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ncc.cli.output import print_answer, provenance
from ncc.system.files.text import printable

if TYPE_CHECKING:
    from ncc_lab.report.table import Table


def print_figures(figures: dict[str, Any], shown: "Sequence[Table | str]", output: Path | None, as_json: bool) -> None:
    """Prints figures for people or machines, and writes them with their command and environment.

    Args:
        figures: For machines.
        shown: The same for people; tables may break names into lines on a terminal, and are plain elsewhere.
        output: File that gets the figures, as JSON.
        as_json: Print them as JSON.
    """
    from ncc.system.files.models import write_output
    from ncc_lab.report.table import text_of, to_rich

    figures = {**provenance(), **figures}
    if output:
        write_output(output, (json.dumps(figures, indent=1, ensure_ascii=False) + "\n").encode())
    if as_json or not sys.stdout.isatty():
        print_answer(figures if as_json else text_of(shown))
        return
    from rich.console import Console

    console = Console(highlight=False)
    for part in shown:
        console.print(printable(part) if isinstance(part, str) else to_rich(part), markup=False)
        console.print()
