"""Back-off: ever more general forms of a statement, so that none is ever without a vector.

The paper maps every statement outside the vocabulary to one UNK; here it takes the nearest form that is known.
"""

import functools
import re
from collections.abc import Iterator
from enum import IntEnum


class BackoffLevel(IntEnum):
    """How far a statement had to be generalised before it was known."""

    EXACT = 0
    FLAGS = 1
    ALIGNMENT = 2
    SIZES = 3
    TYPES = 4
    OPERATION = 5
    OPCODE = 6


_FLAGS = re.compile(
    r" (?:nuw|nsw|exact|disjoint|nneg|samesign|inbounds|nusw|volatile|weak|fast|nnan|ninf|nsz|arcp|contract|afn|reassoc"
    r"|inalloca|swifterror|cleanup)\b"
)
_INFERRED = ("nuw", "nusw", "nneg", "disjoint", "samesign", "contract")
_CONSTANT_OFFSET = re.compile(
    r"(?P<address><%ID> = getelementptr(?: inbounds)?)(?: nuw| nusw)* (?P<type>.+)"
    r"(?P<base>, ptr(?: addrspace\([^)]*\))? <[%@]ID>)"
    r"(?P<variable>(?:, i\d+ <(?:%ID|INT)>)*?)(?P<constant>(?:, i\d+ <INT>)+)"
)
_ELEMENT = re.compile(
    r"(<%ID> = getelementptr(?: inbounds)?(?: nuw)? \{ )([^\[<]*\{[^\[<]*)( \}, ptr <[%@]ID>, i64 <%ID>)"
)
_BUCKET = re.compile(r"<INT:[^>]*>")
_TAIL = re.compile(r"\b(?:tail|musttail|notail) ")
_ALIGNMENT = re.compile(r", (?:align|addrspace) ?\(?\d+\)?| syncscope\(\"[^\"]*\"\)")
_ADDRESS_SPACE = re.compile(r" ?addrspace\([^)]*\)")
_PLACEHOLDER = re.compile(r"<(%ID|@ID|LABEL|INT|FLOAT|STRING)>")
_LENGTH = re.compile(r"\[\d+ x ")
_INTEGER = re.compile(r"\bi\d+\b")
_FLOAT = re.compile(r"\b(?:half|bfloat|float|double|x86_fp80|fp128|ppc_fp128)\b")
_VECTOR = re.compile(r"<(?:vscale x )?\d+ x ([^<>\[\]{}]*)>")
_ARRAY = re.compile(r"\[N x [^\[\]{}<>]*\]")
_STRUCT = re.compile(r"<?\{(?!\})[^{}\[\]<>]*\}>?|\{\}")
_INDICES = re.compile(r"(?:, \d+)+$")
_OPERATION = re.compile(
    r"^(?:<%ID> = )?(?P<opcode>[a-z_0-9]+)"
    r"(?: (?P<predicate>(?:[us]?(?:gt|ge|lt|le)|eq|ne|o(?:eq|gt|ge|lt|le|ne)|ord|uno|u(?:eq|ne)))\b)?"
)
_CALLEE = re.compile(r"(@[\w.$]+|<@ID>|<%ID>|\basm)(?:\(| …)")
_SAME_FUNCTION = {
    "get_sub_group_local_id": r"nvvm\.read\.ptx\.sreg\.lane|amdgcn\.mbcnt\.|spirv_BuiltInSubgroupLocalInvocationId",
    "get_sub_group_size": r"nvvm\.read\.ptx\.sreg\.warpsize|amdgcn\.wavefrontsize|spirv_BuiltInSubgroupSize",
    "get_local_id": r"nvvm\.read\.ptx\.sreg\.tid\.|amdgcn\.workitem\.id\.|spirv_BuiltInLocalInvocationI",
    "get_group_id": r"nvvm\.read\.ptx\.sreg\.ctaid\.|amdgcn\.workgroup\.id\.|spirv_BuiltInWorkgroupId",
    "get_local_size": r"nvvm\.read\.ptx\.sreg\.ntid\.|spirv_BuiltIn(?:Enqueued)?WorkgroupSize"
    r"|amdgcn\.(?:dispatch|implicitarg)\.ptr",
    "get_num_groups": r"nvvm\.read\.ptx\.sreg\.nctaid\.|spirv_BuiltInNumWorkgroups",
    "get_global_id": r"spirv_BuiltInGlobal(?:InvocationId|LinearId)",
    "get_global_size": r"spirv_BuiltInGlobalSize",
    "clock": r"nvvm\.read\.ptx\.sreg\.(?:global)?(?:clock|timer)|amdgcn\.s\.mem(?:real)?time|spirv_ReadClock",
    "sub_group_barrier": r"nvvm\.bar\.warp\.sync|amdgcn\.wave\.barrier",
    "barrier": r"nvvm\.(?:barrier|bar\.sync)|amdgcn\.s\.barrier|spirv_ControlBarrier",
    "mem_fence": r"nvvm\.(?:membar|fence)|spirv_MemoryBarrier",
    "sub_group_shuffle": r"nvvm\.shfl\.|amdgcn\.(?:ds\.(?:b?permute|swizzle)|(?:update|mov)\.dpp|permlane)"
    r"|spirv_(?:Subgroup|Group)\w*Shuffle",
    "sub_group_broadcast": r"amdgcn\.read(?:first)?lane|spirv_Group\w*Broadcast",
    "sub_group_reduce": r"nvvm\.redux\.sync|amdgcn\.wave\.reduce|spirv_Group\w*(?:Add|Min|Max|Mul)",
    "sub_group_ballot": r"nvvm\.(?:vote\.|match\.|activemask)|amdgcn\.(?:ballot|icmp|fcmp)"
    r"|spirv_Group\w*(?:All|Any|Ballot)",
    "exp2": r"nvvm\.ex2\.|amdgcn\.exp2",
    "native_log2": r"nvvm\.lg2\.|amdgcn\.log\b",
    "native_sin": r"nvvm\.sin\.|amdgcn\.sin\b",
    "native_cos": r"nvvm\.cos\.|amdgcn\.cos\b",
    "native_sqrt": r"nvvm\.r?sqrt\.|amdgcn\.(?:sqrt|rsq)\b",
    "fma": r"nvvm\.fma\.",
    "fmax": r"nvvm\.fmax\.|amdgcn\.fmed3",
    "fmin": r"nvvm\.fmin\.",
}
"""OpenCL's name of what other GPU languages call otherwise → beginnings of their names behind ``@llvm.`` or ``@__``."""
_OF_GPU = re.compile(
    r"@(?:llvm\.|__)(?:" + "|".join(f"(?P<{name}>{names})" for name, names in _SAME_FUNCTION.items()) + ")"
)
_RELATED = {
    "get_sub_group_local_id": "call @get_local_id …",
    "get_sub_group_size": "call @get_local_size …",
    "sub_group_barrier": "call @barrier …",
    "mem_fence": "call @barrier …",
    "sub_group_shuffle": "shufflevector …",
    "sub_group_broadcast": "shufflevector …",
    "sub_group_reduce": "call @llvm.vector.reduce.add …",
    "sub_group_ballot": "call @all …",
}
"""What stands for a GPU's operation in an embedding that has not seen it: of a work-group or a vector, the same."""
_OF_OPENCL = re.compile(r"(?:call|invoke|load) @(\w+) …")
_CALLS = frozenset({"call", "invoke", "callbr"})


