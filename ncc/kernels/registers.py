"""The numbers that a GPU's hardware has for a thread, by the names of OpenCL, CUDA, AMD and SPIR-V.

SPIR-V's are built-in variables (SYCL, the translator of Khronos), functions with a number, or LLVM's own intrinsics.
"""

import re

from ncc.ir.reader.module import Module

_HARDWARE = re.compile(
    r"ptx\.sreg\.((?:n?ctaid|n?tid)\.[xyz]|warpsize|laneid)|amdgcn\.(workitem|workgroup)\.id\.([xyz])"
)
_OPENCL = re.compile(
    r"get_(global_id|local_id|group_id|local_size|num_groups|global_size)j?\(i32 (?:noundef )?([012])\)"
)
_OPENCL_NAMES = {
    "local_id": "tid", "group_id": "ctaid", "local_size": "ntid", "num_groups": "nctaid",
    "workitem": "tid", "workgroup": "ctaid",
}  # fmt: skip
_SPIRV_NAMES = {
    "LocalInvocationId": "tid", "WorkgroupId": "ctaid", "WorkgroupSize": "ntid", "NumWorkgroups": "nctaid",
    "GlobalInvocationId": "global_id", "GlobalSize": "global_size",
    "SubgroupLocalInvocationId": "laneid", "SubgroupSize": "warpsize",
    "thread.id.in.group": "tid", "group.id": "ctaid", "workgroup.size": "ntid", "num.workgroups": "nctaid",
    "thread.id": "global_id", "global.size": "global_size",
    "subgroup.local.invocation.id": "laneid", "wave.get.lane.index": "laneid",
    "subgroup.size": "warpsize", "wave.get.lane.count": "warpsize",
}  # fmt: skip
_WITHOUT_AXIS = frozenset(("laneid", "warpsize"))
_SPIRV = re.compile(r"__spirv_(?:BuiltIn)?([A-Z][A-Za-z]*?)(?:_([xyz])v?|[iv]?)$")
_INTRINSIC = re.compile(r"llvm\.spv\.([a-z.]+?)(?:\.i\d+)?$")
_THREAD = re.compile(r"get_(?:global|local)_(?:linear_)?id|BuiltIn(?:LocalInvocationIndex|GlobalLinearId)")
_ARGUMENT = re.compile(r"\(i32 (?:noundef )?([012])\)")
_LOAD = re.compile(r"load (?:volatile )?(<|i)")
_VARIABLE = re.compile(r"@(__spirv_BuiltIn\w+)")
_INSIDE = re.compile(r"getelementptr[^(]*\((.*?), i\d+ (\d+)\)")
_LANE = re.compile(r", i\d+ ([012])$")


def reads_variable(module: Module, statement: int) -> bool:
    """Whether a load is of one of SPIR-V's built-in variables, which is not a memory access."""
    return module.opcode_name(statement) == "load" and bool(_VARIABLE.search(_source(module, statement)))


def register_of(module: Module, statement: int) -> str:
    """The number that a statement reads: "tid.x", "ctaid.y", "global_id.z", "laneid"; empty for other statements.

    That is a call with a known axis, the load of a built-in variable that is one number or of one of its elements, or
    what takes an element out of the whole.
    """
    opcode = module.opcode_name(statement)
    if opcode == "call":
        return _of_call(module, statement)
    source = _source(module, statement) if opcode in ("load", "extractelement") else ""
    if opcode == "extractelement" and (lane := _LANE.search(source)):
        vector = module.operands(statement)[0]
        loaded = int(module.node_definition[vector]) if vector >= 0 else -1
        if loaded >= 0 and int(module.result[loaded]) == vector and reads_variable(module, loaded):
            return _named(_variable(_source(module, loaded)), "xyz"[int(lane[1])])
    if opcode == "load" and (variable := _variable(source)):
        name = _named(variable, "x")
        if name in _WITHOUT_AXIS or not (kind := _LOAD.search(source)) or kind[1] == "<":
            return name if name in _WITHOUT_AXIS else ""
        inside = _INSIDE.search(source)
        if not inside:
            return name
        step = int(inside[2]) // 8 if inside[1].startswith("i8") else int(inside[2])
        return _named(variable, "xyz"[step]) if step < 3 else ""
    return ""


def asked_dimension(module: Module, statement: int) -> str:
    """Dimension whose thread number is read: "0" to "2", "?" if a value decides; empty for other statements."""
    kind, _, axis = register_of(module, statement).partition(".")
    if kind in ("tid", "global_id"):
        return str("xyz".index(axis))
    callee = int(module.callee[statement])
    if callee < 0 or not _THREAD.search(module.node_name(callee)):
        return ""
    source = _source(module, statement)
    found = _ARGUMENT.search(source)
    return found[1] if found else "0" if "()" in source else "?"


def _of_call(module: Module, statement: int) -> str:
    callee = int(module.callee[statement])
    if callee < 0:
        return ""
    name = module.node_name(callee)
    if found := _HARDWARE.search(name):
        return found[1] or f"{_OPENCL_NAMES[found[2]]}.{found[3]}"
    if found := _SPIRV.search(name) or _INTRINSIC.search(name):
        axis = found[2] if found.re is _SPIRV else None
        argument = _ARGUMENT.search(_source(module, statement))
        return _named(found[1], axis or ("xyz"[int(argument[1])] if argument else ""))
    if name.startswith("_Z") and (found := _OPENCL.search(_source(module, statement))):
        return f"{_OPENCL_NAMES.get(found[1], found[1])}.{'xyz'[int(found[2])]}"
    return ""


def _named(spirv: str, axis: str) -> str:
    name = _SPIRV_NAMES.get(spirv, "")
    return name if name in _WITHOUT_AXIS else f"{name}.{axis}" if name and axis else ""


def _variable(source: str) -> str:
    found = _VARIABLE.search(source)
    name = _SPIRV.fullmatch(found[1]) if found else None
    return name[1] if name else ""


def _source(module: Module, statement: int) -> str:
    return module.statement_source(statement).split(", !", 1)[0].split(", align", 1)[0]
