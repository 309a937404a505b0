// From a kernel's graph to its linear program.
//
//   LoweredKernel k = lowerKernel(ast, target);      // ast: SINK of a schedule item, from any pool
//   std::string source = renderer.render(k);
//
// Lowering imports the graph into a pool of its own, so the ids it makes depend on the kernel alone and
// kernels can be lowered on any thread. Throws Error(Compile / Spec) naming the pass and the node.
#pragma once
#include "engine/codegen/target.h"
#include "engine/uop/sint.h"

#include <memory>

namespace uopscope {

struct Estimates {
  Sint ops = 0; ///< floating-point and integer arithmetic
  Sint lds = 0; ///< bytes moved by loads and stores, every access counted
  Sint mem = 0; ///< bytes of the buffers touched, each counted once
};

struct LoweredKernel {
  std::shared_ptr<Pool>
      pool;              ///< owns all nodes below; announce it to the observer before it dies (poolRetired)
  std::string name;      ///< function name: "r_16_16_4"
  UOp ast;               ///< as asked for, in this pool
  UOp sink;              ///< after the last rewrite
  std::vector<UOp> uops; ///< the linear program
  std::vector<Opt> appliedOpts;
  std::vector<UOp>
      vars; ///< DEFINE_VARs, in order of name; core_id among them where globalSize[0] threads run it
  std::vector<int> globals, outs, ins;     ///< DEFINE_GLOBAL positions: all in order, written, read
  std::vector<Sint> globalSize, localSize; ///< launch sizes, empty where the target has none
  Estimates estimates;
};

LoweredKernel lowerKernel(UOp ast, const Target& target);

/// The passes alone, in the current pool: kernel graph -> graph ready to be linearised
/// (`full_rewrite_to_sink`).
UOp fullRewriteToSink(UOp sink, const Target& target, bool optimize = true);
/// The kernel after the passes before its Opts, which count their axes in it. In the current pool.
UOp readyForOpts(UOp sink, const Target& target);
/// Graph -> ordered instructions.
std::vector<UOp> linearize(UOp sink);

} // namespace uopscope
