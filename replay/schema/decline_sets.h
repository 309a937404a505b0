// Reasons of declining as a trace stores them: few causes (a rule and what it said), each different set of them once, since
// passes of kernels decline alike; the view `decline` spells them out.
//
//   DeclineWriter out(db);  out.add(pass, {{{rule, reason}, 3}, ...});
#pragma once
#include "replay/schema/database.h"

#include <map>
#include <string>
#include <utility>

namespace uopscope {

class DeclineWriter {
public:
  explicit DeclineWriter(const Database& db);
  /// rule.id and the reason's string.id -> how often.
  using Declines = std::map<std::pair<int64_t, int64_t>, uint64_t>;
  /// Once for a pass; nothing where there are none.
  void add(int64_t pass, const Declines& declines);

private:
  int64_t cause(std::pair<int64_t, int64_t> ruleAndReason);
  Statement insertCause_, insertSet_, insertPass_;
  std::map<std::pair<int64_t, int64_t>, int64_t> causes_;
  std::map<std::string, int64_t> sets_;
};

} // namespace uopscope
