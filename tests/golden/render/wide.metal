#include <metal_stdlib>
using namespace metal;

kernel void wide(device float* data0_256 [[buffer(0)]], const device float* data1_256 [[buffer(1)]], uint3 gid [[threadgroup_position_in_grid]], uint3 lid [[thread_position_in_threadgroup]], uint3 all [[thread_position_in_grid]]) {
  int gidx0 = gid.x;
  int lidx0 = lid.x;
  int alu0 = (gidx0 << 6) + (lidx0 << 2);
  float4 val0 = *((device float4*)(data1_256 + alu0));
  float4 vec0 = float4(precise::exp2(val0.x) + val0.x, precise::exp2(val0.y) + val0.y, precise::exp2(val0.z) + val0.z, precise::exp2(val0.w) + val0.w);
  *((device float4*)(data0_256 + alu0)) = vec0;
}
