"""Answers about kernels and programs: ``ncc predict-*``, ``ncc profile``, ``ncc classify``, and their functions."""

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from ncc.errors import InputError
from ncc.verbs.types import (
    Bytes,
    ClassifierLike,
    CoarseningHeadLike,
    Compiling,
    CompilingPrograms,
    Count,
    DeviceHeadLike,
    Each,
    EmbeddingLike,
    GpuHeadLike,
    Inputs,
    Items,
    Jobs,
    Json,
    Language,
    Name,
    Plot,
    Source,
    Words,
    command,
    defined_in,
    load_once,
)

if TYPE_CHECKING:
    from ncc.kernels.profile import LaunchProfile
    from ncc.tasks.classification.predict import ClassPrediction
    from ncc.tasks.coarsening.predict import CoarseningPrediction
    from ncc.tasks.devices.predict import DeviceCurve, Explanation, LineContribution
    from ncc.tasks.devices.prediction import DevicePrediction
    from ncc.tasks.gpus.predict import GpuPrediction

    Extent = Sequence[int] | int
    Arguments = Mapping[str, float]
    ProgramArgs = Sequence[str]
else:

    def _extent(text: str) -> tuple[int, ...]:
        try:
            return tuple(int(part) for part in text.split(","))
        except ValueError as error:
            raise InputError(f"{text!r}: expected whole numbers, such as 1024 or 64,16") from error

    def _words(text: str) -> list[str]:
        try:
            return shlex.split(text)
        except ValueError as error:
            raise InputError(f"{text!r}: expected words as in a shell: {error}") from error

    Extent = Annotated[Any, Words(metavar="X[,Y,Z]", parse=_extent)]
    Arguments = Annotated[Sequence[str], Words(metavar="NAME=VALUE", option=("--arg",))]
    ProgramArgs = Annotated[Any, Words(metavar="TEXT", parse=_words)]


Platform = Literal["amd", "nvidia"]


@defined_in("ncc.tasks.devices.predict")
def predict_device(
    source: Source,
    *,
    transfer: Bytes | None = None,
    wgsize: float | None = None,
    global_size: Items | None = None,
    platform: Platform | None = None,
    options: Compiling | None = None,
    language: Language | None = None,
    head: DeviceHeadLike | None = None,
    embedding: EmbeddingLike | None = None,
) -> "tuple[DevicePrediction, ...]":
    """Predict the faster device for every kernel of a file.

    Args:
        source: OpenCL C (.cl), CUDA (.cu) or IR with a kernel in it; as for `ncc.embed`.
        transfer: Bytes moved between host and device, such as 65536, 64KiB or 1GB.
        wgsize: Work-items in a work-group.
        global_size: Work-items of the launch, such as 65536 or 64K. Transfer and global size follow from each other, at
            four bytes per work-item for each pointer argument, moved there and back.
        platform: GPU beside the CPU: amd (Tahiti 7970) or nvidia (GTX 970); default nvidia, or what the head was
            trained on.
        options: How source is compiled.
        language: Language of source: c, c++, opencl or cuda; default by the file's extension.
        head: A head or its folder; default the shipped one for the platform.
        embedding: The embedding that the head was trained on, or its folder; default the shipped one.

    Returns:
        One prediction per kernel, in the order of the file.

    Raises:
        InputError: No kernel, an unknown platform, a size out of its range, or what `ncc.embed` raises.
        CompileError, IRError: as for `ncc.embed`.
        AssetError: The head was trained on another embedding.

    Reference: Ben-Nun et al. 2018, section 6.2; Cummins et al. 2017 (data).
    """


_DEVICE_FIELDS = (
    "device", "confidence", "speedup_gpu_over_cpu", "interval", "platform", "verdict", "probabilities", "times_ms",
    "familiar", "distance",
)  # fmt: skip
_REASONS = 8


