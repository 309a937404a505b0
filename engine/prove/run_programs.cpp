// Schedules programs, lowers them for several targets, runs them on the reference interpreter, and compares
// the results.
#include "engine/base/context_var.h"
#include "engine/base/engine_session.h"
#include "engine/base/error.h"
#include "engine/codegen/codegen.h"
#include "engine/codegen/dot_products.h"
#include "engine/codegen/shared_operand.h"
#include "engine/prove/programs.h"
#include "engine/prove/tensor_values.h"
#include "engine/render/c_renderer.h"
#include "engine/render/gpu_text.h"
#include "engine/render/llvm_renderer.h"
#include "engine/runtime/buffer.h"
#include "engine/runtime/device.h"
#include "engine/runtime/ref_program.h"
#include "engine/tensor/tensor_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace uopscope::prove {

namespace {

constexpr size_t kMostNodes = 80, kMostGraphs = 40;

/// A target and the settings for compiling to it.
struct Way {
  std::string name;
  Target target;
  std::vector<std::pair<std::string, int64_t>> settings;
};

std::vector<Way> ways() {
  Target cpu = cpuTarget("C"), wide = cpu, bare = cpu, fused = cpu, gpu = makeGpuRenderer("CUDA")->target();
  wide.maxVectorLanes = 8;
  wide.aluLanes = 8;
  wide.tensorCores = dotProducts(true, true);
  wide.cacheBytes = 256; // so that small results are written past it
  fused.nativeOps = fused.nativeOps | OpSet{Op::MULACC};
  fused.hasThreads = true;
  bare.nativeOps = OpSet{Op::ADD, Op::MUL, Op::IDIV,  Op::CMPLT, Op::CMPNE, Op::XOR,
                         Op::OR,  Op::AND, Op::WHERE, Op::SHL,   Op::SHR,   Op::RECIPROCAL};
  bare.supportsVectors = false;
  bare.supportsDtype = [](DType d) {
    return !d.isFloat() || d.kind() == Scalar::Float32 || d.kind() == Scalar::Float64;
  };
  gpu.processors = 1; // with a cache that small products do not fit: their blocks get an order
  gpu.cacheBytes = 256;
  Target aligned = makeGpuRenderer("CL")->target(), hopper = cudaLanguage("sm_90a").target();
  hopper.processors = 1; // a small product keeps it busy
  for (TensorCore& core : hopper.tensorCores)
    if (!readsShared(core)) core.rate = 64; // slow, so that the others are chosen
  return {{"a processor", cpu, {}},
          {"a processor of wide vectors", wide, {{"DEVECTORIZE", 0}}},
          {"a processor of threads and fused products", fused, {}},
          {"a processor of few operations", bare, {{"TRANSCENDENTAL", 2}, {"NOOPT", 1}}},
          {"a processor with tiles", amxTarget(), {}},
          {"work groups with tensor cores", gpu, {}},
          {"work groups with cores that read shared memory", hopper, {}},
          {"work groups with aligned vectors", aligned, {{"NOOPT", 0}}}};
}

double tolerance(DType d) {
  switch (d.kind()) {
  case Scalar::Float64: return 1e-6;
  case Scalar::Float32: return 2e-4;
  case Scalar::Float16: return 1e-2;
  default: return d.isFloat() ? 0.1 : 0;
  }
}
bool alike(DType d, const ConstValue& a, const ConstValue& b) {
  if (!d.isFloat()) return a.i == b.i;
  double x = a.asDouble(), y = b.asDouble();
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  if (std::isinf(x) || std::isinf(y)) return x == y;
  return std::abs(x - y) <= tolerance(d) * std::max({1.0, std::abs(x), std::abs(y)});
}

int64_t valueOf(const Sint& s) {
  return s.isInt() ? s.i() : s.vmax();
}

void launch(const ScheduleItem& item, const Target& target) {
  LoweredKernel kernel = lowerKernel(item.ast, target);
  std::vector<void*> memory;
  for (int g : kernel.globals) {
    std::shared_ptr<Buffer> b = Buffer::of(item.buffers.at(static_cast<size_t>(g)));
    b->allocate();
    memory.push_back(b->memory());
  }
  std::vector<int64_t> global, local, vars(kernel.vars.size(), 0);
  for (const Sint& s : kernel.globalSize) global.push_back(valueOf(s));
  for (const Sint& s : kernel.localSize) local.push_back(valueOf(s));
  std::optional<RefGpu> gpu;
  if (!target.tensorCores.empty()) gpu = RefGpu{{}, target.tensorCores};
  RefProgram(kernel, std::move(gpu)).launch(memory, vars, global, local, true);
  if (Observer* observer = Observer::current()) observer->poolRetired(*kernel.pool);
}

/// Runs the kernels of the schedule. Throws Error(Unsupported) if an item is no kernel.
void runItems(const Schedule& schedule, const Target& target) {
  for (const ScheduleItem& item : schedule.items) {
    if (!item.ast.is(Op::SINK)) throw Error(ErrorKind::Unsupported, "a copy between devices");
    launch(item, target);
  }
}

struct Runner {
  Rewrites& keep;
  ProgramResults results;

