// Checks rewrites of a trace: makes the nodes of both sides in a pool of its own and compares them, with what earlier
// rewrites of the pass tell about names, layouts and loops.
//
//   StepChecker checker(trace.nodes().reader());
//   ValueCheck c = checker.check(step.before, step.after, {}, step.pass, "devectorize");
//
// The rewrites of a pass come in their order. A checker belongs to the thread that made it. What it says depends on the
// rewrites that it was given before, so a survey gives each checker the same ones in every run.
#pragma once
#include "replay/compare/rewrite_check.h"
#include "replay/compare/transform_check.h"
#include "replay/read/materialize.h"
#include "replay/read/trace.h"

#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace uopscope {

class StepChecker {
public:
  explicit StepChecker(const NodeReader& read) : read_(read), make_(read_, checker_.pool()) {}

  ValueCheck check(NodeId before, NodeId after, const CheckLimits& limits, PassId pass,
                   std::string_view passName = {});
  /// Learns from a rewrite that was already checked in a different pass.
  void learn(NodeId before, NodeId after, PassId pass);
  /// Checks several rewrites with the same resulting effect: together they must do the same as it does.
  ValueCheck checkMerged(const std::vector<NodeId>& before, NodeId after, const CheckLimits& limits);
  /// Compares the ends of a pass. What its rewrites call otherwise (buffers that are numbered, an argument that gets its
  /// value) is called so at both ends.
  ValueCheck checkEnds(NodeId before, NodeId after, const std::vector<std::pair<NodeId, NodeId>>& rewrites,
                       const CheckLimits& limits);
  bool isEffect(NodeId node) { return read_(node).dtype.isVoid(); }
  size_t nodes() { return checker_.pool().liveNodes(); }

private:
  NodeReader read_;
  RewriteChecker checker_;
  Materializer make_;
  std::map<PassId, PassMemory> passes_;
  std::map<PassId, TransformMemory> transforms_;
};

/// Checks one rewrite alone, without the memory of its pass.
ValueCheck checkRewrite(const NodeReader& read, NodeId before, NodeId after, int samples = 48);
/// Checks a step of a trace, with the memory of its pass up to that step.
ValueCheck checkStep(Trace& trace, StepId step, int samples = 48);

/// Withdraws a difference within "apply rangeify": movement operations stand over values that loops index already there.
/// Neither side is a tensor or a value yet, so different results prove nothing.
void leaveHalfRanged(ValueCheck& c, std::string_view pass);

} // namespace uopscope
