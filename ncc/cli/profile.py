"""``ncc profile``: counts what the threads of a GPU kernel do during a launch."""

import functools
import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ncc.cli.options import InputJobs, Inputs, Json, takes_compile_options
from ncc.cli.running import Input, run_over
from ncc.errors import InputError

if TYPE_CHECKING:
    from ncc.kernels.profile import LaunchProfile

GridSize = Annotated[str, typer.Option(metavar="X[,Y,Z]", help="Blocks in the grid, such as 1024 or 64,16.")]
BlockSize = Annotated[str, typer.Option(metavar="X[,Y,Z]", help="Threads per block, such as 256 or 16,16.")]
Arguments = Annotated[
    list[str] | None,
    typer.Option("--arg", metavar="NAME=VALUE", help="An argument's value; NAME may be its position from 0."),
]
KernelName = Annotated[
    str | None, typer.Option("--kernel", metavar="NAME", help="One kernel, by its name in the source; default: all.")
]


@takes_compile_options()
def profile(
    inputs: Inputs,
    grid: GridSize,
    block: BlockSize,
    arg: Arguments = None,
    kernel: KernelName = None,
    jobs: InputJobs = 1,
    as_json: Json = False,
    *,
    options: Any,
) -> None:
    """Count what the threads of GPU kernels do: operations by type, memory accesses by space and pattern.

    Example: ncc profile saxpy.cu --grid 4096 --block 256 --arg n=1000000
    """
    work = functools.partial(_profile, **parse_launch(grid, block, arg), kernel=kernel, options=options)
    run_over(inputs, work, as_json=as_json, fields=("kernels",), kernels=True, jobs=jobs, compile_s=options.timeout_s)


def _profile(name: Input, **how: Any) -> tuple[dict[str, Any], str]:
    from ncc import api

    found = api.profile(name, **how)
    return {"kernels": [one.to_dict() for one in found]}, "\n".join(f"{name}: {_table(one)}" for one in found)


def parse_launch(grid: str, block: str, given: list[str] | None) -> dict[str, Any]:
    """Sizes and arguments of a launch as options have them.

    Raises:
        InputError: One is none, or out of range.
    """
    from ncc.kernels.launch import Launch

    sizes = {"grid": _extent("--grid", grid), "block": _extent("--block", block)}
    arguments = _arguments(given)
    Launch.of(**sizes, arguments=arguments)
    return {**sizes, "arguments": arguments}


def _extent(option: str, text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise InputError(f"{option} is {text!r}; expected whole numbers, such as 1024 or 64,16") from error


def _arguments(given: list[str] | None) -> dict[str, float]:
    found: dict[str, float] = {}
    for text in given or ():
        name, _, value = (part.strip() for part in text.partition("="))
        if name in found:
            raise InputError(f"--arg {name} is given twice, as {found[name]:g} and as {value}")
        try:
            found[name] = float(value)
        except ValueError as error:
            raise InputError(f"--arg is {text!r}; expected NAME=VALUE with a number, as n=1000000") from error
    return found


def parse_words(option: str, text: str) -> list[str]:
    """Words as a shell splits them.

    Raises:
        InputError: A quotation mark is never closed.
    """
    try:
        return shlex.split(text)
    except ValueError as error:
        raise InputError(f"{option} is {text!r}; expected words as in a shell: {error}") from error


def _table(found: "LaunchProfile") -> str:
    from ncc.system.files.text import align_columns

    launch = found.launch
    sampled = f", estimated from {found.num_sampled_blocks:,} of {launch.num_blocks:,} blocks"
    shown = f"per thread, mean over {launch.num_threads:,} threads{sampled if found.num_sampled_blocks else ''}"
    lines = [f"{found}, {shown}:"]
    rows = [
        [f"  {kind}", f"{amount:,.2f}".rstrip("0").rstrip(".")] for kind, amount in sorted(found.per_thread.items())
    ]
    lines += align_columns(rows, left=(0,))
    lines += [f"  {what} are not counted as floating-point operations" for what in found.uncounted_operations]
    for name, value in found.inferred_arguments.items():
        lines.append(f"  {name} is not given; taken to be {value:,.0f}, which the kernel's threads are compared with")
    for loop in found.loops:
        where = loop.location
        if loop.trip_count is None:
            why = f"{loop.formula}, which --arg would tell" if loop.formula else "memory, or what it computes, decides"
            lines.append(f"  {where}: runs an unknown number of times, taken to be 8: {why}")
        else:
            formula = f" = {loop.formula}" if loop.formula and not loop.formula.isdigit() else ""
            lines.append(f"  {where}: runs {loop.trip_count:,.6g} times{formula}")
    return "\n".join(lines)
