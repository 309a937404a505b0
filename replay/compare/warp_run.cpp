// The interpreter runs thread by thread; the steps of the warp are put together afterwards.
#include "replay/compare/warp_run.h"

#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/render/gpu_text.h"
#include "replay/compare/kernel_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace uopscope {
namespace {

constexpr int64_t kMostThreads = 64; ///< of a warp: a step has a bit for each
constexpr int64_t kSector = GpuWatch::kSector, kBanks = GpuWatch::kBanks, kWord = 4;

/// All tensor cores that a program may name.
std::vector<TensorCore> allCores() {
  std::vector<TensorCore> cores;
  auto add = [&](const GpuLanguage& language) {
    for (const TensorCore& core : language.target().tensorCores) cores.push_back(core);
  };
  for (const GpuLanguage& language : gpuLanguages()) add(language);
  add(cudaLanguage("sm_90a")); // it has cores of its own, whatever CUDA_ARCH says
  return cores;
}

/// Launch sizes, as the SPECIALs of a program state them: of groups, and of the threads of a group.
struct Sizes {
  std::vector<int64_t> groups{1, 1, 1}, threads{1, 1, 1};
  bool any = false;
};
Sizes sizesOf(const std::vector<UOp>& program) {
  Sizes sizes;
  for (const UOp u : program) {
    if (!u.is(Op::SPECIAL)) continue;
    const std::string& name = u.arg().str();
    const auto axis = static_cast<size_t>(name.back() - '0');
    if (axis > 2) continue;
    sizes.any |= name[0] == 'l' || name[0] == 'g';
    (name[0] == 'l' ? sizes.threads : sizes.groups)[axis] = u.vmax() + 1;
  }
  return sizes;
}

int64_t product(const std::vector<int64_t>& sizes) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  return n;
}

} // namespace

WarpRun::WarpRun(std::string name, const std::vector<UOp>& program, const Choice& choice) {
  const Sizes sizes = sizesOf(program);
  if (!sizes.any)
    throw Error(ErrorKind::Value,
                "this kernel has no threads of a GPU: record the script with DEV=REF:GPU, or "
                "compile it with DEV=NULL:CUDA");
  groups_ = product(sizes.groups);
  threads_ = product(sizes.threads);
  for (const UOp u : program)
    // Cores that four warps share are seen by one of them.
    if (u.is(Op::WMMA) && u.arg().as<WmmaArg>().threads <= kMostThreads)
      width_ = std::max(width_, u.arg().as<WmmaArg>().threads);
  if (choice.group < 0 || choice.group >= groups_ || choice.warp < 0 || choice.warp >= warps())
    throw Error(ErrorKind::Index, fmt::format("there are {} groups of {} warps", groups_, warps()));
  first_ = choice.warp * width_;
  size_ = static_cast<size_t>(std::min(width_, threads_ - first_));
  merge(launch(std::move(name), program, choice), program.size());
}

