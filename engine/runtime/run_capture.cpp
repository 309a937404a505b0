// Records launches and replays them. A replay without observer and DEBUG only updates addresses and numbers
// that change, and calls the programs.
#include "engine/runtime/run_capture.h"

#include "engine/base/context_var.h"
#include "engine/base/engine_session.h"
#include "engine/base/error.h"
#include "engine/rewrite/observer.h"
#include "engine/runtime/buffer.h"
#include "engine/runtime/counters.h"
#include "engine/runtime/kernel_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace uopscope {

namespace {

ContextVar capturing("CAPTURING", 1, "captures record launches; at 0 launches run and are not recorded");

struct Captures {
  std::vector<RunCapture*> innermostLast;
};
std::vector<RunCapture*>& captures() {
  return EngineSession::current().part<Captures>().innermostLast;
}

bool allInts(std::span<const Sint> sizes) {
  return std::all_of(sizes.begin(), sizes.end(), [](const Sint& s) { return s.isInt(); });
}

} // namespace

RunCapture::RunCapture() {
  captures().push_back(this);
}
RunCapture::~RunCapture() {
  std::erase(captures(), this);
}

RunCapture::Pause::Pause() {
  paused_.swap(captures());
}
RunCapture::Pause::~Pause() {
  paused_.swap(captures());
}

bool RunCapture::active() {
  return capturing && !captures().empty();
}
void RunCapture::ran(const RunStep& step) {
  if (!active()) return;
  for (RunCapture* c : captures()) c->steps_.push_back(step);
}
void RunCapture::viewed(const std::shared_ptr<Buffer>& view, const std::shared_ptr<Buffer>& of,
                        size_t offset) {
  if (!active()) return;
  for (RunCapture* c : captures()) c->views_.push_back({view, of, offset});
}
void RunCapture::beforeReplay(const HostAction& action) {
  if (!active()) return;
  for (RunCapture* c : captures()) c->before_.push_back(action);
}

void CapturedRun::prepare(Step& s) const {
  s.memory.resize(s.step.buffers.size());
  for (size_t i = 0; i < s.step.buffers.size(); ++i)
    if (const auto& b = s.step.buffers[i]) s.memory[i] = b->memory();
  if (!s.step.kernel) return;
  const LoweredKernel& k = s.step.kernel->lowered;
  const VarValues& values = s.step.values;
  s.symbolicSize =
      !allInts(k.globalSize) || !allInts(k.localSize) || !k.estimates.ops.isInt() || !k.estimates.mem.isInt();
  for (UOp v : k.vars) {
    const std::string& name = v.arg().as<VarArg>().name;
    auto at = std::find(names_.begin(), names_.end(), name);
    if (at != names_.end())
      s.varPatches.emplace_back(s.vars.size(), static_cast<size_t>(at - names_.begin()));
    s.vars.push_back(name == "core_id" ? 0 : evaluate(Sint(v), values));
  }
  for (size_t i = 0; i < names_.size(); ++i)
    for (size_t at = 0; at < values.size(); ++at)
      if (values[at].first == names_[i]) s.valuePatches.emplace_back(at, i);
  for (const Sint& g : k.globalSize) s.globalSize.push_back(evaluate(g, values));
  for (const Sint& l : k.localSize) s.localSize.push_back(evaluate(l, values));
  s.ops = evaluate(k.estimates.ops, values);
  s.mem = evaluate(k.estimates.mem, values);
}

CapturedRun::CapturedRun(Parts parts) : names_(std::move(parts.names)), before_(std::move(parts.before)) {
  for (size_t i = 0; i < parts.steps.size(); ++i) {
    Step s;
    s.step = std::move(parts.steps[i]);
    s.patches = std::move(parts.patches[i]);
    prepare(s);
    steps_.push_back(std::move(s));
  }
}

CapturedRun::Parts CapturedRun::parts() const {
  Parts out{{}, {}, names_, before_};
  for (const Step& s : steps_) {
    out.steps.push_back(s.step);
    out.patches.push_back(s.patches);
  }
  return out;
}

namespace {
/// The positions of the arguments that a step writes, or reads.
std::vector<size_t> argumentsOf(const RunStep& step, bool writes) {
  if (!step.kernel) return {writes ? size_t{0} : size_t{1}};
  std::vector<size_t> out;
  const LoweredKernel& k = step.kernel->lowered;
  for (int position : writes ? k.outs : k.ins)
    out.push_back(
        static_cast<size_t>(std::find(k.globals.begin(), k.globals.end(), position) - k.globals.begin()));
  return out;
}
/// The buffers of these arguments; null for an input.
std::vector<std::shared_ptr<Buffer>> touched(const RunStep& step, bool writes) {
  std::vector<std::shared_ptr<Buffer>> out;
  for (size_t i : argumentsOf(step, writes)) out.push_back(step.buffers[i]);
  return out;
}
} // namespace

