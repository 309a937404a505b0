// Attempts to match, summed by rule and operation, and their form in a trace: match_block.counts and
// counts_ns. Times are stored apart, so that all other bytes are the same in every recording.
//
//   MatchCounts counts;
//   counts.add(rule, op, count, ns);        // five values each, by Outcome
//   insert.bindBlob(1, counts.encode()).bindBlob(2, counts.encodeTimes());
//   MatchCounts::decode(bytes, times, [](uint32_t rule, uint32_t op, const MatchCell& cell) { ... });
#pragma once
#include "replay/schema/leb128.h"

#include <array>
#include <functional>
#include <string_view>
#include <vector>

namespace uopscope {

/// Indexed by Outcome: rejected early, structure differs, declined, applied, unchanged.
constexpr size_t kMatchOutcomes = 5;
constexpr std::array<std::string_view, kMatchOutcomes> kMatchOutcomeNames = {
    "rejected_early", "structure_differs", "declined", "applied", "unchanged"};

struct MatchCell {
  std::array<uint64_t, kMatchOutcomes> count{};
  std::array<int64_t, kMatchOutcomes> ns{};
  void add(const MatchCell& other);
};

/// Writes the times of cells, in rising order of their places among all, as encodeTimes() does.
class MatchTimesWriter {
public:
  explicit MatchTimesWriter(int64_t unit) : unit_(unit) {}
  /// Leaves out a cell whose times round to zero.
  void add(size_t place, const MatchCell& cell);
  const std::vector<uint8_t>& bytes() const { return bytes_; }

private:
  int64_t unit_;
  uint64_t last_ = 0;
  std::vector<uint8_t> bytes_;
};

/// Reads the bytes of encodeTimes(), one cell after the other.
class MatchTimes {
public:
  explicit MatchTimes(std::span<const uint8_t> bytes);
  /// Reads the times of the next cell, if it has any; false where the bytes are not valid.
  bool next(MatchCell& cell);

private:
  bool nextTimed();
  Leb128Reader in_;
  uint64_t index_ = 0, timed_ = 0;
  bool valid_ = true;
};

class MatchCounts {
public:
  struct Sum {
    uint32_t op, rule;
    MatchCell cell;
  };
  void add(uint32_t rule, uint32_t op, const MatchCell& cell);
  bool empty() const { return sums_.empty(); }
  void clear() { sums_.clear(), settled_ = 0; }
  /// One for each rule and operation, in order of operations, then rules. Valid until the next add().
  std::span<const Sum> sums() const;
  /// The cells in this order.
  std::vector<uint8_t> encode() const;
  /// Their times in units of so many ns, rounded.
  std::vector<uint8_t> encodeTimes(int64_t unit = 1) const;
  void forEach(const std::function<void(uint32_t rule, uint32_t op, const MatchCell&)>& use) const;
  /// Returns false for bytes that encode() did not make.
  static bool decode(std::span<const uint8_t> bytes, std::span<const uint8_t> times,
                     const std::function<void(uint32_t rule, uint32_t op, const MatchCell&)>& use);

private:
  /// The first settled_ are in order, without repetitions; those behind are as they came.
  mutable std::vector<Sum> sums_;
  mutable size_t settled_ = 0;
};

} // namespace uopscope