WarpRun::ThreadSteps WarpRun::launch(std::string name, const std::vector<UOp>& program,
                                     const Choice& choice) {
  LoweredKernel kernel;
  kernel.name = std::move(name);
  kernel.uops = program;
  std::map<int64_t, std::vector<std::byte>> data;
  std::vector<int64_t> vars;
  uint64_t state = mixHash(choice.seed, 0x5eed);
  for (const UOp u : program) {
    if (u.is(Op::DEFINE_VAR)) {
      kernel.vars.push_back(u);
      vars.push_back(u.vmax());
    }
    if (!u.is(Op::DEFINE_GLOBAL)) continue;
    if (u.dtype().size() < 0)
      throw Error(ErrorKind::Value,
                  fmt::format("data{} has no fixed size: there is no data to make up", u.arg().i()));
    data[u.arg().i()] = madeUpData(u.dtype().base(), u.dtype().size(), state);
  }
  std::vector<void*> buffers;
  for (auto& [position, bytes] : data) buffers.push_back(bytes.data());

  ThreadSteps threads(size_);
  int64_t told = 0;
  bool stopped = false;
  RefGpu gpu{{}, allCores(), choice.group};
  gpu.onStep = [&](const RefStep& step) {
    constexpr int64_t kBetweenQuestions = 4096;
    stopped = choice.stop && ++told % kBetweenQuestions == 0 && choice.stop();
    if (stopped) throw Error(ErrorKind::Runtime, "stopped");
    const int64_t thread = step.thread - first_;
    if (thread < 0 || thread >= size()) return;
    auto& steps = threads[static_cast<size_t>(thread)];
    if (steps.size() >= kMostSteps) {
      cut_ = true;
      return;
    }
    steps.push_back(
        {static_cast<uint32_t>(step.node), step.value.empty() ? ConstValue::invalid() : step.value[0],
         static_cast<int>(std::max<size_t>(1, step.value.size())), step.memory, step.element, step.count});
  };
  RefProgram run(kernel, std::move(gpu));
  memories_ = run.memoryNames();
  const Sizes sizes = sizesOf(program);
  try {
    run.launch(buffers, vars, sizes.groups, sizes.threads, true);
  } catch (const Error& e) {
    if (stopped) throw;
    fault_ = e.what();
  }
  return threads;
}

void WarpRun::merge(const ThreadSteps& threads, size_t nodes) {
  const size_t width = threads.size();
  executions_.assign(nodes, std::vector<int64_t>(width, 0));
  std::vector<size_t> at(width, 0);
  while (steps_.size() < kMostSteps) {
    uint32_t next = UINT32_MAX;
    for (size_t t = 0; t < width; ++t)
      if (at[t] < threads[t].size()) next = std::min(next, threads[t][at[t]].node);
    if (next == UINT32_MAX) return;
    WarpStep& step = steps_.emplace_back();
    step.node = next;
    step.values.assign(width, ConstValue::invalid());
    step.elements.assign(width, -1);
    for (size_t t = 0; t < width; ++t) {
      if (at[t] >= threads[t].size() || threads[t][at[t]].node != next) continue;
      const ThreadStep& mine = threads[t][at[t]++];
      step.active |= uint64_t{1} << t;
      step.values[t] = mine.value;
      step.lanes = mine.lanes;
      step.memory = mine.memory;
      step.elements[t] = mine.element;
      step.count = std::max(step.count, mine.count);
      ++executions_[next][t];
    }
  }
  cut_ = true;
}

int64_t WarpRun::executions(size_t node, size_t thread) const {
  return node < executions_.size() && thread < executions_[node].size() ? executions_[node][thread] : 0;
}

WarpCost WarpRun::costOf(const WarpStep& step) const {
  WarpCost cost;
  if (step.memory < 0) return cost;
  const auto& memory = memories_[static_cast<size_t>(step.memory)];
  const int64_t width = memory.elementBytes * step.count;
  std::set<int64_t> sectors, bytes;
  std::array<std::set<int64_t>, kBanks> banks;
  for (const int64_t element : step.elements) {
    if (element < 0) continue;
    const int64_t first = element * memory.elementBytes;
    for (int64_t b = first; b < first + width; ++b) bytes.insert(b);
    for (int64_t s = first / kSector; s <= (first + width - 1) / kSector; ++s) sectors.insert(s);
    for (int64_t w = first / kWord; w <= (first + width - 1) / kWord; ++w)
      banks[static_cast<size_t>(w % kBanks)].insert(w);
  }
  if (memory.shared) {
    for (const auto& words : banks) cost.passes = std::max(cost.passes, static_cast<int64_t>(words.size()));
    return cost;
  }
  cost.sectors = static_cast<int64_t>(sectors.size());
  cost.least = (static_cast<int64_t>(bytes.size()) + kSector - 1) / kSector;
  return cost;
}

} // namespace uopscope
