// Captures a function and replays it. runtime/run_capture has the launches. This file has the part about
// tensors: the buffers that a call passes in, the check that they fit, and results that are views of inputs.
#include "engine/tensor/jit.h"

#include "engine/base/context_var.h"
#include "engine/runtime/buffer.h"
#include "engine/tensor/state.h"
#include "engine/tensor/tensor_memory.h"
#include "engine/uop/unique.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {

[[noreturn]] void jitFail(const std::string& message) {
  SourceLocation at = scriptLocation();
  throw JitError(at.line > 0 ? fmt::format("{} (at {}:{})", message, at.file, at.line) : message);
}

void addVariable(VarValues& all, UOp bind) {
  const std::string& name = bind.src(0).arg().as<VarArg>().name;
  int64_t value = bind.src(1).arg().i();
  auto at = std::lower_bound(all.begin(), all.end(), name,
                             [](const auto& v, const std::string& n) { return v.first < n; });
  if (at != all.end() && at->first == name) {
    if (at->second != value)
      jitFail(fmt::format("variable {} is bound to {} and to {} in one call", name, at->second, value));
    return;
  }
  all.insert(at, {name, value});
}

void collectVariables(UOp view, VarValues& all) {
  for (; view.srcCount(); view = view.src(0))
    for (size_t i = 1; i < view.srcCount(); ++i)
      if (!view.src(i).is(Op::CONST) && !view.src(i).is(Op::DEVICE))
        for (UOp u : view.src(i).toposort())
          if (u.is(Op::BIND) && u.srcCount() > 1) addVariable(all, u);
}

/// Whether two symbolic expressions differ at most in the values bound to variables.
bool sameUnbound(UOp a, UOp b) {
  if (a == b) return true;
  if (a.op() != b.op() || a.dtype() != b.dtype() || !(a.arg() == b.arg())) return false;
  if (a.is(Op::BIND)) return a.src(0) == b.src(0);
  if (a.srcCount() != b.srcCount()) return false;
  for (size_t i = 0; i < a.srcCount(); ++i)
    if (!sameUnbound(a.src(i), b.src(i))) return false;
  return true;
}

/// Whether two views select the same elements of their buffers.
bool sameView(UOp a, UOp b) {
  for (;; a = a.src(0), b = b.src(0)) {
    if (a.op() != b.op() || a.dtype() != b.dtype() || !(a.arg() == b.arg())) return false;
    if (a.is(Op::BUFFER)) return a.src(1) == b.src(1); // the device
    if (!a.in(group::kMovement)) return a == b;
    for (size_t i = 1; i < a.srcCount(); ++i)
      if (!sameUnbound(a.src(i), b.src(i))) return false;
  }
}

std::string describe(UOp view) {
  return fmt::format("{} {} on {}", view.dtype().name(), shapeStr(view.shape()), view.device());
}

UOp rebased(UOp view, UOp from, UOp to) {
  if (view == from) return to;
  UOp inner = rebased(view.src(0), from, to);
  std::vector<UOp> src(view.src().begin(), view.src().end());
  src[0] = inner;
  return view.withSrc(src);
}

} // namespace

JitInputs JitInputs::of(const std::vector<Tensor>& tensors, const std::vector<UOp>& bound,
                        const CapturedJit* captured) {
  PoolScope scope(tensorPool());
  JitInputs in;
  NodesHeld held; // `bound` has bare nodes, and realizing below may collect the pool
  for (const Tensor& t : tensors) {
    UOp base = graph::base(t.uop());
    if (t.state()->mayShare && (!captured || !base.is(Op::BUFFER) || captured->uses(*Buffer::of(base))))
      t.state()->leaveSharedBuffer();
  }
  std::vector<Tensor> open;
  for (const Tensor& t : tensors)
    if (!graph::base(t.uop()).is(Op::BUFFER) && !graph::isRealized(t.uop())) open.push_back(t);
  if (!open.empty()) Tensor::realize(open);
  auto add = [&](UOp view) {
    UOp base = graph::base(view);
    if (base.is(Op::CONST)) jitFail("JIT inputs cannot be const, create a buffer with .contiguous()");
    if (!base.is(Op::BUFFER))
      jitFail(fmt::format("a JIT input is {}, not a buffer: realize it first", opName(base.op())));
    auto buffer = Buffer::of(base);
    if (std::find(in.buffers.begin(), in.buffers.end(), buffer) != in.buffers.end())
      jitFail(
          "duplicate inputs to JIT: one buffer is handed in twice; pass it once, or a copy made by .clone()");
    in.views.emplace_back(view);
    in.buffers.push_back(std::move(buffer));
    collectVariables(view, in.variables);
  };
  for (const Tensor& t : tensors) {
    UOp u = t.uop();
    if (u.is(Op::MULTI)) // one input for each shard
      for (UOp part : u.src(0).src()) add(part);
    else
      add(u);
  }
  for (UOp u : bound) addVariable(in.variables, u);
  return in;
}

