// Layout of packed counts, for each matcher of the pass: the number of operations; for each the list of rules, the
// operation, the nodes; the number of cells; for each its operation (a position in this list), the rule's place, a
// mask of the values that are not zero, and these values: five counts, five times, nodes stopped.
#include "replay/record/match_sums.h"

#include "replay/schema/leb128.h"

#include <algorithm>
#include <bit>

namespace uopscope {

namespace {
constexpr size_t kValues = 2 * kMatchOutcomes + 1;

/// Appends numbers without asking for space each time.
class Bytes {
public:
  explicit Bytes(size_t expected) : bytes_(expected) {}
  void room(size_t numbers) {
    if (bytes_.size() - used_ < numbers * 10) bytes_.resize(bytes_.size() * 2 + numbers * 10);
  }
  void put(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_[used_++] = static_cast<uint8_t>(value | 0x80);
    bytes_[used_++] = static_cast<uint8_t>(value);
  }
  std::vector<uint8_t> take() {
    bytes_.resize(used_);
    return std::move(bytes_);
  }

private:
  std::vector<uint8_t> bytes_;
  size_t used_ = 0;
};
} // namespace

std::vector<uint8_t> packCounts(const PassCounts& counts, RuleCache& rules) {
  size_t expected = 64;
  for (const auto& [matcher, counters] : counts.parts())
    expected += counters->met().size() * 8 + counters->cells().size() * 12;
  Bytes out(expected);
  for (const auto& [matcher, counters] : counts.parts()) {
    out.room(1);
    out.put(counters->met().size());
    for (const MatchCounters::OfOp& of : counters->met()) {
      out.room(3);
      out.put(rules.matcherOf(*matcher, of.tried));
      out.put(static_cast<uint64_t>(of.op));
      out.put(of.nodes);
    }
    out.room(1);
    out.put(counters->cells().size());
    for (const MatchCounters::Cell& c : counters->cells()) {
      std::array<uint64_t, kValues> values;
      uint64_t mask = 0;
      for (size_t k = 0; k < kMatchOutcomes; ++k) {
        values[k] = c.count[k];
        values[kMatchOutcomes + k] = c.ticks[k] ? static_cast<uint64_t>(ticksToNs(c.ticks[k])) : 0;
      }
      values[kValues - 1] = c.stopped;
      for (size_t k = 0; k < kValues; ++k) mask |= uint64_t{values[k] != 0} << k;
      out.room(3 + kValues);
      out.put(c.met);
      out.put(c.place);
      out.put(mask);
      for (uint64_t left = mask; left; left &= left - 1)
        out.put(values[static_cast<size_t>(std::countr_zero(left))]);
    }
  }
  return out.take();
}

MatchSums::OfOp& MatchSums::of(uint32_t list, Op op) {
  auto [it, fresh] = places_.try_emplace(uint64_t{list} << 8 | static_cast<uint64_t>(op),
                                         static_cast<uint32_t>(ofOp_.size()));
  if (fresh) ofOp_.push_back({list, op});
  return ofOp_[it->second];
}

MatchSums::Cell& MatchSums::OfOp::at(uint32_t place) {
  auto it = std::ranges::lower_bound(cells, place, {}, &Cell::place);
  if (it == cells.end() || it->place != place) it = cells.insert(it, Cell{.place = place, .sum = {}});
  return *it;
}

uint64_t MatchSums::add(std::span<const uint8_t> packed) {
  Leb128Reader in(packed);
  std::vector<uint32_t> met;
  uint64_t matches = 0;
  for (uint64_t ops = 0, cells = 0; in.next(ops);) {
    met.clear();
    for (uint64_t list = 0, op = 0, nodes = 0;
         met.size() < ops && in.next(list) && in.next(op) && in.next(nodes);) {
      OfOp& of = this->of(static_cast<uint32_t>(list), static_cast<Op>(op));
      of.nodes += nodes;
      met.push_back(static_cast<uint32_t>(&of - ofOp_.data()));
    }
    in.next(cells);
    for (uint64_t at = 0, place = 0, mask = 0; cells > 0 && in.next(at) && in.next(place) && in.next(mask);
         --cells) {
      Cell& cell = ofOp_[met[at]].at(static_cast<uint32_t>(place));
      for (uint64_t value = 0; mask; mask &= mask - 1) {
        in.next(value);
        const auto k = static_cast<size_t>(std::countr_zero(mask));
        if (k < kMatchOutcomes)
          cell.sum.count[k] += value;
        else if (k < 2 * kMatchOutcomes)
          cell.sum.ns[k - kMatchOutcomes] += static_cast<int64_t>(value);
        else
          cell.stopped += value;
        if (k == static_cast<size_t>(Outcome::Applied) || k == static_cast<size_t>(Outcome::Unchanged))
          matches += value;
      }
    }
  }
  return matches;
}

void MatchSums::add(const MatchSums& other) {
  for (const OfOp& from : other.ofOp_) {
    OfOp& to = of(from.list, from.op);
    to.nodes += from.nodes;
    for (const Cell& c : from.cells) {
      Cell& sum = to.at(c.place);
      sum.sum.add(c.sum);
      sum.stopped += c.stopped;
    }
  }
}

void MatchSums::OfOp::spellOut(size_t rules, std::vector<MatchCell>& out) const {
  constexpr auto kEarly = static_cast<size_t>(Outcome::RejectedEarly),
                 kApplied = static_cast<size_t>(Outcome::Applied);
  out.clear();
  uint64_t reached = nodes; // nodes that no earlier rule rewrote or stopped
  auto next = cells.begin();
  for (uint32_t place = 0; place < rules && reached; ++place) {
    uint64_t total = 0, ended = 0;
    MatchCell& cell = out.emplace_back();
    if (next != cells.end() && next->place == place) {
      if (reached == next->stopped) return out.pop_back(); // it had no outcome
      cell = next->sum;
      for (uint64_t n : cell.count) total += n;
      ended = cell.count[kApplied] + next->stopped;
      total += next->stopped;
      ++next;
    }
    cell.count[kEarly] = reached - total;
    reached -= ended;
  }
}

std::vector<const MatchSums::OfOp*> MatchSums::inOrder() const {
  std::vector<const OfOp*> order;
  order.reserve(ofOp_.size());
  for (const OfOp& of : ofOp_) order.push_back(&of);
  std::ranges::stable_sort(order, {}, [](const OfOp* of) { return of->op; });
  return order;
}

void MatchSums::forEach(RuleBook& book,
                        const std::function<void(uint32_t, Op, const MatchCell&)>& use) const {
  std::vector<MatchCell> cells;
  for (const OfOp* of : inOrder()) {
    const std::vector<uint32_t>& rules = book.rulesOf(of->list);
    of->spellOut(rules.size(), cells);
    for (size_t place = 0; place < cells.size(); ++place) use(rules[place], of->op, cells[place]);
  }
}

} // namespace uopscope
