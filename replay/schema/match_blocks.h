// Stores attempts to match in a trace, as JSON that plain SQL can read. Each distinct group of attempts is
// stored once, since kernels repeat them (match_tried, match_group, match_set, match_pass). Their times are
// packed (packed_time). Older traces store cells in other forms, a row for each sum, or packed rows of many
// sums; the reader takes all of them.
//
//   MatchBlockWriter out(db);  out.add(pass, nested, counts);  out.flush();      // before every commit
//   MatchBlockReader in(db, 1, 20);                                              // passes 1 to 20
//   while (in.next()) use(in.pass(), in.nested(), in.decode(...));
#pragma once
#include "replay/schema/database.h"
#include "replay/schema/match_counts.h"
#include "replay/schema/packing.h"

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <tuple>
#include <unordered_map>

namespace uopscope {

/// The unit of times of passes. They are estimates from a sample, so a finer unit would add only digits.
constexpr int64_t kTimeUnitNs = 32;

class MatchBlockWriter {
public:
  explicit MatchBlockWriter(const Database& db);
  /// The id of the sums of one operation, in order of their rules.
  int64_t group(std::span<const MatchCounts::Sum> sums);
  /// Passes must come in rising order; `nested` is the string.id of a nested pass's name, 0 for the pass
  /// itself; `times` as MatchCounts::encodeTimes() writes them, in units of kTimeUnitNs, over the sums of all groups.
  void add(int64_t pass, int64_t nested, std::span<const int64_t> groups, std::span<const uint8_t> times);
  void add(int64_t pass, int64_t nested, const MatchCounts& counts);
  /// Writes the row of times that is being filled and goes on filling it. The moment of a flush does not move
  /// the borders of rows.
  void flush();

private:
  int64_t tried(std::span<const MatchCounts::Sum> group);
  int64_t set(const std::string& groups);
  Statement insertTried_, insertGroup_, insertSet_, insertPass_, insertTime_;
  std::map<std::tuple<uint32_t, int64_t, uint64_t, std::string>, int64_t> groups_;
  std::unordered_map<std::string, int64_t> tried_, sets_;
  Packer packer_;
  std::vector<uint8_t> times_;
  int64_t first_ = 0, last_ = 0, rows_ = 0;
  bool written_ = true;
};

class MatchBlockReader {
public:
  MatchBlockReader() = default;
  MatchBlockReader(const Database& db, int64_t lowestPass, int64_t highestPass);
  /// Moves to the next sum; false at the end. Throws Error(File) where the trace is damaged.
  bool next();
  int64_t pass() const { return pass_; }
  int64_t nested() const { return nested_; }
  /// Throws Error(File) where the counts cannot be read.
  void decode(const std::function<void(uint32_t rule, uint32_t op, const MatchCell& cell)>& use);

private:
  enum class Form : uint8_t { Rows, Packed, Plain, Lists };
  using UseCell = std::function<void(uint32_t rule, uint32_t op, MatchCell& cell)>;
  bool isPlain() const { return form_ == Form::Plain || form_ == Form::Lists; }
  [[noreturn]] void damaged() const;
  bool nextPacked();
  /// The part of a block that belongs to the next sum. With `names` it also reads the pass and nested name of
  /// the sum.
  std::span<const uint8_t> part(const std::vector<uint8_t>& bytes, size_t& at, bool names);
  std::span<const uint8_t> timesOf(int64_t pass, int64_t nested);
  void decodeGroup(int64_t id, const UseCell& use);
  void decodeLists(uint32_t op, const nlohmann::json& cells, const UseCell& use);
  void decodeSteps(uint32_t op, const nlohmann::json& cells, const UseCell& use) const;
  void readCell(const nlohmann::json& item, MatchCell& cell) const;
  Statement rows_, group_, time_;
  Form form_ = Form::Rows;
  int64_t low_ = 0, high_ = 0, pass_ = 0, nested_ = 0;
  std::string set_;
  int64_t timeFirst_ = 0, timeLast_ = -1; ///< passes whose times are in blockTimes_
  std::map<std::pair<int64_t, int64_t>, std::span<const uint8_t>> timeParts_; ///< by pass and nested
  std::vector<uint8_t> blockCounts_, blockTimes_;
  size_t countsAt_ = 0, timesAt_ = 0;
  std::span<const uint8_t> counts_, times_;
  std::string path_;
};

} // namespace uopscope
