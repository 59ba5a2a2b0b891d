"""Every type and constant of LLVM's language references, 3.7 to 22, each with the versions that can write it.

``«T»`` stands for a pointer to T and ``«1:T»`` for one in address space 1, which versions with typed pointers and those
with opaque ones write otherwise.
"""

import re
from dataclasses import dataclass

__all__ = ["VERSIONS", "Form", "constants_of", "globals_of", "types_of", "written"]

VERSIONS = (3.7, 3.8, 3.9, *map(float, range(4, 25)))
FIRST, LAST = VERSIONS[0], VERSIONS[-1]

_POINTER = re.compile(r"«(?:(\d):)?([^«»]*)»")


@dataclass(frozen=True)
class Form:
    """A way to write something.

    Attributes:
        text: With ``«T»`` for pointers.
        since: First version that has it.
        until: Last version that has it.
        kind: Of a constant, its type.
    """

    text: str
    since: float = FIRST
    until: float = LAST
    kind: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.text}".strip()


def written(text: str, typed: bool) -> str:
    """A form as text of LLVM."""

    def pointer(found: re.Match[str]) -> str:
        space = f" addrspace({found[1]})" if found[1] else ""
        return f"{found[2]}{space}*" if typed else f"ptr{space}"

    while (text := _POINTER.sub(pointer, before := text)) != before:
        pass
    return text


def types_of(version: float) -> list[Form]:
    """The types of first class that a version has."""
    return [form for form in TYPES if form.since <= version <= form.until]


def constants_of(version: float) -> list[Form]:
    """The constants that a version has."""
    return [form for form in CONSTANTS if form.since <= version <= form.until]


def globals_of(version: float) -> str:
    """What the forms name, with pointers yet to be written."""
    scalable = "" if version < 9 else "declare void @scaled(<vscale x 4 x i32>)\n"
    return f"""%s = type {{ i32, «void («%s»)» }}
%hidden = type opaque
@g = global i32 0
@h = global i32 1
@text = constant [4 x i8] c"abc\\00"
@pair = global [2 x i32] zeroinitializer
@table = global {{ [3 x «i8»] }} zeroinitializer
@far = addrspace(1) global i32 0
declare void @d()
define void @blocks() {{
  br label %there
there:
  ret void
}}
{scalable}"""


TYPES = [
    *map(Form, ("i1", "i8", "i16", "i32", "i64", "i128", "i7", "i1942652")),
    *map(Form, ("half", "float", "double", "fp128", "x86_fp80", "ppc_fp128")),
    Form("bfloat", 11),
    Form("x86_mmx", until=19),
    *map(Form, ("[0 x i8]", "[4 x [3 x double]]", "<4 x float>", "<2 x «i32»>", "{ i32, «i8», [2 x i16] }", "{}")),
    *map(
        Form, ("<{ i8, i32 }>", "%s", "[2 x %s]", "«i32»", "«1:i32»", "««i8»»", "«%hidden»", "«[4 x i8]»", "«{ i8 }»")
    ),
    *map(Form, ("«void («%s»)»", "«i32 (i8, ...)»", "«««i32 («i8 (i8)»)»»»", "[2 x «1:«i8»»]", "<{ «{}», <{}> }>")),
    *(Form(f"<vscale x {inner}>", 9) for inner in ("4 x i32", "2 x double", "1 x i1")),
    Form("<vscale x 2 x «i8»>", 9),
    Form('target("spirv.Sampler")', 16),
    Form('target("spirv.Image", void, 1, 0, 0, 0, 0, 0, 0)', 16),
]

ICMP = "eq ne ugt uge ult ule sgt sge slt sle"
FCMP = "false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true"

_PTRTOINT = "ptrtoint («i32» @g to i64)"
_SMALL = "ptrtoint («i32» @g to i32)"


def _binary(kind: str, value: str, ops: str, since: float = FIRST, until: float = LAST) -> list[Form]:
    return [Form(f"{op} ({kind} {value}, {kind} {value})", since, until, kind) for op in ops.split(",")]


def _cast(op: str, value: str, kind: str, until: float = LAST, since: float = FIRST) -> Form:
    return Form(f"{op} ({value} to {kind})", since, until, kind)