void CapturedRun::freeIntermediates() {
  // A buffer that is read before it is written is a weight, a state or a constant, and no intermediate.
  std::unordered_set<const Buffer*> kept;
  std::unordered_set<std::shared_ptr<Buffer>> made;
  for (const Step& s : steps_) {
    for (const auto& b : touched(s.step, false))
      if (b && std::none_of(made.begin(), made.end(), [&](const auto& m) { return m->root() == b->root(); }))
        kept.insert(b->root());
    for (const auto& b : touched(s.step, true))
      if (b && !kept.contains(b->root())) made.insert(b->base() ? b->base() : b);
  }
  for (const HostAction& a : before_) kept.insert(a.at->root());
  for (const auto& b : made)
    if (!kept.contains(b.get())) b->release();
  freed_ = true;
}

CapturedRun RunCapture::finish(std::span<const std::shared_ptr<Buffer>> inputs,
                               std::span<const std::string> variables, bool prune) {
  CapturedRun run;
  run.names_.assign(variables.begin(), variables.end());
  run.before_ = std::move(before_);

  // A buffer is an input, a view of an input, or the same in every call.
  auto inputOf = [&](const std::shared_ptr<Buffer>& b) -> std::optional<std::pair<size_t, size_t>> {
    std::shared_ptr<Buffer> at = b;
    for (size_t offset = 0;;) {
      for (size_t i = 0; i < inputs.size(); ++i)
        if (inputs[i] == at) return std::pair{i, offset};
      auto view = std::find_if(views_.begin(), views_.end(), [&](const View& v) { return v.view == at; });
      if (view != views_.end()) {
        offset += view->offset;
        at = view->of;
      } else if (at->base()) {
        offset += at->offset();
        at = at->base();
      } else {
        return std::nullopt;
      }
    }
  };
  std::unordered_set<const Buffer*> changing;
  for (RunStep& made : steps_) {
    CapturedRun::Step s;
    bool depends = false;
    for (size_t i = 0; i < made.buffers.size(); ++i) {
      const auto& b = made.buffers[i];
      depends = depends || changing.contains(b->root());
      if (auto at = inputOf(b)) {
        s.patches.push_back({static_cast<uint32_t>(i), static_cast<uint32_t>(at->first), at->second});
        depends = true;
      }
    }
    if (made.kernel)
      for (UOp v : made.kernel->lowered.vars)
        depends = depends ||
                  std::find(variables.begin(), variables.end(), v.arg().as<VarArg>().name) != variables.end();
    if (prune && !depends) continue;
    if (prune)
      for (const auto& b : touched(made, true)) changing.insert(b->root());
    for (const CapturedRun::Patch& p : s.patches) made.buffers[p.argument] = nullptr;
    s.step = std::move(made);
    run.prepare(s);
    run.steps_.push_back(std::move(s));
  }
  steps_.clear();
  return run;
}

CapturedRun::Memory CapturedRun::memory() const {
  Memory m;
  for (const Step& s : steps_) {
    for (const auto& b : touched(s.step, false))
      if (b) m.read.insert(b->root());
    for (size_t argument : argumentsOf(s.step, true)) {
      if (const auto& b = s.step.buffers[argument]) m.written.insert(b->root());
      for (const Patch& p : s.patches) {
        if (p.argument != argument) continue;
        if (m.writtenInputs.size() <= p.input) m.writtenInputs.resize(p.input + 1);
        m.writtenInputs[p.input] = true;
      }
    }
  }
  return m;
}

std::vector<bool> CapturedRun::usedInputs() const {
  std::vector<bool> used;
  for (const Step& s : steps_)
    for (const Patch& p : s.patches) {
      if (used.size() <= p.input) used.resize(p.input + 1);
      used[p.input] = true;
    }
  return used;
}

std::vector<std::pair<size_t, size_t>> CapturedRun::inputsOf(size_t step) const {
  std::vector<std::pair<size_t, size_t>> out;
  for (const Patch& p : steps_[step].patches) out.emplace_back(p.argument, p.input);
  return out;
}

