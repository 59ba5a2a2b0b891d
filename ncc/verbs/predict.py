"""Answers about kernels and programs: ``ncc predict-*``, ``ncc profile``, ``ncc classify``, and their functions."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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
    from ncc.system.files.summaries import Summary
    from ncc.tasks.classification.predict import ClassPrediction
    from ncc.tasks.coarsening.predict import CoarseningPrediction
    from ncc.tasks.devices.prediction import DevicePrediction
    from ncc.tasks.gpus.predict import GpuPrediction

    _Shown = list[tuple[dict[str, Any], Summary]]
    Extent = Sequence[int] | int
    Arguments = Mapping[str, float]
    ProgramArgs = Sequence[str]
    OptLevels = Sequence[str]
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

    def _levels(text: str) -> tuple[str, ...]:
        from ncc.learning.programs.labelled import level_names

        return level_names(text)

    Extent = Annotated[Any, Words(metavar="X[,Y,Z]", parse=_extent)]
    Arguments = Annotated[Sequence[str], Words(metavar="NAME=VALUE", option=("--arg",))]
    ProgramArgs = Annotated[Any, Words(metavar="TEXT", parse=_words)]
    OptLevels = Annotated[Any, Words(metavar="LEVELS", parse=_levels)]


def _show(results: Sequence[Any], **how: Any) -> "_Shown":
    return [(result.to_dict(), result.summary(**how)) for result in results]


@dataclass(frozen=True)
class _Verb:
    """A public function that is called for each input, and how its results are shown."""

    api: Callable[..., Any]
    options: Mapping[str, Any]
    fields: Sequence[str]
    load_head: Callable[..., Any] | None = None
    show: "Callable[[Sequence[Any]], _Shown]" = _show

    def each(self, inputs: Sequence[str], *, kernels: bool = True, **settings: Any) -> Each:
        """Check that models can be loaded, then answer for each input."""
        self._load()
        compile_s = self.options["options"].timeout_s
        return Each(inputs=inputs, work=self, fields=self.fields, kernels=kernels, compile_s=compile_s, **settings)

    def _load(self) -> dict[str, Any]:
        """The options, with models instead of their folders."""
        from ncc.learning.embedding.embedding import load_embedding

        loads = {"head": self.load_head, "embedding": load_embedding}
        return {
            name: load_once(load, value) if value is not None and (load := loads.get(name)) else value
            for name, value in self.options.items()
        }

    def __call__(self, source: Any) -> "tuple[dict[str, Any], list[Summary]]":
        results = self.api(source, **self._load())
        shown = self.show(results if isinstance(results, tuple) else [results])
        row, rows = shown[0][0], [row for row, _ in shown]
        if isinstance(results, tuple):
            row = {"kernels": rows} if self.fields == ("kernels",) else row | {"kernels": rows}
        return row, [summary for _, summary in shown]


@defined_in("ncc.tasks.devices.predict")
def predict_device(
    source: Source,
    *,
    transfer: Bytes | None = None,
    wgsize: float | None = None,
    global_size: Items | None = None,
    platform: Literal["amd", "nvidia"] | None = None,
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
    from ncc.ir.inputs import find_inputs
    from ncc.system.files.pages import check_plot_path
    from ncc.system.files.writing import check_writable
    from ncc.tasks.devices.features import check_sizes
    from ncc.tasks.devices.head import load_device_head

    check_sizes(options["transfer"], options["wgsize"], options["global_size"])
    if plot is not None:
        check_writable(check_plot_path(plot))
        if len(find_inputs(inputs)) != 1:
            raise InputError("--plot takes one input")
    show = partial(_show_devices, plot=plot, explain=explain)
    verb = _Verb(predict_device, options, _DEVICE_FIELDS, load_device_head, show)
    return verb.each(inputs, jobs=jobs, as_json=as_json)


def _show_devices(results: "Sequence[DevicePrediction]", *, plot: Path | None, explain: bool) -> "_Shown":
    from ncc.tasks.devices.plot import plot_curves

    if plot:
        plot_curves([result.curve() for result in results], plot)
    shown = []
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
        shown.append((row, summary))
    return shown


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
    verb = _Verb(predict_coarsening, options, ("factor", "speedup", "interval", "device"), load_coarsening_head)
    return verb.each(inputs, jobs=jobs, as_json=as_json)


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
    return _Verb(profile, options, ("kernels",)).each(inputs, jobs=jobs, as_json=as_json)


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
    inputs: Inputs, *, explain: bool = False, jobs: Jobs = 1, as_json: Json = False, **options: Any
) -> Each:
    """Predict how long a launch of GPU kernels takes, and whether compute or bandwidth bounds it.

    Example: ncc predict-gpu saxpy.cu --grid 4096 --block 256 --arg n=1000000 --explain

    Args:
        explain: Show what the answer is based on.
    """
    from ncc.tasks.gpus.head import load_gpu_head
    from ncc.tasks.gpus.specs import find_spec

    options["arguments"] = _checked_launch(options)
    if options["gpu"] is not None:
        find_spec(options["gpu"])
    verb = _Verb(predict_gpu, options, _GPU_FIELDS, load_gpu_head, partial(_show, explain=explain))
    return verb.each(inputs, jobs=jobs, as_json=as_json)


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

    verb = _Verb(classify, options, ("classes", "is_known", "compiled_as", "levels"), load_classifier)
    return verb.each(inputs, kernels=False, jobs=jobs, as_json=as_json)
