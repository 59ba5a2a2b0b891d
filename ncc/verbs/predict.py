"""Answers about kernels and programs: ``ncc predict-*``, ``ncc profile``, ``ncc classify``, and their functions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Annotated, Any, Literal

from ncc.errors import InputError
from ncc.ir.frontend.options import CompileOptions
from ncc.verbs.types import COMPILER, Count, Each, PathLike, Source, Words, command, load_once, parser, verb

if TYPE_CHECKING:
    from ncc.kernels.profile import LaunchProfile
    from ncc.learning.embedding.embedding import AnyEmbedding
    from ncc.system.files.summaries import Summary
    from ncc.tasks.classification.head import ClassifierHead
    from ncc.tasks.classification.predict import ClassPrediction
    from ncc.tasks.coarsening.head import CoarseningHead
    from ncc.tasks.coarsening.predict import CoarseningPrediction
    from ncc.tasks.devices.predict import AnyHead
    from ncc.tasks.devices.prediction import DevicePrediction
    from ncc.tasks.gpus.head import GpuHead
    from ncc.tasks.gpus.predict import GpuPrediction

    _Shown = list[tuple[dict[str, Any], Summary]]

_OTHER_OPTIONS = Words(fields={name: words for name, words in COMPILER.items() if name != "optimization"})
_LEVELS = Words("LEVELS", parse=parser("ncc.learning.programs.labelled:level_names"))


def _show(results: Sequence[Any], **how: Any) -> "_Shown":
    return [(result.to_dict(), result.summary(**how)) for result in results]


@dataclass(frozen=True)
class _Verb:
    """A public function that is called for each input, and how its results are shown."""

    api: Callable[..., Any]
    options: Mapping[str, Any]
    fields: Sequence[str]
    head: str = ""  # the function that loads one, as "module:name"
    show: "Callable[[Sequence[Any]], _Shown]" = _show

    def each(self, inputs: Sequence[str], *, kernels: bool = True, **settings: Any) -> Each:
        """Check that models can be loaded, then answer for each input."""
        self._load()
        compile_s = self.options["options"].timeout_s
        return Each(inputs=inputs, work=self, fields=self.fields, kernels=kernels, compile_s=compile_s, **settings)

    def _load(self) -> dict[str, Any]:
        """The options, with models instead of their folders."""
        loaders = {"head": self.head, "embedding": "ncc.learning.embedding.embedding:load_embedding"}
        models = {name: place for name, place in loaders.items() if self.options.get(name) is not None}
        return {
            **self.options,
            **{name: load_once(resolve_name(place), self.options[name]) for name, place in models.items()},
        }

    def __call__(self, source: Any) -> "tuple[dict[str, Any], list[Summary]]":
        results = self.api(source, **self._load())
        shown = self.show(results if isinstance(results, tuple) else [results])
        row, rows = shown[0][0], [row for row, _ in shown]
        if isinstance(results, tuple):
            row = {"kernels": rows} if self.fields == ("kernels",) else row | {"kernels": rows}
        return row, [summary for _, summary in shown]


@verb("ncc.tasks.devices.predict")
def predict_device(
    source: Source,
    *,
    transfer: "float | str | None" = None,
    wgsize: float | None = None,
    global_size: "float | str | None" = None,
    platform: Literal["amd", "nvidia"] | None = None,
    options: CompileOptions | None = None,
    language: str | None = None,
    head: "AnyHead | None" = None,
    embedding: "AnyEmbedding | None" = None,
) -> "tuple[DevicePrediction, ...]":
    """Predict the faster device for every kernel in a file.

    Args:
        source: OpenCL C (.cl), CUDA (.cu) or IR with a kernel, as in `ncc.embed`.
        transfer: Bytes moved between host and device, such as 65536, 64KiB or 1GB.
        wgsize: Work-items per work-group.
        global_size: Work-items of the launch, such as 65536 or 64K. If only one of transfer and global size is set, the
            other is derived from it: 4 bytes per work-item and pointer argument, copied both ways.
        platform: GPU to compare with the CPU: amd (Tahiti 7970) or nvidia (GTX 970); default: nvidia, or the head's
            platform.
        head: Head, or its folder; default: the shipped one for the platform.

    Returns:
        One prediction per kernel, in file order.

    Raises:
        InputError: No kernel, an unknown platform, a size out of range, or as in `ncc.embed`.
        CompileError, IRError: As in `ncc.embed`.
        AssetError: The head was trained on another embedding.

    Reference: Ben-Nun et al. 2018, section 6.2; Cummins et al. 2017 (data).
    """


_DEVICE_FIELDS = (
    "device", "confidence", "speedup_gpu_over_cpu", "interval", "platform", "verdict", "probabilities", "times_ms",
    "familiar", "distance",
)  # fmt: skip


@command(predict_device)
def predict_device_command(
    inputs: list[str],
    *,
    plot: Path | None = None,
    explain: bool = False,
    jobs: int = 1,
    as_json: bool = False,
    **options: Any,
) -> Each:
    """Predict whether a kernel runs faster on a CPU or a GPU, and by how much.

    Example: ncc predict-device kernel.cl --transfer 16MB --explain

    Args:
        plot: Plot the speedup over data size (.png, .svg or .pdf).
        explain: Show which source lines drove the answer.
    """
    from ncc.ir.inputs import find_inputs
    from ncc.system.files.pages import check_plot_path
    from ncc.system.files.writing import check_writable
    from ncc.tasks.devices.features import check_sizes

    check_sizes(options["transfer"], options["wgsize"], options["global_size"])
    if plot is not None:
        check_writable(check_plot_path(plot))
        if len(find_inputs(inputs)) != 1:
            raise InputError("--plot takes one input")
    show = partial(_show_devices, plot=plot, explain=explain)
    verb = _Verb(predict_device, options, _DEVICE_FIELDS, "ncc.tasks.devices.head:load_device_head", show)
    return verb.each(inputs, jobs=jobs, as_json=as_json)


def _show_devices(results: "Sequence[DevicePrediction]", *, plot: Path | None, explain: bool) -> "_Shown":
    from ncc.tasks.devices.prediction import plot_curves

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


@verb("ncc.tasks.coarsening.predict")
def predict_coarsening(
    source: Source,
    *,
    device: Annotated[str, Words("NAME")] | None = None,
    options: CompileOptions | None = None,
    language: str | None = None,
    head: "CoarseningHead | PathLike | None" = None,
    embedding: "AnyEmbedding | None" = None,
) -> "tuple[CoarseningPrediction, ...]":
    """Predict the best thread-coarsening factor for every kernel in a file.

    Args:
        source: OpenCL C (.cl), CUDA (.cu) or IR with a kernel, as in `ncc.embed`.
        device: Cypress (HD 5900), Tahiti (HD 7970), Fermi (GTX 480) or Kepler (K20c); default: any other GPU.

    Returns:
        One prediction per kernel, in file order.

    Raises:
        InputError: No kernel, an unknown device, or as in `ncc.embed`.
        CompileError, IRError: As in `ncc.embed`.
        AssetError: The head was trained on another embedding, or is damaged.

    Reference: Magni, Dubach, O'Boyle 2014 (task and data).
    """


@command(predict_coarsening)
def predict_coarsening_command(inputs: list[str], *, jobs: int = 1, as_json: bool = False, **options: Any) -> Each:
    """Predict how many work-items of a kernel to merge into one, and the speedup."""
    from ncc.tasks.coarsening.head import load_coarsening_head

    device, devices = options["device"], load_once(load_coarsening_head, options["head"]).devices
    if device is not None and device not in devices:
        raise InputError(f"--device is {device!r}; expected one of {', '.join(devices)}")
    fields = ("factor", "speedup", "interval", "device")
    verb = _Verb(predict_coarsening, options, fields, "ncc.tasks.coarsening.head:load_coarsening_head")
    return verb.each(inputs, jobs=jobs, as_json=as_json)


@verb("ncc.kernels.profile")
def profile(
    source: Source,
    *,
    grid: "Sequence[int] | int",
    block: "Sequence[int] | int",
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
        One profile per kernel.

    Raises:
        InputError: A size is out of range, a kernel or argument is unknown, or the source has no kernel.
        CompileError, IRError: As in `load_module`.
    """