@command(predict_device)
def predict_device_command(  # noqa: D417 - shared options have a text of their own
    inputs: Inputs,
    *,
    plot: Plot | None = None,
    explain: bool = False,
    jobs: Jobs = 1,
    as_json: Json = False,
    **options: Any,
) -> Each:
    """Predict whether a kernel runs faster on a CPU or a GPU, and by how much.

    Example: ncc predict-device kernel.cl --transfer 16MB --explain

    Args:
        plot: Draw the speedup over data sizes: .png, .svg or .pdf.
        explain: Show which lines of the source drove the answer.
    """
    from ncc.tasks.devices.features import check_sizes
    from ncc.tasks.devices.head import load_device_head

    check_sizes(options["transfer"], options["wgsize"], options["global_size"])
    _check_plot(plot, inputs)
    if options["head"] is not None:
        load_once(load_device_head, options["head"])
    return Each(
        inputs=inputs,
        work=partial(_predict_device, plot=plot, explain=explain, **options),
        as_json=as_json,
        fields=_DEVICE_FIELDS,
        kernels=True,
        jobs=jobs,
        compile_s=options["options"].timeout_s,
    )


def _predict_device(name: Any, *, plot: Path | None, explain: bool, **given: Any) -> tuple[dict[str, Any], str]:
    from ncc.ir.frontend.languages import language_of
    from ncc.learning.embedding.embedding import load_embedding
    from ncc.system.files.reading import read_stream
    from ncc.system.files.text import format_bytes
    from ncc.tasks.devices.head import load_device_head
    from ncc.tasks.devices.plot import plot_curves
    from ncc.tasks.devices.predict import explain_kernel, predict_curve, predict_kernel, read_inputs
    from ncc.tasks.devices.prediction import SIZES

    language = given["language"]
    text = read_stream(name)  # standard input or a pipe is read once, since several questions are asked about it
    if text is not None:
        language = language or language_of(name)
    head = given["head"] and load_once(load_device_head, given["head"])
    embedding = given["embedding"] and load_once(load_embedding, given["embedding"])
    options = replace(given["options"], language=language, debug_lines=explain)
    source, platform = name if text is None else text, given["platform"]
    head, kernels = read_inputs(source, platform=platform, head=head, embedding=embedding, options=options)
    launch = given["transfer"], given["wgsize"], given["global_size"]
    answers = [predict_kernel(kernel, head, *launch) for kernel in kernels]
    rows = [answer.to_dict() for answer in answers]
    lines = [f"{name}: {_device_sentence(answer)}" for answer in answers]
    if plot:
        curves = [predict_curve(kernel, head, SIZES, given["wgsize"]) for kernel in kernels]
        plot_curves(curves, plot)
        for index, curve in enumerate(curves):
            rows[index] |= {"crossovers": list(curve.crossovers)}
            sizes = ", ".join(map(format_bytes, curve.crossovers)) or "no size of data from 1 KiB to 4 GiB"
            lines[index] += f"; flips at {sizes}"
    if explain:
        for index, kernel in enumerate(kernels):
            reason = explain_kernel(kernel, head, *launch)
            rows[index] |= {"explanation": reason.to_dict()["lines"]}
            lines[index] += "".join(_reason(line) for line in reason.lines[:_REASONS])
    return rows[0] | {"kernels": rows}, "\n".join(lines)


def _device_sentence(answer: "DevicePrediction") -> str:
    from ncc.system.files.text import demangle

    unknown = f"{answer.unknown_rate:.1%} of {answer.num_statements} statements unknown"
    return f"{demangle(answer.kernel)}: {answer}; {unknown}"


def _reason(line: "LineContribution") -> str:
    from ncc.system.files.text import escape_control

    location = f"line {line.line}" if line.line else "statement"
    more = f" and {len(line.statements) - 1} more" if len(line.statements) > 1 else ""
    shown = escape_control(line.statements[0], lines=False) + more
    return f"\n    {math.exp(abs(line.log_ratio_change)):5.2f}x for the {line.favors}: {location}: {shown}"