  void credit() {
    for (const RuleDef* rule : keep.applied()) ++results.right[rule];
  }
  /// Describes the first difference from the results of the original graphs; empty if there is none.
  std::string compare(const std::vector<Tensor>& made, const std::vector<TensorValues::Values>& wanted) {
    for (size_t k = 0; k < made.size(); ++k) {
      TensorValues now;
      const auto& values = now.of(made[k].uop());
      for (size_t i = 0; i < values.size(); ++i)
        if (!alike(made[k].dtype(), values[i], wanted[k].at(i)))
          return fmt::format("result {}, element {} is {} instead of {}", k, i, values[i].asDouble(),
                             wanted[k][i].asDouble());
    }
    return {};
  }
  void run(const std::string& name, const std::vector<Tensor>& made, const Way& way) {
    std::vector<TensorValues::Values> wanted;
    TensorValues before;
    for (const Tensor& t : made) wanted.push_back(before.of(t.uop()));
    ContextScope settings(way.settings);
    clearScheduleCache();
    runItems(Tensor::schedule(made), way.target);
    ++results.runs;
    std::string difference = compare(made, wanted);
    if (difference.empty())
      credit();
    else
      results.wrong.push_back(fmt::format("{} on {}: {}", name, way.name, difference));
  }
  template <typename F>
  void attempt(const std::string& name, F body) {
    keep.beginProgram();
    ObserverScope watched(&keep);
    try {
      body();
    } catch (const Error& e) {
      results.wrong.push_back(fmt::format("{}: {}", name, e.what()));
    }
  }
  void gradient(const GradientProgram& program);
};

double lossOf(UOp value) {
  TensorValues values;
  double sum = 0;
  for (const ConstValue& v : values.of(value)) sum += v.asDouble() * v.asDouble();
  return sum;
}

/// Compares the gradient with difference quotients of the value, both evaluated on graphs directly.
void Runner::gradient(const GradientProgram& program) {
  constexpr double kStep = 1e-3;
  Differentiated made = program.make();
  Tensor loss = (made.value * made.value).sum();
  std::vector<Tensor> gradients = loss.gradient(made.inputs);
  UOpRef value = made.value.uop();
  for (size_t k = 0; k < made.inputs.size(); ++k) {
    TensorValues values;
    TensorValues::Values gradient = values.of(gradients[k].uop());
    std::shared_ptr<Buffer> memory = made.inputs[k].buffer();
    auto* input = static_cast<double*>(memory->memory());
    for (size_t i = 0; i < gradient.size(); ++i) {
      double at = input[i];
      input[i] = at + kStep;
      double above = lossOf(value);
      input[i] = at - kStep;
      double below = lossOf(value);
      input[i] = at;
      double wanted = (above - below) / (2 * kStep), got = gradient[i].asDouble();
      if (std::abs(wanted - got) > 2e-3 * std::max(1.0, std::abs(wanted))) {
        results.wrong.push_back(fmt::format("gradient of {}: input {}, element {} is {} instead of {}",
                                            program.name, k, i, got, wanted));
        return;
      }
    }
  }
  ++results.runs;
  credit();
}

} // namespace

Control Rewrites::onRewrite(const RewriteEvent& e) {
  const RuleDef* def = e.rule->definition();
  if (!def || !e.after) return Control::Apply;
  applied_.insert(def);
  auto& list = some_[def];
  if (list.size() >= most_ || e.before.dtype().isVoid() || e.before.dtype().isPtr()) return Control::Apply;
  if (e.before.toposort().size() > kMostNodes || e.after.toposort().size() > kMostNodes)
    return Control::Apply;
  UOp before = pool_.import(e.before), after = pool_.import(e.after);
  if (seen_.emplace(before.id(), after.id()).second) list.emplace_back(before, after);
  return Control::Apply;
}
void Rewrites::onPassEnd(const PassEnd& e) {
  if (e.root && graphs_.size() < kMostGraphs) graphs_.push_back(pool_.import(e.root));
}
const std::vector<std::pair<UOp, UOp>>& Rewrites::of(const RuleDef* rule) const {
  static const std::vector<std::pair<UOp, UOp>> none;
  auto it = some_.find(rule);
  return it == some_.end() ? none : it->second;
}

ProgramResults runPrograms(Rewrites& keep) {
  EngineSession session; // protects the caller's tensors, settings and caches
  EngineSessionScope in(session);
  Runner runner{keep, {}};
  NodesHeld held;
  PoolScope scope(tensorPool());
  for (const Way& way : ways())
    for (const TensorProgram& program : tensorPrograms())
      runner.attempt(fmt::format("{} on {}", program.name, way.name),
                     [&] { runner.run(std::string(program.name), program.make(), way); });
  for (const GradientProgram& program : gradientPrograms())
    runner.attempt(fmt::format("gradient of {}", program.name), [&] { runner.gradient(program); });
  return std::move(runner.results);
}

} // namespace uopscope::prove
