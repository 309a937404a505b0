extern "C" __global__ void __launch_bounds__(16) wide(float* __restrict__ data0_256, const float* __restrict__ data1_256) {
  int gidx0 = blockIdx.x;
  int lidx0 = threadIdx.x;
  int alu0 = (gidx0 << 6) + (lidx0 << 2);
  float4 val0 = *((float4*)(data1_256 + alu0));
  float4 vec0 = float4{exp2f(val0.x) + val0.x, exp2f(val0.y) + val0.y, exp2f(val0.z) + val0.z, exp2f(val0.w) + val0.w};
  *((float4*)(data0_256 + alu0)) = vec0;
}
