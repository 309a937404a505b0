// The addresses of the functions that compiled kernels may call.
#include "engine/runtime/kernel_support.h"

#include "engine/render/llvm_renderer.h"
#include "engine/uop/eval.h"

#include <bit>

namespace uopscope {

namespace {

uint64_t threefry(uint64_t counter, uint64_t key) {
  return threefry2x32(counter, key);
}
int64_t power(int64_t x, int64_t y) {
  return evalAlu(Op::POW, dtypes::int64, dtypes::int64, {ConstValue::ofInt(x), ConstValue::ofInt(y)}).i;
}
int64_t unsignedPower(int64_t x, int64_t y) {
  return evalAlu(Op::POW, dtypes::uint64, dtypes::uint64, {ConstValue::ofInt(x), ConstValue::ofInt(y)}).i;
}
float fromE4M3(uint8_t v) {
  return static_cast<float>(dtypes::fromFp8(dtypes::fp8e4m3, v));
}
float fromE5M2(uint8_t v) {
  return static_cast<float>(dtypes::fromFp8(dtypes::fp8e5m2, v));
}
uint8_t toE4M3(float v) {
  return dtypes::toFp8(dtypes::fp8e4m3, static_cast<double>(v));
}
uint8_t toE5M2(float v) {
  return dtypes::toFp8(dtypes::fp8e5m2, static_cast<double>(v));
}

#if defined(__x86_64__)
// A half is passed like a float, in the low 16 bits of a vector register.
float asRegister(uint16_t half) {
  return std::bit_cast<float>(uint32_t{half});
}
float truncateFloat(float v) {
  return asRegister(dtypes::toHalf(static_cast<double>(v)));
}
float truncateDouble(double v) {
  return asRegister(dtypes::toHalf(v));
}
float extendHalf(float reg) {
  return static_cast<float>(dtypes::fromHalf(static_cast<uint16_t>(std::bit_cast<uint32_t>(reg))));
}
#endif

template <typename F>
void* address(F* f) {
  return reinterpret_cast<void*>(f);
}

} // namespace

std::span<const SupportFunction> supportFunctions() {
  static const SupportFunction table[] = {
      {llvm_support::kThreefry, address(threefry)},
      {llvm_support::kIntegerPower, address(power)},
      {llvm_support::kUnsignedPower, address(unsignedPower)},
      {llvm_support::kFp8E4M3ToFloat, address(fromE4M3)},
      {llvm_support::kFp8E5M2ToFloat, address(fromE5M2)},
      {llvm_support::kFloatToFp8E4M3, address(toE4M3)},
      {llvm_support::kFloatToFp8E5M2, address(toE5M2)},
#if defined(__x86_64__)
      {"__truncsfhf2", address(truncateFloat)},
      {"__truncdfhf2", address(truncateDouble)},
      {"__extendhfsf2", address(extendHalf)},
      {"__gnu_f2h_ieee", address(truncateFloat)},
      {"__gnu_h2f_ieee", address(extendHalf)},
#endif
  };
  return table;
}

} // namespace uopscope
