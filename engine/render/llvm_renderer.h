// The LLVM renderer: a linear program as LLVM IR text, for the optimiser and code generator in process.
//
//   LlvmRenderer l(cpuTarget("LLVM"));
//   l.render(kernel)    // define void @E_4(ptr noalias %data0_4, ...) { ... }
//
// Loops are rotated, and the variable of a loop is a phi. Buffers are noalias, so the loop vectoriser needs
// no checks. Index arithmetic carries nsw if the bounds of its operands prove it. Float arithmetic has no
// fast-math flag: each operation rounds once, as IEEE 754 requires, so an expression has the same value in
// every kernel and for every number of lanes. A fused multiply-add is a MULACC of the program (reduce.h).
// Accesses claim the alignment of one element. bfloat16 and fp8 are integers computed as float; conversions
// of fp8 and Threefry call functions of the runtime.
#pragma once
#include "engine/render/renderer.h"

namespace uopscope {

class LlvmRenderer : public Renderer {
public:
  explicit LlvmRenderer(Target target) : target_(std::move(target)) {}
  const Target& target() const override { return target_; }
  std::string render(const LoweredKernel& kernel) const override { return renderWithLines(kernel, nullptr); }
  std::string renderWithLines(const LoweredKernel& kernel, std::vector<TextLine>* lines) const override;

private:
  Target target_;
};

/// A processor with AVX-512 and tiles of every type (tile_cores.h), whatever this machine is, as a device of this name.
Target amxTarget(std::string device = "CPU");
constexpr const char* kAmxProcessor = "graniterapids"; ///< its name for LLVM

/// Functions that the text may call. The loader must provide them (runtime/kernel_support.h).
namespace llvm_support {
constexpr const char* kThreefry = "uopscope_threefry";            ///< i64 (i64 counter, i64 key)
constexpr const char* kIntegerPower = "uopscope_integer_power";   ///< i64 (i64 x, i64 y)
constexpr const char* kUnsignedPower = "uopscope_unsigned_power"; ///< the same for unsigned integers
constexpr const char* kFp8E4M3ToFloat = "uopscope_from_fp8e4m3";  ///< float (i8)
constexpr const char* kFloatToFp8E4M3 = "uopscope_to_fp8e4m3";    ///< i8 (float)
constexpr const char* kFp8E5M2ToFloat = "uopscope_from_fp8e5m2";
constexpr const char* kFloatToFp8E5M2 = "uopscope_to_fp8e5m2";
} // namespace llvm_support

} // namespace uopscope
