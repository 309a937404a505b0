// The pipeline: from a kernel's graph to its linear program, by the passes of kernel_passes.h.
//
// Every pass is a graph rewrite that an observer sees by name. SPEC=1 verifies the graph after each pass,
// SPEC=2 also every node that a rule makes. IGNORE_OOB=0 checks indices against the sizes of their buffers.
#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/codegen/async_boxes.h"
#include "engine/codegen/codegen.h"
#include "engine/codegen/estimates.h"
#include "engine/codegen/kernel_passes.h"
#include "engine/codegen/loop_tree.h"
#include "engine/codegen/opt.h"
#include "engine/codegen/spec.h"
#include "engine/rewrite/driver.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {

UOp run(UOp sink, const Target& target, KernelPass::Part part) {
  for (const KernelPass& pass : kernelPasses())
    if (pass.part == part) sink = runKernelPass(pass, sink, target);
  return sink;
}

/// Runs the first passes, which every kernel takes.
UOp begin(UOp sink, const Target& target) {
  if (!sink.is(Op::SINK))
    throw Error(ErrorKind::Spec, fmt::format("a kernel is a SINK, this is {}", opName(sink.op())));
  checkRangesClosed(sink);
  return run(sink, target, KernelPass::Part::Always);
}

} // namespace

UOp readyForOpts(UOp sink, const Target& target) {
  return run(begin(sink, target), target, KernelPass::Part::BeforeOpts);
}

UOp fullRewriteToSink(UOp sink, const Target& target, bool optimize) {
  sink = optimize ? optimizeKernel(readyForOpts(sink, target), target) : begin(sink, target);
  return run(sink, target, KernelPass::Part::AfterOpts);
}

namespace {

std::string identifier(std::string name) {
  for (char& ch : name)
    if (!isalnum(static_cast<unsigned char>(ch))) ch = '_';
  return name.empty() || isdigit(static_cast<unsigned char>(name[0])) ? "k" + name : name;
}

void addOnce(std::vector<int>& list, int position) {
  if (std::find(list.begin(), list.end(), position) == list.end()) list.push_back(position);
}

void describeMemory(LoweredKernel& k) {
  for (UOp u : k.uops) {
    if (u.is(Op::DEFINE_GLOBAL)) addOnce(k.globals, static_cast<int>(u.arg().i()));
    if (u.is(Op::DEFINE_VAR)) k.vars.push_back(u);
    if (!u.is(Op::LOAD) && !u.is(Op::STORE)) continue;
    if (isBox(u)) addOnce(k.ins, static_cast<int>(u.src(1).bufferOf().arg().i()));
    UOp buffer = u.src(0).bufferOf();
    if (buffer.is(Op::DEFINE_GLOBAL))
      addOnce(u.is(Op::STORE) ? k.outs : k.ins, static_cast<int>(buffer.arg().i()));
  }
  for (auto* list : {&k.globals, &k.outs, &k.ins}) std::sort(list->begin(), list->end());
  std::sort(k.vars.begin(), k.vars.end(),
            [](UOp a, UOp b) { return a.arg().as<VarArg>().name < b.arg().as<VarArg>().name; });
}

void describeLaunch(LoweredKernel& k, const Target& target) {
  if (target.hasLocal) {
    k.globalSize.assign(3, 1);
    k.localSize.assign(3, 1);
  }
  for (UOp u : k.uops) {
    if (u.is(Op::SPECIAL)) {
      const std::string& name = u.arg().str();
      auto& sizes = name[0] == 'l' ? k.localSize : k.globalSize;
      size_t at = static_cast<size_t>(name.back() - '0');
      if (sizes.size() <= at) sizes.resize(at + 1, 1);
      sizes[at] = Sint(u.src(0));
    }
    if (const int64_t threads = threadsBy(u)) k.globalSize = {Sint(threads), 1, 1};
  }
}

} // namespace

LoweredKernel lowerKernel(UOp ast, const Target& target) {
  LoweredKernel k;
  k.pool = std::make_shared<Pool>();
  PoolScope scope(*k.pool);
  k.ast = k.pool->import(ast);
  k.sink = fullRewriteToSink(k.ast, target);
  k.uops = linearize(k.sink);
  k.sink = keepBlocks(k.sink, k.uops);
  if (vars::spec >= 1) typeVerify(k.uops);
  const auto& info = k.sink.arg().as<KernelInfo>();
  k.name = identifier(info.name);
  k.appliedOpts = info.appliedOpts;
  describeMemory(k);
  describeLaunch(k, target);
  k.estimates = estimate(k.uops);
  return k;
}

} // namespace uopscope