def of_any_version(text: str) -> str:
    """A statement, or lines of them, without what depends on the LLVM that wrote it: flags that only newer ones infer.

    >>> of_any_version("<%ID> = getelementptr inbounds nuw i32, ptr <%ID>, i64 <%ID>")
    '<%ID> = getelementptr inbounds i32, ptr <%ID>, i64 <%ID>'
    """
    for flag in _INFERRED:
        text = text.replace(f" {flag} ", " ")
    return text.replace("trunc nsw ", "trunc ").replace(" undef", " poison")


def in_newer_steps(text: str) -> str:
    """An address as LLVM computes it since version 19: constant distances in bytes, in a step of their own.

    Of an address that takes two steps then, the first; other statements as they are.

    >>> in_newer_steps("<%ID> = getelementptr inbounds { ptr, i32 }, ptr <%ID>, i32 <INT>, i32 <INT>")
    '<%ID> = getelementptr inbounds nuw i8, ptr <%ID>, i64 <INT>'
    >>> in_newer_steps("<%ID> = getelementptr inbounds { ptr, i32 }, ptr <%ID>, i64 <%ID>, i32 <INT>")
    '<%ID> = getelementptr inbounds { ptr, i32 }, ptr <%ID>, i64 <%ID>'

    An element of an array of structures is where it is however their members are gathered in others:

    >>> in_newer_steps("<%ID> = getelementptr inbounds { { { ptr }, i8 } }, ptr <%ID>, i64 <%ID>, i32 <INT>")
    '<%ID> = getelementptr inbounds { ptr, i8 }, ptr <%ID>, i64 <%ID>'
    """
    found = _CONSTANT_OFFSET.fullmatch(text)
    if not found:
        return _ELEMENT.sub(lambda one: one[1] + one[2].replace("{ ", "").replace(" }", "") + one[3], text)
    address, type_, base, variable, constant = found.groups()
    if variable:
        return in_newer_steps(f"{address} {type_}{base}{variable}")
    of_a_field = " nuw" if "inbounds" in address and constant.count(",") > 1 else ""  # never before its structure
    return f"{address}{of_a_field} i8{base}, i64 <INT>"


