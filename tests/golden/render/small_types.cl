__kernel void small_types_(__global char* restrict data0_30, const __global char* restrict data1_30, const __global uchar* restrict data2_30, const int n) {
  int gidx0 = get_group_id(0);
  bool val0 = data2_30[gidx0] != 0;
  char val1 = data1_30[gidx0];
  data0_30[gidx0] = val0 ? ((char)(val1 * 3)) : val1;
}
