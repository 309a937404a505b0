// Causes are numbered as they are first met. The causes of a pass thus have close numbers with small
// differences.
#include "replay/schema/decline_sets.h"

#include <fmt/format.h>

#include <iterator>

namespace uopscope {

DeclineWriter::DeclineWriter(const Database& db)
    : insertCause_(db.prepare("INSERT INTO cause (id, rule, reason) VALUES (?, ?, ?)")),
      insertSet_(db.prepare("INSERT INTO decline_set (id, cells) VALUES (?, ?)")),
      insertPass_(db.prepare("INSERT INTO decline_pass (pass, declines) VALUES (?, ?)")) {}

int64_t DeclineWriter::cause(std::pair<int64_t, int64_t> ruleAndReason) {
  auto [it, fresh] = causes_.try_emplace(ruleAndReason, static_cast<int64_t>(causes_.size()) + 1);
  if (fresh)
    insertCause_.bind(1, it->second).bind(2, ruleAndReason.first).bind(3, ruleAndReason.second).run();
  return it->second;
}

void DeclineWriter::add(int64_t pass, const Declines& declines) {
  if (declines.empty()) return;
  std::map<int64_t, uint64_t> ofPass;
  for (const auto& [ruleAndReason, count] : declines) ofPass[cause(ruleAndReason)] += count;
  std::string cells = "[";
  int64_t last = 0;
  for (const auto& [cause, count] : ofPass) {
    const int64_t step = cause - std::exchange(last, cause);
    if (cells.size() > 1) cells += ',';
    if (count == 1)
      fmt::format_to(std::back_inserter(cells), "{}", step);
    else
      fmt::format_to(std::back_inserter(cells), "[{},{}]", step, count);
  }
  cells += ']';
  auto [it, fresh] = sets_.try_emplace(cells, static_cast<int64_t>(sets_.size()) + 1);
  if (fresh) insertSet_.bind(1, it->second).bind(2, std::string_view(cells)).run();
  insertPass_.bind(1, pass).bind(2, it->second).run();
}

} // namespace uopscope
