void r_8_8_8(float* restrict data0_64, const float* restrict data1_64, const float* restrict data2_64) {
  float acc0[1];
  for (int Lidx0 = 0; Lidx0 < 8; Lidx0++) {
    for (int Lidx1 = 0; Lidx1 < 8; Lidx1++) {
      int alu0 = Lidx0 * 8;
      acc0[0] = 0.0f;
      for (int Ridx2 = 0; Ridx2 < 8; Ridx2++) {
        float val0 = data1_64[alu0 + Ridx2];
        float val1 = data2_64[(Ridx2 * 8) + Lidx1];
        float val2 = acc0[0];
        acc0[0] = val2 + (val0 * val1);
      }
      float val3 = acc0[0];
      data0_64[alu0 + Lidx1] = val3;
    }
  }
}
