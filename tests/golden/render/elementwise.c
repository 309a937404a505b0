typedef float float4 __attribute__((ext_vector_type(4), aligned(4)));

void E_4_4(float* restrict data0_16, const float* restrict data1_16, const float* restrict data2_16) {
  for (int Lidx0 = 0; Lidx0 < 4; Lidx0++) {
    int alu0 = Lidx0 * 4;
    float4 val0 = *(float4*)(data1_16 + alu0);
    float4 val1 = *(float4*)(data2_16 + alu0);
    float alu1 = val0[0] + val1[0];
    float alu2 = val0[1] + val1[1];
    float alu3 = val0[2] + val1[2];
    float alu4 = val0[3] + val1[3];
    float4 vec0 = (float4){alu1 < 0.0f ? 0.0f : alu1, alu2 < 0.0f ? 0.0f : alu2, alu3 < 0.0f ? 0.0f : alu3, alu4 < 0.0f ? 0.0f : alu4};
    *(float4*)(data0_16 + alu0) = vec0;
  }
}
