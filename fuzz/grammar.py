"""Well-formed modules made up at random, each in both dialects: with typed pointers and with opaque ones.

What LLVM's verifier would say of them does not matter, but LLVM's parser must take them: types agree, and values are
used where they are defined: arguments and those of the first block everywhere, others in their own block. Alignments
are written out, as LLVM does where the text leaves them to the target.
"""

import random
from collections.abc import Callable

from fuzz.grammar_types import (
    ALL,
    ARRAY,
    CALLBACK,
    DOUBLE,
    EXTERNALS,
    FIRST_CLASS,
    FLOATS,
    I1,
    I8,
    I32,
    I64,
    INTS,
    MASKS,
    MEMBERS,
    NODE,
    ODD,
    PAIR,
    VECTOR,
    VOID,
    WIDTH,
    Block,
    Function,
    Piece,
    Type,
    Value,
    pointer_to,
)

__all__ = ["random_module"]


def random_module(dice: random.Random) -> tuple[str, str]:
    """The same module with typed pointers and with opaque ones."""
    functions = [Function(name, kind, [], "") for name, kind in EXTERNALS]
    defined = [_signature(dice, number) for number in range(dice.randrange(1, 4))]
    variables = [Value(pointer_to(kind), f"@{name}") for name, kind in (("g", I32), ('"a b"', ARRAY), ("n.1", NODE))]
    for function in defined:
        _Body(dice, function, [*functions, *defined], variables).fill()
    names = dice.randrange(3)
    for function in defined:
        _name(function, numbered=names == 0, odd=names == 1)
    return _printed(dice.randrange(2), defined, typed=True), _printed(0, defined, typed=False)


def _signature(dice: random.Random, number: int) -> Function:
    result = dice.choice((VOID, I32, DOUBLE, I64, pointer_to(I8), pointer_to(NODE), VECTOR))
    parameters = [Value(dice.choice(ALL)) for _ in range(dice.randrange(6))]
    kind = Type("function", parts=(result, *(parameter.type for parameter in parameters)))
    name = dice.choice((f"f{number}", f'"f {number}"', f"_ZN1a{number}E", f"f.{number}$x"))
    header = dice.choice(
        ("", "internal ", "linkonce_odr dso_local ", "internal fastcc ", "spir_kernel ", "weak hidden ")
    )
    return Function(name, kind, parameters, header)


def _name(function: Function, *, numbered: bool, odd: bool) -> None:
    """Names all values of a function, or numbers them as LLVM does: in the order of the text."""
    own = [*function.parameters]
    for block in function.blocks:
        own += [block.label, *(result for result, _ in block.lines if result)]
    for number, value in enumerate(own):
        quoted = f'%"v {number}\\22"' if odd and number % 3 == 0 else f"%v.{number}"
        value.text = f"%{number}" if numbered else quoted


def _printed(comments: int, functions: list[Function], *, typed: bool) -> str:
    def written(piece: Piece) -> str:
        return piece if isinstance(piece, str) else piece.text if isinstance(piece, Value) else piece.text(typed)

    def of(kind: Type) -> str:
        return kind.text(typed)

    lines = [f"{kind.text(typed)} = type {{ {', '.join(map(of, MEMBERS[kind]))} }}" for kind in (NODE, ODD)]
    lines += ["@g = global i32 7, align 4", f'@"a b" = internal constant {of(ARRAY)} zeroinitializer']
    lines += [f"@n.1 = external global {of(NODE)}"]
    for function in functions:
        parameters = ", ".join(f"{of(value.type)} {value.text}" for value in function.parameters)
        lines.append(f"define {function.header}{of(function.type.parts[0])} @{function.name}({parameters}) #0 {{")
        for block in function.blocks:
            label = block.label.text.removeprefix("%")
            lines.append(f"{label}:" + comments * "    ; preds = nowhere")
            for result, pieces in block.lines:
                lines.append("  " + (f"{result.text} = " if result else "") + "".join(map(written, pieces)))
        lines.append("}")
    for name, kind in EXTERNALS:
        arguments = [of(part) for part in kind.parts[1:]] + kind.count * ["..."]
        lines.append(f"declare {of(kind.parts[0])} @{name}({', '.join(arguments)})")
    return "\n".join([*lines, "attributes #0 = { nounwind }", "!0 = !{i32 1}", ""])


