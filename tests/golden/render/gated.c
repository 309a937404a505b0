typedef _Float16 half;

void E_n(half* restrict data0_100, const half* restrict data1_90, const _Bool* restrict data2_100, int n) {
  for (int Lidx0 = 0; Lidx0 < n; Lidx0++) {
    half val0 = ((4 < Lidx0) & (Lidx0 < 95)) ? data1_90[Lidx0 - 5] : ((half)0.0f);
    _Bool val1 = data2_100[Lidx0];
    if (val1) {
      data0_100[Lidx0] = val0 * ((half)0.099975586f);
    }
  }
}
