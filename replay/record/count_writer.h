// Writes the sums of passes into a trace. Passes of equal kernels leave equal sums of an operation, so a group is spelled out, rule
// by rule, only when it comes for the first time.
//
//   CountWriter out(db, book, [&](uint32_t rule) { return idOf(rule); });
//   out.add(pass, nested, sums);
//   out.flush();                                   // before every commit
//
// Invariant: the rows are those that MatchBlockWriter makes of named(sums).
#pragma once
#include "replay/record/match_sums.h"
#include "replay/schema/match_blocks.h"

namespace uopscope {

class CountWriter {
public:
  /// `ruleId`: the id in the trace of a rule of the book.
  using RuleId = std::function<int64_t(uint32_t)>;
  CountWriter(const Database& db, RuleBook& book, RuleId ruleId);
  /// As MatchBlockWriter::add().
  void add(int64_t pass, int64_t nested, const MatchSums& sums);
  /// The sums by the rules' ids in the trace.
  MatchCounts named(const MatchSums& sums);
  void flush() { blocks_.flush(); }

private:
  using OfOp = MatchSums::OfOp;
  /// The ids in the trace of the first rules of a list, and their places in order of the ids.
  struct RuleList {
    std::vector<uint32_t> ids, byId;
  };
  struct KnownGroup {
    int64_t id = 0;
    size_t size = 0;
    /// For each list of the group, by places: the sum that the rule's cell belongs to.
    std::vector<std::vector<uint32_t>> sumOf;
  };
  const RuleList& ruleList(uint32_t list, size_t reached);
  void spellOut(const OfOp& of, MatchCounts& out);
  const KnownGroup& groupOf(std::span<const OfOp* const> lists);

  RuleBook& book_;
  RuleId ruleId_;
  MatchBlockWriter blocks_;
  std::unordered_map<uint32_t, RuleList> lists_;
  std::unordered_map<std::string, KnownGroup> groups_; ///< by their counts, as bytes
  std::string key_;
  std::vector<MatchCell> cells_;
  std::vector<int64_t> ids_;
};

} // namespace uopscope
