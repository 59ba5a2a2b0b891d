"""Answers about kernels and programs: ``ncc predict-*``, ``ncc profile``, ``ncc classify``, and their functions."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ncc.errors import InputError
from ncc.ir.frontend.options import CompileOptions
from ncc.system.files.writing import check_writable, write_output
from ncc.verbs.types import CompilingPrograms, PathLike, PerInput, Source, command, show_results, verb

if TYPE_CHECKING:
    from ncc.kernels.profile import LaunchProfile
    from ncc.learning.embedding.embedding import AnyEmbedding
    from ncc.tasks.classification.head import ClassifierHead
    from ncc.tasks.classification.predict import ClassPrediction
    from ncc.tasks.coarsening.head import CoarseningHead
    from ncc.tasks.coarsening.predict import CoarseningPrediction
    from ncc.tasks.devices.head import TimesHead
    from ncc.tasks.devices.predict import Comparison
    from ncc.tasks.devices.prediction import DevicePrediction
    from ncc.tasks.gpus.head import GpuHead
    from ncc.tasks.gpus.predict import GpuPrediction

# share of a bus's peak that copies reach, from pinned memory to pageable memory with transfers in small steps, and ms
# that a launch and the copies before and after it take to start; 80% of cases are assumed within both
_BUS_SHARE, _START_MS = (0.85, 0.25), (0.01, 0.06)
CALIBRATED_HEAD = "NCC_DEVICE_HEAD"
"""Environment variable that names the head of `predict_device` with ``gpu``, unless one is passed."""


@verb()
def predict_device(
    source: Source,
    *,
    transfer: "float | str | None" = None,
    wgsize: float | None = None,
    global_size: "float | str | None" = None,
    platform: Literal["amd", "nvidia"] | None = None,
    kernel: str | None = None,
    gpu: str | None = None,
    options: CompileOptions | None = None,
    language: str | None = None,
    head: "TimesHead | PathLike | None" = None,
    embedding: "AnyEmbedding | None" = None,
) -> "tuple[DevicePrediction, ...]":
    """Predict the faster device for every kernel in a file.

    Without a size, each launch in host code that is beside the kernel gets a separate answer, as in
    `ncc.predict_gpu`; where there is none, the answer covers all sizes.

    With ``gpu``, the CPU's time is that of a head calibrated on this machine, and the GPU's is that of
    `ncc.predict_gpu`, with the time to start and to copy data over its bus.

    Args:
        source: OpenCL C (.cl), CUDA (.cu) or IR with a kernel, as in `ncc.embed`.
        transfer: Bytes moved between host and device, such as 65536, 64KiB or 1GB.
        wgsize: Work-items per work-group.
        global_size: Work-items of the launch, such as 65536 or 64K. If only one of transfer and global size is set, the
            other follows: 4 bytes per work-item and pointer, copied both ways; fewer work-items if only these fit.
        platform: GPU to compare with the CPU: amd (Tahiti 7970) or nvidia (GTX 970); default: nvidia, or the head's
            platform. For another machine run ncc calibrate, and pass its head.
        gpu: GPU to compare with the CPU of a calibrated head, such as 'RTX 3080', or a data sheet (.toml).
        head: Head, or its name: lstm for networks that read statements in order, a folder, or ORG/NAME on the Hugging
            Face hub; default: the shipped one for the platform, or with gpu the one that NCC_DEVICE_HEAD names.

    Returns:
        One prediction per kernel, or per launch in host code if no size is given, in file order.

    Raises:
        InputError: No kernel, an unknown platform or GPU, no calibrated head, a size out of range, or as in
            `ncc.embed`.
        CompileError, IRError: As in `ncc.embed`.
        AssetError: The head was trained on another embedding.

    Reference: Ben-Nun et al. 2018, section 6.2; Cummins et al. 2017 (data).
    """
    from ncc.kernels.host.launches import host_source, read_host
    from ncc.kernels.host.source import new_deadline
    from ncc.kernels.reading import NAMES_FLAG, read_kernels
    from ncc.tasks.devices.features import check_sizes
    from ncc.tasks.devices.head import load_device_head
    from ncc.tasks.devices.predict import Question

    assert not isinstance(transfer, str) and not isinstance(global_size, str)  # they were read by now
    check_sizes(transfer, wgsize, global_size)
    loaded = load_device_head(_head_beside(gpu, head, platform), platform=platform)
    if platform not in (None, loaded.platform):
        raise InputError(f"platform is {platform!r}, but the head was trained on {loaded.platform!r}; omit it")
    compare = None if gpu is None else _comparison(gpu, loaded)
    if compare is None and len(loaded.devices) < 2:
        raise InputError(f"the head knows {loaded.devices[0]} alone; pass --gpu NAME to compare it with a GPU")
    options = replace(CompileOptions.of(options, language), debug_lines=True)
    code = host_source(source) if (transfer, wgsize, global_size) == (None, None, None) else None
    if code is not None:
        options = replace(options, flags=(NAMES_FLAG, *options.flags))
    kernels = read_kernels(source, embedding, loaded.embedding_id, options, kernel)
    questions, deadline = list[Question](), new_deadline()
    for each in kernels:
        launches = [] if code is None else read_host(code, each.name, options, deadline=deadline).launches(each.name)
        hosted = [Question.of_host(loaded, each, compare, host) for host in launches if host.grid and host.block]
        questions += hosted or [Question(loaded, each, transfer, wgsize, global_size, compare)]
    return tuple(question.predict() for question in questions)


def _head_beside(gpu: str | None, head: Any, platform: str | None) -> Any:
    """The head to ask: beside a GPU of a data sheet a calibrated one, which must be named."""
    if gpu is None:
        return head
    if platform is not None:
        raise InputError(
            f"--gpu {gpu} is compared with the CPU of a calibrated head, not with that of --platform; omit it"
        )
    head = head or os.environ.get(CALIBRATED_HEAD)
    if head is None:
        raise InputError(
            f"--gpu {gpu} is compared with your CPU, which no head is named for. Calibrate it, in three minutes: ncc "
            f"calibrate -o mine --budget 3. Then pass --head mine, or set {CALIBRATED_HEAD}=mine"
        )
    return head


def compare_times(cpu: tuple[float, ...], gpu: tuple[float, ...], least: float) -> dict[str, Any]:
    """Fields of the answer about times, expected, low and high, with independent errors; the GPU needs the least."""
    from statistics import NormalDist

    import numpy as np

    from ncc.system.files.summaries import format_ratio
    from ncc.system.files.text import format_duration
    from ncc.tasks.devices.head import INTERVAL, LEVELS, sign_probability

    quantile = NormalDist().inv_cdf
    widths = {"CPU": cpu[2] / cpu[0], "GPU": gpu[2] / gpu[0]}
    half = math.hypot(*map(math.log, widths.values()))
    ratio, most = math.log(cpu[0] / gpu[0]), math.log(cpu[2] / least)
    errors = [half * quantile((1 + level) / 2) / quantile((1 + INTERVAL) / 2) for level in LEVELS.tolist()]
    sure = float(sign_probability(ratio, np.array(errors)))
    wider, narrower = sorted(widths, key=lambda name: -widths[name])
    reasons: tuple[str, ...] = ()
    if most < 0:
        sure = max(sure, 0.5 + INTERVAL / 2)
        start = f"start and copies alone take the GPU at least {format_duration(least)}"
        reasons = (f"{start}, longer than the CPU's whole time, at most {format_duration(cpu[2])}",)
    return {
        "device": "GPU" if ratio > 0 else "CPU",
        "confidence": sure,
        "speedup_gpu_over_cpu": math.exp(ratio),
        "interval": (math.exp(ratio - half), math.exp(min(ratio + half, most))),
        "times_ms": {"CPU": cpu, "GPU": gpu},
        "devices": ("CPU", "GPU"),
        "reasons": reasons,
        "warnings": (
            f"the {wider}'s time is the less certain one, within {format_ratio(widths[wider])} in four cases of five, "
            f"the {narrower}'s within {format_ratio(widths[narrower])}",
        ),
    }


def _comparison(name: str, head: "TimesHead") -> "Comparison":
    """Compare the fastest CPU of a head with a GPU, whose launches take as long as `predict_gpu` says, and copies."""
    from ncc.tasks.gpus import features, predict, specs
    from ncc.tasks.gpus.head import load_gpu_head

    trained, spec, kinds = load_gpu_head(), specs.find_spec(name), head.card.get("kinds", {})
    cpus = [device for device in head.devices if kinds.get(device, device) != "GPU"]
    if not cpus:
        raise InputError(f"the head knows no CPU, only {', '.join(head.devices)}; expected one of 'ncc calibrate'")

    def compare(answer: "DevicePrediction", launch: tuple[Any, ...], moved: float) -> "DevicePrediction":
        times = answer.times_ms or {}
        cpu = min(cpus, key=lambda device: times[device][0])
        run = predict.predict_time(features.count_launch(*launch), trained, spec)
        copy = 1e3 * moved / spec.bus_bandwidth
        ends = [copy / share for share in _BUS_SHARE], _START_MS
        parts = [(run.time_ms, run.interval_ms[1]), *((math.sqrt(low * high), high) for low, high in ends)]
        expected = sum(middle for middle, _ in parts)
        # errors of parts are independent, and are logarithmic
        half = math.hypot(*(middle * math.log(high / middle) for middle, high in parts if middle)) / expected
        least = max(run.lower_bounds_ms.values()) + copy + _START_MS[0]
        gpu = expected, max(expected * math.exp(-half), least), expected * math.exp(half)
        return replace(
            answer,
            **compare_times(times[cpu], gpu, least),
            familiar=answer.familiar and run.familiar,
            machines={"CPU": f"{cpu} (head {head.card.get('name', answer.platform)})", "GPU": spec.name},
        )

    return compare


def _check_sizes(num_inputs: int, options: dict[str, Any]) -> None:
    from ncc.tasks.devices.features import check_sizes
    from ncc.tasks.gpus.specs import find_spec

    check_sizes(options["transfer"], options["wgsize"], options["global_size"])
    if options["gpu"] is not None:
        find_spec(options["gpu"])
    options["head"] = _head_beside(options["gpu"], options["head"], options["platform"])
    check_writable(options["plot"], extensions=(".svg",))
    if options["plot"] and num_inputs != 1:
        raise InputError("--plot takes one input")


@command(
    predict_device,
    per_input=PerInput(
        fields="device confidence speedup_gpu_over_cpu interval platform verdict probabilities times_ms familiar "
        "distance",
        head="ncc.tasks.devices.head:load_device_head",
        prepare=_check_sizes,
    ),
)
def predict_device_command(
    results: "Sequence[DevicePrediction]", *, plot: Path | None = None, explain: bool = False
) -> tuple[Any, ...]:
    """Predict whether a kernel runs faster on a CPU or a GPU, and by how much.

    Example: ncc predict-device kernel.cl --transfer 16MB --explain

    For your own CPU and a GPU that you may buy, after ncc calibrate -o mine --budget 3:

    ncc predict-device kernel.cl --transfer 16MB --gpu 'RTX 3080' --head mine

    Args:
        plot: Plot the speedup over data size (.svg).
        explain: Show which source lines drove the answer.
    """
    from ncc.tasks.devices.prediction import draw_curves

    if plot:
        write_output(plot, draw_curves([result.curve() for result in results]))
    rows, summaries = [], []
    for result in results:
        row, summary = result.to_dict(), result.summary()
        if plot and result.crossovers is None:
            curve = result.curve()
            row["crossovers"] = list(curve.crossovers)
            summary = summary.add(*curve.summary().details)
        if explain:
            explanation = result.explain()
            row["explanation"] = explanation.to_dict()["lines"]
            summary = summary.add(*explanation.summary().details)
        rows.append(row)
        summaries.append(summary)
    return rows[0] | {"kernels": rows}, summaries


@verb(
    per_input=PerInput(fields="factor speedup interval device", head="ncc.tasks.coarsening.head:load_coarsening_head")
)
def predict_coarsening(
    source: Source,
    *,
    device: Literal["Cypress", "Tahiti", "Fermi", "Kepler"] | None = None,
    options: CompileOptions | None = None,
    language: str | None = None,
    head: "CoarseningHead | PathLike | None" = None,
    embedding: "AnyEmbedding | None" = None,
) -> "tuple[CoarseningPrediction, ...]":
    """Predict how many work-items of a kernel to merge into one, and the speedup.

    Args:
        source: OpenCL C (.cl), CUDA (.cu) or IR with a kernel, as in `ncc.embed`.
        device: Cypress (HD 5900), Tahiti (HD 7970), Fermi (GTX 480) or Kepler (K20c); default: any other GPU.
        head: Head, or its name: lstm for networks that read statements in order, a folder, or ORG/NAME on the Hugging
            Face hub; default: the shipped one, which is linear in one feature.

    Returns:
        One prediction per kernel, in file order.

    Raises:
        InputError: No kernel, an unknown device, or as in `ncc.embed`.
        CompileError, IRError: As in `ncc.embed`.
        AssetError: The head was trained on another embedding, or is damaged.

    Reference: Magni, Dubach, O'Boyle 2014 (task and data).
    """
    from ncc.kernels.reading import read_kernels
    from ncc.tasks.coarsening.head import LSTMHead, load_coarsening_head
    from ncc.tasks.coarsening.predict import predict_kernel

    head = load_coarsening_head(head)
    embedding_id = head.embedding_id if isinstance(head, LSTMHead) else None
    kernels = read_kernels(source, embedding, embedding_id, CompileOptions.of(options, language), None)
    return tuple(predict_kernel(head, kernel, device) for kernel in kernels)


@verb()
def profile(
    source: Source,
    *,
    grid: "Sequence[int] | int | None" = None,
    block: "Sequence[int] | int | None" = None,
    arguments: Mapping[str, float] | None = None,
    kernel: str | None = None,
    options: CompileOptions | None = None,
) -> "tuple[LaunchProfile, ...]":
    """Count the work per thread of GPU kernels in a launch.

    Trip counts follow from constants, sizes and arguments; a loop whose trip count depends on data is assumed to run
    eight times, and reported. A missing argument may be inferred from the kernel's comparisons.

    Args:
        source: As in `load_module`.

    Returns:
        One profile per kernel, or if neither grid nor block is given one per launch in host code, with the arguments
        that it passes.

    Raises:
        InputError: A size is out of range or not known, a kernel or argument is unknown, or the source has no kernel.
        CompileError, IRError: As in `load_module`.
    """
    from ncc.kernels.host.launches import find_launches
    from ncc.kernels.profile import run_launch

    profiles = []
    for module, index, launch, host in find_launches(source, kernel, grid, block, arguments or {}, options):
        if grid is not None:
            profiles.append(run_launch(module, index, launch)[0])
            continue
        found, _ = run_launch(module, index, host.add_arguments(launch, module, index))
        profiles.append(replace(found, assumptions=host.assumptions(found.arguments)))
    return tuple(profiles)


def _check_launch(_: int, options: dict[str, Any]) -> None:
    """Read the arguments of a launch from NAME=VALUE, and check that these and its sizes are in range."""
    from ncc.kernels.launch import Launch
    from ncc.tasks.gpus.specs import find_spec

    values: dict[str, float] = {}
    for text in options["arguments"] or ():
        name, _, value = (part.strip() for part in text.partition("="))
        if name in values:
            raise InputError(f"--arg {name} is given twice, as {values[name]:g} and as {value}")
        try:
            values[name] = float(value)
        except ValueError as error:
            raise InputError(f"--arg is {text!r}; expected NAME=VALUE with a number, such as n=1000000") from error
    Launch.of(options["grid"] or 1, options["block"] or 1, values)
    if options.get("gpu") is not None:
        find_spec(options["gpu"])
    options["arguments"] = values


@command(profile, per_input=PerInput(fields="kernels", prepare=_check_launch))
def profile_command(results: "Sequence[LaunchProfile]") -> tuple[Any, ...]:
    """Count a GPU kernel's work per thread: operations by type, memory accesses by space and pattern.

    Example: ncc profile saxpy.cu --grid 4096 --block 256 --arg n=1000000
    """
    return {"kernels": [result.to_dict() for result in results]}, [result.summary() for result in results]


@verb()
def predict_gpu(
    source: Source,
    *,
    grid: "Sequence[int] | int | None" = None,
    block: "Sequence[int] | int | None" = None,
    arguments: Mapping[str, float] | None = None,
    kernel: str | None = None,
    program_args: "Sequence[str] | None" = None,
    gpu: str | None = None,
    head: "GpuHead | PathLike | None" = None,
    options: CompileOptions | None = None,
) -> "tuple[GpuPrediction, ...]":
    """Predict how long a GPU kernel launch takes and whether it is compute- or memory-bound.

    Missing arguments are read from the launch in host code (the file, its headers, or other files in its folder) if
    constants and the program's arguments determine them; others may be inferred from the launch sizes. Without grid and
    block every launch there is predicted, CUDA's and OpenCL's.

    Args:
        source: CUDA, OpenCL C or IR, as in `load_module`.
        program_args: Command-line arguments of the program, such as '1024 100', if host code reads sizes from argv.
        gpu: GPU, such as A100; default: the one that the head was trained on. Predictions for others are extrapolated.

    Returns:
        One prediction per kernel, or per launch in host code if neither grid nor block is given.

    Raises:
        InputError: A size is out of range or not known, a kernel, argument or GPU is unknown, or there is no kernel.
        CompileError, IRError, AssetError: As in `load_module` and `load_gpu_head`.
    """
    from ncc.kernels.host.launches import find_launches
    from ncc.tasks.gpus import features, predict, specs
    from ncc.tasks.gpus.head import load_gpu_head

    trained = load_gpu_head(head)
    spec = specs.find_spec(gpu or trained.gpu)
    launches = find_launches(source, kernel, grid, block, arguments or {}, options, program_args)
    return tuple(predict.predict_time(features.count_launch(*launch), trained, spec) for launch in launches)


@command(
    predict_gpu,
    per_input=PerInput(
        fields="time_ms interval_ms bound bound_probability compute_probability traffic_bytes flops familiar "
        "extrapolated gpu",
        head="ncc.tasks.gpus.head:load_gpu_head",
        prepare=_check_launch,
    ),
)
def predict_gpu_command(results: "Sequence[GpuPrediction]", *, explain: bool = False) -> tuple[Any, ...]:
    """Predict how long a GPU kernel launch takes and whether it is compute- or memory-bound.

    Example: ncc predict-gpu saxpy.cu --grid 4096 --block 256 --arg n=1000000 --explain

    Args:
        explain: Show the evidence for the answer.
    """
    return show_results(results, explain=explain)


@verb(
    per_input=PerInput(
        fields="classes is_known compiled_as levels",
        head="ncc.tasks.classification.head:load_classifier",
        kernels=False,
    )
)
def classify(
    source: Source,
    *,
    top: int = 5,
    levels: "Sequence[str] | None" = None,
    options: CompilingPrograms | None = None,
    language: str | None = None,
    head: "ClassifierHead | PathLike | None" = None,
    embedding: "AnyEmbedding | None" = None,
) -> "ClassPrediction":
    """Predict which known problem a program solves. C and C++ may omit their include lines.

    Args:
        source: C, C++ or IR, as in `ncc.embed`.
        top: Number of classes to list, most probable first.
        levels: Optimization levels to compile at and average over, such as '0,1,2'; default: those that the classifier
            was trained on.
        options: Other compiler options.

    Returns:
        The most probable classes, best first, and whether the program is of a known class.

    Raises:
        InputError: No function has code, ``top`` is below 1, ``levels`` is empty, or as in `ncc.embed`.
        CompileError, IRError: As in `ncc.embed`.
        AssetError: The head was trained on another embedding, which this one doesn't extend.

    Reference: Ben-Nun et al. 2018, section 6.1 (task); Mou et al. 2016 (data).
    """
    from ncc.ir.inputs import load_program
    from ncc.learning.data.registry import cache_folder
    from ncc.learning.embedding.embedding import load_embedding
    from ncc.tasks.classification.head import load_classifier
    from ncc.tasks.classification.predict import ClassPrediction, ClassProbability, encode_program

    if top < 1:
        raise InputError(f"top is {top}; expected 1 or more")
    head = load_classifier(head)
    embedding = load_embedding(embedding).with_fingerprint(head.embedding_id)
    levels = tuple(levels if levels is not None else head.levels)
    if not levels:
        raise InputError("levels: expected one or more, found none")
    modules, compiled_as = load_program(
        source,
        levels,
        options=CompileOptions.of(options, language),
        abstraction=embedding.abstraction,
        cache=cache_folder() / "headers",
    )
    views, unknown_rate = encode_program(modules, embedding)
    probability = head.predict(*views)
    best = [(head.classes[row], float(probability[row])) for row in probability.argsort(kind="stable")[::-1][:top]]
    return ClassPrediction(
        classes=tuple(ClassProbability(label, value, head.titles.get(label)) for label, value in best),
        is_known=head.is_known(probability),
        compiled_as=compiled_as,
        levels=() if compiled_as == "IR" else levels,
        num_statements=sum(len(view.words) for view in views),
        unknown_rate=unknown_rate,
    )
