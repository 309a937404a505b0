// Shared by the tests of traces: temporary files, small rule sets that reach every path of a pass, and random
// graphs for them.
//
//   TempTrace file;  recordTo(file.path, [] { compileSomething(); });  Trace trace(file.path);
#pragma once
#include "engine/rewrite/driver.h"
#include "replay/read/cursor.h"
#include "replay/record/recorder.h"
#include "tests/engine/rewrite/pattern_variables.h"

#include <unistd.h>

#include <filesystem>
#include <functional>
#include <random>
#include <string>

namespace uopscope::test {

struct TempTrace {
  TempTrace() {
    static int number = 0;
    path = (std::filesystem::temp_directory_path() /
            ("uopscope-test-" + std::to_string(getpid()) + "-" + std::to_string(++number) + ".uoptrace"))
               .string();
  }
  ~TempTrace() {
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) std::filesystem::remove(path + suffix);
  }
  std::string path;
};

inline void recordTo(const std::string& path, const std::function<void()>& work, Tier tier = Tier::Full) {
  Recorder recorder({.path = path, .tier = tier});
  {
    ObserverScope scope(&recorder);
    work();
  }
  recorder.finish();
}

/// Rules that shrink expressions on the way up.
inline const PatternMatcher& shrinking() {
  static constexpr RuleDef rules[] = {
      RULE("add-zero", x + 0, x),
      RULE("mul-one", x * 1, x),
      RULE("mul-zero", x * 0, [](Match& m) { return m[x].constLike(int64_t{0}); }),
      RULE("twice", x + x, [](Match& m) { return m[x] * 2; }),
      RULE("fold-add", c0 + c1, [](Match& m) { return UOp::index(m[c0].arg().i() + m[c1].arg().i()); }),
      RULE("add-const", (x + c0) + c1,
           [](Match& m) { return m[x] + UOp::index(m[c0].arg().i() + m[c1].arg().i()); }),
  };
  static const PatternMatcher matcher({rules});
  return matcher;
}

/// Rules for the way down: MAX becomes a WHERE, a chain of two; OR gates.
inline const PatternMatcher& lowering() {
  static constexpr RuleDef rules[] = {
      RULE("max-to-sub", pat::op(Op::MAX, x, y), [](Match& m) { return m[x].alu(Op::SUB, {m[y]}); }),
      RULE("sub-to-add", pat::op(Op::SUB, x, y), [](Match& m) { return m[x] + m[y] * -1; }),
      RULE("gate-or", pat::any(Op::OR), [](Match&) { return gateHere(); }),
  };
  static const PatternMatcher matcher({rules});
  return matcher;
}

/// A rule that runs a nested pass.
inline const PatternMatcher& nesting() {
  static constexpr RuleDef rules[] = {
      RULE("simplify-mod", pat::op(Op::MOD, x, y),
           [](Match& m) {
             UOp inner = graphRewrite(m[x] + 0, shrinking(), {.name = "simplify inside"});
             return inner.alu(Op::XOR, {m[y]});
           }),
  };
  static const PatternMatcher matcher({rules});
  return matcher;
}

/// A graph of `size` nodes in the current pool with many rewritable places and shared parts.
inline UOp randomGraph(uint32_t seed, int size) {
  std::mt19937 random(seed);
  std::vector<UOp> nodes;
  for (int k = 0; k < 6; ++k) nodes.push_back(UOp::range(4 + k, k));
  for (int k = 0; k < 4; ++k) nodes.push_back(UOp::index(k));
  static constexpr Op kOps[] = {Op::ADD, Op::ADD, Op::MUL, Op::MAX, Op::OR, Op::MOD, Op::AND};
  for (int k = 0; k < size; ++k) {
    auto pick = [&] {
      return nodes[nodes.size() < 40 || random() % 3 == 0 ? random() % nodes.size()
                                                          : nodes.size() - 1 - random() % 30];
    };
    nodes.push_back(pick().alu(kOps[random() % std::size(kOps)], {pick()}));
  }
  return UOp::sink(std::span<const UOp>(nodes).last(12));
}

/// The scope of a kernel: two passes over a random graph, a text and a launch, told to the current observer.
inline void compileKernel(uint32_t seed, int size, Pool& pool) {
  PoolScope scope(pool);
  UOp root = randomGraph(seed, size);
  ObservedScope kernel(
      {ScopeKind::Kernel, "kernel " + std::to_string(seed), {"model.py", static_cast<int>(seed)}, root});
  Observer* o = Observer::current();
  UOp down = graphRewriteBottomUp(root, lowering(), {.name = "lower"});
  graphRewrite(down, shrinking() + nesting(), {.name = "simplify"});
  if (o) {
    o->onArtifact({"source", "void k() {}"});
    o->onLaunch({"k", "CPU", 100, 50, 1000, 2000});
  }
}

inline void compileKernel(uint32_t seed, int size) {
  Pool pool;
  compileKernel(seed, size, pool);
  if (Observer* o = Observer::current()) o->poolRetired(pool);
}

} // namespace uopscope::test
