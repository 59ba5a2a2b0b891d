"""``ncc evaluate times``: predicted times on what was held out, and on another source of kernels."""

from typing import Annotated, Any, Literal

import typer

from ncc.cli.options import DataFolder, Json, ResultFile, Seed
from ncc.cli.output import print_figures, say
from ncc.runtime.writable import check_writable

__all__ = ["evaluate_times"]


def evaluate_times(
    protocol: Annotated[
        str,
        typer.Option(help="kernel, application, suite, clgen-kernel, clgen-to-suites, suites-to-clgen or all."),
    ] = "all",
    platform: Annotated[Literal["amd", "nvidia"], typer.Option(help="amd (Tahiti 7970) or nvidia (GTX 970).")] = "amd",
    model: Annotated[str, typer.Option(help="gp, trees or all.")] = "all",
    seed: Seed = 204,
    data: DataFolder = None,
    output: ResultFile = None,
    as_json: Json = False,
) -> None:
    """Measure predicted times: accuracy, factor, coverage, calibration and risk, controls beside.

    Example: ncc evaluate times --protocol suites-to-clgen --platform nvidia --model gp
    """
    from ncc import api

    check_writable(output)
    found = api.evaluate_times(protocol, platform, model=model, seed=seed, data=data, progress=say)
    lines = [f"{name}, {method}: {_line(one)}" for name, methods in found.items() for method, one in methods.items()]
    print_figures({"platform": platform, "protocols": found}, lines, output, as_json)


def _line(figures: dict[str, Any]) -> str:
    shown = {name: value for name, value in figures.items() if isinstance(value, float)}
    shown |= {f"factor {name}": value for name, value in figures.get("factors", {}).items()}
    return ", ".join(f"{name.replace('_', ' ')} {value:.3f}" for name, value in shown.items())
