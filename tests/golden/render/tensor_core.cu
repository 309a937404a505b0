#include <cuda_fp16.h>
struct __align__(4) vhalf2 { half s[2]; };
struct __align__(8) vhalf4 { half s[4]; };
struct __align__(16) vhalf8 { half s[8]; };
__device__ __forceinline__ float4 mma_16_8_16_half(vhalf8 a, vhalf4 b, float4 c) { // 16 by 16 times 16 by 8, over a warp
  const int* x = (const int*)&a;
  const int* y = (const int*)&b;
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c.x), "+f"(c.y), "+f"(c.z), "+f"(c.w)
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
  return c;
}

extern "C" __global__ void __launch_bounds__(32) tensor_core(float* __restrict__ data0_1024, const half* __restrict__ data1_2048, const half* __restrict__ data2_2048) {
  float acc0[4];
  int gidx0 = blockIdx.x;
  int alu0 = gidx0 << 3;
  int gidx1 = blockIdx.y;
  int lidx0 = threadIdx.x;
  int alu1 = lidx0 >> 2;
  int alu2 = lidx0 & 3;
  int alu3 = alu2 << 1;
  int alu4 = alu0 + (gidx1 << 9) + (alu1 << 5) + alu3;
  acc0[0] = 0.0f;
  acc0[1] = 0.0f;
  acc0[2] = 0.0f;
  acc0[3] = 0.0f;
  for (int Ridx2 = 0; Ridx2 < 4; Ridx2++) {
    int alu5 = (gidx1 << 10) + (alu1 << 6) + alu3 + (Ridx2 << 4);
    vhalf2 val0 = *((vhalf2*)(data1_2048 + alu5));
    vhalf2 val1 = *((vhalf2*)(data1_2048 + alu5 + 512));
    vhalf2 val2 = *((vhalf2*)(data1_2048 + alu5 + 8));
    vhalf2 val3 = *((vhalf2*)(data1_2048 + alu5 + 520));
    int alu6 = alu0 + alu1 + (alu2 << 6) + (Ridx2 << 9);
    half val4 = data2_2048[alu6];
    half val5 = data2_2048[alu6 + 32];
    half val6 = data2_2048[alu6 + 256];
    half val7 = data2_2048[alu6 + 288];
    float val8 = acc0[0];
    float val9 = acc0[1];
    float val10 = acc0[2];
    float val11 = acc0[3];
    float4 wmma0 = mma_16_8_16_half(vhalf8{val0.s[0], val0.s[1], val1.s[0], val1.s[1], val2.s[0], val2.s[1], val3.s[0], val3.s[1]}, vhalf4{val4, val5, val6, val7}, float4{val8, val9, val10, val11});
    acc0[0] = wmma0.x;
    acc0[1] = wmma0.y;
    acc0[2] = wmma0.z;
    acc0[3] = wmma0.w;
  }
  float val12 = acc0[0];
  float val13 = acc0[1];
  *((float2*)(data0_1024 + alu4)) = float2{val12, val13};
  float val14 = acc0[2];
  float val15 = acc0[3];
  *((float2*)(data0_1024 + alu4 + 256)) = float2{val14, val15};
}