def _without_flags(text: str) -> str:
    """Without flags, and integers without the buckets that `Abstraction.keep_immediates` gives them."""
    return _BUCKET.sub("<INT>", _TAIL.sub("", _FLAGS.sub("", text)))


def _without_alignment(text: str) -> str:
    return _ADDRESS_SPACE.sub("", _ALIGNMENT.sub("", text))


def _without_sizes(text: str) -> str:
    """Arrays of any length are ``[N x …]``."""
    return _LENGTH.sub("[N x ", text)


def _without_types(text: str) -> str:
    """Integers of any width are ``int``, floats ``fp``; aggregates lose what is inside them, vectors their length."""
    text = _PLACEHOLDER.sub(r"\\\1\\", text)
    text = _FLOAT.sub("fp", _INTEGER.sub("int", text))
    previous = ""
    while text != previous:
        previous = text
        text = _STRUCT.sub("struct", _ARRAY.sub("array", _VECTOR.sub(r"vector of \1", text)))
    text = _INDICES.sub(", N", text)
    return re.sub(r"\\([%@A-Z]+)\\", r"<\1>", text)


def _operation(text: str) -> str:
    """The opcode with its predicate, or with the function that it calls: of a GPU's registers, as OpenCL calls it."""
    found = _OPERATION.match(text)
    if not found:
        return text
    opcode = found["opcode"]
    if opcode == "load" and (register := _OF_GPU.search(text)):  # SPIR-V's are variables
        return f"load @{register.lastgroup} …"
    if opcode in _CALLS:
        callee = _CALLEE.search(text)
        name = callee[1] if callee else "<@ID>"
        of_gpu = _OF_GPU.match(name)
        return f"{opcode} {f'@{of_gpu.lastgroup}' if of_gpu else name} …"
    return f"{opcode} {found['predicate']} …" if found["predicate"] else f"{opcode} …"


def related_operation(form: str) -> str:
    """What a GPU's operation is most like, for an embedding that lacks it; other forms as they are.

    >>> related_operation("call @sub_group_shuffle …"), related_operation("load @get_global_id …")
    ('shufflevector …', 'call @get_global_id …')
    """
    found = _OF_OPENCL.fullmatch(form)
    return _RELATED.get(found[1], f"call @{found[1]} …") if found else form


def opcode_of(text: str) -> str:
    """The opcode of a statement or of any of its generalisations."""
    found = _OPERATION.match(_without_flags(text))
    return found["opcode"] if found else text


def generalisations(text: str) -> Iterator[str]:
    """The forms of `generalise` one by one, so that a search can stop at the first that it knows."""
    yield text
    text = _without_flags(text)
    yield text
    text = _without_alignment(text)
    yield text
    bare = text
    text = _without_sizes(text)
    yield text
    yield _without_types(text)
    yield _operation(bare)
    yield opcode_of(bare)


@functools.lru_cache(maxsize=1 << 16)
def generalise(text: str) -> tuple[str, ...]:
    """An abstracted statement and its generalisations, one for each `BackoffLevel`.

    Neighbouring levels may agree: a statement without flags is its own form without flags.

    >>> for form in generalise("<%ID> = add nsw i32 <%ID>, <INT>"): print(form)
    <%ID> = add nsw i32 <%ID>, <INT>
    <%ID> = add i32 <%ID>, <INT>
    <%ID> = add i32 <%ID>, <INT>
    <%ID> = add i32 <%ID>, <INT>
    <%ID> = add int <%ID>, <INT>
    add …
    add
    """
    return tuple(generalisations(text))
