extern "C" __global__ void __launch_bounds__(16) grouped(float* __restrict__ data0_8, const float* __restrict__ data1_512) {
  __shared__ __align__(16) float temp0[16];
  float acc0[1];
  float acc1[1];
  int gidx0 = blockIdx.x;
  int lidx0 = threadIdx.x;
  bool alu0 = (lidx0 != 0) != 1;
  acc0[0] = 0.0f;
  for (int Ridx1 = 0; Ridx1 < 4; Ridx1++) {
    float val0 = acc0[0];
    float val1 = data1_512[(gidx0 << 6) + (lidx0 << 2) + Ridx1];
    acc0[0] = val0 + val1;
  }
  acc1[0] = 0.0f;
  float val2 = acc0[0];
  temp0[lidx0] = val2;
  __syncthreads();
  for (int Ridx2_2 = 0; Ridx2_2 < 16; Ridx2_2++) {
    float val3 = acc1[0];
    float val4 = temp0[Ridx2_2];
    acc1[0] = val3 + val4;
  }
  float val5 = acc1[0];
  if (alu0) {
    data0_8[gidx0] = val5;
  }
}