CapturedJit CapturedJit::capture(const JitInputs& inputs,
                                 const std::function<std::vector<Tensor>(const JitInputs&)>& body,
                                 bool prune) {
  PoolScope scope(tensorPool());
  CapturedJit made;
  // The views are stored over buffers without memory, so the arguments may be freed.
  for (const UOpRef& view : inputs.views) {
    UOp base = graph::base(view);
    made.views_.emplace_back(rebased(view, base, newBuffer(base.device(), base.dtype(), base.arg().i())));
  }
  for (const auto& [name, value] : inputs.variables) made.names_.push_back(name);
  made.values_.resize(made.names_.size());
  size_t launched = 0;
  {
    // A pruned launch runs once, so its memory must not be reused.
    ContextScope settings({{"NO_MEMORY_PLANNER", prune || vars::noMemoryPlanner}});
    CaptureScope since;
    RunCapture capture;
    made.results_ = body(inputs);
    Tensor::realize(made.results_);
    launched = capture.size();
    made.run_ = capture.finish(inputs.buffers, made.names_, prune);
  }
  if (launched == 0)
    jitFail("didn't JIT anything: the function launched no kernel (does it compute a Tensor, and realize or "
            "return it?)");
  for (size_t i = 0; i < made.results_.size(); ++i) {
    UOp base = graph::base(made.results_[i].uop());
    for (size_t k = 0; k < inputs.views.size(); ++k)
      if (base == graph::base(inputs.views[k])) made.passed_.emplace_back(i, k);
  }
  made.guard_.watch(made.run_.memory());
  return made;
}

void CapturedJit::check(const JitInputs& inputs) const {
  auto describeAll = [](const auto& views, const auto& names) {
    std::vector<std::string> parts;
    for (const UOpRef& v : views) parts.push_back(describe(v));
    return fmt::format("[{}] with variables [{}]", fmt::join(parts, "; "), fmt::join(names, ", "));
  };
  bool fits = inputs.views.size() == views_.size() && inputs.variables.size() == names_.size();
  for (size_t i = 0; fits && i < names_.size(); ++i) fits = inputs.variables[i].first == names_[i];
  size_t different = views_.size();
  for (size_t i = 0; fits && i < views_.size(); ++i)
    if (!sameView(views_[i], inputs.views[i])) {
      fits = false;
      different = i;
    }
  if (fits) return;
  PoolScope scope(tensorPool());
  if (different < views_.size() && describe(views_[different]) == describe(inputs.views[different]))
    jitFail(
        fmt::format("args mismatch in JIT: input {} is another view of its buffer than at the capture: make "
                    "it contiguous, or capture a function for each view",
                    different));
  std::vector<std::string> names;
  for (const auto& [name, value] : inputs.variables) names.push_back(name);
  jitFail(fmt::format("args mismatch in JIT: captured with {}, called with {}", describeAll(views_, names_),
                      describeAll(inputs.views, names)));
}

void CapturedJit::replay(const JitInputs& inputs) {
  check(inputs);
  for (size_t i = 0; i < values_.size(); ++i) values_[i] = inputs.variables[i].second;
  if (vars::debug >= 1 && run_.stepCount() >= 10) fmt::print("jit execs {} kernels\n", run_.stepCount());
  guard_.keep(inputs.buffers);
  run_.replay(inputs.buffers, values_);
  if (passed_.empty()) return;
  PoolScope scope(tensorPool());
  for (auto [result, input] : passed_) {
    UOp uop = results_[result].uop();
    results_[result].state()->become(rebased(uop, graph::base(uop), graph::base(inputs.views[input])));
  }
}

std::vector<Tensor> TinyJit::operator()(const std::vector<Tensor>& inputs, const std::vector<UOp>& bound) {
  if (!vars::jit || calls_ == 0) {
    ++calls_;
    std::vector<Tensor> out = function_(inputs);
    Tensor::realize(out);
    return out;
  }
  JitInputs in = JitInputs::of(inputs, bound, captured_ ? &*captured_ : nullptr);
  if (captured_)
    captured_->replay(in);
  else
    captured_ = CapturedJit::capture(in, [&](const JitInputs&) { return function_(inputs); }, prune_);
  return captured_->results();
}

void TinyJit::reset() {
  calls_ = 0;
  captured_.reset();
}

} // namespace uopscope
