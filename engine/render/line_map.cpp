// Finds the instructions of each line. A line belongs to the visit that ends it: no renderer returns to an
// earlier line.
#include "engine/render/line_map.h"

#include <algorithm>
#include <utility>

namespace uopscope {

LineMap::LineMap(std::span<const UOp> program) : hasLine_(program.size()), met_(program.size()) {
  for (uint32_t k = 0; k < program.size(); ++k) position_.set(program[k].slot(), k);
}

void LineMap::visited(UOp u, const std::string& body) {
  auto grown =
      static_cast<uint32_t>(std::count(body.begin() + static_cast<std::ptrdiff_t>(seen_), body.end(), '\n'));
  seen_ = body.size();
  const uint32_t at = *position_.find(u.slot());
  if (!grown && (u.is(Op::DEFINE_GLOBAL) || u.is(Op::DEFINE_VAR) || u.is(Op::SPECIAL))) {
    parameters_.push_back(at);
    hasLine_[at] = true;
    return;
  }
  if (!grown) return;
  hasLine_[at] = true;
  for (uint32_t k = 0; k < grown; ++k) {
    body_.push_back({line_ + k, at});
    addInlined(u, line_ + k);
  }
  line_ += grown;
}

void LineMap::addInlined(UOp user, uint32_t line) {
  ++walk_;
  stack_.push_back(user);
  while (!stack_.empty()) {
    UOp u = stack_.back();
    stack_.pop_back();
    for (UOp s : u.src()) {
      const uint32_t* at = position_.find(s.slot());
      if (!at || hasLine_[*at] || std::exchange(met_[*at], walk_) == walk_) continue;
      body_.push_back({line, *at});
      stack_.push_back(s);
    }
  }
}

std::vector<TextLine> LineMap::lines(std::string_view head, std::string_view entry) const {
  auto signature = static_cast<uint32_t>(std::count(head.begin(), head.end(), '\n')) + 1;
  uint32_t first = signature + static_cast<uint32_t>(std::count(entry.begin(), entry.end(), '\n')) + 1;
  std::vector<TextLine> out;
  for (uint32_t p : parameters_) out.push_back({signature, p});
  for (TextLine l : body_) out.push_back({l.line + first, l.instruction});
  std::sort(out.begin(), out.end(), [](TextLine a, TextLine b) {
    return a.line != b.line ? a.line < b.line : a.instruction < b.instruction;
  });
  return out;
}

} // namespace uopscope
