// Stores the reasons of declining in a trace. A cause is a rule and its reason; there are few causes. Each
// distinct set of causes is stored once, since passes of kernels decline alike. The view `decline` joins the
// tables.
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
  /// (rule.id, string.id of the reason) -> number of declines.
  using Declines = std::map<std::pair<int64_t, int64_t>, uint64_t>;
  /// To be called once for a pass; stores nothing where no rule declined.
  void add(int64_t pass, const Declines& declines);

private:
  int64_t cause(std::pair<int64_t, int64_t> ruleAndReason);
  Statement insertCause_, insertSet_, insertPass_;
  std::map<std::pair<int64_t, int64_t>, int64_t> causes_;
  std::map<std::string, int64_t> sets_;
};

} // namespace uopscope
