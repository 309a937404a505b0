// The rows of the tree on the left, made from a trace on any thread: a row for each visible scope and pass.
//
//   TreeBuilder builder;                                  // lives as long as the trace is open
//   TreeAnswer tree = builder.rows(trace, overview, question, [] { return false; });
//
// A pass with more than a few passes inside is folded: a schedule makes dozens of helper rewrites while it assigns ranges.
// Passes of a scope that has ended are read once: a recording of 20,000 kernels that is still growing costs as
// much per look as its newest scopes.
#pragma once
#include "viz/models/work/trace_index.h"

#include <QString>
#include <functional>
#include <set>
#include <unordered_map>

namespace uopscope {

struct TreeRow {
  bool isPass = false;
  ScopeId scope = 0;
  PassId pass = 0;
  int depth = 0;
  bool hasChildren = false, expanded = false;
  int inside = 0;        ///< passes that ran inside this one, dull ones left out
  PassId lastInside = 0; ///< the last pass that ran inside this one, or this one: numbers run in order
  QString name, place, time;
  int64_t steps = 0;
  bool failed = false, open = false, dull = false;
  bool llvm =
      false; ///< stands behind the passes of a kernel for those of LLVM, which the tab of the IR shows
  ScopeKind kind = ScopeKind::Other;
  bool operator==(const TreeRow&) const = default;
};

/// What a person wants to see of the tree.
struct TreeQuestion {
  std::set<ScopeId> opened, closed;
  std::set<PassId> turned; ///< passes that were folded or unfolded by hand
  bool unfolded = false;   ///< no pass is folded at first
  QString filter;
  bool hideEmpty = true;
  PassId present = 0; ///< is listed even if it is dull
};
struct TreeAnswer {
  std::vector<TreeRow> rows;
  int hidden = 0; ///< dull passes that are left out
};

class TreeBuilder {
public:
  /// Throws Error where the trace is damaged beyond a list that ends early; `stale` ends the work.
  TreeAnswer rows(Trace& trace, const TraceOverview& overview, const TreeQuestion& question,
                  const std::function<bool()>& stale);

private:
  struct Walk;
  const std::vector<TreeRow>& passesOf(Trace& trace, const ScopeInfo& scope);
  bool addScope(Walk& walk, size_t scope, int depth, bool ancestorMatches);

  DullPasses dull_;
  std::unordered_map<ScopeId, std::vector<TreeRow>> ended_; ///< rows of the passes of scopes that have ended
  std::vector<TreeRow> growing_;
};

} // namespace uopscope
