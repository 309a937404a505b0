// Settings by environment variable, as the reference's users know them: DEBUG=2, NOOPT=1, BEAM=4 ...
// A variable reads its initial value from the environment; `ContextScope` changes it for a block (Python's
// `with Context(DEBUG=2):`) and puts the old value back, so tests leave nothing behind.
//
//   if (vars::debug >= 2) printLine();
//   ContextScope quiet({{"DEBUG", 0}});
#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace uopscope {

class ContextVar {
public:
  ContextVar(const char* name, int64_t fallback, const char* help);
  operator int64_t() const { return value_.load(std::memory_order_relaxed); }
  int64_t value() const { return *this; }
  void set(int64_t value) { value_.store(value, std::memory_order_relaxed); }
  const char* name() const { return name_; }
  const char* help() const { return help_; }

  /// Every variable, in order of name.
  static const std::vector<ContextVar*>& all();
  /// The variable of that name, or null.
  static ContextVar* find(std::string_view name);

private:
  const char* name_;
  const char* help_;
  std::atomic<int64_t> value_;
};

/// Sets variables for a block. Throws Error(Key) for a name that is no context variable.
class ContextScope {
public:
  explicit ContextScope(const std::vector<std::pair<std::string, int64_t>>& values);
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

private:
  std::vector<std::pair<ContextVar*, int64_t>> saved_;
};

/// Integer environment variable that is no context variable (`getenv` of tinygrad.helpers).
int64_t envInt(const char* name, int64_t fallback);

namespace vars {
extern ContextVar debug, viz, spec, noopt, strictFloat, beam, jit, cpuTarget, trackMatchStats,
    captureProcessReplay, transcendental, devectorize, nolocals, tc, splitReduceop, wino, cpuCount, cpuLlvm,
    disableFastIdiv, debugRangeify, pcontig, noMemoryPlanner, ccache, ignoreBeamCache, ignoreOob,
    rewriteStackLimit, fuseArange, tracemeta, threads;
}

} // namespace uopscope
