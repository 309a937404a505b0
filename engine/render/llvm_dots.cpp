// The instructions take 4, 8 or 16 lanes; other numbers are padded with lanes that nobody reads.
#include "engine/render/llvm_dots.h"

#include "engine/base/error.h"
#include "engine/codegen/dot_products.h"

#include <fmt/format.h>

namespace uopscope {

namespace {

struct Intrinsic {
  const char *name, *operand; ///< before its width in bits; the element of its operands
  int64_t perLane;            ///< such elements
};
const Intrinsic* intrinsicOf(UOp wmma) {
  static constexpr Intrinsic kPairs{"llvm.x86.avx512bf16.dpbf16ps", "bfloat", 2},
      kFours{"llvm.x86.avx512.vpdpbusd", "i32", 1};
  const std::string& name = wmma.arg().as<WmmaArg>().name;
  return name == "vdpbf16ps" ? &kPairs : name == "vpdpbusd" ? &kFours : nullptr;
}

/// The value with lanes up to `count`.
std::string padded(LlvmText& out, const std::string& value, DType type, int count) {
  if (type.count() == count) return value;
  const std::string from = LlvmText::type(type), to = LlvmText::type(type.scalar().vec(count));
  if (type.count() == 1)
    return out.emit("vec", fmt::format("insertelement {} poison, {} {}, i32 0", to, from, value));
  std::string mask;
  for (int i = 0; i < count; ++i)
    mask += fmt::format("{}i32 {}", i ? ", " : "", i < type.count() ? std::to_string(i) : "poison");
  return out.emit(
      "vec", fmt::format("shufflevector {0} {1}, {0} poison, <{2} x i32> <{3}>", from, value, count, mask));
}

} // namespace

std::string writeDotProduct(LlvmText& out, UOp wmma, std::span<const std::string> operands) {
  const Intrinsic* intrinsic = intrinsicOf(wmma);
  const int lanes = wmma.dtype().count(), width = lanes <= 4 ? 4 : lanes <= 8 ? 8 : 16;
  if (!intrinsic || lanes > 16)
    throw Error(ErrorKind::Compile,
                fmt::format("no instruction computes {} for {} lanes", wmma.arg().as<WmmaArg>().name, lanes));
  const auto terms = static_cast<int>(termsOfDot(wmma));
  const std::string sums = LlvmText::type(wmma.dtype().scalar().vec(width)),
                    operand = fmt::format("<{} x {}>", width * intrinsic->perLane, intrinsic->operand),
                    function = fmt::format("{}.{}", intrinsic->name, width * 32);
  out.declare(fmt::format("declare {0} @{1}({0}, {2}, {2})\n", sums, function, operand));
  std::string arguments = fmt::format("{} {}", sums, padded(out, operands[2], wmma.src(2).dtype(), width));
  for (size_t s = 0; s < 2; ++s) {
    const DType type = wmma.src(s).dtype();
    const std::string wide = padded(out, operands[s], type, width * terms);
    arguments += fmt::format(
        ", {} {}", operand,
        out.emit("pairs", fmt::format("bitcast {} {} to {}", LlvmText::type(type.scalar().vec(width * terms)),
                                      wide, operand)));
  }
  std::string all = out.emit("dot", fmt::format("call {} @{}({})", sums, function, arguments));
  if (lanes == width) return all;
  if (lanes == 1) return out.emit("gep", fmt::format("extractelement {} {}, i32 0", sums, all));
  std::string mask;
  for (int i = 0; i < lanes; ++i) mask += fmt::format("{}i32 {}", i ? ", " : "", i);
  return out.emit(
      "gep", fmt::format("shufflevector {0} {1}, {0} poison, <{2} x i32> <{3}>", sums, all, lanes, mask));
}

} // namespace uopscope
