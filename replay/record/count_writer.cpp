#include "replay/record/count_writer.h"

#include "replay/schema/leb128.h"

#include <algorithm>
#include <utility>

namespace uopscope {

namespace {
constexpr size_t kMostGroups = 1 << 14; ///< a few megabytes
} // namespace

CountWriter::CountWriter(const Database& db, RuleBook& book, RuleId ruleId)
    : book_(book), ruleId_(std::move(ruleId)), blocks_(db) {}

const CountWriter::RuleList& CountWriter::ruleList(uint32_t list, size_t reached) {
  RuleList& known = lists_[list];
  if (known.ids.size() >= reached) return known;
  const std::vector<uint32_t>& rules = book_.rulesOf(list);
  while (known.ids.size() < reached) {
    known.byId.push_back(static_cast<uint32_t>(known.ids.size()));
    known.ids.push_back(static_cast<uint32_t>(ruleId_(rules[known.ids.size()])));
  }
  std::ranges::sort(known.byId, {}, [&](uint32_t place) { return known.ids[place]; });
  return known;
}

void CountWriter::spellOut(const OfOp& of, MatchCounts& out) {
  of.spellOut(book_.rulesOf(of.list).size(), cells_);
  const RuleList& known = ruleList(of.list, cells_.size());
  for (uint32_t place : known.byId) // sums in their final order need not be sorted
    if (place < cells_.size()) out.add(known.ids[place], static_cast<uint32_t>(of.op), cells_[place]);
}

MatchCounts CountWriter::named(const MatchSums& sums) {
  MatchCounts counts;
  for (const OfOp* of : sums.inOrder()) spellOut(*of, counts);
  return counts;
}

const CountWriter::KnownGroup& CountWriter::groupOf(std::span<const OfOp* const> lists) {
  key_.clear();
  appendLeb128(key_, static_cast<uint64_t>(lists.front()->op));
  for (const OfOp* of : lists) {
    appendLeb128(key_, of->list);
    appendLeb128(key_, of->nodes);
    appendLeb128(key_, of->cells.size());
    for (const MatchSums::Cell& c : of->cells) {
      appendLeb128(key_, c.place);
      appendLeb128(key_, c.stopped);
      for (uint64_t n : c.sum.count) appendLeb128(key_, n);
    }
  }
  if (groups_.size() >= kMostGroups) groups_.clear(); // one that comes again is spelled out again
  auto [it, fresh] = groups_.try_emplace(key_);
  KnownGroup& known = it->second;
  if (!fresh) return known;
  MatchCounts counts;
  std::vector<size_t> reached;
  for (const OfOp* of : lists) {
    spellOut(*of, counts);
    reached.push_back(cells_.size());
  }
  const std::span<const MatchCounts::Sum> sums = counts.sums();
  known.size = sums.size();
  known.id = sums.empty() ? 0 : blocks_.group(sums);
  for (size_t k = 0; k < lists.size(); ++k) {
    std::vector<uint32_t>& sumOf = known.sumOf.emplace_back();
    for (uint32_t id : std::span(lists_[lists[k]->list].ids).first(reached[k]))
      sumOf.push_back(static_cast<uint32_t>(std::ranges::lower_bound(sums, id, {}, &MatchCounts::Sum::rule) -
                                            sums.begin()));
  }
  return known;
}

void CountWriter::add(int64_t pass, int64_t nested, const MatchSums& sums) {
  const std::vector<const OfOp*> order = sums.inOrder();
  std::vector<std::pair<size_t, const MatchCell*>> timed;
  ids_.clear();
  size_t before = 0; // sums of the groups so far
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && order[end]->op == order[begin]->op) ++end;
    const auto lists = std::span(order).subspan(begin, end - begin);
    const KnownGroup& group = groupOf(lists);
    if (group.size == 0) continue;
    ids_.push_back(group.id);
    for (size_t k = 0; k < lists.size(); ++k)
      for (const MatchSums::Cell& c : lists[k]->cells)
        if (c.place < group.sumOf[k].size()) timed.emplace_back(before + group.sumOf[k][c.place], &c.sum);
    before += group.size;
  }
  std::ranges::stable_sort(timed, {}, &std::pair<size_t, const MatchCell*>::first);
  MatchTimesWriter times(kTimeUnitNs);
  for (size_t k = 0; k < timed.size(); ++k) {
    MatchCell sum = *timed[k].second;
    while (k + 1 < timed.size() && timed[k + 1].first == timed[k].first) sum.add(*timed[++k].second);
    times.add(timed[k].first, sum);
  }
  blocks_.add(pass, nested, ids_, times.bytes());
}

} // namespace uopscope
