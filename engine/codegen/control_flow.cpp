// Reads the order of loops off the loop tree and writes it into the graph as sources of RANGEs.
#include "engine/codegen/control_flow.h"

namespace uopscope {

namespace {

using namespace pat;

UOp chainRange(Match& m) {
  const auto& before = m.ctx<ControlFlowContext>().before;
  auto hit = before.find(m.root());
  if (hit == before.end()) return {};
  std::vector<UOp> src(m.root().src().begin(), m.root().src().end());
  src.push_back(hit->second);
  return m.root().withSrc(src);
}
constexpr RuleDef kControlFlow[] = {RULE("chain-range", any(Op::RANGE), chainRange)};
const KnownRules kControlFlowKnown(kControlFlow);

} // namespace

ControlFlowContext orderLoops(UOp sink) {
  ControlFlowContext context;
  if (!isProgram(sink)) return context;
  LoopTree tree(sink, LoopTree::Wanted::Successions);
  for (auto [range, end] : tree.successions())
    if (!range.dependsOn(end)) context.before[range] = end;
  return context;
}

std::span<const RuleDef> controlFlowRules() {
  return kControlFlow;
}

} // namespace uopscope
