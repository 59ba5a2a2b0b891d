"""Numbers of threads, as SPIR-V and AMD name them: registers and strides, and launches that know them."""

import pytest

import ncc
from tests.rooms import Module, decode, read_module, thread_strides
from tests.support.text import rows

DECLARATIONS = """
@__spirv_BuiltInGlobalInvocationId = external addrspace(1) constant <3 x i64>
@__spirv_BuiltInLocalInvocationId = external addrspace(1) constant <3 x i64>
@__spirv_BuiltInSubgroupLocalInvocationId = external addrspace(1) constant i32
declare i64 @_Z13get_global_idj(i32)
declare i64 @_Z33__spirv_BuiltInGlobalInvocationIdi(i32)
declare i64 @_Z26__spirv_BuiltInWorkgroupIdi(i32)
declare i64 @_Z29__spirv_BuiltInGlobalLinearIdv()
declare i64 @_Z28__spirv_GlobalInvocationId_xv()
declare i64 @_Z28__spirv_GlobalInvocationId_yv()
declare i32 @llvm.spv.thread.id.i32(i32)
declare i32 @llvm.spv.thread.id.in.group.i32(i32)
declare i32 @llvm.spv.group.id.i32(i32)
declare i32 @llvm.spv.wave.get.lane.index()
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workitem.id.y()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare void @_Z22__spirv_ControlBarrieriii(i32, i32, i32)
"""
INVOCATION = "ptr addrspace(1) @__spirv_BuiltInGlobalInvocationId"


def kernel(body: str) -> Module:
    text = f"{DECLARATIONS}\ndefine spir_kernel void @k(ptr addrspace(1) %p, i64 %n) {{\n{body}\n  ret void\n}}\n"
    return read_module(text.encode())


@pytest.mark.parametrize(("lines", "register", "stride"), rows("registers.txt"))
def test_numbers_of_threads_and_their_strides(lines: str, register: str, stride: str) -> None:
    module = kernel(f"  {lines}")
    last = decode(module, 0)[-2]
    assert last.register == register
    assert thread_strides(module, 0)[last.result] == pytest.approx(float(stride), nan_ok=True)


def test_launches_know_spirvs_numbers() -> None:
    text = f"""{DECLARATIONS}
define spir_kernel void @k(ptr addrspace(1) %p) {{
entry:
  %i = load i64, {INVOCATION}, align 32
  %inside = icmp ult i64 %i, 100
  br i1 %inside, label %work, label %end
work:
  call void @_Z22__spirv_ControlBarrieriii(i32 2, i32 2, i32 272)
  br label %end
end:
  ret void
}}
"""
    (found,) = ncc.profile(text, grid=[4], block=[50])
    assert found.per_thread["barrier"] == pytest.approx(0.5)
