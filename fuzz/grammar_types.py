"""Parts of generated modules: types in both dialects, values, blocks and functions."""

from dataclasses import dataclass, field

__all__ = [
    "ALL",
    "ARRAY",
    "CALLBACK",
    "DOUBLE",
    "EXTERNALS",
    "FIRST_CLASS",
    "FLOAT",
    "FLOATS",
    "I1",
    "I8",
    "I16",
    "I32",
    "I64",
    "INTS",
    "MASKS",
    "MEMBERS",
    "NODE",
    "ODD",
    "PAIR",
    "VECTOR",
    "VOID",
    "WIDTH",
    "Block",
    "Function",
    "Piece",
    "Type",
    "Value",
    "pointer_to",
]


@dataclass(frozen=True)
class Type:
    """A type of LLVM: a plain one by its name, or one made of others."""

    kind: str
    name: str = ""
    parts: tuple["Type", ...] = ()
    count: int = 0

    def text(self, typed: bool) -> str:
        """As a dialect writes it."""
        inside = [part.text(typed) for part in self.parts]
        if self.kind == "pointer":
            space = f" addrspace({self.count})" if self.count else ""
            return f"{inside[0]}{space}*" if typed else f"ptr{space}"
        forms = {
            "vector": f"<{self.count} x {''.join(inside)}>",
            "array": f"[{self.count} x {''.join(inside)}]",
            "struct": f"{{ {', '.join(inside)} }}",
            "function": f"{''.join(inside[:1])} ({', '.join(inside[1:] + self.count * ['...'])})",
        }
        return forms.get(self.kind, self.name)


def pointer_to(to: Type, space: int = 0) -> Type:
    """A pointer, which the typed dialect writes with what it points to."""
    return Type("pointer", parts=(to,), count=space)


VOID, I1, I8, I16, I32, I64 = (Type("plain", name) for name in ("void", "i1", "i8", "i16", "i32", "i64"))
FLOAT, DOUBLE = Type("plain", "float"), Type("plain", "double")
INTS, FLOATS = (I8, I16, I32, I64), (FLOAT, DOUBLE)
WIDTH = {I1: 1, I8: 8, I16: 16, I32: 32, I64: 64, FLOAT: 32, DOUBLE: 64}
PAIR = Type("struct", parts=(I32, DOUBLE))
NODE = Type("named", "%struct.node")
ODD = Type("named", '%"odd name"')
ARRAY = Type("array", parts=(I32,), count=7)
VECTOR, MASKS = Type("vector", parts=(FLOAT,), count=4), Type("vector", parts=(I32,), count=4)
MEMBERS = {
    PAIR: PAIR.parts,
    NODE: (I64, pointer_to(NODE), ARRAY, FLOAT),
    ODD: (I8, pointer_to(FLOAT, 1), NODE),
    ARRAY: (I32,) * 7,
}
CALLBACK = Type("function", parts=(I32, I32, DOUBLE))
FIRST_CLASS = (
    *INTS,
    *FLOATS,
    I1,
    VECTOR,
    MASKS,
    PAIR,
    *(pointer_to(t) for t in (I8, I32, DOUBLE, NODE, ODD, ARRAY, PAIR)),
)
ALL = (
    *FIRST_CLASS,
    pointer_to(FLOAT, 1),
    pointer_to(I32, 3),
    pointer_to(pointer_to(I8)),
    pointer_to(CALLBACK),
    ARRAY,
    NODE,
)
EXTERNALS = (
    ("sqrt", Type("function", parts=(DOUBLE, DOUBLE))),
    ("llvm.fabs.f32", Type("function", parts=(FLOAT, FLOAT))),
    ("malloc", Type("function", parts=(pointer_to(I8), I64))),
    ("printf", Type("function", parts=(I32, pointer_to(I8)), count=1)),
    ('"?odd@@YA"', Type("function", parts=(VOID, pointer_to(NODE), I1))),
    ("_Z3barPf", Type("function", parts=(pointer_to(FLOAT, 1), pointer_to(FLOAT, 1), I16))),
)


@dataclass(eq=False)
class Value:
    """A local value, a global one or a constant, by how it is written."""

    type: Type
    text: str = ""


Piece = str | Type | Value
"""What instructions are written from."""


@dataclass(eq=False)
class Block:
    """A basic block: what its lines define, and what they are written from."""

    label: Value
    lines: list[tuple[Value | None, tuple[Piece, ...]]] = field(default_factory=list)


@dataclass(eq=False)
class Function:
    """A function; one without blocks is declared."""

    name: str
    type: Type
    parameters: list[Value]
    header: str
    blocks: list[Block] = field(default_factory=list)