class _Body:
    """Fills a function with blocks and statements."""

    def __init__(
        self, dice: random.Random, function: Function, callees: list[Function], variables: list[Value]
    ) -> None:
        self.dice = dice
        self.function = function
        self.callees = callees
        self.everywhere = [*function.parameters, *variables]
        self.here: list[Value] = []
        self.block = Block(Value(VOID))

    def fill(self) -> None:
        """Blocks, then the ways between them, then phis, which must know these, and statements."""
        dice = self.dice
        blocks = [Block(Value(VOID)) for _ in range(dice.randrange(1, 6))]
        self.function.blocks = blocks
        ways = {
            block: [dice.choice(blocks[1:]) for _ in range(dice.choice((0, 1, 1, 2, 2, 4)))]
            for block in blocks
            if blocks[1:]
        }
        for block in blocks:
            self.block, self.here = block, []
            before = [one for one in blocks for other in ways.get(one, ()) if other is block]
            if before:
                self._phis(before)
            for _ in range(dice.randrange(8)):
                dice.choice(_STATEMENTS)(self)
            self._end(ways.get(block, []))
            if block is blocks[0]:
                self.everywhere += self.here

    def add(self, result: Type | None, *pieces: Piece) -> Value | None:
        """A statement; what it defines may be used from now on."""
        value = Value(result) if result and result != VOID else None
        self.block.lines.append((value, pieces))
        if value:
            self.here.append(value)
        return value

    def pick(self, kind: Type, *, constants: bool = True) -> Value:
        """A value of a type, for the most part one that is there."""
        there = [value for value in (*self.everywhere, *self.here) if value.type == kind]
        if there and (self.dice.randrange(4) or not constants):
            return self.dice.choice(there)
        return Value(kind, _constant(self.dice, kind))

    def pointer(self) -> tuple[Value, Type]:
        """A pointer and what it points to, which is not a function."""
        there = [value for value in (*self.everywhere, *self.here) if value.type.kind == "pointer"]
        found = self.dice.choice([value for value in there if value.type.parts[0] != CALLBACK])
        return found, found.type.parts[0]

    def _phis(self, before: list[Block]) -> None:
        for _ in range(self.dice.randrange(3)):
            kind = self.dice.choice(FIRST_CLASS)
            known = {block: self.pick(kind) for block in before}  # of a block that is there twice, the same twice
            pieces: list[Piece] = ["phi ", kind, " "]
            for number, block in enumerate(before):
                pieces += [", [ " if number else "[ ", known[block], ", ", block.label, " ]"]
            self.add(kind, *pieces)

    def _end(self, ways: list[Block]) -> None:
        result = self.function.type.parts[0]
        if not ways:
            end: tuple[Piece, ...] = ("ret void",) if result == VOID else ("ret ", result, " ", self.pick(result))
            self.add(None, *(end if self.dice.randrange(6) else ("unreachable",)))
        elif len(ways) == 1:
            self.add(None, "br label ", ways[0].label)
        elif len(ways) == 2:
            self.add(None, "br i1 ", self.pick(I1), ", label ", ways[0].label, ", label ", ways[1].label)
        else:
            pieces: list[Piece] = ["switch i32 ", self.pick(I32), ", label ", ways[0].label, " ["]
            for number, way in enumerate(ways[1:]):
                pieces += [f"\n    i32 {number - 1}, label ", way.label]
            self.add(None, *pieces, "\n  ]")

    def arithmetic(self) -> None:
        dice, kind = self.dice, self.dice.choice((*INTS, MASKS))
        op = dice.choice(
            (
                "add",
                "sub nsw",
                "mul nuw nsw",
                "shl nuw",
                "sdiv exact",
                "udiv",
                "lshr",
                "ashr exact",
                "and",
                "or",
                "xor",
                "srem",
            )
        )
        self.add(kind, f"{op} ", kind, " ", self.pick(kind), ", ", self.pick(kind))

    def floating(self) -> None:
        kind = self.dice.choice((*FLOATS, VECTOR))
        flags = self.dice.choice(("", "fast ", "nnan ninf ", "contract "))
        if self.dice.randrange(5):
            op = self.dice.choice(("fadd", "fsub", "fmul", "fdiv", "frem"))
            self.add(kind, f"{op} {flags}", kind, " ", self.pick(kind), ", ", self.pick(kind))
        else:
            self.add(kind, f"fneg {flags}", kind, " ", self.pick(kind))

    def comparison(self) -> None:
        kind = self.dice.choice((*INTS, *FLOATS, pointer_to(I8), pointer_to(NODE)))
        names = ("oeq", "ult", "uno", "true") if kind in FLOATS else ("eq", "ne", "slt", "uge")
        op = ("fcmp " if kind in FLOATS else "icmp ") + self.dice.choice(names)
        self.add(I1, f"{op} ", kind, " ", self.pick(kind), ", ", self.pick(kind))

    def cast(self) -> None:
        old, new = self.dice.choice((*INTS, *FLOATS, I1)), self.dice.choice((*INTS, *FLOATS))
        narrow, wide = WIDTH[old] > WIDTH[new], WIDTH[old] < WIDTH[new]
        if old in FLOATS and new in FLOATS:
            op = "fptrunc" if narrow else "fpext" if wide else "bitcast"
        elif old in FLOATS or new in FLOATS:
            op = self.dice.choice(("fptosi", "fptoui") if old in FLOATS else ("sitofp", "uitofp"))
        else:
            op = "trunc" if narrow else self.dice.choice(("zext", "sext")) if wide else "bitcast"
        self.add(new, f"{op} ", old, " ", self.pick(old), " to ", new)

    def address(self) -> None:
        value, _ = self.pointer()
        number = self.add(I64, "ptrtoint ", value.type, " ", value, " to i64")
        assert number
        self.add(pointer_to(I32), "inttoptr i64 ", number, " to ", pointer_to(I32))

    def alloca(self) -> None:
        kind = self.dice.choice((*FIRST_CLASS, NODE, ODD, ARRAY))
        elements = self.pick(I32)
        several = not self.dice.randrange(4) and elements.text != "1"  # which LLVM leaves out
        number: tuple[Piece, ...] = (", i32 ", elements) if several else ()
        self.add(pointer_to(kind), "alloca ", kind, *number, self.dice.choice((", align 8", ", align 16")))

    def load(self) -> None:
        value, kind = self.pointer()
        flag = self.dice.choice(("", "", "volatile "))
        self.add(
            kind,
            f"load {flag}",
            kind,
            ", ",
            value.type,
            " ",
            value,
            self.dice.choice((", align 4", ", align 1, !own !0")),
        )

    def store(self) -> None:
        value, kind = self.pointer()
        if kind in INTS and not self.dice.randrange(3):
            self.add(
                None, "store atomic ", kind, " ", self.pick(kind), ", ", value.type, " ", value, " release, align 8"
            )
        else:
            self.add(None, "store ", kind, " ", self.pick(kind), ", ", value.type, " ", value, ", align 2")

    def element(self) -> None:
        value, kind = self.pointer()
        inbounds = self.dice.choice(("", "inbounds "))
        start: tuple[Piece, ...] = (
            f"getelementptr {inbounds}",
            kind,
            ", ",
            value.type,
            " ",
            value,
            ", i64 ",
            self.pick(I64),
        )
        if kind not in MEMBERS:
            self.add(value.type, *start)
            return
        at = self.dice.randrange(len(MEMBERS[kind]))
        self.add(pointer_to(MEMBERS[kind][at], value.type.count), *start, f", i32 {at}")

    def call(self) -> None:
        callbacks = [value for value in (*self.everywhere, *self.here) if value.type == pointer_to(CALLBACK)]
        tail = self.dice.choice(("", "tail ", "notail "))
        callee: Piece
        if callbacks and not self.dice.randrange(3):
            kind, callee, convention = CALLBACK, self.dice.choice(callbacks), ""
        else:
            function = self.dice.choice(self.callees)
            kind, callee = function.type, f"@{function.name}"
            convention = (
                "fastcc " if "fastcc" in function.header else "spir_kernel " if "spir" in function.header else ""
            )
        pieces: list[Piece] = [f"{tail}call {convention}", kind if kind.count else kind.parts[0], " ", callee, "("]
        extra = [self.dice.choice((I32, DOUBLE)) for _ in range(self.dice.randrange(3))] if kind.count else []
        for number, argument in enumerate([*kind.parts[1:], *extra]):
            pieces += [", " if number else "", argument, self.dice.choice((" ", " noundef ")), self.pick(argument)]
        self.add(kind.parts[0], *pieces, ")", self.dice.choice(("", " #0")))

    def choice(self) -> None:
        kind = self.dice.choice(FIRST_CLASS)
        if self.dice.randrange(4):
            self.add(
                kind, "select i1 ", self.pick(I1), ", ", kind, " ", self.pick(kind), ", ", kind, " ", self.pick(kind)
            )
        else:
            self.add(kind, "freeze ", kind, " ", self.pick(kind))

    def lanes(self) -> None:
        kind = self.dice.choice((VECTOR, MASKS))
        (lane,) = kind.parts
        vector: tuple[Piece, ...] = (kind, " ", self.pick(kind), ", ")
        self.add(lane, "extractelement ", *vector, "i32 ", self.pick(I32))
        self.add(kind, "insertelement ", *vector, lane, " ", self.pick(lane), f", i64 {self.dice.randrange(4)}")
        self.add(kind, "shufflevector ", *vector, kind, " undef, <4 x i32> <i32 0, i32 3, i32 undef, i32 1>")

    def member(self) -> None:
        pair = self.add(PAIR, "insertvalue ", PAIR, " ", self.pick(PAIR), ", double ", self.pick(DOUBLE), ", 1")
        assert pair
        self.add(I32, "extractvalue ", PAIR, " ", pair, ", 0")

    def atomic(self) -> None:
        there = [value for value in (*self.everywhere, *self.here) if value.type in (pointer_to(I32), pointer_to(I64))]
        value = self.dice.choice(there)
        (kind,) = value.type.parts
        if self.dice.randrange(2):
            op = self.dice.choice(("add", "xchg", "umax"))
            self.add(
                kind, f"atomicrmw {op} ", value.type, " ", value, ", ", kind, " ", self.pick(kind), " seq_cst, align 8"
            )
        else:
            old: tuple[Piece, ...] = (
                value.type,
                " ",
                value,
                ", ",
                kind,
                " ",
                self.pick(kind),
                ", ",
                kind,
                " ",
                self.pick(kind),
            )
            self.add(Type("struct", parts=(kind, I1)), "cmpxchg weak ", *old, " acq_rel monotonic, align 4")
            self.add(None, "fence seq_cst")


_STATEMENTS: tuple[Callable[[_Body], None], ...] = (
    _Body.arithmetic, _Body.arithmetic, _Body.floating, _Body.comparison, _Body.cast, _Body.address, _Body.alloca,
    _Body.load, _Body.load, _Body.store, _Body.element, _Body.element, _Body.call, _Body.call, _Body.choice,
    _Body.lanes, _Body.member, _Body.atomic,
)  # fmt: skip


def _constant(dice: random.Random, kind: Type) -> str:
    if kind == I1:
        return dice.choice(("true", "false"))
    if kind in INTS:
        return str(dice.choice((0, 1, -1, 2, 7, 64, 100, -8)))
    if kind in FLOATS:
        return dice.choice(("0.0", "1.5", "-2.500000e-01", "0x7FF0000000000000"))
    if kind.kind == "pointer":
        return dice.choice(("null", "undef", "null"))
    return dice.choice(("zeroinitializer", "undef"))
