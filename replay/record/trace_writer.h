// Turns events into rows, on the writer thread. It gives out all ids in order of events, so two recordings of
// one script differ only in times. Rows go out in large transactions. commit() makes them visible to readers,
// and committed rows survive a kill of the process at any moment.
#pragma once
#include "replay/record/count_writer.h"
#include "replay/record/event_source.h"
#include "replay/record/node_interner.h"
#include "replay/record/text_writer.h"
#include "replay/schema/decline_sets.h"
#include "replay/schema/row_batch.h"
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
  /// Makes the tables in a new file. All times count from `startNs`.
  TraceWriter(Database db, Tier tier, RuleBook& book, int64_t startNs);

  void setMeta(const std::string& key, std::string_view value);
  /// Stores a file's text, if it can be read.
  void addFileText(const std::string& path);
  void consume(Event& event);
  /// Makes all rows so far visible; true if there was any.
  bool commit();
  /// Drops the rows that are not committed: the disk is full.
  void abandon();
  /// Builds the indexes, sets the status and leaves a single file.
  void finish(std::string_view status, std::string_view message, int64_t endNs);

  uint64_t rows() const { return rows_; }
  int64_t steps() const { return nextStep_ - 1; }

private:
  struct OpenPass {
    int64_t id = 0; ///< 0: not stored yet (a nested pass without a step so far)
    const Node* root = nullptr;
    uint32_t rootId = 0; ///< replaces root once its pool is gone
    std::unique_ptr<Payload> begin;
    int64_t beginNs = 0, firstStep = 0, steps = 0, parentSteps = 0;
    size_t scopeDepth = 0;
    std::vector<Decision> outerDecisions = {}; ///< of the rule that runs this nested pass, for its own step
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
  void registers(const std::string& text);
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
  std::unique_ptr<CountWriter> countWriter_;
  std::unique_ptr<RowBatch> steps_;
  std::unique_ptr<TextWriter> texts_;
  std::unique_ptr<DeclineWriter> declined_;
  Statement insertString_, insertFile_, insertRule_, insertScope_, nameScope_, rootScope_, endScope_,
      insertPass_, endPass_, insertError_, insertGate_, insertLaunch_, insertOrigin_, insertCalls_, setMeta_,
      insertMatcher_, insertUnchanged_, insertPhase_, insertBuffer_, freeBuffer_, insertCandidate_,
      insertOutput_, insertKernel_, setRegisters_, insertDecision_;
  std::unordered_map<std::string, int64_t> strings_, files_;
  std::vector<int64_t> rules_, matchers_;          ///< by index in the RuleBook
  std::unordered_map<uint32_t, int64_t> programs_; ///< pool serial of a linear program -> its scope
  std::unordered_map<uint64_t, int64_t> buffers_;  ///< living buffers: id in the engine -> id in the trace
  int64_t nextMatcher_ = 1, nextBuffer_ = 1, nextArtifact_ = 1, nextRule_ = 1, nextScope_ = 1, nextPass_ = 1,
          nextOrigin_ = 1, nextStep_ = 1;
  std::vector<OpenScope> scopes_;
  std::vector<OpenPass> passes_;
  std::map<int64_t, MatchSums> counts_; ///< counts of the open outermost pass: nested name -> counts
  DeclineWriter::Declines declines_;    ///< declines of that pass
  MatchSums totals_;
  std::vector<Decision> pendingDecisions_; ///< decisions that the next step rests on
  std::unordered_multimap<const Node*, std::unique_ptr<Payload>>
      origins_; ///< origins of nodes that no recorded graph contains yet
  std::set<std::tuple<uint32_t, int64_t, int64_t, int>> originsWritten_;
  std::set<uint32_t> callsWritten_; ///< nodes whose calls are stored
  bool open_ = false;
  uint64_t rows_ = 0;
};

/// Writes the table match_total when a trace ends.
void writeTotals(const Database& db, const MatchCounts& totals);

/// Completes a trace whose process died: status, indexes, a single file. The parent of a recording process
/// calls it.
void sealTrace(const std::string& path, std::string_view status, std::string_view message);

} // namespace uopscope
