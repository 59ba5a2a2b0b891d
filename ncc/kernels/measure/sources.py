"""Kernels to measure: the shipped ones, and those in OpenCL C files, as found by the bundled clang."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from ncc.errors import COMMAND_LINE, CompileError, InputError, IRError
from ncc.ir.inputs import find_inputs, load_module
from ncc.kernels.measure.arguments import NDRange, launch_range, read_annotations
from ncc.kernels.reading import kernel_indices
from ncc.kernels.work import count_work
from ncc.system.files.reading import read_input

SHIPPED_KERNELS = Path(__file__).parent / "kernels"
"""Folder of the shipped kernels, one file per family."""
_EXTENSIONS = (".cl", ".ocl")


@dataclass(frozen=True)
class KernelSource:
    """A kernel in an OpenCL C file, and its number of dimensions."""

    file: str
    name: str
    source: str
    dimensions: int

    @property
    def family(self) -> str:
        """The file's stem: kernels of one file are one family."""
        return Path(self.file).stem

    @property
    def source_id(self) -> str:
        """Hash of its file's text."""
        return hashlib.sha256(self.source.encode()).hexdigest()[:16]

    def nd_range(self, size: int, wgsize: int) -> NDRange:
        """Work-items of a launch at a size; `InputError` if no work-group fits into it."""
        return launch_range(self.name, read_annotations(self.source), self.dimensions, size, wgsize)


def find_kernels(inputs: list[str]) -> tuple[list[KernelSource], dict[str, str]]:
    """Find the kernels of files, folders and globs, and the reasons why files have none."""
    kernels: list[KernelSource] = []
    failed: dict[str, str] = {}
    for item in find_inputs(inputs):
        try:
            if item.error:
                raise InputError(item.error)
            if item.name.endswith(_EXTENSIONS):
                source = read_input(item.name).decode("utf-8", "replace")
                module = load_module(item.name)
                read_annotations(source)  # raises an error if it can't be parsed
                for function in kernel_indices(module):
                    axes = [int(axis) for axis in count_work(module, function).dimensions if axis.isdecimal()]
                    name = module.function_names[function]
                    kernels.append(KernelSource(item.name, name, source, 1 + max(axes, default=0)))
        except (CompileError, InputError, IRError) as error:
            reason = str(error).partition(COMMAND_LINE)[0].replace("\n", " ")
            failed[item.name] = reason.removeprefix(f"{item.name}: ")
    if not kernels:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in failed.items())
        raise InputError(reasons or f"{inputs[0]}: no OpenCL C kernel; expected .cl files")
    return kernels, failed
