#include <metal_stdlib>
using namespace metal;

kernel void padded(device half* data0_40 [[buffer(0)]], const device half* data1_36 [[buffer(1)]], uint3 gid [[threadgroup_position_in_grid]], uint3 lid [[thread_position_in_threadgroup]], uint3 all [[thread_position_in_grid]]) {
  int gidx0 = gid.x;
  int lidx0 = lid.x;
  int alu0 = (gidx0 << 3) + lidx0;
  half val0 = (3 < alu0) ? data1_36[alu0 + (-4)] : ((half)0.0f);
  data0_40[alu0] = val0 * ((half)0.5f);
}
