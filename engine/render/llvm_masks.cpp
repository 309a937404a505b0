// The first lane is the lowest bit, on processors whose bytes are in that order: all that kernels are compiled for.
#include "engine/render/llvm_masks.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace uopscope {

std::string writeMaskOfFew(LlvmText& out, UOp lanes, const std::function<std::string(UOp)>& value) {
  const size_t count = lanes.srcCount();
  if (!lanes.dtype().isBool() || (count != 8 && count != 16 && count != 32 && count != 64)) return {};
  struct Condition {
    UOp is;
    uint64_t lanes;
  };
  std::vector<Condition> conditions;
  for (size_t i = 0; i < count; ++i) {
    auto known = std::ranges::find(conditions, lanes.src(i), &Condition::is);
    if (known == conditions.end()) known = conditions.insert(known, {lanes.src(i), 0});
    known->lanes |= uint64_t{1} << i;
  }
  if (conditions.size() * 4 > count) return {};
  const std::string type = fmt::format("i{}", count);
  std::string all;
  for (const Condition& c : conditions) {
    if (c.is.isConst(0)) continue;
    const auto bits =
        static_cast<int64_t>(c.lanes << (64 - count)) >> (64 - count); // as LLVM prints them, signed
    std::string own = std::to_string(bits);
    if (!c.is.isConst())
      own = out.emit("bits", fmt::format("select i1 {}, {} {}, {} 0", value(c.is), type, bits, type));
    all = all.empty() ? own : out.emit("bits", fmt::format("or {} {}, {}", type, all, own));
  }
  return out.emit("mask", fmt::format("bitcast {} {} to {}", type, all, LlvmText::type(lanes.dtype())));
}

} // namespace uopscope
