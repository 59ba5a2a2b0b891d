"""How synthetic OpenCL C is written: spelling of qualifiers, element types, extensions, and kernels put together."""

from dataclasses import dataclass
from random import Random

from datasets.generators.program import Function, LoopStyle, block, random_style

__all__ = ["ELEMENTS", "KernelSetting", "random_kernel_setting"]

ELEMENTS = ("float", "float", "float", "float", "double", "double", "int", "int", "uint", "long", "short", "uchar")
_EXTENSIONS = {"double": "cl_khr_fp64", "half": "cl_khr_fp16"}


@dataclass(frozen=True, kw_only=True)
class KernelSetting:
    """The choices that hold for a whole kernel.

    Attributes:
        name: The kernel's.
        element: Type of the elements, a scalar.
        accumulator: Type of their sums.
        style: How it loops.
        prefix: What stands before qualifiers: two underscores or nothing.
        restrict: The qualifier of its pointers, or nothing.
        size_type: Type of the sizes.
        group: The work group's size that it declares, or nothing.
    """

    name: str
    element: str
    accumulator: str
    style: LoopStyle
    prefix: str
    restrict: str
    size_type: str
    group: str

    def pointer(self, name: str, element: str | None = None, *, constant: bool = True, space: str = "global") -> str:
        """Declares a parameter that points to memory."""
        const = "const " if constant and space != "constant" else ""
        return f"{self.prefix}{space} {const}{element or self.element} *{self.restrict}{name}"

    def sizes(self, *names: str) -> list[str]:
        """Declares those sizes that are names rather than numbers, each once."""
        return [f"const {self.size_type} {name}" for name in dict.fromkeys(names) if name.isidentifier()]

    def loop(self, variable: str, start: str, stop: str, body: str) -> str:
        """Writes a loop in this style."""
        return self.style.loop(variable, start, stop, body)

    @property
    def barrier(self) -> str:
        """Waits for the local memory of the work group."""
        return "barrier(CLK_LOCAL_MEM_FENCE);"

    def kernel(self, parameters: list[str], body: str, needs: tuple[str, ...] = ()) -> Function:
        """Puts the kernel together."""
        head = f"{self.prefix}kernel {self.group}void {self.name}({', '.join(parameters)})"
        extensions = tuple(
            f"#pragma OPENCL EXTENSION {extension} : enable"
            for element, extension in _EXTENSIONS.items()
            if element in self.element + self.accumulator
        )
        return Function(text=block(head, body), needs=(*extensions, *needs))


def random_kernel_setting(
    rng: Random, name: str, elements: tuple[str, ...] = ELEMENTS, group: str = ""
) -> KernelSetting:
    """Draws the setting of one kernel.

    Args:
        rng: Where choices come from.
        name: The kernel's.
        elements: Element types to choose from.
        group: The work group's size, such as "16, 16, 1", which the kernel may declare.
    """
    element = rng.choice(elements)
    prefix = rng.choice(("", "__"))
    accumulator = {"short": "int", "uchar": rng.choice(("int", "uint")), "half": "float"}.get(element, element)
    declared = group and rng.random() < 0.5
    return KernelSetting(
        name=name,
        element=element,
        accumulator=accumulator,
        style=random_style(rng, signed=True),
        prefix=prefix,
        restrict=rng.choice(("", "restrict ")),
        size_type=rng.choice(("int", "int", "uint")),
        group=f"__attribute__((reqd_work_group_size({group}))) " if declared else "",
    )
