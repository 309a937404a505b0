#include <metal_stdlib>
using namespace metal;

kernel void small_types(device char* data0_30 [[buffer(0)]], const device char* data1_30 [[buffer(1)]], const device bool* data2_30 [[buffer(2)]], constant int& n [[buffer(3)]], uint3 gid [[threadgroup_position_in_grid]], uint3 lid [[thread_position_in_threadgroup]], uint3 all [[thread_position_in_grid]]) {
  int gidx0 = gid.x;
  bool val0 = data2_30[gidx0];
  char val1 = data1_30[gidx0];
  data0_30[gidx0] = val0 ? ((char)(val1 * 3)) : val1;
}
