"""How often `ncc predict-device` decides, and is right, on 60 kernels whose host code states their sizes.

    export POCL_DEVICES="basic pthread"
    ncc calibrate -o mine --budget 10
    python benchmarks/host_sizes.py --head mine -o benchmarks/results/host_sizes.json

With a head of another machine, such as that of ``ncc train devmap benchmarks/results/pocl.parquet -o pocl``, this one's
devices are named: ``--head pocl --device basic pthread``.

57 textbook kernels are in benchmarks/sources/textbook, three are from Debian 12's sources, which apt-get fetches where
a line deb-src names them. They and their sizes were chosen before any of them was measured, and none of them is among
those that `ncc calibrate` measures.
The truth is the same launch with the sizes, arguments and buffers of the host code on both devices of the head, in turn
and many times, copies included: the shortest time of each counts. Where the shortest times of the rounds' thirds
disagree about the faster device, or differ by less than 5%, the truth is a tie: such launches count as decided or not,
but not as right or wrong.
"""

import argparse
import ast
import json
import math
import re
import subprocess
import tarfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl

import ncc
from ncc.arrays import Floats
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.inputs import load_module
from ncc.kernels.host.launches import HostLaunch, read_host
from ncc.kernels.launch import argument_types
from ncc.kernels.measure.arguments import Argument, NDRange, fill, read_annotations
from ncc.kernels.measure.opencl import choose_devices, open_device
from ncc.kernels.reading import NAMES_FLAG, kernel_indices
from ncc.learning.data.registry import cache_folder
from ncc.system.files.text import command_line
from ncc.tasks.devices.head import load_device_head
from ncc_lab.environment import environment

TEXTBOOK = Path(__file__).parent / "sources" / "textbook"
DEBIAN = (
    ("oclgrind", "21.10-3", "tests/apps/vecadd/vecadd.c", "KERNEL_SOURCE ="),
    ("starpu", "1.3.10+dfsg-2", "socl/examples/mansched/mansched.c", "kernel_src ="),
    ("starpu", "1.3.10+dfsg-2", "socl/examples/matmul/matmul.c", "#define CODE"),
)
"""Package, version, host code, and what its string of OpenCL C follows."""
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_MIN_ROUNDS, _MAX_ROUNDS, _SECONDS = 9, 60, 2.0
_TIE = math.log(1.05)


