// Lowering: from the graph of a kernel to its linear program.
//
//   LoweredKernel k = lowerKernel(ast, target);      // ast: SINK of a schedule item, from any pool
//   std::string source = renderer.render(k);
//
// Lowering copies the graph into a pool of its own, so the ids it makes depend on the kernel alone, and
// kernels can be lowered on any thread. Throws Error(Compile / Spec) naming the pass and the node.
#pragma once
#include "engine/codegen/target.h"
#include "engine/uop/sint.h"

#include <memory>

namespace uopscope {

struct Estimates {
  Sint ops = 0; ///< arithmetic operations on floats and integers
  Sint lds = 0; ///< bytes moved by loads and stores; every access counts
  Sint mem = 0; ///< bytes of the buffers accessed; each buffer counts once
};

struct LoweredKernel {
  std::shared_ptr<Pool>
      pool;              ///< owns all nodes below; announce it to the observer before it dies (poolRetired)
  std::string name;      ///< function name: "r_16_16_4"
  UOp ast;               ///< the graph given to lowerKernel, in this pool
  UOp sink;              ///< the graph after the last rewrite
  std::vector<UOp> uops; ///< the linear program
  std::vector<Opt> appliedOpts;
  std::vector<UOp>
      vars; ///< DEFINE_VARs sorted by name; core_id is among them where globalSize[0] threads run it
  std::vector<int> globals, outs, ins;     ///< DEFINE_GLOBAL positions: all in order, written, read
  std::vector<Sint> globalSize, localSize; ///< launch sizes; empty if the target has none
  Estimates estimates;
};

LoweredKernel lowerKernel(UOp ast, const Target& target);

/// The passes without linearisation, in the current pool: kernel graph -> graph ready to be linearised
/// (`full_rewrite_to_sink`).
UOp fullRewriteToSink(UOp sink, const Target& target, bool optimize = true);
/// The kernel after the passes that run before its Opts. Opts count the axes of this graph. In the current
/// pool.
UOp readyForOpts(UOp sink, const Target& target);
/// Orders the graph into a list of instructions.
std::vector<UOp> linearize(UOp sink);
/// The pass "linearize/render": the blocks that the program has around gated stores become sources of the SINK, the
/// program's last instruction. Returns the SINK.
UOp keepBlocks(UOp sink, std::vector<UOp>& program);

} // namespace uopscope
