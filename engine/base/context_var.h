// Settings by environment variable, as the reference's users know them: DEBUG=2, NOOPT=1, BEAM=4 ...
// A variable has a value in each session, at first that of the environment; `ContextScope` changes it for a
// block (Python's `with Context(DEBUG=2):`) and puts the old value back, so tests leave nothing behind.
//
//   if (vars::debug >= 2) printLine();
//   ContextScope quiet({{"DEBUG", 0}});
#pragma once
#include "engine/base/engine_session.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace uopscope {

class ContextVar {
public:
  ContextVar(const char* name, int64_t fallback, const char* help);
  operator int64_t() const { return value(); }
  /// Its value in the current session.
  int64_t value() const { return EngineSession::current().setting(number_).load(std::memory_order_relaxed); }
  void set(int64_t value) {
    EngineSession::current().setting(number_).store(value, std::memory_order_relaxed);
  }
  const char* name() const { return name_; }
  const char* help() const { return help_; }
  /// Its position among the settings of a session.
  size_t number() const { return number_; }
  int64_t initial() const { return initial_; }

  /// Every variable, sorted by name.
  static const std::vector<ContextVar*>& all();
  /// The variable of that name, or null.
  static ContextVar* find(std::string_view name);

private:
  const char* name_;
  const char* help_;
  size_t number_;
  int64_t initial_;
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

/// The value of an integer environment variable outside of the table (`getenv` of tinygrad.helpers).
int64_t envInt(const char* name, int64_t fallback);

namespace vars {
extern ContextVar debug, viz, spec, noopt, strictFloat, beam, jit, cpuTarget, trackMatchStats,
    captureProcessReplay, transcendental, devectorize, nolocals, tc, tcSelect, splitReduceop, wino, cpuCount,
    cpuLlvm, disableFastIdiv, debugRangeify, pcontig, plain, noMemoryPlanner, maxKernelBuffers, flip, ccache,
    ignoreBeamCache, beamUopsMax, ignoreOob, rewriteStackLimit, fuseArange, tracemeta, threads;
}

} // namespace uopscope
