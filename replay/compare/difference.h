// Compares two corpora: aligns every compilation, judges it, and groups changes by their cause.
//
//   CorpusDiff d = diffCorpora(Corpus::open("before.uopcorpus"), Corpus::open("after.uopcorpus"), {});
//   print(summaryText(d));                     // report.h: terminal, Markdown, HTML, JSON
//
// Compilations of the same input form a pair. The remaining ones are paired by script line, name and likeness
// of their graphs, with a confidence. Nothing is capped.
#pragma once
#include "replay/compare/divergence.h"
#include "replay/record/corpus.h"

namespace uopscope {

struct DiffOptions {
  bool ignoreNames = false;   ///< ignore differences in the numbering of names in sources
  bool rewrites = true;       ///< also find diverging rewrites of compilations that end in the same code
  double slowerFactor = 1.5;  ///< a smaller ratio of compile times is noise
  int64_t slowerNs = 300'000; ///< so is a smaller difference
  std::function<void(size_t done, size_t total)> progress = {};
};

/// Compares compile times: 1 longer, -1 shorter, 0 a difference within noise.
int speedOf(int64_t beforeNs, int64_t afterNs, const DiffOptions& options = {});

struct Change {
  enum class Status : uint8_t {
    Same,
    OtherWay,
    Changed,
    Failed,
    Fixed,
    Added,
    Removed
  } status = Status::Same;
  ///< OtherWay: the same code by other rewrites. Failed: compiled before, does not now
  std::optional<CorpusEntry> before, after;
  double confidence = 1;                           ///< that the two form a pair; 1: same input
  Divergence divergence;                           ///< the place of divergence, if stories were kept
  std::string cause;                               ///< key of the group; empty for Same
  bool source = false, ir = false, launch = false; ///< the parts that differ
  std::string ran;                                 ///< results and times of runChanges, as a sentence
  bool resultsDiffer = false;
  const CorpusEntry& entry() const { return after ? *after : *before; }
  /// after / before, 0 where one is missing
  double compileRatio() const {
    return before && after && before->compileNs > 0
               ? static_cast<double>(after->compileNs) / static_cast<double>(before->compileNs)
               : 0;
  }
};

struct ChangeGroup {
  std::string cause;
  std::vector<size_t> changes; ///< indexes into CorpusDiff::changes
  size_t kernels = 0, schedules = 0;
};

struct RuleChange {
  std::string rule, what; ///< what: "new", "removed", "dead", "revived", "rate", "cost", "rank", "renamed"
  uint64_t attemptsBefore = 0, attemptsAfter = 0, appliedBefore = 0, appliedAfter = 0;
  int64_t nsBefore = 0, nsAfter = 0;
  int rankBefore = 0, rankAfter = 0; ///< rank by time, from 1; 0: absent
  std::string renamedTo;
};

struct CorpusDiff {
  std::string beforeName, afterName, beforeCommit, afterCommit;
  std::vector<std::string> warnings;
  std::vector<Change> changes;     ///< one for every compilation of both corpora
  std::vector<ChangeGroup> groups; ///< biggest first
  std::vector<RuleChange> rules;   ///< biggest first
  std::map<std::string, std::string> renamedRules;
  size_t same = 0, otherWay = 0, changed = 0, failed = 0, fixed = 0, added = 0, removed = 0, slower = 0,
         faster = 0;
  int64_t compileNsBefore = 0, compileNsAfter = 0; ///< sums over kernels in both corpora
  bool measuredAlike = true; ///< times of both sides are comparable: both captured, or both replayed
  bool anyChange() const { return changed + failed + fixed + added + removed > 0; }
};

CorpusDiff diffCorpora(const Corpus& before, const Corpus& after, const DiffOptions& options);

/// Runs both builds' code of every changed kernel on the same data, each in a process of its own. Notes
/// whether the results agree, and compares the times.
void runChanges(CorpusDiff& d, const Corpus& before, const Corpus& after, int timeoutSeconds);

/// The name of a status, such as "changed".
std::string_view statusName(Change::Status status);
/// Compares the match statistics of two corpora.
std::vector<RuleChange> diffRules(const RuleCounts& before, const RuleCounts& after,
                                  const std::map<std::string, std::string>& renamed);

} // namespace uopscope
