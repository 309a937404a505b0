// Most cells hold one value, the number of early rejections, in three bytes. Few cells have a time.
#include "replay/schema/match_counts.h"

#include <algorithm>
#include <utility>

namespace uopscope {

namespace {
/// Appends a mask of the non-zero values, then these values.
void appendValues(std::vector<uint8_t>& out, const std::array<uint64_t, kMatchOutcomes>& values) {
  uint64_t mask = 0;
  for (size_t k = 0; k < kMatchOutcomes; ++k) mask |= uint64_t{values[k] != 0} << k;
  appendLeb128(out, mask);
  for (uint64_t value : values)
    if (value) appendLeb128(out, value);
}

bool readValues(Leb128Reader& in, std::array<uint64_t, kMatchOutcomes>& values) {
  uint64_t mask;
  if (!in.next(mask) || mask >> kMatchOutcomes) return false;
  for (size_t k = 0; k < kMatchOutcomes; ++k) {
    values[k] = 0;
    if ((mask >> k & 1) && (!in.next(values[k]) || values[k] > INT64_MAX)) return false;
  }
  return true;
}
} // namespace

void MatchCell::add(const MatchCell& other) {
  for (size_t k = 0; k < kMatchOutcomes; ++k) {
    count[k] += other.count[k];
    ns[k] += other.ns[k];
  }
}

void MatchCounts::add(uint32_t rule, uint32_t op, const MatchCell& cell) {
  if (sums_.size() > 2 * settled_ + 4096)
    sums(); // sums of many passes: as many as there are rules and operations
  sums_.push_back({op, rule, cell});
}

std::span<const MatchCounts::Sum> MatchCounts::sums() const {
  if (settled_ == sums_.size()) return sums_;
  auto place = [](const Sum& s) { return std::pair(s.op, s.rule); };
  if (!std::ranges::is_sorted(sums_, {}, place)) std::ranges::stable_sort(sums_, {}, place);
  size_t last = 0;
  for (size_t k = 1; k < sums_.size(); ++k)
    if (place(sums_[k]) == place(sums_[last]))
      sums_[last].cell.add(sums_[k].cell);
    else if (++last != k)
      sums_[last] = sums_[k];
  sums_.resize(last + 1);
  settled_ = sums_.size();
  return sums_;
}

std::vector<uint8_t> MatchCounts::encode() const {
  std::vector<uint8_t> out;
  const std::span<const Sum> all = sums();
  for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    uint64_t last = 0;
    while (end < all.size() && all[end].op == all[begin].op) ++end;
    appendLeb128(out, all[begin].op);
    appendLeb128(out, end - begin);
    for (size_t k = begin; k < end; ++k) {
      appendLeb128(out, all[k].rule - last);
      last = all[k].rule;
      appendValues(out, all[k].cell.count);
    }
  }
  return out;
}

void MatchTimesWriter::add(size_t place, const MatchCell& cell) {
  std::array<uint64_t, kMatchOutcomes> values;
  bool any = false;
  for (size_t k = 0; k < kMatchOutcomes; ++k) {
    values[k] = cell.ns[k] <= 0 ? 0 : static_cast<uint64_t>((cell.ns[k] + unit_ / 2) / unit_);
    any |= values[k] != 0;
  }
  if (!any) return;
  appendLeb128(bytes_, place + 1 - last_);
  last_ = place + 1;
  appendValues(bytes_, values);
}

std::vector<uint8_t> MatchCounts::encodeTimes(int64_t unit) const {
  MatchTimesWriter out(unit);
  size_t place = 0;
  for (const Sum& s : sums()) out.add(place++, s.cell);
  return out.bytes();
}

void MatchCounts::forEach(const std::function<void(uint32_t, uint32_t, const MatchCell&)>& use) const {
  for (const Sum& s : sums()) use(s.rule, s.op, s.cell);
}

MatchTimes::MatchTimes(std::span<const uint8_t> bytes) : in_(bytes) {
  valid_ = nextTimed();
}

bool MatchTimes::nextTimed() {
  uint64_t step = 0;
  if (in_.atEnd())
    timed_ = UINT64_MAX;
  else if (!in_.next(step) || step == 0)
    return false;
  else
    timed_ += step;
  return true;
}

bool MatchTimes::next(MatchCell& cell) {
  if (!valid_ || ++index_ != timed_) return valid_;
  std::array<uint64_t, kMatchOutcomes> ns;
  valid_ = readValues(in_, ns) && nextTimed();
  if (valid_) std::copy(ns.begin(), ns.end(), cell.ns.begin());
  return valid_;
}

bool MatchCounts::decode(std::span<const uint8_t> bytes, std::span<const uint8_t> times,
                         const std::function<void(uint32_t, uint32_t, const MatchCell&)>& use) {
  Leb128Reader in(bytes);
  MatchTimes timesOf(times);
  while (!in.atEnd()) {
    uint64_t op, count, rule = 0, step;
    if (!in.next(op) || op > 255 || !in.next(count) || count > bytes.size()) return false;
    for (uint64_t k = 0; k < count; ++k) {
      MatchCell cell;
      if (!in.next(step) || step > UINT32_MAX || !readValues(in, cell.count)) return false;
      rule += step;
      if (rule > UINT32_MAX || !timesOf.next(cell)) return false;
      use(static_cast<uint32_t>(rule), static_cast<uint32_t>(op), cell);
    }
  }
  return true;
}

} // namespace uopscope
