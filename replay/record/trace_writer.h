// Turns events into rows, on the writer's thread. All ids are given here, in order of events, so two
// recordings of one script are equal but for times. Rows go out in large transactions; commit() makes them
// visible to readers, and what was committed survives a kill of the process at any moment.
#pragma once
#include "replay/record/event_source.h"
#include "replay/record/node_interner.h"
#include "replay/record/text_blocks.h"
#include "replay/schema/decline_sets.h"
#include "replay/schema/match_blocks.h"
#include "replay/schema/schema.h"

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace uopscope {

class TraceWriter {
public:
  /// Makes the file. `startNs` is the moment times count from.
  TraceWriter(const std::string& path, Tier tier, RuleBook& book, int64_t startNs);

  void setMeta(const std::string& key, std::string_view value);
  /// Stores a file's text, if it can be read.
  void addFileText(const std::string& path);
  void consume(Event& event);
  /// Makes everything so far visible; true if there was anything.
  bool commit();
  /// Drops what was not committed: the disk is full.
  void abandon();
  /// Indexes, status, one file.
  void finish(std::string_view status, std::string_view message, int64_t endNs);

  uint64_t rows() const { return rows_; }
  int64_t steps() const { return nextStep_ - 1; }

private:
  struct OpenPass {
    int64_t id = 0; ///< 0: not stored yet (nested, without a step so far)
    const Node* root = nullptr;
    uint32_t rootId = 0; ///< stands for root when its pool is gone
    std::unique_ptr<Payload> begin;
    int64_t beginNs = 0, firstStep = 0, steps = 0, parentSteps = 0;
    size_t scopeDepth = 0;
  };
  struct OpenScope {
    int64_t id = 0;
    size_t passDepth = 0;
    const Node* root = nullptr;               ///< stored with the first pass
    std::map<std::string, std::string> texts; ///< last text of each kind
    bool hasProgram = false;
  };
  void beginTransaction();
  int64_t string(std::string_view text);
  int64_t file(std::string_view path);
  int64_t rule(uint32_t bookIndex);
  void scopeBegin(Event& e);
  void scopeEnd(int64_t ns);
  void artifact(const Payload& payload);
  void passBegin(Event& e);
  void passEnd(const Event& e);
  void closePass(uint32_t endRoot, int outcome, int64_t message, int64_t ns, bool ended);
  void store(size_t depth);
  void step(const Event& e, bool error);
  void origin(Event& e);
  void writeOrigin(uint32_t node, const Payload& payload);
  void launch(const Event& e);
  void buffer(const Event& e);
  void program(const Payload& payload);
  void kernel(const std::string& launch);
  int64_t bufferOf(uint64_t id, int64_t ns);
  int64_t matcher(uint32_t bookIndex);
  void counts(const Payload& payload);
  void writeCounts();
  void writeDecisions();
  int64_t currentScope() const { return scopes_.empty() ? 0 : scopes_.back().id; }

  Database db_;
  Tier tier_;
  RuleBook& book_;
  int64_t startNs_;
  std::unique_ptr<NodeInterner> nodes_;
  std::unique_ptr<MatchBlockWriter> matches_;
  std::unique_ptr<TextBlockWriter> texts_;
  std::unique_ptr<DeclineWriter> declined_;
  Packer packer_;
  Statement insertString_, insertFile_, insertRule_, insertScope_, nameScope_, rootScope_, endScope_,
      insertPass_, endPass_, insertStep_, insertError_, insertGate_, insertLaunch_, insertOrigin_, setMeta_,
      insertMatcher_, insertUnchanged_, insertProgram_, insertPhase_, insertBuffer_, freeBuffer_,
      insertCandidate_, insertOutput_, insertKernel_, insertDecision_;
  std::map<std::string, int64_t, std::less<>> strings_, files_;
  std::vector<int64_t> rules_, matchers_;          ///< by index in the RuleBook
  std::unordered_map<uint32_t, int64_t> programs_; ///< serial of the pool of a linear program -> scope
  std::unordered_map<uint64_t, int64_t> buffers_;  ///< alive ones: the engine's id -> ours
  int64_t nextMatcher_ = 1, nextBuffer_ = 1, nextArtifact_ = 1, nextRule_ = 1, nextScope_ = 1, nextPass_ = 1,
          nextOrigin_ = 1, nextStep_ = 1;
  std::vector<OpenScope> scopes_;
  std::vector<OpenPass> passes_;
  std::map<int64_t, MatchCounts> counts_; ///< of the open outermost pass: nested name -> counts
  DeclineWriter::Declines declines_;      ///< likewise
  MatchCounts totals_;
  std::vector<Decision> pendingDecisions_; ///< of the next step
  std::unordered_multimap<const Node*, std::unique_ptr<Payload>>
      origins_; ///< of nodes no graph has shown yet
  std::set<std::tuple<uint32_t, int64_t, int64_t, int>> originsWritten_;
  bool open_ = false;
  uint64_t rows_ = 0;
};

/// match_total, of a trace that ends.
void writeTotals(const Database& db, const MatchCounts& totals);

/// Nodes of a linear program as packed_program.nodes has them before they are packed.
std::string packedProgram(const std::vector<int64_t>& nodes);

/// Gives a trace whose process died its end: status, indexes, one file. For the parent of a recording
/// process.
void sealTrace(const std::string& path, std::string_view status, std::string_view message);

} // namespace uopscope
