#include <metal_stdlib>
using namespace metal;

float2 simdgroup_8_8_8_half(half2 a, half2 b, float2 c) { // a product of two 8 by 8 tiles, two elements a thread
  simdgroup_matrix<half, 8, 8> x, y;
  simdgroup_matrix<float, 8, 8> z;
  x.thread_elements()[0] = a.x; x.thread_elements()[1] = a.y;
  y.thread_elements()[0] = b.x; y.thread_elements()[1] = b.y;
  z.thread_elements()[0] = c.x; z.thread_elements()[1] = c.y;
  simdgroup_multiply_accumulate(z, x, y, z);
  return float2(z.thread_elements()[0], z.thread_elements()[1]);
}
kernel void tensor_core(device float* data0_1024 [[buffer(0)]], const device half* data1_2048 [[buffer(1)]], const device half* data2_2048 [[buffer(2)]], uint3 gid [[threadgroup_position_in_grid]], uint3 lid [[thread_position_in_threadgroup]], uint3 all [[thread_position_in_grid]]) {
  float acc0[2];
  int gidx0 = gid.x;
  int alu0 = gidx0 << 3;
  int gidx1 = gid.y;
  int lidx0 = lid.x;
  int alu1 = lidx0 >> 4;
  int alu2 = alu1 << 7;
  int alu3 = lidx0 & 1;
  int alu4 = alu3 << 1;
  int alu5 = (lidx0 >> 1) & 3;
  int alu6 = alu5 << 5;
  int alu7 = (lidx0 >> 3) & 1;
  int alu8 = alu7 << 2;
  acc0[0] = 0.0f;
  acc0[1] = 0.0f;
  for (int Ridx2 = 0; Ridx2 < 8; Ridx2++) {
    half2 val0 = *((device half2*)(data1_2048 + (gidx1 << 9) + (alu1 << 8) + alu4 + (alu5 << 6) + alu8 + (Ridx2 << 3)));
    half2 val1 = *((device half2*)(data2_2048 + alu0 + alu2 + alu4 + alu6 + alu8 + (Ridx2 << 8)));
    float val2 = acc0[0];
    float val3 = acc0[1];
    float2 wmma0 = simdgroup_8_8_8_half(val0, val1, float2(val2, val3));
    acc0[0] = wmma0.x;
    acc0[1] = wmma0.y;
  }
  float val4 = acc0[0];
  float val5 = acc0[1];
  *((device float2*)(data0_1024 + alu0 + (gidx1 << 8) + alu2 + alu4 + alu6 + alu8)) = float2(val4, val5);
}
