typedef unsigned char bool8 __attribute__((ext_vector_type(8), aligned(1)));
typedef float float8 __attribute__((ext_vector_type(8), aligned(4)));

void E_2_8(float* restrict data0_16, const float* restrict data1_16, _Bool* restrict data2_16, const float* restrict data3_1) {
  float val0 = data3_1[0];
  for (int Lidx0 = 0; Lidx0 < 2; Lidx0++) {
    int alu0 = Lidx0 << 3;
    float8 val1 = *(float8*)(data1_16 + alu0);
    bool8 alu1 = __builtin_convertvector(-(val0 < val1), bool8);
    *(bool8*)(data2_16 + alu0) = alu1;
    float8 alu2 = __builtin_elementwise_sqrt(((val1 < 0.0f) ? (val1 * val0) : val1) + val0 + __builtin_convertvector(alu1, float8));
    *(float8*)(data0_16 + alu0) = (alu2 < val1) | (val1 != val1) ? val1 : alu2;
  }
}
