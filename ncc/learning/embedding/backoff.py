"""Back-off: more and more general forms of a statement, so that every statement has a vector.

The paper maps all statements outside the vocabulary to one UNK; here each takes its nearest form in the vocabulary.
"""

import functools
import re
from collections.abc import Iterator
from enum import IntEnum


class Backoff(IntEnum):
    """Level of generalization at which a statement is found in the vocabulary."""

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
_GPU_NAMES = {
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
"""OpenCL name → prefixes of the names in other GPU languages, after ``@llvm.`` or ``@__``."""
_GPU_NAME = re.compile(
    r"@(?:llvm\.|__)(?:" + "|".join(f"(?P<{name}>{names})" for name, names in _GPU_NAMES.items()) + ")"
)
_NEAREST = {
    "get_sub_group_local_id": "call @get_local_id …",
    "get_sub_group_size": "call @get_local_size …",
    "sub_group_barrier": "call @barrier …",
    "mem_fence": "call @barrier …",
    "sub_group_shuffle": "shufflevector …",
    "sub_group_broadcast": "shufflevector …",
    "sub_group_reduce": "call @llvm.vector.reduce.add …",
    "sub_group_ballot": "call @all …",
}
"""Nearest form of a GPU operation for embeddings that lack it: its equivalent on a work-group or a vector."""
_OPENCL_OPERATION = re.compile(r"(?:call|invoke|load) @(\w+) …")
_CALLS = frozenset({"call", "invoke", "callbr"})


def strip_inferred_flags(text: str) -> str:
    """Strip flags that only newer versions of LLVM infer, from a statement or from lines of them.

    >>> strip_inferred_flags("<%ID> = getelementptr inbounds nuw i32, ptr <%ID>, i64 <%ID>")
    '<%ID> = getelementptr inbounds i32, ptr <%ID>, i64 <%ID>'
    """
    for flag in _INFERRED:
        text = text.replace(f" {flag} ", " ")
    return text.replace("trunc nsw ", "trunc ").replace(" undef", " poison")


def split_constant_offset(text: str) -> str:
    """Write an address as LLVM does since version 19, with constant offsets in bytes and in a separate step.

    Of two steps, return the first; return other statements unchanged.

    >>> split_constant_offset("<%ID> = getelementptr inbounds { ptr, i32 }, ptr <%ID>, i32 <INT>, i32 <INT>")
    '<%ID> = getelementptr inbounds nuw i8, ptr <%ID>, i64 <INT>'
    >>> split_constant_offset("<%ID> = getelementptr inbounds { ptr, i32 }, ptr <%ID>, i64 <%ID>, i32 <INT>")
    '<%ID> = getelementptr inbounds { ptr, i32 }, ptr <%ID>, i64 <%ID>'

    The address of an element of an array of structures does not depend on their nesting:

    >>> split_constant_offset("<%ID> = getelementptr inbounds { { { ptr }, i8 } }, ptr <%ID>, i64 <%ID>, i32 <INT>")
    '<%ID> = getelementptr inbounds { ptr, i8 }, ptr <%ID>, i64 <%ID>'
    """
    match = _CONSTANT_OFFSET.fullmatch(text)
    if not match:
        return _ELEMENT.sub(lambda part: part[1] + part[2].replace("{ ", "").replace(" }", "") + part[3], text)
    address, type_, base, variable, constant = match.groups()
    if variable:
        return split_constant_offset(f"{address} {type_}{base}{variable}")
    nuw = " nuw" if "inbounds" in address and constant.count(",") > 1 else ""  # a field is not before its structure
    return f"{address}{nuw} i8{base}, i64 <INT>"


def _strip_flags(text: str) -> str:
    """Strip flags, and the integer buckets of `Abstraction.keep_immediates`."""
    return _BUCKET.sub("<INT>", _TAIL.sub("", _FLAGS.sub("", text)))


def _generalize_types(text: str) -> str:
    """Replace integer types with int, floats with fp; drop the members of aggregates and the lengths of vectors."""
    text = _PLACEHOLDER.sub(r"\\\1\\", text)
    text = _FLOAT.sub("fp", _INTEGER.sub("int", text))
    previous = ""
    while text != previous:
        previous = text
        text = _STRUCT.sub("struct", _ARRAY.sub("array", _VECTOR.sub(r"vector of \1", text)))
    text = _INDICES.sub(", N", text)
    return re.sub(r"\\([%@A-Z]+)\\", r"<\1>", text)


def _operation(text: str) -> str:
    """The opcode with its predicate or callee; GPU registers and functions under their OpenCL names."""
    match = _OPERATION.match(text)
    if not match:
        return text
    opcode, predicate = match["opcode"], match["predicate"]
    if opcode == "load" and (register := _GPU_NAME.search(text)):  # variables in SPIR-V
        return f"load @{register.lastgroup} …"
    if opcode in _CALLS:
        callee = _CALLEE.search(text)
        name = callee[1] if callee else "<@ID>"
        gpu = _GPU_NAME.match(name)
        return f"{opcode} {f'@{gpu.lastgroup}' if gpu else name} …"
    return f"{opcode} {predicate} …" if predicate else f"{opcode} …"


def nearest_opencl_operation(form: str) -> str:
    """The nearest OpenCL form of a GPU's operation; other forms unchanged.

    >>> nearest_opencl_operation("call @sub_group_shuffle …"), nearest_opencl_operation("load @get_global_id …")
    ('shufflevector …', 'call @get_global_id …')
    """
    match = _OPENCL_OPERATION.fullmatch(form)
    return _NEAREST.get(match[1], f"call @{match[1]} …") if match else form


def opcode_of(text: str) -> str:
    """The opcode of a statement or of one of its generalizations."""
    match = _OPERATION.match(_strip_flags(text))
    return match["opcode"] if match else text


def generalizations(text: str) -> Iterator[str]:
    """Yield the forms of `generalize`, so that a search can stop at the first in a vocabulary."""
    yield text
    text = _strip_flags(text)
    yield text
    bare = _ADDRESS_SPACE.sub("", _ALIGNMENT.sub("", text))
    yield bare
    text = _LENGTH.sub("[N x ", bare)
    yield text
    yield _generalize_types(text)
    yield _operation(bare)
    yield opcode_of(bare)


@functools.lru_cache(maxsize=1 << 16)
def generalize(text: str) -> tuple[str, ...]:
    """An abstracted statement and its generalizations, one per `Backoff`; adjacent forms may be equal.

    >>> for form in generalize("<%ID> = add nsw i32 <%ID>, <INT>"): print(form)
    <%ID> = add nsw i32 <%ID>, <INT>
    <%ID> = add i32 <%ID>, <INT>
    <%ID> = add i32 <%ID>, <INT>
    <%ID> = add i32 <%ID>, <INT>
    <%ID> = add int <%ID>, <INT>
    add …
    add
    """
    return tuple(generalizations(text))
