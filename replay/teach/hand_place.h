// Where the compiler goes on with a graph that was taken out of a pass: the pass of its table that begins again, and the
// Opts that are left to apply.
//
//   HandStart start = handStart(trace, pass, step, storedCompilation(trace, pass.scope));
//   UOp graph = start.pin(taken, inputGraph(stored));           // rules after kernelPassNames()[start.next - 1] put it there
//
// Invariant: next is at least 1, so that there is a pass before it.
#pragma once
#include "engine/codegen/opt.h"
#include "replay/read/trace.h"
#include "replay/read/uop_reader.h"
#include "replay/record/capture.h"
#include "replay/teach/by_hand.h"

namespace uopscope {

struct HandStart {
  size_t next = 1;
  bool amongOpts = false;
  std::vector<Opt> done, left = {}; ///< of a place among the Opts

  /// The graph with the Opts that it still gets: those left, or those that the stored input pins.
  UOp pin(UOp graph, UOp input) const;
};
/// A nested pass rewrites an expression and not the kernel: its place is that of the kernel meanwhile, in the pass around it.
HandPlace wholePlace(Trace& trace, HandPlace place);
/// `pass` is not nested. Error(Value) between two steps of one Opt, and where the kernel has got memory behind its Opts.
HandStart handStart(Trace& trace, const PassInfo& pass, int64_t step, const Compilation& stored);

/// "(x*1)  →  x"
std::string handExpressions(UOpReader& known, UOp before, UOp after);

} // namespace uopscope
