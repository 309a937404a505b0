// Graph to instructions: in the order of the loop tree, with IF ... ENDIF around gated stores. The blocks become sources of
// the SINK, so that the last graph holds every instruction and a trace shows them.
#include "engine/codegen/codegen.h"
#include "engine/codegen/loop_tree.h"
#include "engine/rewrite/driver.h"
#include "engine/rewrite/replacement.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {

UOp gateOf(UOp store) {
  UOp at = store.src(0);
  while (at.is(Op::CAST)) at = at.src(0);
  return at.is(Op::INDEX) && at.srcCount() == 3 ? at.src(2) : UOp();
}

constexpr RuleDef kBlocks[] = {RULE("close-gated-stores", pat::any(Op::SINK), pat::entry())};
const KnownRules kBlocksKnown(kBlocks);
constexpr const char* kPass = "linearize/render";

} // namespace

std::vector<UOp> linearize(UOp sink) {
  LoopTree tree(sink);
  std::vector<UOp> program;
  UOp open; // the open IF
  auto close = [&] {
    if (open) program.push_back(UOp::make(Op::ENDIF, dtypes::void_, {open}));
    open = {};
  };
  for (UOp u : tree.order()) {
    UOp gate = u.is(Op::STORE) ? gateOf(u) : UOp();
    // Neighbouring stores with the same gate share one IF.
    if (open && (!gate || open.src(0) != gate)) close();
    if (gate && !open) {
      open = UOp::make(Op::IF, dtypes::void_, {gate, u.src(0)});
      program.push_back(open);
    }
    program.push_back(u);
  }
  return program;
}

UOp keepBlocks(UOp sink, std::vector<UOp>& program) {
  static const PatternMatcher nothing, blocks({kBlocks});
  std::vector<UOp> src(sink.src().begin(), sink.src().end());
  std::copy_if(program.begin(), program.end(), std::back_inserter(src),
               [](UOp u) { return u.is(Op::ENDIF); });
  if (src.size() == sink.srcCount()) return graphRewrite(sink, nothing, {.name = kPass});
  because([&] {
    return fmt::format("{} blocks run where the gates of their stores hold", src.size() - sink.srcCount());
  });
  sink = replaceNodes(sink, {{sink, sink.withSrc(src)}}, blocks, kPass);
  program.back() = sink;
  return sink;
}

} // namespace uopscope
