// Node creation, walking, pattern attempts and applied rewrites per second, one thread. Prints one line each:
//   build/bench/engine_bench
#include "engine/base/clock.h"
#include "engine/rewrite/driver.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <vector>

using namespace uopscope;
using namespace uopscope::pat;

namespace {

constexpr PatVar x{"x"}, y{"y"}, c0{"c0", PatVar::Const}, c1{"c1", PatVar::Const};
constexpr RuleDef kRules[] = {
    RULE("bench-add-const", (x + c0) + c1, x + fold(c0 + c1)),
    RULE("bench-add-zero", x + 0, x),
    RULE("bench-mul-one", x * 1, x),
    RULE("bench-add-self", x + x, x * 2),
};
constexpr RuleDef kIdle[] = {
    RULE("bench-idle-1", (x * c0) + (x * c1), x), RULE("bench-idle-2", x + where(y, x, x), x),
    RULE("bench-idle-3", (x / c0) + c1, x),       RULE("bench-idle-4", (x % c0) + y * c0, x),
    RULE("bench-idle-5", max(x, y) + x, x),       RULE("bench-idle-6", op(Op::ADD, x, x), x),
    RULE("bench-idle-7", (x + y) + max(x, y), x), RULE("bench-idle-8", x + op(Op::CAST, x), x),
    RULE("bench-idle-9", op(Op::ADD, x, 17), x),  RULE("bench-idle-10", (x << c0) + y, x),
};

/// Median over repeats of seconds for one call.
double median(int repeats, const std::function<void()>& f) {
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) {
    int64_t start = nowNs();
    f();
    seconds.push_back(1e-9 * static_cast<double>(nowNs() - start));
  }
  std::nth_element(seconds.begin(), seconds.begin() + repeats / 2, seconds.end());
  return seconds[static_cast<size_t>(repeats / 2)];
}

UOp chain(int n, int64_t first) {
  UOp u = UOp::variable("v", 0, 100);
  for (int i = 0; i < n; ++i) u = u + UOp::variable("w" + std::to_string(i % 7), 0, first + 3);
  return u;
}

struct Counting : Observer {
  uint64_t attempts = 0, applied = 0;
  bool wantsRewrites() const override { return false; }
  bool wantsCounts() const override { return true; }
  void onCounts(std::span<const MatchCount> counts) override {
    for (const MatchCount& c : counts) {
      for (uint64_t n : c.count) attempts += n;
      applied += c.count[static_cast<size_t>(Outcome::Applied)];
    }
  }
};

} // namespace

int main() {
  constexpr int kNodes = 10000;
  {
    Pool pool;
    PoolScope scope(pool);
    UOp v = UOp::variable("v", 0, 10);
    std::vector<UOp> made{v};
    double fresh = median(5, [&] {
      Pool other;
      PoolScope inner(other);
      UOp u = UOp::variable("v", 0, 10), w = u;
      for (int i = 0; i < kNodes; ++i) w = w.alu(Op::ADD, {u});
    });
    UOp u = v;
    for (int i = 0; i < kNodes; ++i) made.push_back(u = u.alu(Op::ADD, {v}));
    double again = median(21, [&] {
      for (int i = 1; i < kNodes; ++i) made[static_cast<size_t>(i)].alu(Op::ADD, {v});
    });
    std::printf("node creation, pool of %d: new %.1f ns, existing %.1f ns\n", kNodes, fresh / kNodes * 1e9,
                again / kNodes * 1e9);
    double walk = median(21, [&] { u.toposort(); });
    std::printf("toposort: %.1f M nodes/s\n", kNodes / walk * 1e-6);
  }
  {
    Pool pool;
    PoolScope scope(pool);
    UOp root = chain(kNodes, 1);
    PatternMatcher idle({kIdle});
    double seconds = median(21, [&] { graphRewrite(root, idle); });
    Counting counting;
    {
      ObserverScope watch(&counting);
      graphRewrite(root, idle);
    }
    PatternMatcher nothing;
    double empty = median(21, [&] { graphRewrite(root, nothing); });
    std::printf("pattern attempts: %.1f M/s (%.1f ns a node, %llu attempts)\n",
                static_cast<double>(counting.attempts) / seconds * 1e-6, seconds / kNodes * 1e9,
                static_cast<unsigned long long>(counting.attempts));
    std::printf("rewrite with nothing to do: %.1f ns a node\n", empty / kNodes * 1e9);
  }
  {
    PatternMatcher rules({kRules});
    auto build = [] {
      UOp u = UOp::variable("v", 0, 10);
      for (int i = 0; i < kNodes; ++i) u = (u * 1) + 0;
      return u;
    };
    std::vector<double> seconds;
    for (int i = 0; i < 11; ++i) {
      Pool pool;
      PoolScope scope(pool);
      UOp root = build();
      int64_t start = nowNs();
      graphRewrite(root, rules);
      seconds.push_back(1e-9 * static_cast<double>(nowNs() - start));
    }
    std::nth_element(seconds.begin(), seconds.begin() + 5, seconds.end());
    std::printf("applied rewrites: %.2f M/s\n", 2 * kNodes / seconds[5] * 1e-6);
  }
}
