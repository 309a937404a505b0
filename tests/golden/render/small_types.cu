extern "C" __global__ void __launch_bounds__(1) small_types(signed char* __restrict__ data0_30, const signed char* __restrict__ data1_30, const bool* __restrict__ data2_30, const int n) {
  int gidx0 = blockIdx.x;
  bool val0 = data2_30[gidx0];
  signed char val1 = data1_30[gidx0];
  data0_30[gidx0] = val0 ? ((signed char)(val1 * 3)) : val1;
}