def fetch_debian(folder: Path) -> list[Path]:
    """Fetch the packages' sources into a folder unless they are there; write strings of OpenCL C beside their hosts."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for package, version, host, before in DEBIAN:
        upstream = version.rpartition("-")[0]
        source = folder / f"{package}-{upstream}"
        if not source.is_dir():
            fetch = ["apt-get", "-qq", "source", "--tar-only", "--download-only", f"{package}={version}"]
            subprocess.run(fetch, check=True, cwd=folder)
            with tarfile.open(folder / f"{package}_{upstream}.orig.tar.gz") as archive:
                top = archive.next()
                assert top is not None
                archive.extractall(folder / "unpacked", filter="data")
            (folder / "unpacked" / top.name.partition("/")[0]).rename(source)
        text = (source / host).read_text(errors="replace").replace("\\\n", "")
        literal = re.match(r'(?:\s*"(?:[^"\\]|\\.)*")+', text.partition(before)[2])
        assert literal is not None, f"{host}: no string after {before}"
        kernel = (source / host).with_suffix(".cl")
        kernel.write_text("".join(ast.literal_eval(f'"{part}"') for part in _STRING.findall(literal[0])))
        files.append(kernel)
    return files


@dataclass
class Row:
    """A kernel, its answer, and the truth; ratios are of the first device's time to the second's, in logarithms."""

    file: str
    kernel: str
    host: tuple[str, ...]  # what is read from the host code
    decided: bool
    device: str
    confidence: float
    familiar: bool
    ratio: float
    low: float
    high: float
    predicted_ms: dict[str, float]
    measured_ms: dict[str, float]
    true_ratio: float | None = None
    thirds: tuple[float, ...] = ()  # the true ratio by each third of the rounds

    @property
    def tie(self) -> bool:
        """Whether the truth is too close to tell, or was not measured."""
        if self.true_ratio is None or abs(self.true_ratio) < _TIE:
            return True
        return min(self.thirds) <= 0 <= max(self.thirds)

    @property
    def is_right(self) -> bool:
        """Whether the device is the faster one."""
        return self.true_ratio is not None and (self.ratio > 0) == (self.true_ratio > 0)

    @property
    def is_inside(self) -> bool:
        """Whether the interval has the truth."""
        return self.true_ratio is not None and self.low <= self.true_ratio <= self.high


def launches(path: Path) -> Iterator[tuple[str, HostLaunch | None, list[str]]]:
    """Kernels of a file, the launch in host code, and names of arguments."""
    options = CompileOptions(flags=(NAMES_FLAG,))
    module = load_module(path, options=options)
    for function in kernel_indices(module):
        name = module.function_names[function]
        found = [host for host in read_host(path, name, options).launches(name) if host.grid and host.block]
        yield name, next(iter(found), None), argument_types(module, function)


class Launcher:
    """A kernel on one device, with the buffers and arguments that host code states."""

    def __init__(self, path: Path, name: str, host: HostLaunch, device: str) -> None:
        handle = open_device(device)
        context = cl.Context([handle])
        self._queue = cl.CommandQueue(context)
        source = path.read_text(errors="replace")
        self._kernel = cl.Kernel(cl.Program(context, source).build(["-cl-kernel-arg-info"]), name)
        assert host.grid and host.block
        self._global = tuple(x * y for x, y in zip(host.grid, host.block, strict=True))
        self._local, spaces, info = host.block, cl.kernel_arg_address_qualifier, cl.kernel_arg_info
        nd_range, annotations = NDRange(self._global, self._local, math.prod(self._global)), read_annotations(source)
        self._copies: list[tuple[Any, np.ndarray, bool]] = []
        for index in range(self._kernel.num_args):
            field = lambda key, index=index: self._kernel.get_arg_info(index, key)  # noqa: E731
            space = "private" if field(info.ADDRESS_QUALIFIER) == spaces.PRIVATE else "global"
            is_const = bool(field(info.TYPE_QUALIFIER) & cl.kernel_arg_type_qualifier.CONST)
            is_const |= field(info.ADDRESS_QUALIFIER) == spaces.CONSTANT
            argument = Argument(name, field(info.NAME), field(info.TYPE_NAME), space, is_const)
            dtype, width = argument.element
            known = dict(annotations.get(argument.name, {}))
            if space == "private":
                known["values"] = repr(host.values[index])
            else:
                known["size"] = str(int(host.buffers[index]) // (np.dtype(dtype).itemsize * width))
            argument = replace(argument, annotations={argument.name: known})
            values = fill(argument, nd_range, np.random.default_rng(index))
            if space == "private":
                self._kernel.set_arg(index, values)
                continue
            buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, values.nbytes)
            self._kernel.set_arg(index, buffer)
            self._copies.append((buffer, values, is_const))
        self._results = [np.empty_like(values) for _, values, _ in self._copies]

    def run(self) -> float:
        """Copy to the device, run, copy back: milliseconds."""
        start = time.perf_counter()
        for buffer, values, _ in self._copies:
            cl.enqueue_copy(self._queue, buffer, values, is_blocking=False)
        cl.enqueue_nd_range_kernel(self._queue, self._kernel, self._global, self._local)
        for (buffer, _, is_const), result in zip(self._copies, self._results, strict=True):
            if not is_const:
                cl.enqueue_copy(self._queue, result, buffer, is_blocking=False)
        self._queue.finish()
        return (time.perf_counter() - start) * 1e3


def measure(path: Path, name: str, host: HostLaunch, devices: tuple[str, ...]) -> Floats:
    """(rounds, devices) float64 log ms of the launch on each device, in turn."""
    launchers = [Launcher(path, name, host, device) for device in devices]
    for launcher in launchers:
        launcher.run()
    rounds: list[list[float]] = []
    while len(rounds) < _MIN_ROUNDS or (len(rounds) < _MAX_ROUNDS and np.sum(rounds) < 1e3 * _SECONDS):
        rounds.append([launcher.run() for launcher in launchers])
    return np.log(rounds)


def ask(path: Path, head: Any, devices: tuple[str, ...]) -> Iterator[Row]:
    """Answers about the kernels of a file, and times measured."""
    answers: dict[str, Any] = {}
    for answer in ncc.predict_device(path, head=head):
        answers.setdefault(answer.kernel, answer)
    for name, host, types in launches(path):
        answer = answers[name]
        decided = host is not None and answer.verdict != "undecided"
        low, high = np.log(answer.interval).tolist()
        host_lines = tuple(line.replace(f"{path.parent}/", "") for line in answer.host)
        row = Row(
            path.name, name, host_lines, decided, answer.device, answer.confidence, answer.familiar,
            answer.log_ratio, low, high, {key: value[0] for key, value in (answer.times_ms or {}).items()}, {},
        )  # fmt: skip
        if host is not None and host.values.keys() | host.buffers.keys() >= set(range(len(types))):
            times = measure(path, name, host, devices)
            best = times.min(axis=0)
            row.measured_ms = dict(zip(devices, np.exp(best).tolist(), strict=True))
            row.true_ratio = float(best[0] - best[1])
            thirds = [third.min(axis=0) for third in np.array_split(times, 3)]
            row.thirds = tuple(float(third[0] - third[1]) for third in thirds)
        yield row


def score(rows: list[Row]) -> dict[str, Any]:
    """The shares decided and right, and what intervals hold."""
    measured = [row for row in rows if row.true_ratio is not None]
    decided = [row for row in rows if row.decided]
    told = [row for row in decided if not row.tie]
    clear = [row for row in measured if not row.tie]
    widths = [row.high - row.low for row in rows if row.familiar]
    ratios = [np.log(list(row.predicted_ms.values())) - np.log(list(row.measured_ms.values())) for row in measured]
    factors = np.exp(np.median(np.abs(ratios), axis=0)).tolist() if measured else []
    return {
        "kernels": len(rows),
        "measured": len(measured),
        "ties": sum(row.tie for row in measured),
        "decided": len(decided) / len(rows),
        "decided_with_a_truth": len(told),
        "right_of_decided": float(np.mean([row.is_right for row in told])) if told else None,
        "right_of_all": float(np.mean([row.is_right for row in clear])) if clear else None,
        "coverage": float(np.mean([row.is_inside for row in measured])) if measured else None,
        "familiar": len(widths),
        "median_width_of_familiar": math.exp(np.median(widths)) if widths else None,
        "faster": dict(Counter(row.device for row in decided)),
        "median_factors": factors,
    }


def main() -> None:
    """Write the figures, and a row for each kernel."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--head", type=Path, required=True, help="folder of a calibrated head of two devices")
    parser.add_argument("--debian", type=Path, default=cache_folder() / "debian", help="where Debian's sources go")
    parser.add_argument("--device", nargs=2, help="devices to measure, as for ncc measure; default: those of the head")
    chosen = parser.parse_args()
    head = load_device_head(chosen.head)
    devices = tuple(device.name for device in choose_devices(chosen.device or head.devices))
    rows = []
    for path in [*sorted(TEXTBOOK.glob("*.cl")), *fetch_debian(chosen.debian.resolve())]:
        for row in ask(path, head, devices):
            rows.append(row)
            truth = (
                "not measured" if row.true_ratio is None else "tie" if row.tie else f"{math.exp(row.true_ratio):.2f}"
            )
            print(
                f"{row.kernel:20s} {'decided' if row.decided else 'undecided':10s} {row.device[:12]:12s} "
                f"{math.exp(row.ratio):6.2f} ({math.exp(row.low):.2f} to {math.exp(row.high):.2f})  truth {truth}",
                flush=True,
            )
    result = score(rows)
    report = {"command": command_line("python benchmarks/host_sizes.py"), **environment(), **result}
    report |= {"calibration": head.card.get("scores"), "rows": [asdict(row) for row in rows]}
    chosen.output.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
