"""``ncc evaluate times``: predicted times on what was held out, and on another source of kernels."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ncc.cli.options import DataFolder, Json, ResultFile, Seed
from ncc.cli.output import print_figures, say
from ncc.runtime.writable import check_writable

if TYPE_CHECKING:
    from ncc.study.report.table import Table


def evaluate_times(
    protocol: Annotated[
        str,
        typer.Option(help="kernel, application, suite, clgen-kernel, clgen-to-suites, suites-to-clgen or all."),
    ] = "all",
    platform: Annotated[Literal["amd", "nvidia"], typer.Option(help="amd (Tahiti 7970) or nvidia (GTX 970).")] = "amd",
    model: Annotated[str, typer.Option(help="gp, trees, lstm or all.")] = "all",
    seed: Seed = 204,
    data: DataFolder = None,
    output: ResultFile = None,
    as_json: Json = False,
) -> None:
    """Measure predicted times: accuracy, factor, and kinds of intervals by coverage, calibration and risk.

    Example: ncc evaluate times --protocol suites-to-clgen --platform nvidia --model gp
    """
    from ncc import api

    check_writable(output)
    found = api.evaluate_times(protocol, platform, model=model, seed=seed, data=data, progress=say)
    lines = [f"{name}, {method}: {_line(one)}" for name, methods in found.items() for method, one in methods.items()]
    shown: list[Table | str] = [*lines, _intervals(found)]
    print_figures({"platform": platform, "protocols": found}, shown, output, as_json)


def _line(figures: dict[str, Any]) -> str:
    shown = {name: value for name, value in figures.items() if isinstance(value, float)}
    shown |= {f"factor {name}": value for name, value in figures.get("factors", {}).items()}
    return ", ".join(f"{name.replace('_', ' ')} {value:.3f}" for name, value in shown.items())


def _intervals(found: dict[str, dict[str, dict[str, Any]]]) -> "Table":
    """A row for each way of making intervals around the answers of a method."""
    from ncc.study.report.table import Row, Table, show

    rows = []
    for protocol, methods in found.items():
        for method, figures in methods.items():
            for name, one in figures.get("intervals", {}).items():
                cells = [show(one["coverage"], "%"), show(one["width"], places=2)]
                cells += [show(one["calibration_error"], places=3), show(one["confidence"], "%")]
                title = f"{protocol}, {method.removeprefix('ncc times, ')}, {name}"
                rows.append(Row(title, [*cells, *(show(share, "%") for share in one["surest"].values())]))
    headings = [
        "intervals",
        "coverage",
        "width",
        "calibration error",
        "confidence",
        "right",
        "surest 75%",
        "50%",
        "25%",
    ]
    return Table("80 % intervals of the log ratio, confidence, and accuracy on the surest", headings, rows)
