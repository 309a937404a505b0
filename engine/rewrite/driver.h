// graph_rewrite: applies a matcher to every node of a graph until nothing changes.
//
// Each node passes through three stages on an explicit stack (there is no recursion, so memory alone limits
// the depth):
//   0. the rules of `bottomUp` are applied to the node until none applies; then its sources are visited;
//   1. when all sources are done and one of them changed, the node is rebuilt and starts again at stage 0;
//      else the rules of `matcher` are tried, and a result takes the node's place and starts at stage 0;
//   2. the result is linked to the original node.
// Every node is rewritten once per pass (results are remembered), so the cost is nearly linear in the graph.
//
// Errors: Error(Rewrite) "infinite loop in graph_rewrite" names the rule and the node. It is thrown if a node
// reappears while rules are applied to it repeatedly, if the stack exceeds REWRITE_STACK_LIMIT, or if a rule
// wraps a node into an expression of itself.
#pragma once
#include "engine/rewrite/matcher.h"

namespace uopscope {

struct RewriteOptions {
  std::string_view name = {}; ///< name of the pass
  PassContext ctx = {};
  const PatternMatcher* bottomUp = nullptr; ///< rules for the way down, besides the matcher for the way up
  UOpMap<UOp>* map = nullptr; ///< receives old -> new for every visited node of the original graph
};

/// Rewrites on the way up (`matcher`) and down (`options.bottomUp`). The call site is recorded as the place
/// that asked for the pass; Python bindings pass the line of the script.
UOp graphRewrite(UOp root, const PatternMatcher& matcher, const RewriteOptions& options = {},
                 const char* file = __builtin_FILE(), int line = __builtin_LINE());
/// Rewrites on the way down alone.
UOp graphRewriteBottomUp(UOp root, const PatternMatcher& matcher, const RewriteOptions& options = {},
                         const char* file = __builtin_FILE(), int line = __builtin_LINE());

/// A pass that reads a graph and does not rewrite it. It appears in the list of passes, and the rewrites of
/// helper graphs that it asks for (an index, a bound) are nested in it.
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

/// Whether this thread is in a pass that an observer follows. A rewrite that begins now is then nested in
/// that pass.
bool insideObservedPass();

} // namespace uopscope
