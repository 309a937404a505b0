// The slow side of counting: cells are made, sums are read.
#include "engine/rewrite/counters.h"

#include "engine/rewrite/matcher.h"

namespace uopscope {

MatchCounters::Cell& MatchCounters::addCell(uint32_t met, size_t place) {
  OfOp& of = met_[met];
  if (!of.cellOf) of.cellOf = std::make_unique<uint16_t[]>(of.tried.size());
  if (cells_.empty()) cells_.reserve(32);
  Cell& made = cells_.emplace_back();
  made.met = met;
  made.place = static_cast<uint32_t>(place);
  of.cellOf[place] = static_cast<uint16_t>(cells_.size());
  return made;
}

void MatchCounters::countReason(size_t place, Op op, const char* why) {
  Cell& c = cell(place, op);
  for (uint32_t k = c.firstReason; k != kNone; k = reasons_[k].next)
    if (reasons_[k].why == why) return void(++reasons_[k].count);
  reasons_.push_back({why, 1, c.firstReason});
  c.firstReason = static_cast<uint32_t>(reasons_.size()) - 1;
}

void MatchCounters::collectReasons(const std::vector<std::shared_ptr<const Rule>>& rules,
                                   std::vector<DeclineCount>& out) const {
  for (const Cell& c : cells_)
    for (uint32_t k = c.firstReason; k != kNone; k = reasons_[k].next)
      out.push_back(
          {rules[met_[c.met].tried[c.place]].get(), met_[c.met].op, reasons_[k].why, reasons_[k].count});
}

void PassCounts::forEach(const std::function<void(const MatchCount&)>& use) const {
  constexpr auto kEarly = static_cast<size_t>(Outcome::RejectedEarly),
                 kApplied = static_cast<size_t>(Outcome::Applied);
  for (const auto& [matcher, counters] : parts_)
    for (const MatchCounters::OfOp& of : counters->met()) {
      uint64_t reached = of.nodes; // nodes to which no earlier rule was applied
      for (size_t k = 0; k < of.tried.size() && reached; ++k) {
        MatchCount m{matcher->rules()[of.tried[k]].get(), of.op, {}, {}};
        uint64_t total = 0, ended = 0;
        if (of.cellOf && of.cellOf[k]) {
          const MatchCounters::Cell& c = counters->cells()[of.cellOf[k] - 1u];
          for (size_t o = 0; o < kOutcomeCount; ++o) {
            m.count[o] = c.count[o];
            if (c.ticks[o]) m.ns[o] = ticksToNs(c.ticks[o]);
            total += c.count[o];
          }
          total += c.stopped;
          ended = c.count[kApplied] + c.stopped;
          if (reached == c.stopped) break; // it had no outcome, and no later rule was reached
        }
        m.count[kEarly] = reached - total;
        use(m);
        reached -= ended;
      }
    }
}

std::vector<MatchCount> PassCounts::all() const {
  std::vector<MatchCount> found;
  forEach([&](const MatchCount& m) { found.push_back(m); });
  return found;
}

} // namespace uopscope
