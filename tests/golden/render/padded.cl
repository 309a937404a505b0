#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__kernel void padded_(__global half* restrict data0_40, const __global half* restrict data1_36) {
  int gidx0 = get_group_id(0);
  int lidx0 = get_local_id(0);
  int alu0 = (gidx0 << 3) + lidx0;
  half val0 = (3 < alu0) ? data1_36[alu0 + (-4)] : ((half)0.0f);
  data0_40[alu0] = val0 * ((half)0.5f);
}