def _check_plot(plot: Path | None, inputs: Sequence[str]) -> None:
    """Refuse a picture that can't be drawn, before the work."""
    from ncc.ir.inputs import find_inputs
    from ncc.system.files.pages import check_plot_path
    from ncc.system.files.writing import check_writable

    if plot is not None:
        check_plot_path(plot)
        if len(find_inputs(inputs)) != 1:
            raise InputError("--plot takes one input")
        check_writable(plot)


@defined_in("ncc.tasks.devices.predict")
def predict_device_curve(
    source: Source,
    *,
    transfer: Sequence[float] | None = None,
    wgsize: float | None = None,
    platform: Platform | None = None,
    options: Compiling | None = None,
    language: Language | None = None,
    head: DeviceHeadLike | None = None,
    embedding: EmbeddingLike | None = None,
) -> "tuple[DeviceCurve, ...]":
    """Predict the speedup of the GPU over the CPU for every kernel of a file, over sizes of the data.

    Args:
        source: As for `predict_device`.
        transfer: Sizes to ask for, above 0 and ascending; default 1 KiB to 4 GiB.
        wgsize: Work-items in a work-group.
        platform: As for `predict_device`.
        options: As for `predict_device`.
        language: As for `predict_device`.
        head: As for `predict_device`.
        embedding: As for `predict_device`.

    Returns:
        One curve per kernel, in the order of the file.

    Raises:
        InputError: As for `predict_device`, or sizes that are not ascending or not above 0.
        CompileError, IRError, AssetError: As for `predict_device`.
    """


@defined_in("ncc.tasks.devices.predict")
def explain_device(
    source: Source,
    *,
    transfer: Bytes | None = None,
    wgsize: float | None = None,
    global_size: Items | None = None,
    platform: Platform | None = None,
    options: Compiling | None = None,
    language: Language | None = None,
    head: DeviceHeadLike | None = None,
    embedding: EmbeddingLike | None = None,
) -> "tuple[Explanation, ...]":
    """Find the lines of each kernel that drove the answer of `predict_device`.

    Lines are known if the IR has debug information; source is compiled with it. Every statement is removed by itself
    if there is none, or if all of them are on one line.

    Args:
        source: As for `predict_device`.
        transfer: As for `predict_device`.
        wgsize: As for `predict_device`.
        global_size: As for `predict_device`.
        platform: As for `predict_device`.
        options: As for `predict_device`.
        language: As for `predict_device`.
        head: As for `predict_device`.
        embedding: As for `predict_device`.

    Returns:
        One explanation per kernel, in the order of the file; effects are differences of log(CPU time / GPU time).

    Raises:
        InputError, CompileError, IRError, AssetError: As for `predict_device`; also for a kernel that is too large.
    """


@defined_in("ncc.tasks.coarsening.predict")
def predict_coarsening(
    source: Source,
    *,
    device: Name | None = None,
    options: Compiling | None = None,
    language: Language | None = None,
    head: CoarseningHeadLike | None = None,
    embedding: EmbeddingLike | None = None,
) -> "tuple[CoarseningPrediction, ...]":
    """Predict the best thread-coarsening factor for every kernel of a file.

    Args:
        source: OpenCL C (.cl), CUDA (.cu) or IR with a kernel in it; as for `ncc.embed`.
        device: Cypress (HD 5900), Tahiti (HD 7970), Fermi (GTX 480) or Kepler (K20c); default any other GPU.
        options: How source is compiled.
        language: Language of source: c, c++, opencl or cuda; default by the file's extension.
        head: A head or its folder; default the shipped one.
        embedding: The embedding that the head was trained on, or its folder; default the shipped one.

    Returns:
        One answer per kernel, in the order of the file.

    Raises:
        InputError: No kernel, an unknown device, or what `ncc.embed` raises.
        CompileError, IRError: as for `ncc.embed`.
        AssetError: The head was trained on another embedding, or is damaged.

    Reference: Magni, Dubach, O'Boyle 2014 (task and data).
    """


