#include <metal_stdlib>
using namespace metal;

kernel void tiled(device float* data0_256 [[buffer(0)]], const device float* data1_256 [[buffer(1)]], const device float* data2_256 [[buffer(2)]], uint3 gid [[threadgroup_position_in_grid]], uint3 lid [[thread_position_in_threadgroup]], uint3 all [[thread_position_in_grid]]) {
  float acc0[8];
  int gidx0 = gid.x;
  int alu0 = gidx0 << 2;
  int gidx1 = gid.y;
  int alu1 = gidx1 << 7;
  int lidx0 = lid.x;
  int lidx1 = lid.y;
  int alu2 = lidx1 << 4;
  int alu3 = alu0 + alu1 + lidx0 + alu2;
  acc0[0] = 0.0f;
  acc0[1] = 0.0f;
  acc0[2] = 0.0f;
  acc0[3] = 0.0f;
  acc0[4] = 0.0f;
  acc0[5] = 0.0f;
  acc0[6] = 0.0f;
  acc0[7] = 0.0f;
  for (int Ridx2 = 0; Ridx2 < 4; Ridx2++) {
    float val0 = acc0[0];
    int alu4 = alu1 + alu2 + (Ridx2 << 2);
    float4 val1 = *((device float4*)(data1_256 + alu4));
    int alu5 = alu0 + lidx0 + (Ridx2 << 6);
    float val2 = data2_256[alu5];
    acc0[0] = val0 + (val1.x * val2);
    float val3 = acc0[1];
    float4 val4 = *((device float4*)(data1_256 + alu4 + 64));
    acc0[1] = val3 + (val4.x * val2);
    float val5 = acc0[2];
    float val6 = data2_256[alu5 + 16];
    acc0[2] = val5 + (val1.y * val6);
    float val7 = acc0[3];
    acc0[3] = val7 + (val4.y * val6);
    float val8 = acc0[4];
    float val9 = data2_256[alu5 + 32];
    acc0[4] = val8 + (val1.z * val9);
    float val10 = acc0[5];
    acc0[5] = val10 + (val4.z * val9);
    float val11 = acc0[6];
    float val12 = data2_256[alu5 + 48];
    acc0[6] = val11 + (val1.w * val12);
    float val13 = acc0[7];
    acc0[7] = val13 + (val4.w * val12);
  }
  float val14 = acc0[0];
  float val15 = acc0[2];
  float val16 = acc0[4];
  float val17 = acc0[6];
  data0_256[alu3] = val14 + val15 + (val16 + val17);
  float val18 = acc0[1];
  float val19 = acc0[3];
  float val20 = acc0[5];
  float val21 = acc0[7];
  data0_256[alu3 + 64] = val18 + val19 + (val20 + val21);
}
