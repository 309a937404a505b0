// Attempts to match as a trace stores them: sums of many passes in one packed row (packed_match). Older
// traces have a row for each sum, which reads the same here.
//
//   MatchBlockWriter out(db);  out.add(pass, nested, counts);  out.flush();      // before every commit
//   MatchBlockReader in(db, 1, 20);                                              // passes 1 to 20
//   while (in.next()) use(in.pass(), in.nested(), in.decode(...));
#pragma once
#include "replay/schema/database.h"
#include "replay/schema/match_counts.h"
#include "replay/schema/packing.h"

namespace uopscope {

class MatchBlockWriter {
public:
  explicit MatchBlockWriter(const Database& db);
  /// Passes in rising order; `nested` is the string.id of a nested pass's name, 0 for the pass itself.
  void add(int64_t pass, int64_t nested, const MatchCounts& counts);
  /// Writes the row that is being filled, which goes on being filled. Where rows begin does not depend on
  /// when.
  void flush();

private:
  Statement insert_;
  Packer packer_, timesPacker_;
  std::vector<uint8_t> counts_, times_;
  int64_t first_ = 0, last_ = 0;
  bool written_ = true;
};

class MatchBlockReader {
public:
  MatchBlockReader() = default;
  MatchBlockReader(const Database& db, int64_t lowestPass, int64_t highestPass);
  /// The next sum; false at the end. Error(File) where the trace is damaged.
  bool next();
  int64_t pass() const { return pass_; }
  int64_t nested() const { return nested_; }
  /// Error(File) where the counts cannot be read.
  void decode(const std::function<void(uint32_t rule, uint32_t op, const MatchCell& cell)>& use) const;

private:
  [[noreturn]] void damaged() const;
  Statement rows_;
  bool packed_ = false;
  int64_t low_ = 0, high_ = 0, pass_ = 0, nested_ = 0;
  std::vector<uint8_t> blockCounts_, blockTimes_;
  size_t countsAt_ = 0, timesAt_ = 0;
  std::span<const uint8_t> counts_, times_;
  std::string path_;
};

} // namespace uopscope
