"""``ncc evaluate times``: predicted times of held-out kernels, and of another source's kernels."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from ncc.cli.printing import print_message
from ncc.errors import InputError
from ncc.system.files.provenance import command_line, environment
from ncc.system.files.writing import check_writable
from ncc.verbs.types import Words, command
from ncc_lab.cli.figures import print_figures
from ncc_lab.cli.options import DataFolder, OneJson, Seed

if TYPE_CHECKING:
    from ncc_lab.tables import Table


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
    as_json: OneJson = False,
) -> None:
    """Evaluate predicted times: accuracy, factor, and kinds of intervals by coverage, calibration and risk.

    Example: ncc evaluate times --protocol suites-to-clgen --platform nvidia --model gp
    """
    import ncc_lab

    check_writable(output)
    before = _read(output)
    found = ncc_lab.evaluate_times(protocol, platform, model=model, seed=seed, data=data, progress=print_message)
    lines = [f"{name}, {method}: {_line(one)}" for name, methods in found.items() for method, one in methods.items()]
    shown: list[Table | str] = [*lines, _intervals(found)]
    if output:
        from ncc.system.files.writing import write_output

        _add(before, platform, found)
        write_output(output, (json.dumps(before, indent=1, ensure_ascii=False) + "\n").encode())
    print_figures({"platform": platform, "protocols": found}, shown, None, as_json)


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
    return ", ".join(f"{name.replace('_', ' ')} {value:.3f}" for name, value in shown.items())


def _intervals(found: dict[str, dict[str, dict[str, Any]]]) -> "Table":
    """Return a row for each way of making intervals around the answers of a method."""
    from ncc_lab.figures import show
    from ncc_lab.tables import table

    rows = {
        f"{protocol}, {method.removeprefix('ncc times, ')}, {name}": [
            show(one["coverage"], unit="%"),
            show(one["width"], places=2),
            show(one["calibration_error"], places=3),
            show(one["confidence"], unit="%"),
            *(show(share, unit="%") for share in one["surest"].values()),
        ]
        for protocol, methods in found.items()
        for method, figures in methods.items()
        for name, one in figures.get("intervals", {}).items()
    }
    columns = ["coverage", "width", "calibration error", "confidence", "right", "surest 75%", "50%", "25%"]
    return table("80 % intervals of the log ratio, confidence, and accuracy on the surest", rows, columns)
