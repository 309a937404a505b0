#include <cuda_fp16.h>

extern "C" __global__ void __launch_bounds__(8) padded(half* __restrict__ data0_40, const half* __restrict__ data1_36) {
  int gidx0 = blockIdx.x;
  int lidx0 = threadIdx.x;
  int alu0 = (gidx0 << 3) + lidx0;
  half val0 = (3 < alu0) ? data1_36[alu0 + (-4)] : ((half)0.0f);
  data0_40[alu0] = val0 * ((half)0.5f);
}
