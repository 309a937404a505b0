// Graph to instructions: in the order of the loop tree, with IF ... ENDIF around gated stores.
#include "engine/codegen/codegen.h"
#include "engine/codegen/loop_tree.h"

namespace uopscope {

namespace {

UOp gateOf(UOp store) {
  UOp at = store.src(0);
  while (at.is(Op::CAST)) at = at.src(0);
  return at.is(Op::INDEX) && at.srcCount() == 3 ? at.src(2) : UOp();
}

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

} // namespace uopscope
