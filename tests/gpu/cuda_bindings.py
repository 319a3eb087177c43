"""A small driver-API program over NVIDIA's cuda-bindings; see cuda_bindings.sh."""

import ctypes
import struct

from cuda.bindings import driver

PTX = b"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry saxpy(.param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n)
{
  .reg .pred %p; .reg .u32 %r<6>; .reg .f32 %f<5>; .reg .u64 %d<6>;
  ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y]; ld.param.f32 %f1, [a]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4; setp.ge.u32 %p, %r5, %r1; @%p ret;
  mul.wide.u32 %d3, %r5, 4; add.u64 %d4, %d1, %d3; add.u64 %d5, %d2, %d3;
  ld.global.f32 %f2, [%d4]; ld.global.f32 %f3, [%d5];
  fma.rn.f32 %f4, %f1, %f2, %f3; st.global.f32 [%d5], %f4; ret;
}
.visible .entry stray()
{
  .reg .u32 %r; .reg .u64 %d;
  mov.u64 %d, 64; mov.u32 %r, 1; st.global.u32 [%d], %r; ret;
}
"""
N = 1000


def call(function, *args):
    code, *rest = function(*args)
    assert code == driver.CUresult.CUDA_SUCCESS, (function.__name__, code)
    return rest[0] if len(rest) == 1 else rest


call(driver.cuInit, 0)
device = call(driver.cuDeviceGet, 0)
assert call(driver.cuDeviceGetName, 64, device).startswith(b"NVIDIA H100 (software)")
context = call(driver.cuDevicePrimaryCtxRetain, device)
call(driver.cuCtxSetCurrent, context)
module = call(driver.cuModuleLoadData, PTX)
saxpy = call(driver.cuModuleGetFunction, module, b"saxpy")
x = call(driver.cuMemAlloc, 4 * N)
y = call(driver.cuMemAlloc, 4 * N)
call(driver.cuMemcpyHtoD, x, struct.pack(f"{N}f", *range(N)), 4 * N)
call(driver.cuMemsetD32, y, 0x3F800000, N)  # 1.0
stream = call(driver.cuStreamCreate, 0)
start, end = call(driver.cuEventCreate, 0), call(driver.cuEventCreate, 0)
call(driver.cuEventRecord, start, stream)
types = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_float, ctypes.c_uint)
values = (int(x), int(y), 2.0, N)
call(driver.cuLaunchKernel, saxpy, 8, 1, 1, 128, 1, 1, 0, stream, (values, types), 0)
call(driver.cuEventRecord, end, stream)
call(driver.cuStreamSynchronize, stream)
assert call(driver.cuEventElapsedTime, start, end) > 0
result = bytearray(4 * N)
call(driver.cuMemcpyDtoH, result, y, 4 * N)
assert list(struct.unpack(f"{N}f", result)) == [2.0 * i + 1 for i in range(N)]

# A broken kernel breaks the context, and a reset mends it.
stray = call(driver.cuModuleGetFunction, module, b"stray")
call(driver.cuLaunchKernel, stray, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0)
illegal = driver.CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
assert driver.cuCtxSynchronize()[0] == illegal
assert driver.cuMemAlloc(4)[0] == illegal
call(driver.cuDevicePrimaryCtxReset, device)
call(driver.cuMemAlloc, 4)
print("cuda-bindings runs on the software driver")