bool CapturedRun::update(Step& s, std::span<const std::shared_ptr<Buffer>> inputs,
                         std::span<const int64_t> values) {
  bool differs = false;
  auto set = [&](auto& old, auto now) {
    differs = differs || old != now;
    old = now;
  };
  for (const Patch& p : s.patches)
    set(s.memory[p.argument],
        static_cast<void*>(static_cast<std::byte*>(inputs[p.input]->memory()) + p.offset));
  for (auto [position, number] : s.varPatches) set(s.vars[position], values[number]);
  for (auto [position, number] : s.valuePatches) s.step.values[position].second = values[number];
  if (!s.step.kernel || !s.symbolicSize) return differs;
  const LoweredKernel& k = s.step.kernel->lowered;
  for (size_t i = 0; i < k.globalSize.size(); ++i)
    set(s.globalSize[i], evaluate(k.globalSize[i], s.step.values));
  for (size_t i = 0; i < k.localSize.size(); ++i)
    set(s.localSize[i], evaluate(k.localSize[i], s.step.values));
  s.ops = evaluate(k.estimates.ops, s.step.values);
  s.mem = evaluate(k.estimates.mem, s.step.values);
  return differs;
}

void CapturedRun::replayStep(Step& s) {
  if (s.step.kernel->program)
    s.step.kernel->program->launch(s.memory, s.vars, s.globalSize, s.localSize, false);
}

void CapturedRun::replayStepTold(Step& s, std::span<const std::shared_ptr<Buffer>> inputs) {
  RunStep full = s.step;
  for (const Patch& p : s.patches) {
    const auto& in = inputs[p.input];
    auto& b = full.buffers[p.argument];
    b = in;
    if (p.offset == 0) continue;
    auto left = static_cast<int64_t>((in->bytes() - p.offset) / static_cast<size_t>(in->dtype().itemsize()));
    b = Buffer::view(in, in->dtype(), left, static_cast<int64_t>(p.offset));
    RunCapture::viewed(b, in, p.offset);
  }
  if (full.kernel) {
    std::vector<uint64_t> ids;
    if (Observer::current())
      for (const auto& b : full.buffers) ids.push_back(b->id());
    launchKernel(*full.kernel, *full.device, s.memory, full.values, false, full.metadata, ids);
  } else {
    copyBuffer(*full.buffers[0], *full.buffers[1], full.metadata);
  }
  RunCapture::ran(full);
}

BatchedLaunch CapturedRun::launchOf(const Step& s) {
  return {s.step.kernel->program.get(), s.memory, s.vars, s.globalSize, s.localSize};
}

void CapturedRun::makeBatches() {
  batched_ = true;
  if (vars::jit >= 2) return; // the user asked for single launches
  auto takes = [](const Step& s) { return s.step.kernel && s.step.kernel->program; };
  for (size_t first = 0; first < steps_.size();) {
    size_t end = first;
    while (end < steps_.size() && takes(steps_[end]) && steps_[end].step.device == steps_[first].step.device)
      ++end;
    if (end - first >= 2) {
      std::vector<BatchedLaunch> launches;
      for (size_t i = first; i < end; ++i) {
        launches.push_back(launchOf(steps_[i]));
        steps_[i].changed = false;
      }
      if (auto batch = steps_[first].step.device->makeBatch(launches))
        batches_.push_back({first, end, std::move(batch)});
    }
    first = std::max(end, first + 1);
  }
}

void CapturedRun::replayBatch(Batch& b) {
  for (size_t i = b.first; i < b.end; ++i) {
    Step& s = steps_[i];
    if (s.changed) b.batch->change(i - b.first, launchOf(s));
    s.changed = false;
  }
  b.batch->launch();
}

void CapturedRun::replay(std::span<const std::shared_ptr<Buffer>> inputs, std::span<const int64_t> values) {
  if (freed_) {
    batches_.clear(); // their addresses are no longer valid
    batched_ = false;
    for (Step& s : steps_)
      for (size_t i = 0; i < s.step.buffers.size(); ++i)
        if (const auto& b = s.step.buffers[i]) s.memory[i] = b->memory();
  }
  freed_ = false;
  for (const HostAction& action : before_) {
    action.run();
    RunCapture::beforeReplay(action);
  }
  for (Step& s : steps_) s.changed = update(s, inputs, values) || s.changed;
  bool told = Observer::current() || vars::debug >= 2 || RunCapture::active();
  if (told) {
    for (Step& s : steps_) replayStepTold(s, inputs);
    return;
  }
  if (!batched_) makeBatches();
  auto batch = batches_.begin();
  for (size_t i = 0; i < steps_.size();) {
    if (!steps_[i].step.kernel) {
      replayStepTold(steps_[i++], inputs);
      continue;
    }
    size_t end = i + 1;
    if (batch != batches_.end() && batch->first == i) {
      replayBatch(*batch);
      end = batch++->end;
    } else {
      replayStep(steps_[i]);
    }
    for (; i < end; ++i) {
      ++GlobalCounters::current().kernelCount;
      GlobalCounters::current().globalOps += steps_[i].ops;
      GlobalCounters::current().globalMem += steps_[i].mem;
    }
  }
}

} // namespace uopscope
