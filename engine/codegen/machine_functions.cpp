// The table of functions, and their values.
#include "engine/codegen/machine_functions.h"

#include "engine/uop/eval.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace uopscope {

namespace {

struct Known {
  const char *text, *instruction;
  size_t operands;
};
constexpr std::array<Known, 3> kKnown{
    {{"exponent({0})", "getexp", 1}, {"mantissa({0})", "getmant", 1}, {"scaled({0}, {1})", "scalef", 2}}};

bool isVectorOfFloats(DType type) {
  return !type.isPtr() && type.count() > 1 &&
         (type.kind() == Scalar::Float32 || type.kind() == Scalar::Float64);
}

double mantissaOf(double x) {
  if (std::isnan(x) || x < 0) return std::numeric_limits<double>::quiet_NaN();
  if (x == 0 || std::isinf(x)) return std::copysign(1.0, x);
  int power = 0;
  const double fraction = std::frexp(x, &power); // in [1/2, 1)
  return fraction < 0.75 ? fraction * 2 : fraction;
}

double scaledBy(double x, double n) {
  if (std::isnan(x) || std::isnan(n)) return std::numeric_limits<double>::quiet_NaN();
  if (std::isinf(n)) return x * (n > 0 ? n : 0.0);
  return std::ldexp(x, static_cast<int>(std::clamp(std::floor(n), -100000.0, 100000.0)));
}

} // namespace

bool hasMachineFunctions(const Target& target, DType type) {
  if (!target.takesFloatsApart || !isVectorOfFloats(type)) return false;
  const int bytes = type.count() * type.scalar().itemsize();
  return bytes >= 16 && std::has_single_bit(static_cast<unsigned>(bytes));
}

UOp machineCall(MachineFunction f, std::span<const UOp> operands) {
  return UOp::make(Op::CUSTOMI, operands[0].dtype(), operands, Arg::of(kKnown[static_cast<size_t>(f)].text));
}

std::optional<MachineFunction> machineFunctionOf(UOp u) {
  if (!u.is(Op::CUSTOMI) || !isVectorOfFloats(u.dtype())) return {};
  const auto isSameType = [&](UOp s) { return s.dtype() == u.dtype(); };
  for (size_t i = 0; i < kKnown.size(); ++i)
    if (u.arg().str() == kKnown[i].text && u.srcCount() == kKnown[i].operands &&
        std::ranges::all_of(u.src(), isSameType))
      return static_cast<MachineFunction>(i);
  return {};
}

const char* instructionName(MachineFunction f) {
  return kKnown[static_cast<size_t>(f)].instruction;
}

ConstValue evalMachineFunction(MachineFunction f, DType type, std::span<const ConstValue> operands) {
  const double x = operands[0].asDouble();
  const double value = f == MachineFunction::Exponent   ? std::logb(x)
                       : f == MachineFunction::Mantissa ? mantissaOf(x)
                                                        : scaledBy(x, operands[1].asDouble());
  return convertConst(type.scalar(), ConstValue::ofFloat(value));
}

} // namespace uopscope
