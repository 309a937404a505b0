// The open trace as the window's thread knows it: scopes, rules, texts, and the passes of scopes that were read so far.
// It reads no file. Jobs read (readTraceFacts(), readPasses()) and hand over their answers.
//
//   TraceIndex index(facts);                                       // made by a job when the trace was opened
//   if (!index.knows(scope)) jobs.ask(..., readPasses(job.trace(), scope) ... index.learn(scope, passes));
//   for (const PassInfo& p : index.passes(scope)) use(p.name);
#pragma once
#include "replay/read/opening.h"
#include "replay/read/trace.h"

#include <memory>
#include <set>
#include <unordered_map>

namespace uopscope {

/// Whether a pass did nothing that is worth a row: no step, or new tags only. Remembers passes that have ended.
class DullPasses {
public:
  bool operator()(Trace& trace, const PassInfo& pass);

private:
  std::unordered_map<PassId, bool> retags_;
};

/// The passes of a scope, and which of them are dull. Immutable, so that threads may share it.
struct ScopePasses {
  std::vector<PassInfo> passes;
  std::set<PassId> dull;
  bool ended = false; ///< the scope had ended, so they do not change any more
};
using ScopePassesPtr = std::shared_ptr<const ScopePasses>;

/// What a window knows of a trace at once, without a walk over its passes.
struct TraceFacts {
  std::string path;
  std::shared_ptr<const TraceOverview> overview;
  std::vector<RuleInfo> rules;
  std::string scriptName, warning;
  std::optional<std::string> scriptText;
  bool finished = false;
  bool hasOutput = false;
  std::string output; ///< of a trace that has ended: the end of what the script printed
  NodeId nodes = 0;   ///< the highest id
  PassId lastPass = 0;
  std::optional<StepPlace> opening; ///< where to enter it
  ScopeId openingScope = 0;
  std::string problem; ///< what of it could not be read, in a damaged file
};

/// With `entrance`, or where the recording has ended, looks for the opening too, which reads steps of a kernel.
TraceFacts readTraceFacts(Trace& trace, bool entrance);
ScopePassesPtr readPasses(Trace& trace, ScopeId scope);

class TraceIndex {
public:
  explicit TraceIndex(TraceFacts facts) : facts_(std::move(facts)) {}

  const TraceFacts& facts() const { return facts_; }
  /// The trace has grown: rows of scopes that had ended stay.
  void grow(TraceFacts facts) { facts_ = std::move(facts); }
  const std::shared_ptr<const TraceOverview>& overview() const { return facts_.overview; }
  bool finished() const { return facts_.finished; }
  const std::string& meta(const std::string& key) const;
  const std::string& status() const { return meta("status"); }
  FileLine scriptFile() const { return {meta("script"), 0}; }
  const std::string& scriptName() const { return facts_.scriptName; }

  const std::vector<ScopeInfo>& scopes() const { return facts_.overview->scopes; }
  const ScopeInfo& scope(ScopeId id) const; ///< Error(Key) if there is none
  std::vector<ScopeId> childrenOf(ScopeId id) const;
  const RuleInfo& rule(RuleId id) const; ///< Error(Key) if there is none
  const std::vector<RuleInfo>& rules() const { return facts_.rules; }

  bool knows(ScopeId scope) const { return passes_.contains(scope); }
  bool knowsPass(PassId pass) const { return scopeOf_.contains(pass); }
  /// The passes of a scope that is known; of others, none.
  const std::vector<PassInfo>& passes(ScopeId scope) const;
  const PassInfo& pass(PassId id) const; ///< Error(Key) if it is not known
  bool dull(const PassInfo& pass) const;
  /// Takes the passes over, unless more of this scope is known already: two readers may look at a scope that grows, and the
  /// one that looked first may answer last.
  void learn(ScopeId scope, ScopePassesPtr passes);
  /// Known scopes that may have changed, and unknown ones, from the newest on.
  std::vector<ScopeId> stale(size_t most) const;
  size_t passCount() const { return scopeOf_.size(); }

  ScopeId findScope(const std::string& text) const;              ///< as Trace::findScope
  PassId findPass(ScopeId scope, const std::string& text) const; ///< as Trace::findPass, of a known scope

private:
  TraceFacts facts_;
  std::unordered_map<ScopeId, ScopePassesPtr> passes_;
  std::unordered_map<PassId, ScopeId> scopeOf_;
};

} // namespace uopscope
