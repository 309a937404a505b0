// Each condition is given to all lanes and kept in its own. Bits of a number, as a mask, would be shorter, but LLVM 19 does not end
// its work on some of them (1 in 150 random ones).
#include "engine/render/llvm_masks.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace uopscope {

std::string writeMaskOfFew(LlvmText& out, UOp lanes, const std::function<std::string(UOp)>& value) {
  constexpr size_t kFewestLanes = 8, kLanesOfCondition = 4;
  const size_t count = lanes.srcCount();
  if (!lanes.dtype().isBool() || count < kFewestLanes) return {};
  std::vector<UOp> conditions;
  for (UOp s : lanes.src())
    if (std::ranges::find(conditions, s) == conditions.end()) conditions.push_back(s);
  if (conditions.size() * kLanesOfCondition > count) return {};
  const std::string type = LlvmText::type(lanes.dtype());
  std::string all;
  for (UOp c : conditions) {
    if (c.isConst(0)) continue;
    std::string own;
    for (UOp s : lanes.src()) own += fmt::format("{}i1 {}", own.empty() ? "" : ", ", s == c);
    own = fmt::format("<{}>", own);
    if (!c.isConst()) {
      const std::string first = out.emit(
                            "vec", fmt::format("insertelement {} poison, i1 {}, i32 0", type, value(c))),
                        every = out.emit(
                            "vec",
                            fmt::format("shufflevector {0} {1}, {0} poison, <{2} x i32> zeroinitializer",
                                        type, first, count));
      own = out.emit("mask", fmt::format("and {} {}, {}", type, every, own));
    }
    all = all.empty() ? own : out.emit("mask", fmt::format("or {} {}, {}", type, all, own));
  }
  return all;
}

} // namespace uopscope