@command(predict_coarsening)
def predict_coarsening_command(inputs: Inputs, *, jobs: Jobs = 1, as_json: Json = False, **options: Any) -> Each:
    """Predict how many work-items of a kernel to merge into one, and the speedup."""
    from ncc.tasks.coarsening.head import load_coarsening_head

    device, devices = options["device"], load_once(load_coarsening_head, options["head"]).devices
    if device is not None and device not in devices:
        raise InputError(f"--device is {device!r}; expected one of {', '.join(devices)}")
    return Each(
        inputs=inputs,
        work=partial(_predict_coarsening, **options),
        as_json=as_json,
        fields=("factor", "speedup", "interval", "device"),
        kernels=True,
        jobs=jobs,
        compile_s=options["options"].timeout_s,
    )


def _predict_coarsening(name: Any, **options: Any) -> tuple[dict[str, Any], str]:
    from ncc.learning.embedding.embedding import load_embedding
    from ncc.tasks.coarsening.head import load_coarsening_head

    options["head"] = load_once(load_coarsening_head, options["head"])
    options["embedding"] = options["embedding"] and load_once(load_embedding, options["embedding"])
    answers = predict_coarsening(name, **options)
    kernels = [answer.to_dict() for answer in answers]
    return kernels[0] | {"kernels": kernels}, "\n".join(f"{name}: {_factor_sentence(answer)}" for answer in answers)


def _factor_sentence(answer: "CoarseningPrediction") -> str:
    from ncc.system.files.text import demangle

    low, high = answer.interval
    interval = f" (80 % interval {low:.2f}x to {high:.2f}x)" if answer.factor > 1 else ""
    expected = ", ".join(f"{factor}: {speedup:.2f}x" for factor, speedup in answer.speedups.items())
    notes = "".join(f"; {warning}" for warning in answer.warnings)
    factor = f"factor {answer.factor}, {answer.speedup:.2f}x{interval}"
    return f"{demangle(answer.kernel)}: {factor}; expected at {expected}{notes}"


@defined_in("ncc.kernels.profile")
def profile(
    source: Source,
    *,
    grid: Extent,
    block: Extent,
    arguments: Arguments | None = None,
    kernel: Name | None = None,
    options: Compiling | None = None,
) -> "tuple[LaunchProfile, ...]":
    """Count the work of the threads of GPU kernels at a launch.

    Loops run as often as constants, sizes and arguments say; one that memory decides on is assumed to run eight times,
    and named. An argument that is not given may follow from what it is compared with.

    Args:
        source: As for `load_module`.
        grid: Blocks in each dimension, up to three, such as 1024 or 64,16.
        block: Threads per block in each dimension, such as 256 or 16,16.
        arguments: Values of arguments by name, or by position from 0.
        kernel: Name of one kernel, mangled or as in the source; default all.
        options: How source is compiled.

    Returns:
        A profile for each kernel.

    Raises:
        InputError: A size is out of range, there is no such kernel or argument, or the source holds no kernel.
        CompileError, IRError: as for `load_module`.
    """


@command(profile)
def profile_command(inputs: Inputs, *, jobs: Jobs = 1, as_json: Json = False, **options: Any) -> Each:
    """Count what the threads of GPU kernels do: operations by type, memory accesses by space and pattern.

    Example: ncc profile saxpy.cu --grid 4096 --block 256 --arg n=1000000
    """
    options["arguments"] = _checked_launch(options)
    return Each(
        inputs=inputs,
        work=partial(_profile, **options),
        as_json=as_json,
        fields=("kernels",),
        kernels=True,
        jobs=jobs,
        compile_s=options["options"].timeout_s,
    )


def _profile(name: Any, **options: Any) -> tuple[dict[str, Any], str]:
    launches = profile(name, **options)
    kernels = [launch.to_dict() for launch in launches]
    return {"kernels": kernels}, "\n".join(f"{name}: {_profile_table(launch)}" for launch in launches)


