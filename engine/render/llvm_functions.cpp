// Each intrinsic takes a mask of lanes, and what the others have: here all lanes are computed. Wider vectors are halved.
#include "engine/render/llvm_functions.h"

#include <fmt/format.h>

#include <array>
#include <vector>

namespace uopscope {

namespace {

/// Lanes of a vector from `first` on.
std::string part(LlvmText& out, DType type, const std::string& value, int first, int count) {
  std::string picked;
  for (int i = 0; i < count; ++i) picked += fmt::format("{}i32 {}", i ? ", " : "", first + i);
  return out.emit("gep", fmt::format("shufflevector {0} {1}, {0} poison, <{2} x i32> <{3}>",
                                     LlvmText::type(type), value, count, picked));
}
std::string joined(LlvmText& out, DType half, const std::string& low, const std::string& high) {
  std::string all;
  for (int i = 0; i < 2 * half.count(); ++i) all += fmt::format("{}i32 {}", i ? ", " : "", i);
  return out.emit("vec", fmt::format("shufflevector {0} {1}, {0} {2}, <{3} x i32> <{4}>",
                                     LlvmText::type(half), low, high, 2 * half.count(), all));
}

} // namespace

std::string writeMachineCall(LlvmText& out, MachineFunction f, DType type,
                             std::span<const std::string> operands) {
  const int lanes = type.count(), bits = lanes * type.scalar().itemsize() * 8;
  if (bits > kMachineVector * 8) {
    const DType half = type.scalar().vec(lanes / 2);
    std::array<std::string, 2> halves;
    for (size_t i = 0; i < 2; ++i) {
      std::vector<std::string> parts;
      for (const std::string& operand : operands)
        parts.push_back(part(out, type, operand, static_cast<int>(i) * half.count(), half.count()));
      halves[i] = writeMachineCall(out, f, half, parts);
    }
    return joined(out, half, halves[0], halves[1]);
  }
  const std::string vector = LlvmText::type(type), mask = fmt::format("i{}", std::max(8, lanes)),
                    name = fmt::format("llvm.x86.avx512.mask.{}.p{}.{}", instructionName(f),
                                       type.kind() == Scalar::Float64 ? 'd' : 's', bits);
  std::string parameters = vector, arguments = fmt::format("{} {}", vector, operands[0]);
  auto add = [&](const std::string& parameter, const std::string& argument) {
    parameters += ", " + parameter;
    arguments += fmt::format(", {} {}", parameter, argument);
  };
  if (f == MachineFunction::Mantissa) add("i32", std::to_string(kMantissaForm));
  if (f == MachineFunction::Scaled) add(vector, operands[1]);
  add(vector, operands[0]); // of no lane
  add(mask, "-1");
  if (bits == 512) add("i32", "4"); // rounded as everything else
  out.declare(fmt::format("declare {} @{}({})\n", vector, name, parameters));
  return out.emit("alu", fmt::format("call {} @{}({})", vector, name, arguments));
}

} // namespace uopscope
