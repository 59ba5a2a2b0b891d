"""Predicts how long a kernel's launch takes, and what bounds it, before its first run."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ncc.errors import InputError
from ncc.ir.frontend.languages import language_of
from ncc.ir.frontend.options import CompileOptions
from ncc.kernels.launch import Launch
from ncc.kernels.reading import load_kernels
from ncc.system.files.quantities import decimal_bytes, readable_estimate
from ncc.system.files.text import source_name
from ncc.tasks.gpus.cards import CARDS, Card, find_card
from ncc.tasks.gpus.columns import Work, columns_of, count_launch, roofline_times
from ncc.tasks.gpus.floors import OVERHEAD, floors_of
from ncc.tasks.gpus.head import GpuHead, load_gpu_head
from ncc.tasks.gpus.host import ReadArguments
from ncc.tasks.gpus.sources import host_arguments

_FAR = 0.3
"""Half width, in powers of ten, that the interval of a card gains that nothing was measured on."""
_SHOWN = 6
_CLOSE = math.log10(2)
_LONGEST = 1e12
_BOUNDS = ("compute", "bandwidth")
_SHOWN_BOUNDS = {"chain": "the longest chain of one thread"}
_RAISED = {
    OVERHEAD: "any launch takes",
    "bandwidth": "memory needs at the card's bandwidth",
    "compute": "operations need at the card's peak",
    "chain": "one thread's chain of operations needs",
}
_LIMITS = ("single", "double", "integer", "special", "cache", "memory", "shared", "atomic", "latency")


@dataclass(frozen=True, kw_only=True)
class GpuPrediction:
    """How long a launch takes, and what bounds it.

    Attributes:
        kernel: The kernel's name, as the IR has it.
        gpu: The card.
        grid: Blocks of the launch.
        block: Threads of a block.
        time_ms: Expected time in milliseconds.
        interval_ms: Both ends of its 80 % interval.
        bound: "compute" or "bandwidth", whichever is the more probable were both as common as each other; "launch
            overhead" where all that the launch does takes less than that, and "chain" where one thread's operations
            that wait for each other take more than half of the time.
        bound_probability: How probable that is where "compute" is as common as in training (a quarter of launches);
            may be under a half for "compute"; 1 where the bound follows from what is certain of the launch.
        compute_probability: How probable "compute" is, the same way.
        traffic_bytes: Bytes that move between the card and its memory.
        flops: Floating-point operations of all threads, an FMA as two.
        familiar: Whether the launch is like those of training.
        extrapolated: Whether the card is another than that of training, and the answer scaled by data sheets.
        arguments: Values of arguments that were given, or read from host code, by name.
        buffers_bytes: Bytes of the memory that arguments point to, read from host code, by name.
        assumed: What follows from the sizes of the launch alone, by name.
        unbounded: Lines of loops that run an unknown number of times, taken to be eight.
        unbounded_places: The same in words, with the file where it is another than the source.
        limits_ms: What each part of the work takes at the card's peaks.
        floors_ms: What a launch can't be shorter than, by what sets that limit; see `ncc.tasks.gpus.floors`.
        assumed_floors_ms: The same if what follows from the sizes of the launch alone is right: the time is not below
            it, but the interval's lower end may be.
        raised_by: Which of these the time was raised to; empty where what was learnt is above all.
        uncounted: What the kernel does that no count has.
        conflicts: Sizes of the launch that the host code has another value for.
        estimated_from: Blocks that counts were estimated from; 0 where they are those of all.
    """

    kernel: str
    gpu: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    time_ms: float
    interval_ms: tuple[float, float]
    bound: str
    bound_probability: float
    compute_probability: float
    traffic_bytes: float
    flops: float
    familiar: bool
    extrapolated: bool
    arguments: Mapping[str, float]
    buffers_bytes: Mapping[str, float]
    assumed: Mapping[str, float]
    unbounded: tuple[int, ...]
    unbounded_places: tuple[str, ...]
    limits_ms: Mapping[str, float]
    floors_ms: Mapping[str, float]
    assumed_floors_ms: Mapping[str, float]
    raised_by: str
    uncounted: tuple[str, ...]
    conflicts: tuple[str, ...]
    estimated_from: int

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"demangled": source_name(self.kernel), **asdict(self)}

    def __str__(self) -> str:
        other = "bandwidth" if self.bound == "compute" else "compute"
        sure, rather = f" ({self.bound_probability:.0%})" if self.bound in _BOUNDS else "", ""
        if self.bound_probability < 0.5:
            rather = f" or {other} ({1 - self.bound_probability:.0%})"
        notes = f"; raised to what {_RAISED[self.raised_by]}" if self.raised_by else ""
        notes += "".join(f"; {what} not counted" for what in self.uncounted)
        notes += "" if self.familiar else "; unlike the launches of training"
        notes += "; extrapolated by data sheets" if self.extrapolated else ""
        return (
            f"{source_name(self.kernel)} on {self.gpu}: {readable_estimate(self.time_ms, *self.interval_ms)}, bound by "
            f"{_SHOWN_BOUNDS.get(self.bound, self.bound)}{sure}{rather}{notes}"
        )

    def explanation(self) -> str:
        """What the answer rests on, in lines."""
        parts = sorted(self.limits_ms.items(), key=lambda one: -one[1])
        lines = ["  at the card's peaks: " + ", ".join(f"{name} {time:.3g} ms" for name, time in parts[:_SHOWN])]
        flops, traffic = _amount(round(self.flops)), decimal_bytes(self.traffic_bytes)
        lines.append(f"  {flops} floating-point operations, about {traffic} of traffic")
        for title, floors in (("", self.floors_ms), (", as the launch's sizes tell", self.assumed_floors_ms)):
            shown = ", ".join(f"{name} {time:.3g} ms" for name, time in floors.items() if time)
            if floors is self.floors_ms or floors != self.floors_ms:
                lines.append(f"  at least{title}: {shown}")
        for title, found in (
            ("arguments", {name: _amount(value) for name, value in self.arguments.items()}),
            ("buffers", {name: decimal_bytes(value) for name, value in self.buffers_bytes.items()}),
            ("by the launch's sizes", {name: _amount(value) for name, value in self.assumed.items()}),
        ):
            if found:
                lines.append(f"  {title}: " + ", ".join(f"{name} = {value}" for name, value in found.items()))
        lines += [f"  {conflict}" for conflict in self.conflicts]
        if self.estimated_from:
            lines.append(f"  counts are estimated from {self.estimated_from:,} of {math.prod(self.grid):,} blocks")
        for place in self.unbounded_places:
            lines.append(f"  {place}: runs an unknown number of times, taken to be 8")
        return "\n".join(lines)


def predict_gpu(
    source: str | os.PathLike[str] | bytes,
    *,
    grid: Sequence[int] | int,
    block: Sequence[int] | int,
    arguments: Mapping[str, float] | None = None,
    kernel: str | None = None,
    program_arguments: Sequence[str] | None = None,
    gpu: str | None = None,
    head: GpuHead | str | os.PathLike[str] | None = None,
    options: CompileOptions | None = None,
) -> tuple[GpuPrediction, ...]:
    """Predicts how long a launch of GPU kernels takes, and whether compute or the memory's bandwidth bounds it.

    Arguments that are not given are read from the launch in the host code of the file, of its headers, or of the files
    beside it, where constants and the program's arguments tell them; others may follow from the sizes.

    Args:
        source: As for `load_module`; CUDA, OpenCL C or IR.
        grid: Blocks in each dimension, up to three; a number of one dimension.
        block: Threads of a block, the same way.
        arguments: Values of arguments by name, or by number from "0" on.
        kernel: Name of one kernel, mangled or not; None for all that the file has.
        program_arguments: What the program is called with, for host code that reads its sizes from there.
        gpu: Name of a card; None for the one that the head was trained on.
        head: A head or its folder; default the one that ships with ncc.
        options: How source is compiled.

    Returns:
        An answer for each kernel.

    Raises:
        InputError: A size is out of range, there is no such kernel, argument or card, or the source holds no kernel.
        CompileError, IRError, AssetError: As for `load_module` and `load_gpu_head`.
    """
    trained = load_gpu_head(head)
    card = find_card(gpu or trained.card)
    launch = Launch.of(grid, block, arguments or {})
    module, kernels = load_kernels(source, kernel, options)
    answers = []
    for number in kernels:
        known = ReadArguments()
        if isinstance(source, bytes) or (Path(source).is_file() and language_of(source)):
            known = host_arguments(source, module.function_names[number], launch, options, program_arguments)
        answers.append(_answer(count_launch(module, number, launch, known), trained, card))
    return tuple(answers)


def _answer(work: Work, head: GpuHead, card: Card) -> GpuPrediction:
    measured = CARDS[head.card]
    columns = columns_of(work, measured)
    missing = [name for name in head.columns if name not in columns]
    if missing:
        raise InputError(f"the head asks for {missing[0]!r}, which this version does not count; train it again")
    said = head.answer(columns)
    log_time, half, odds = float(said.log_time[0]), float(said.half_width[0]), float(said.even_probability[0])
    floors, assumed = (floors_of(one, work.known.buffers, card) for one in (work.least, work.assumed))
    common = float(said.probability[0])
    if card != measured:
        log_time += columns_of(work, card)["physics"] - columns["physics"]
        half += _FAR
        shift = math.log(_balance(work, card) / _balance(work, measured))
        odds, common = (1 / (1 + (1 - one) / max(one, 1e-9) * math.exp(-shift)) for one in (odds, common))
    least, most = (math.log10(one.seconds[one.highest]) for one in (floors, assumed))
    raised_by, log_time = (assumed.highest, most) if log_time <= most else ("", log_time)
    launched, launch = work.launched, work.launch
    limits_ms = {name: 1e3 * time for name, time in roofline_times(work, card).items() if name in _LIMITS}
    learnt = "compute" if odds > 0.5 else "bandwidth"
    bound = raised_by if raised_by in _BOUNDS else learnt
    if assumed.highest == "chain" and log_time - most < _CLOSE:
        bound = assumed.highest
    elif max(limits_ms.values()) < 1e3 * floors.seconds[OVERHEAD]:
        bound = OVERHEAD
    names = launched.arguments
    given = {**{str(number): value for number, value in work.known.values.items()}, **launch.arguments}
    numbered = {str(number): name for number, name in enumerate(names)}
    told = {name: value for name, value in given.items() if name in numbered or not name.isdigit()}
    arguments = {numbered.get(name, name): float(value) for name, value in told.items()}
    return GpuPrediction(
        kernel=launched.name,
        gpu=card.name,
        grid=launch.grid,
        block=launch.block,
        time_ms=10 ** (log_time + 3),
        interval_ms=(10 ** (max(log_time - half, least) + 3), 10 ** (log_time + half + 3)),
        bound=bound,
        bound_probability=1.0 if bound != learnt else common if bound == "compute" else 1 - common,
        compute_probability=common,
        traffic_bytes=max(10 ** float(said.log_traffic[0]), assumed.num_bytes),
        flops=work.total("flops"),
        familiar=bool(said.distance[0] <= 1) and not launched.uncounted and raised_by in ("", OVERHEAD),
        extrapolated=card != measured,
        arguments=arguments,
        buffers_bytes={names[n]: size for n, size in work.known.buffers.items() if n < len(names)},
        assumed={**work.known.solved, **launched.guessed},
        unbounded=tuple(loop.line for loop in launched.unbounded),
        unbounded_places=tuple(loop.place for loop in launched.unbounded),
        limits_ms=limits_ms,
        floors_ms={name: 1e3 * time for name, time in floors.seconds.items()},
        assumed_floors_ms={name: 1e3 * time for name, time in assumed.seconds.items()},
        raised_by=raised_by,
        uncounted=launched.uncounted,
        conflicts=work.known.conflicts,
        estimated_from=launched.estimated_from,
    )


def _amount(value: float) -> str:
    """A number with all digits where it is a whole one that can be read."""
    return f"{value:,.0f}" if float(value).is_integer() and abs(value) < _LONGEST else f"{value:.6g}"


def _balance(work: Work, card: Card) -> float:
    """Time of operations over that of bytes, at a card's peaks."""
    times = roofline_times(work, card)
    operations = max(times[name] for name in ("single", "double", "integer"))
    return max(operations, 1e-15) / max(times["memory"], 1e-15)