def _checked_launch(options: Mapping[str, Any]) -> dict[str, float]:
    """Arguments of a launch, from NAME=VALUE, if these and its sizes are in range."""
    from ncc.kernels.launch import Launch

    values: dict[str, float] = {}
    for text in options["arguments"] or ():
        name, _, value = (part.strip() for part in text.partition("="))
        if name in values:
            raise InputError(f"--arg {name} is given twice, as {values[name]:g} and as {value}")
        try:
            values[name] = float(value)
        except ValueError as error:
            raise InputError(f"--arg is {text!r}; expected NAME=VALUE with a number, as n=1000000") from error
    Launch.of(options["grid"], options["block"], values)
    return values


def _profile_table(profile: "LaunchProfile") -> str:
    from ncc.system.files.text import align_columns

    launch = profile.launch
    sampled = f", estimated from {profile.num_sampled_blocks:,} of {launch.num_blocks:,} blocks"
    shown = f"per thread, mean over {launch.num_threads:,} threads{sampled if profile.num_sampled_blocks else ''}"
    lines = [f"{profile}, {shown}:"]
    rows = [
        [f"  {kind}", f"{amount:,.2f}".rstrip("0").rstrip(".")] for kind, amount in sorted(profile.per_thread.items())
    ]
    lines += align_columns(rows, left=(0,))
    lines += [f"  {kind} are not counted as floating-point operations" for kind in profile.uncounted_operations]
    for name, value in profile.inferred_arguments.items():
        lines.append(f"  {name} is not given; taken to be {value:,.0f}, which the kernel's threads are compared with")
    for loop in profile.loops:
        if loop.trip_count is None:
            lines.append(f"  {loop.location}: trip count depends on data; assumed 8")
        else:
            lines.append(f"  {loop.location}: runs {loop.trip_count:,.6g} times")
    return "\n".join(lines)


@defined_in("ncc.tasks.gpus.predict")
def predict_gpu(
    source: Source,
    *,
    grid: Extent,
    block: Extent,
    arguments: Arguments | None = None,
    kernel: Name | None = None,
    program_args: ProgramArgs | None = None,
    gpu: Name | None = None,
    head: GpuHeadLike | None = None,
    options: Compiling | None = None,
) -> "tuple[GpuPrediction, ...]":
    """Predict how long a launch of GPU kernels takes, and whether compute or the memory's bandwidth bounds it.

    Arguments that are not given are read from the launch in the host code of the file, of its headers, or of the files
    beside it, if constants and the program's arguments tell them; others may follow from the sizes.

    Args:
        source: As for `load_module`; CUDA, OpenCL C or IR.
        grid: Blocks in each dimension, up to three, such as 1024 or 64,16.
        block: Threads per block in each dimension, such as 256 or 16,16.
        arguments: Values of arguments by name, or by position from 0.
        kernel: Name of one kernel, mangled or as in the source; default all.
        program_args: Command line of the program, such as '1024 100', for sizes that host code reads from argv.
        gpu: Name of a card, such as A100; default the one that the head was trained on. Answers for others are
            extrapolated.
        head: A head or its folder; default the shipped one.
        options: How source is compiled.

    Returns:
        An answer for each kernel.

    Raises:
        InputError: A size is out of range, there is no such kernel, argument or card, or the source holds no kernel.
        CompileError, IRError, AssetError: As for `load_module` and `load_gpu_head`.
    """


_GPU_FIELDS = (
    "time_ms", "interval_ms", "bound", "bound_probability", "compute_probability", "traffic_bytes", "flops",
    "familiar", "extrapolated", "gpu",
)  # fmt: skip


@command(predict_gpu)
def predict_gpu_command(  # noqa: D417 - shared options have a text of their own
    inputs: Inputs,
    *,
    plot: Plot | None = None,
    explain: bool = False,
    jobs: Jobs = 1,
    as_json: Json = False,
    **options: Any,
) -> Each:
    """Predict how long a launch of GPU kernels takes, and whether compute or bandwidth bounds it.

    Example: ncc predict-gpu saxpy.cu --grid 4096 --block 256 --arg n=1000000 --explain

    Args:
        plot: Draw the kernels under the card's roofline: .png, .svg or .pdf.
        explain: Show what the answer is based on.
    """
    from ncc.tasks.gpus.head import load_gpu_head
    from ncc.tasks.gpus.specs import find_spec

    _check_plot(plot, inputs)
    options["arguments"] = _checked_launch(options)
    if options["gpu"] is not None:
        find_spec(options["gpu"])
    if options["head"] is not None:
        load_once(load_gpu_head, options["head"])
    return Each(
        inputs=inputs,
        work=partial(_predict_gpu, plot=plot, explain=explain, **options),
        as_json=as_json,
        fields=_GPU_FIELDS,
        kernels=True,
        jobs=jobs,
        compile_s=options["options"].timeout_s,
    )


