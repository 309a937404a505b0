__kernel void wide_(__global float* restrict data0_256, const __global float* restrict data1_256) {
  int gidx0 = get_group_id(0);
  int lidx0 = get_local_id(0);
  int alu0 = (gidx0 << 6) + (lidx0 << 2);
  float4 val0 = *((__global float4*)(data1_256 + alu0));
  float4 vec0 = (float4)(exp2(val0.s0) + val0.s0, exp2(val0.s1) + val0.s1, exp2(val0.s2) + val0.s2, exp2(val0.s3) + val0.s3);
  *((__global float4*)(data0_256 + alu0)) = vec0;
}
