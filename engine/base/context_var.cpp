// The table of context variables: name, default, one line of help each.
#include "engine/base/context_var.h"

#include "engine/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace uopscope {

namespace {

std::vector<ContextVar*>& registry() {
  static std::vector<ContextVar*> table;
  return table;
}

} // namespace

int64_t envInt(const char* name, int64_t fallback) {
  const char* text = std::getenv(name);
  if (!text || !*text) return fallback;
  char* end = nullptr;
  int64_t value = std::strtoll(text, &end, 10);
  return end && *end == 0 ? value : fallback;
}

/// The value that the environment gives a variable; CPU_TARGET also accepts "x86-64-v3" for 3.
static int64_t initialValue(const char* name, int64_t fallback) {
  const char* text = std::getenv(name);
  constexpr std::string_view kLevel = "x86-64-v";
  if (text && std::string_view(text).starts_with(kLevel) && std::string_view(name) == "CPU_TARGET")
    return std::strtol(text + kLevel.size(), nullptr, 10);
  return envInt(name, fallback);
}

ContextVar::ContextVar(const char* name, int64_t fallback, const char* help)
    : name_(name), help_(help), number_(registry().size()), initial_(initialValue(name, fallback)) {
  auto& table = registry();
  if (number_ >= EngineSession::kMaxSettings) {
    fmt::print(stderr, "uopscope: more than {} context variables: raise EngineSession::kMaxSettings\n",
               EngineSession::kMaxSettings);
    std::abort(); // this runs before main, where nobody could catch an exception
  }
  auto byName = [](const ContextVar* a, const ContextVar* b) {
    return std::string_view(a->name_) < b->name_;
  };
  table.insert(std::lower_bound(table.begin(), table.end(), this, byName), this);
  EngineSession::process().setting(number_).store(initial_, std::memory_order_relaxed);
}

const std::vector<ContextVar*>& ContextVar::all() {
  return registry();
}

ContextVar* ContextVar::find(std::string_view name) {
  for (ContextVar* var : registry())
    if (name == var->name_) return var;
  return nullptr;
}

ContextScope::ContextScope(const std::vector<std::pair<std::string, int64_t>>& values) {
  std::vector<std::pair<ContextVar*, int64_t>> wanted;
  for (const auto& [name, value] : values) {
    ContextVar* var = ContextVar::find(name);
    if (!var) throw Error(ErrorKind::Key, fmt::format("{} is not a context variable", name));
    wanted.emplace_back(var, value);
  }
  for (const auto& [var, value] : wanted) {
    saved_.emplace_back(var, var->value());
    var->set(value);
  }
}

ContextScope::~ContextScope() {
  for (auto it = saved_.rbegin(); it != saved_.rend(); ++it) it->first->set(it->second);
}

namespace vars {
ContextVar debug("DEBUG", 0,
                 "1 devices, 2 a line per kernel, 3 buffers and optimisations, 4 source, 5 UOps, 6 linear "
                 "UOps, 7 assembly");
ContextVar viz("VIZ", 0, "record this run and open it in the window at exit");
ContextVar spec("SPEC", 0, "check graphs against the spec: 1 between passes, 2 at every node made");
ContextVar noopt("NOOPT", 0, "1: no kernel optimisations");
ContextVar beam("BEAM", 0, "width of the search for optimisations, 0: hand-coded choices");
ContextVar jit("JIT", 1, "0 off, 1 capture and replay, 2 replay without graphs");
ContextVar trackMatchStats("TRACK_MATCH_STATS", 0,
                           "1 count pattern matches and print them at exit, 2 keep every rewrite");
ContextVar captureProcessReplay("CAPTURE_PROCESS_REPLAY", 0, "store compiler inputs for replay");
ContextVar transcendental("TRANSCENDENTAL", 1,
                          "0 native only, 1 where the target lacks it, 2 always decompose exp2, log2, sin");
ContextVar devectorize("DEVECTORIZE", 1, "0: keep vector arithmetic");
ContextVar nolocals("NOLOCALS", 0, "1: no local memory");
ContextVar tc("TC", 1, "tensor cores, and dot products and tiles of processors");
ContextVar tcSelect("TC_SELECT", -1, "the number of the only tensor core that is used; -1: any");
ContextVar splitReduceop("SPLIT_REDUCEOP", 1, "split large reductions into two kernels");
ContextVar wino("WINO", 0, "Winograd convolutions");
ContextVar cpuCount("CPU_COUNT", 0, "threads for CPU kernels, 0: all cores");
ContextVar
    cpuLlvm("CPU_LLVM", envInt("PLAIN", 0) == 0,
            "1: compile CPU kernels through LLVM in process, 0: in C, through the system's clang; 0 where "
            "the environment says PLAIN=1");
ContextVar cpuTarget("CPU_TARGET", 0,
                     "processor that CPU kernels are made for: 0 this machine, 2 to 4 x86-64-v2 (SSE), v3 "
                     "(AVX2), v4 (AVX-512)");
ContextVar disableFastIdiv("DISABLE_FAST_IDIV", 0, "1: keep integer division by constants");
ContextVar debugRangeify("DEBUG_RANGEIFY", 0, "1: print range assignment");
ContextVar pcontig("PCONTIG", 0, "partial contiguous: buffers inside loops; 0 where rows are long, -1 never");
ContextVar plain("PLAIN", 0,
                 "1: kernels as the reference cuts them: one value each, no prices, vectors of four lanes");
ContextVar noMemoryPlanner("NO_MEMORY_PLANNER", 0, "1: every intermediate buffer has memory of its own");
ContextVar maxKernelBuffers("MAX_KERNEL_BUFFERS", 0, "most buffers that a kernel has; below 3: no limit");
ContextVar flip("FLIP", 0,
                "the number of a choice between storing a value and computing it again, made the other way");
ContextVar ccache("CCACHE", 1, "0: no cache of compiled kernels");
ContextVar ignoreBeamCache("IGNORE_BEAM_CACHE", 0, "1: search again");
ContextVar beamUopsMax("BEAM_UOPS_MAX", 3000, "most operations of a kernel that BEAM tries");
ContextVar ignoreOob("IGNORE_OOB", 1, "0: check that indices are within bounds");
ContextVar rewriteStackLimit("REWRITE_STACK_LIMIT", 250000,
                             "nodes in flight in one graph rewrite before it counts as endless");
ContextVar fuseArange("FUSE_ARANGE", 0, "fuse arange into its users");
ContextVar strictFloat("STRICT_FLOAT", 0, "1: no rule that changes the bits of a float");
ContextVar tracemeta("TRACEMETA", 1, "remember script line and tensor operation of every node");
ContextVar fuseOptim("FUSE_OPTIM", 0, "1: optimizers update all parameters as one vector");
ContextVar threads("UOPSCOPE_THREADS", 0, "threads that lower kernels, 0: all cores");
} // namespace vars

} // namespace uopscope