def _predict_gpu(name: Any, *, plot: Path | None, explain: bool, **options: Any) -> tuple[dict[str, Any], str]:
    from ncc.tasks.gpus.head import load_gpu_head
    from ncc.tasks.gpus.predict import plot_roofline

    options["head"] = options["head"] and load_once(load_gpu_head, options["head"])
    answers = predict_gpu(name, **options)
    if plot:
        plot_roofline(answers, plot)
    lines = [f"{name}: {answer}" + (f"\n{answer.explanation()}" if explain else "") for answer in answers]
    kernels = [answer.to_dict() for answer in answers]
    return kernels[0] | {"kernels": kernels}, "\n".join(lines)


if TYPE_CHECKING:
    OptLevels = Sequence[str]
else:

    def _levels(text: str) -> tuple[str, ...]:
        from ncc.learning.programs.labelled import level_names

        return level_names(text)

    OptLevels = Annotated[Any, Words(metavar="LEVELS", parse=_levels)]


@defined_in("ncc.tasks.classification.predict")
def classify(
    source: Source,
    *,
    top: Count = 5,
    levels: OptLevels | None = None,
    options: CompilingPrograms | None = None,
    language: Language | None = None,
    head: ClassifierLike | None = None,
    embedding: EmbeddingLike | None = None,
) -> "ClassPrediction":
    """Say which problem a program solves.

    Args:
        source: C, C++ or IR; as for `ncc.embed`. A C or C++ program may lack its include lines.
        top: Number of classes to list, the most probable first.
        levels: Optimization levels to compile at and average over, such as '0,1,2' or ("-O1",); default those of the
            classifier's training.
        options: How source is compiled otherwise.
        language: Language of source: c, c++, opencl or cuda; default by the file's extension.
        head: A classifier or its folder; default the shipped one.
        embedding: The embedding that the head was trained on, or its folder; default the shipped one.

    Returns:
        The most probable classes, best first, and whether any fits.

    Raises:
        InputError: No function has code, ``top`` is below 1, ``levels`` is empty, or what `ncc.embed` raises.
        CompileError, IRError: as for `ncc.embed`.
        AssetError: The head was trained on another embedding, and not on one that this one extends.

    Reference: Ben-Nun et al. 2018, section 6.1 (task); Mou et al. 2016 (data).
    """


@command(classify)
def classify_command(inputs: Inputs, *, jobs: Jobs = 1, as_json: Json = False, **options: Any) -> Each:
    """Say which known problem a program solves; C and C++ may lack their #include lines."""
    from ncc.tasks.classification.head import load_classifier

    load_once(load_classifier, options["head"])
    return Each(
        inputs=inputs,
        work=partial(_classify, **options),
        as_json=as_json,
        fields=("classes", "is_known", "compiled_as", "levels"),
        jobs=jobs,
        compile_s=options["options"].timeout_s,
    )


def _classify(name: Any, **options: Any) -> tuple[dict[str, Any], str]:
    from ncc.learning.embedding.embedding import load_embedding
    from ncc.system.files.text import escape_control
    from ncc.tasks.classification.head import load_classifier

    options["head"] = load_once(load_classifier, options["head"])
    options["embedding"] = load_once(load_embedding, options["embedding"])
    answer = classify(name, **options)
    classes = "; ".join(escape_control(str(share), lines=False) for share in answer.classes)
    return answer.to_dict(), f"{name}: {classes}" if answer.is_known else f"{name}: none of these, nearest: {classes}"
