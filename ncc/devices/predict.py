"""CPU or GPU: which device should run a kernel faster, and by how much."""

import functools
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ncc
from ncc.devices.files import DeviceHead, load_head
from ncc.embedding import AnyEmbedding, load_embedding
from ncc.errors import InputError
from ncc.frontend import CompileOptions
from ncc.kernels.reading import Kernel, Source, read_kernels
from ncc.runtime.pages import html_table
from ncc.runtime.printable import source_name
from ncc.runtime.workers import limited

__all__ = ["PLATFORMS", "DevicePrediction", "choose_head", "load_shipped_device_head", "predict_device"]

PLATFORMS = ("amd", "nvidia")


@dataclass(frozen=True, kw_only=True)
class DevicePrediction:
    """Which device should run a kernel faster, and by how much.

    Attributes:
        kernel: The kernel's name.
        device: "CPU" or "GPU", whichever is the more probable; see ``verdict`` for whether that is worth acting on.
        confidence: Probability that this device is the faster one, 0.5 to 1.
        speedup_gpu_over_cpu: Expected CPU time / GPU time; above 1 the GPU is faster.
        interval: (low, high) of that speedup; meant to hold the true one for 80 % of kernels.
        platform: "amd", "nvidia", or that of a head of one's own: the measurements behind the answer.
        transfer_bytes, wgsize: as given; None was answered by covering the range seen in training.
        num_statements: Statements of the kernel and of what it calls.
        unknown_rate: Share of them that backed off.
    """

    kernel: str
    device: str
    confidence: float
    speedup_gpu_over_cpu: float
    interval: tuple[float, float]
    platform: str
    transfer_bytes: float | None
    wgsize: float | None
    num_statements: int
    unknown_rate: float

    @property
    def verdict(self) -> str:
        """``device`` where the whole interval speaks for it, else "undecided": either may turn out to be faster."""
        return "undecided" if self.interval[0] <= 1 <= self.interval[1] else self.device

    @property
    def odds(self) -> dict[str, float]:
        """Device → probability that it is the faster one."""
        gpu = self.confidence if self.device == "GPU" else 1 - self.confidence
        return {"CPU": 1 - gpu, "GPU": gpu}

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values by name, as ``--json`` prints them."""
        values = {name: getattr(self, name) for name in (*self.__dataclass_fields__, "verdict", "odds")}
        return values | {"demangled": source_name(self.kernel)}

    def __str__(self) -> str:
        odds = " ".join(f"{device} {share:.0%}" for device, share in self.odds.items())
        sure = (
            f"undecided ({odds})"
            if self.verdict == "undecided"
            else f"{self.device} (confidence {self.confidence:.0%})"
        )
        low, high = self.interval
        return f"{sure}; GPU over CPU {self.speedup_gpu_over_cpu:.2f}x, 80 % interval {low:.2f}x to {high:.2f}x"

    def _repr_html_(self) -> str:
        odds = (f"{share:.0%}" for share in self.odds.values())
        low, high = self.interval
        heading = ("faster", "CPU", "GPU", "GPU over CPU", "80 % interval", "statements unknown")
        row = (self.verdict, *odds, f"{self.speedup_gpu_over_cpu:.2f}×", f"{low:.2f}× to {high:.2f}×")
        caption = f"{source_name(self.kernel)} on {self.platform}"
        return html_table(caption, heading, [(*row, f"{self.unknown_rate:.1%} of {self.num_statements}")])


def load_shipped_device_head(platform: str) -> DeviceHead:
    """The head that ships with ncc for a platform, "amd" (Tahiti 7970) or "nvidia" (GTX 970).

    Raises:
        InputError: There is no such platform.
        AssetError: Its files are missing or damaged.
    """
    if platform not in PLATFORMS:
        raise InputError(f"platform is {platform!r}; expected one of {', '.join(PLATFORMS)}")
    return _shipped_head(platform)


def choose_head(platform: str | None, head: DeviceHead | str | os.PathLike[str] | None) -> DeviceHead:
    """The head that was given, or its folder, or else the one that ships for the platform, by default "nvidia".

    Raises:
        InputError: There is no such platform, or the head is for another.
        AssetError: Its files are missing or damaged.
    """
    if head is None:
        return load_shipped_device_head(platform or PLATFORMS[-1])
    head = load_head(head)
    if platform not in (None, head.platform):
        raise InputError(f"platform is {platform!r}, but the head was trained on {head.platform!r}; leave it out")
    return head


@functools.cache
def _shipped_head(platform: str) -> DeviceHead:
    return load_head(Path(ncc.__file__).with_name("assets") / "devmap" / platform)


@limited
def predict_device(
    source: Source,
    *,
    transfer_bytes: float | None = None,
    wgsize: float | None = None,
    platform: str | None = None,
    options: CompileOptions | None = None,
    head: DeviceHead | str | os.PathLike[str] | None = None,
    embedding: AnyEmbedding | None = None,
) -> tuple[DevicePrediction, ...]:
    """Predicts the faster device for every kernel of a file.

    Args:
        source: OpenCL C (.cl), CUDA (.cu) or IR with a kernel in it; as for `ncc.embed`.
        transfer_bytes: Bytes moved between host and device.
        wgsize: Work-items in a work-group.
        platform: "amd" (Tahiti 7970) or "nvidia" (GTX 970), each against the same CPU; default "nvidia", or what the
            head was trained on.
        options: How source is compiled.
        head: A head or its folder; default the one that ships with ncc for the platform.
        embedding: The one that it was trained on, or its folder; default the one that ships with ncc.

    Returns:
        One prediction a kernel, in the order of the file.

    Raises:
        InputError: No kernel, an unknown platform, a size out of its range, or what `ncc.embed` raises.
        CompileError, IRError: as for `ncc.embed`.
        AssetError: The head was trained on another embedding.

    Reference: Ben-Nun et al. 2018, section 6.2; Cummins et al. 2017 (data).
    """
    head = choose_head(platform, head)
    kernels = read_kernels(source, load_embedding(embedding), head.embedding_id, options)
    return tuple(_predict(kernel, head, transfer_bytes, wgsize) for kernel in kernels)


def _predict(kernel: Kernel, head: DeviceHead, transfer_bytes: float | None, wgsize: float | None) -> DevicePrediction:
    answer = head.answers(kernel, [transfer_bytes], wgsize)[0]
    # one distribution decides both, so that they can't contradict each other
    is_gpu = answer.probability_gpu > 0.5
    return DevicePrediction(
        kernel=kernel.name,
        device="GPU" if is_gpu else "CPU",
        confidence=answer.probability_gpu if is_gpu else 1 - answer.probability_gpu,
        speedup_gpu_over_cpu=math.exp(answer.log_ratio),
        interval=(math.exp(answer.interval[0]), math.exp(answer.interval[1])),
        platform=head.platform,
        transfer_bytes=transfer_bytes,
        wgsize=wgsize,
        num_statements=len(kernel.statements),
        unknown_rate=kernel.lookup.unknown_rate,
    )