def _plain(kind: str, *texts: str, since: float = FIRST) -> list[Form]:
    return [Form(text, since, kind=kind) for text in texts]


CONSTANTS = [
    *_plain("i1", "true", "false", "undef"),
    *_plain("i32", "0", "-1", "4294967295", "u0xFF", "s0xFF", "zeroinitializer", "undef"),
    *_plain("i128", "170141183460469231731687303715884105727"),
    *_plain("half", "0xH3C00", "1.0"),
    *_plain("bfloat", "0xR3F80", since=11),
    *_plain("float", "1.0", "-1.500000e+00", "0x7FF0000000000000", "+1.0"),
    *_plain("double", "0x7FF8000000000000", "1.0e-10", "-0.0"),
    *_plain("float", "-inf", "+inf", "+qnan", "-nan(0x1)", "+snan(0x20)", "f0x3F800000", since=23),
    *_plain("x86_fp80", "0xK3FFF8000000000000000"),
    *_plain("fp128", "0xL00000000000000003FFF000000000000"),
    *_plain("ppc_fp128", "0xM3FF00000000000000000000000000000"),
    *_plain("[4 x i8]", 'c"a\\22\\00b"', "[i8 1, i8 2, i8 3, i8 4]", "zeroinitializer", "undef"),
    *_plain("{ i32, «i32» }", "{ i32 1, «i32» @g }", "zeroinitializer", "undef"),
    *_plain("<{ i8, i64 }>", f"<{{ i8 1, i64 {_PTRTOINT} }}>"),
    *_plain("[2 x «i32»]", "[«i32» @g, «i32» null]"),
    *_plain("%s", "{ i32 1, «void («%s»)» null }", "zeroinitializer"),
    *_plain("<2 x i32>", "<i32 1, i32 2>", "zeroinitializer", f"<i32 undef, i32 {_SMALL}>"),
    *_plain("{}", "{}", "zeroinitializer"),
    *_plain("[0 x i8]", "[]", 'c""'),
    *(Form("poison", 12, kind=kind) for kind in ("i32", "«i32»", "<2 x i32>", "{ i32, «i32» }")),
    *(Form(text, 9, kind="<vscale x 4 x i32>") for text in ("zeroinitializer", "undef")),
    Form("shufflevector (<vscale x 4 x i32> insertelement (<vscale x 4 x i32> undef, i32 1, i32 0), "
         "<vscale x 4 x i32> undef, <vscale x 4 x i32> zeroinitializer)", 9, kind="<vscale x 4 x i32>"),
    Form("splat (i32 7)", 20, kind="<vscale x 4 x i32>"),
    Form("splat (i32 7)", 20, kind="<2 x i32>"),
    Form("splat (float 1.0)", 20, kind="<4 x float>"),
    # addresses
    *_plain("«i32»", "@g", "null", "undef"),
    *_plain("«void ()»", "@d"),
    Form("dso_local_equivalent @d", 12, kind="«void ()»"),
    Form("no_cfi @d", 15, kind="«void ()»"),
    Form("ptrauth («i32» @g, i32 0)", 19, kind="«i32»"),
    Form("ptrauth («i32» @g, i32 2, i64 1234, «i32» @h)", 19, kind="«i32»"),
    *_plain("«i8»", "blockaddress(@blocks, %there)", "getelementptr (i8, «i8» null, i64 5)"),
    *_plain("«i8»", "getelementptr inbounds ([4 x i8], «[4 x i8]» @text, i32 0, i32 1)"),
    *_plain("«i32»", "getelementptr ([2 x i32], «[2 x i32]» @pair, i64 0, i64 1)"),
    *_plain("«i32»", "getelementptr (i32, «i32» @g, i64 sub (i64 0, i64 4))"),
    Form("getelementptr inbounds ({ [3 x «i8»] }, «{ [3 x «i8»] }» @table, i32 0, inrange i32 0, i32 2)", 4, 18,
         kind="««i8»»"),
    Form("getelementptr inbounds inrange(-16, 8) ({ [3 x «i8»] }, «{ [3 x «i8»] }» @table, i32 0, i32 0, i32 2)", 19,
         kind="««i8»»"),
    Form("getelementptr nusw nuw (i8, «i8» @text, i64 1)", 19, kind="«i8»"),
    Form("getelementptr nuw (i8, «i8» @text, i64 1)", 19, kind="«i8»"),
    _cast("bitcast", "«i32» @g", "«i8»"),
    _cast("inttoptr", "i64 add (i64 ptrtoint («i32» @g to i64), i64 4)", "«i32»"),
    _cast("addrspacecast", "«1:i32» @far", "«i32»"),
    _cast("addrspacecast", "«i32» @g", "«1:i32»"),
    _cast("inttoptr", "i64 -1", "«1:i32»"),
    # numbers of addresses
    _cast("ptrtoint", "«i32» @g", "i64"),
    _cast("ptrtoaddr", "«i32» @g", "i64", since=22),
    _cast("trunc", f"i64 {_PTRTOINT}", "i32"),
    *(Form(f"{op} (i64 {_PTRTOINT}, i64 8)", kind="i64") for op in ("add", "add nuw nsw", "sub", "sub nsw", "xor")),
    *(Form(f"{op} (i64 {_PTRTOINT}, i64 8)", until=20, kind="i64") for op in ("mul", "mul nuw nsw")),
    *(Form(f"{op} (i64 {_PTRTOINT}, i64 8)", until=18, kind="i64") for op in ("shl", "shl nuw nsw")),
    *(Form(f"{op} (i64 {_PTRTOINT}, i64 8)", until=17, kind="i64") for op in ("and", "or", "lshr exact", "ashr")),
    *(Form(f"{op} (i64 {_PTRTOINT}, i64 8)", until=14, kind="i64")
      for op in ("udiv", "udiv exact", "sdiv exact", "urem", "srem")),
    *(Form(f"icmp {predicate} («i32» @g, «i32» @h)", until=18, kind="i1")
      for predicate in ICMP.split()),
    *(Form(f"fcmp {predicate} (double 1.0, double sitofp (i32 {_SMALL} to double))", until=17, kind="i1")
      for predicate in FCMP.split()),
    Form("select (i1 icmp eq («i32» @g, «i32» @h), i64 1, i64 2)", until=16, kind="i64"),
    Form("select (i1 icmp eq («i32» @g, «i32» @h), «i32» @g, «i32» @h)", until=16, kind="«i32»"),
    _cast("zext", f"i32 {_SMALL}", "i64", 17),
    _cast("sext", f"i32 {_SMALL}", "i64", 17),
    _cast("uitofp", f"i32 {_SMALL}", "double", 17),
    _cast("sitofp", f"i32 {_SMALL}", "float", 17),
    _cast("fptrunc", f"double uitofp (i32 {_SMALL} to double)", "float", 17),
    _cast("fpext", f"float uitofp (i32 {_SMALL} to float)", "double", 17),
    _cast("fptoui", "double 1.0", "i64", 17),
    _cast("fptosi", "double 1.0", "i32", 17),
    _cast("bitcast", "double 1.0", "i64"),
    _cast("bitcast", f"i32 {_SMALL}", "float"),
    *_binary("double", "1.0", "fadd,fsub,fmul,fdiv,frem", until=14),
    Form("fneg (double 1.0)", 8, 15, "double"),
    # vectors and aggregates
    *_plain("i32", f"extractelement (<2 x i32> <i32 1, i32 {_SMALL}>, i32 1)"),
    *_plain("<2 x i32>", f"insertelement (<2 x i32> zeroinitializer, i32 {_SMALL}, i32 1)"),
    *_plain("<2 x i32>", "shufflevector (<2 x i32> <i32 1, i32 2>, <2 x i32> undef, <2 x i32> <i32 1, i32 0>)"),
    _cast("ptrtoint", "<2 x «i32»> <«i32» @g, «i32» @h>", "<2 x i64>"),
    Form("extractvalue ({ i32, i64 } { i32 1, i64 2 }, 1)", until=14, kind="i64"),
    Form("insertvalue ({ i32, [2 x i64] } undef, i64 2, 1, 0)", until=14, kind="{ i32, [2 x i64] }"),
]  # fmt: skip