@command(profile)
def profile_command(inputs: list[str], *, jobs: int = 1, as_json: bool = False, **options: Any) -> Each:
    """Count a GPU kernel's work per thread: operations by type, memory accesses by space and pattern.

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
            raise InputError(f"--arg is {text!r}; expected NAME=VALUE with a number, such as n=1000000") from error
    Launch.of(options["grid"], options["block"], values)
    return values


@verb("ncc.tasks.gpus.predict")
def predict_gpu(
    source: Source,
    *,
    grid: "Sequence[int] | int",
    block: "Sequence[int] | int",
    arguments: Mapping[str, float] | None = None,
    kernel: str | None = None,
    program_args: "Sequence[str] | None" = None,
    gpu: str | None = None,
    head: "GpuHead | PathLike | None" = None,
    options: CompileOptions | None = None,
) -> "tuple[GpuPrediction, ...]":
    """Predict how long a GPU kernel launch takes and whether it is compute- or bandwidth-bound.

    Missing arguments are read from the launch in host code (the file, its headers, or other files in its folder) if
    constants and the program's arguments determine them; others may be inferred from the launch sizes.

    Args:
        source: CUDA, OpenCL C or IR, as in `load_module`.
        program_args: Command-line arguments of the program, such as '1024 100', if host code reads sizes from argv.
        gpu: GPU, such as A100; default: the one that the head was trained on. Predictions for others are extrapolated.

    Returns:
        One prediction per kernel.

    Raises:
        InputError: A size is out of range, a kernel, argument or GPU is unknown, or the source has no kernel.
        CompileError, IRError, AssetError: As in `load_module` and `load_gpu_head`.
    """


_GPU_FIELDS = (
    "time_ms", "interval_ms", "bound", "bound_probability", "compute_probability", "traffic_bytes", "flops",
    "familiar", "extrapolated", "gpu",
)  # fmt: skip


@command(predict_gpu)
def predict_gpu_command(
    inputs: list[str], *, explain: bool = False, jobs: int = 1, as_json: bool = False, **options: Any
) -> Each:
    """Predict how long a GPU kernel launch takes and whether it is compute- or bandwidth-bound.

    Example: ncc predict-gpu saxpy.cu --grid 4096 --block 256 --arg n=1000000 --explain

    Args:
        explain: Show the evidence for the answer.
    """
    from ncc.tasks.gpus.specs import find_spec

    options["arguments"] = _checked_launch(options)
    if options["gpu"] is not None:
        find_spec(options["gpu"])
    show = partial(_show, explain=explain)
    verb = _Verb(predict_gpu, options, _GPU_FIELDS, "ncc.tasks.gpus.head:load_gpu_head", show)
    return verb.each(inputs, jobs=jobs, as_json=as_json)


@verb("ncc.tasks.classification.predict")
def classify(
    source: Source,
    *,
    top: Count = 5,
    levels: Annotated[Any, _LEVELS] | None = None,
    options: Annotated[CompileOptions, _OTHER_OPTIONS] | None = None,
    language: str | None = None,
    head: "ClassifierHead | PathLike | None" = None,
    embedding: "AnyEmbedding | None" = None,
) -> "ClassPrediction":
    """Predict which known problem a program solves.

    Args:
        source: C, C++ or IR, as in `ncc.embed`. C and C++ may omit their include lines.
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


@command(classify)
def classify_command(inputs: list[str], *, jobs: int = 1, as_json: bool = False, **options: Any) -> Each:
    """Predict which known problem a program solves. C and C++ may omit their #include lines."""
    fields = ("classes", "is_known", "compiled_as", "levels")
    verb = _Verb(classify, options, fields, "ncc.tasks.classification.head:load_classifier")
    return verb.each(inputs, kernels=False, jobs=jobs, as_json=as_json)
