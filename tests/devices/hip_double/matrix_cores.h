// The arithmetic of AMD's matrix instructions over a wavefront, as AMD's documents lay their operands out: the CDNA
// instruction set and the matrix instruction calculator for MFMA, "How to accelerate AI applications on RDNA 3 using
// WMMA" for WMMA. Written apart from the layouts of the engine, so that a test can compare both.
//
//   multiplyMfmaHalf(operandsOfAll64Threads, lane, results);     // the results that this thread holds
#pragma once
#include "engine/uop/dtype.h"

#include <cstdint>

namespace uopscope::testing {

/// What a thread gives to an instruction, as bits.
struct MatrixOperands {
  uint16_t a[16], b[16];
  float c[8];
};

inline float fromHalfBits(uint16_t bits) {
  return static_cast<float>(dtypes::fromHalf(bits));
}
inline float fromBfloatBits(uint16_t bits) {
  return static_cast<float>(dtypes::fromBFloat16(bits));
}

/// V_MFMA_F32_16X16X16: thread t holds terms 4 * (t / 16) to + 3 of row (column) t % 16, and of column t % 16 the results
/// in rows 4 * (t / 16) to + 3.
template <float (*value)(uint16_t)>
void multiplyMfma(const MatrixOperands* wavefront, uint32_t lane, float* results) {
  for (uint32_t r = 0; r < 4; ++r) {
    const uint32_t row = 4 * (lane / 16) + r, column = lane % 16;
    float sum = wavefront[lane].c[r];
    for (uint32_t k = 0; k < 16; ++k)
      sum += value(wavefront[row + 16 * (k / 4)].a[k % 4]) * value(wavefront[column + 16 * (k / 4)].b[k % 4]);
    results[r] = sum;
  }
}
/// V_WMMA_F32_16X16X16: threads t and t + 16 both hold all terms of row (column) t % 16; thread t holds, of column t % 16,
/// the results in rows t / 16, t / 16 + 2, and so on.
template <float (*value)(uint16_t)>
void multiplyWmma(const MatrixOperands* wavefront, uint32_t lane, float* results) {
  for (uint32_t r = 0; r < 8; ++r) {
    const uint32_t row = 2 * r + lane / 16, column = lane % 16;
    float sum = wavefront[lane].c[r];
    // The instruction may read either copy of a row: these are the others' copies.
    for (uint32_t k = 0; k < 16; ++k) sum += value(wavefront[row + 16].a[k]) * value(wavefront[column].b[k]);
    results[r] = sum;
  }
}

constexpr auto multiplyMfmaHalf = multiplyMfma<fromHalfBits>,
               multiplyMfmaBfloat = multiplyMfma<fromBfloatBits>;
constexpr auto multiplyWmmaHalf = multiplyWmma<fromHalfBits>,
               multiplyWmmaBfloat = multiplyWmma<fromBfloatBits>;

} // namespace uopscope::testing
