"""What one matrix product in C or C++ is drawn from: types, layout, sizes, loops; and its function put together."""

from dataclasses import dataclass
from random import Random

from datasets.generators.matrices import LAYOUTS, Matrix, Number, as_parameters, random_number
from datasets.generators.program import Function, LoopStyle, block, instantiate, random_style

__all__ = ["GemmSetting", "random_gemm_setting"]

_EXTENTS = (3, 4, 5, 7, 8, 10, 12, 16, 20, 24, 31, 32, 48, 50, 64, 100, 128, 200, 256, 500, 512, 1000, 1024)
_INSTANCES = ("float", "double", "int", "long long", "short", "unsigned", "long double")


@dataclass(frozen=True, kw_only=True)
class GemmSetting:
    """The choices that hold for a whole function.

    Attributes:
        name: The function's.
        number: Types of elements and sums.
        layout: How its matrices lie in memory, one of `LAYOUTS`.
        style: How it loops.
        sizes: M, n and k, of which c is m × n and k is summed over: names or numbers.
        size_type: Type of the sizes that are parameters.
        restrict: The qualifier of its pointers, or nothing.
        instances: Arguments if it is a template; empty if it is not.
        batch: "no", "strided" or "pointers": whether it multiplies many matrices, and how they are given.
    """

    name: str
    number: Number
    layout: str
    style: LoopStyle
    sizes: tuple[str, str, str]
    size_type: str
    restrict: str
    instances: tuple[dict[str, str], ...]
    batch: str

    def matrix(self, name: str, rows: str, cols: str, *, swapped: bool = False, constant: bool = True) -> Matrix:
        """Makes an operand in this layout."""
        matrix = Matrix(
            name=name,
            element=self.number.element,
            layout=self.layout,
            rows=rows,
            cols=cols,
            swapped=swapped,
            constant=constant,
            restrict=self.restrict,
        )
        return matrix.placed(self.name)

    def loop(self, variable: str, start: str, stop: str, body: str) -> str:
        """Writes a loop in this style."""
        return self.style.loop(variable, start, stop, body)

    def function(self, matrices: tuple[Matrix, ...], body: str, scalars: tuple[str, ...] = ()) -> Function:
        """Puts the function together.

        Args:
            matrices: Those that the body uses.
            body: Statements.
            scalars: Further parameters, each with its type.

        Returns:
            The function, for a template with its instances.
        """
        sizes = tuple(size for matrix in matrices for size in (matrix.rows, matrix.cols))
        sizes = tuple(size for size in sizes if not size.isupper())
        parameters = as_parameters(matrices, sizes, self.size_type, ", ".join(scalars))
        if self.batch != "no":
            body = self.style.loop("q", "0", "count", "\n".join(map(self._batched, matrices)) + f"\n{body}")
            parameters = ", ".join(["int count", *(self._batch_parameter(matrix) for matrix in matrices)])
            own = as_parameters((), sizes, self.size_type, ", ".join(scalars))
            parameters += "" if own == "void" else f", {own}"
        head = f"void {self.name}({parameters})"
        needs = (*self.number.needs, *(need for matrix in matrices for need in matrix.needs))
        text = block(head, body)
        if self.instances:
            kinds = (f"{'typename' if name == 'T' else 'int'} {name}" for name in self.instances[0])
            text = f"template <{', '.join(kinds)}>\n{text}\n\n{instantiate(head, self.instances)}"
        return Function(text=text, needs=needs)

    def _batch_parameter(self, matrix: Matrix) -> str:
        const = "const " if matrix.constant else ""
        stars = "*const *" if self.batch == "pointers" else f"*{self.restrict}"
        return f"{const}{matrix.element} {stars}all_{matrix.name}"

    def _batched(self, matrix: Matrix) -> str:
        const = "const " if matrix.constant else ""
        place = "[q]" if self.batch == "pointers" else f" + q * {matrix.rows} * {matrix.cols}"
        return f"{const}{matrix.element} *{matrix.name} = all_{matrix.name}{place};"


def random_gemm_setting(rng: Random, name: str, language: str) -> GemmSetting:
    """Draws the setting of one function in "c" or "c++"."""
    layout = rng.choice(LAYOUTS[language])
    is_template = language == "c++" and layout != "global" and rng.random() < 0.4
    number = Number("T", "T") if is_template else random_number(rng, language)
    names = is_template and rng.random() < 0.5
    if layout == "global" or (layout == "fixed" and not names):
        sizes = _numbers(rng)
    elif names:
        sizes = ("M", "N", "K")
    else:
        sizes = rng.choice((("m", "n", "k"), ("m", "n", "k"), ("n", "n", "n"), _numbers(rng)))
    batched = layout in ("flat", "pointer") and rng.random() < 0.2
    return GemmSetting(
        name=name,
        number=number,
        layout=layout,
        style=random_style(rng),
        sizes=sizes,
        size_type=rng.choice(("int", "int", "long", "unsigned", "unsigned long")),
        restrict=rng.choice(("", "restrict " if language == "c" else "__restrict ")),
        instances=_instances(rng, with_sizes=names) if is_template else (),
        batch=rng.choice(("strided", "pointers")) if batched else "no",
    )


def _numbers(rng: Random) -> tuple[str, str, str]:
    m, n, k = (str(rng.choice(_EXTENTS)) for _ in range(3))
    return (m, m, m) if rng.random() < 0.4 else (m, n, k)


def _instances(rng: Random, *, with_sizes: bool) -> tuple[dict[str, str], ...]:
    instances = []
    for element in rng.sample(_INSTANCES, rng.randint(1, 3)):
        sizes = dict(zip("MNK", _numbers(rng), strict=True)) if with_sizes else {}
        instances.append({"T": element} | sizes)
    return tuple(instances)
