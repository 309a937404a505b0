// graph_rewrite: applies a matcher to every node of a graph until nothing changes.
//
// Per node three stages on an explicit stack (no recursion, so depth is bounded by memory alone):
//   0. rules of `bottomUp` are applied to the node as it stands, to a fixed point; then its sources are
//   visited;
//   1. all sources done: if one changed, the node is rebuilt and starts again at 0; else the rules of
//   `matcher` are
//      tried; a result starts at 0 in its place;
//   2. the result is linked to the original node.
// Every node is rewritten once per pass (results are remembered), so cost is near linear in the graph.
//
// Errors: Error(Rewrite) "infinite loop in graph_rewrite" when a node in a fixed point comes back, when the
// stack passes REWRITE_STACK_LIMIT, or when a rule wraps a node into an expression of itself; names the rule
// and the node.
#pragma once
#include "engine/rewrite/matcher.h"

namespace uopscope {

struct RewriteOptions {
  std::string_view name = {}; ///< of the pass
  PassContext ctx = {};
  const PatternMatcher* bottomUp = nullptr; ///< rules for the way down, besides the matcher for the way up
  UOpMap<UOp>* map = nullptr; ///< receives old -> new for every node visited of the original graph
};

/// Rewrites on the way up (`matcher`) and down (`options.bottomUp`).
/// The call site is recorded as the place the pass was asked for; Python bindings pass their script's line.
UOp graphRewrite(UOp root, const PatternMatcher& matcher, const RewriteOptions& options = {},
                 const char* file = __builtin_FILE(), int line = __builtin_LINE());
/// Rewrites on the way down only.
UOp graphRewriteBottomUp(UOp root, const PatternMatcher& matcher, const RewriteOptions& options = {},
                         const char* file = __builtin_FILE(), int line = __builtin_LINE());

/// A pass that looks at a graph and rewrites nothing of it. It stands in the list of passes, and the rewrites
/// of helper graphs that it asks for (an index, a bound) are nested in it.
///
///   AnalysisPass pass("get realize", sink);
class AnalysisPass {
public:
  AnalysisPass(std::string_view name, UOp root, const char* file = __builtin_FILE(),
               int line = __builtin_LINE());
  ~AnalysisPass();
  AnalysisPass(const AnalysisPass&) = delete;
  AnalysisPass& operator=(const AnalysisPass&) = delete;

private:
  Observer* observer_;
  UOp root_;
  int exceptions_;
};

/// Whether the thread is in a pass that an observer follows: a rewrite that begins now is nested in it.
bool insideObservedPass();

} // namespace uopscope
