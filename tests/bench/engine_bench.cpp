// Rates of the compiler on one thread: node creation, walks, pattern attempts, applied rewrites; and the
// growth of cost with the graph. Prints one line each:
//   build/bench/engine_bench            rates and growth
//   build/bench/engine_bench rates      only the first part
#include "engine/base/clock.h"
#include "engine/rewrite/counters.h"
#include "engine/rewrite/driver.h"
#include "engine/rules/algebra.h"
#include "engine/rules/rules.h"
#include "engine/schedule/schedule.h"
#include "engine/uop/sint.h"
#include "engine/uop/unique.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string_view>
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
constexpr RuleDef kElsewhere[] = {RULE("bench-elsewhere", x % c0, x)};

double secondsOf(const std::function<void()>& f) {
  int64_t start = nowNs();
  f();
  return 1e-9 * static_cast<double>(nowNs() - start);
}
double median(std::vector<double> seconds) {
  auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}
double median(int repeats, const std::function<void()>& f) {
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) seconds.push_back(secondsOf(f));
  return median(std::move(seconds));
}
/// Median seconds of `f` on a graph that `build` makes anew each time, in a new pool.
double medianFresh(int repeats, const std::function<UOp()>& build, const std::function<void(UOp)>& f) {
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) {
    Pool pool;
    PoolScope scope(pool);
    UOp root = build();
    seconds.push_back(secondsOf([&] { f(root); }));
  }
  return median(std::move(seconds));
}

constexpr int kNodes = 10000;
UOp chain() {
  UOp u = UOp::variable("v", 0, 100);
  for (int i = 0; i < kNodes; ++i) u = u + UOp::variable("w" + std::to_string(i % 7), 0, 4);
  return u;
}

struct Counting : Observer {
  uint64_t attempts = 0, applied = 0;
  bool wantsRewrites() const override { return false; }
  bool wantsCounts() const override { return true; }
  void onCounts(const PassCounts& counts) override {
    counts.forEach([&](const MatchCount& c) {
      for (uint64_t n : c.count) attempts += n;
      applied += c.count[static_cast<size_t>(Outcome::Applied)];
    });
  }
};

void nodes() {
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

void attempts() {
  PatternMatcher idle({kIdle}), elsewhere({kElsewhere});
  Counting counting;
  {
    Pool pool;
    PoolScope scope(pool);
    UOp root = chain();
    ObserverScope watch(&counting);
    graphRewrite(root, idle);
  }
  double seconds = medianFresh(21, chain, [&](UOp root) { graphRewrite(root, idle); });
  std::printf("pattern attempts: %.1f M/s (%.1f ns a node, %llu attempts)\n",
              static_cast<double>(counting.attempts) / seconds * 1e-6, seconds / kNodes * 1e9,
              static_cast<unsigned long long>(counting.attempts));
  // No work to do: rules that tried all of it before, a new node above it, and rules for absent operations.
  Pool pool;
  PoolScope scope(pool);
  UOp root = chain();
  graphRewrite(root, idle);
  int64_t next = 1000;
  double again = median(1001, [&] { graphRewrite(root, idle); });
  double above = median(1001, [&] { graphRewrite(root + ++next, idle); });
  double absent = median(1001, [&] { graphRewrite(root, elsewhere); });
  std::printf(
      "rewrite of %d nodes with nothing to do: %.3f ns a node again, %.3f with a new root, %.3f for absent "
      "operations\n",
      kNodes, again / kNodes * 1e9, above / kNodes * 1e9, absent / kNodes * 1e9);
}

void rewrites() {
  PatternMatcher rules({kRules});
  auto build = [] {
    UOp u = UOp::variable("v", 0, 10);
    for (int i = 0; i < kNodes; ++i) u = (u * 1) + 0;
    return u;
  };
  double seconds = medianFresh(11, build, [&](UOp root) { graphRewrite(root, rules); });
  std::printf("applied rewrites: %.2f M/s\n", 2 * kNodes / seconds * 1e-6);
}

// --- growth ---

/// Times a graph at several sizes; prints milliseconds and the exponent between the last two sizes.
void growth(const char* name, std::vector<int> sizes, const std::function<UOp(int)>& build,
            const std::function<void(UOp)>& work) {
  std::printf("%s:", name);
  double before = 0;
  for (size_t k = 0; k < sizes.size(); ++k) {
    double seconds = medianFresh(sizes[k] > 5000 ? 3 : 7, [&] { return build(sizes[k]); }, work);
    std::printf(" %d %.2f ms", sizes[k], seconds * 1e3);
    if (k) std::printf(" (n^%.2f)", std::log(seconds / before) / std::log(double(sizes[k]) / sizes[k - 1]));
    before = seconds;
  }
  std::printf("\n");
}

UOp terms(int n) {
  uint64_t random = 7;
  UOp sum = UOp::index(0);
  for (int i = 0; i < n; ++i) {
    random = random * 6364136223846793005ull + 1442695040888963407ull;
    UOp r = UOp::range(100, static_cast<int64_t>(random >> 33) % n);
    sum = sum + r * static_cast<int64_t>(random >> 40 & 15);
  }
  return sum;
}
UOp tensor(int64_t size) {
  return newBuffer("CPU", dtypes::float32, size);
}
UOp assigns(int n) {
  UOp u = tensor(256), other = tensor(256);
  for (int i = 0; i < n; ++i) u = UOp::make(Op::ASSIGN, dtypes::float32, {u, i % 2 ? u + other : u * other});
  return UOp::sink(std::vector{u});
}
UOp outputs(int n) {
  std::vector<UOp> all;
  for (int i = 0; i < n; ++i) all.push_back(tensor(16) * tensor(16));
  return UOp::sink(all);
}
UOp operations(int n) {
  UOp a = tensor(16), b = tensor(16), u = a;
  for (int i = 0; i < n; ++i) u = i % 2 ? u * b : u + a;
  return UOp::sink(std::vector{u});
}
void schedule(UOp sink) {
  clearScheduleCache();
  createSchedule(sink);
}

} // namespace

int main(int argc, char** argv) {
  nodes();
  attempts();
  rewrites();
  if (argc > 1 && std::string_view(argv[1]) == "rates") return 0;
  growth("sum of n terms, simplified", {50, 500, 5000, 50000}, terms, [](UOp u) { simplify(u); });
  growth("schedule, chain of n operations", {100, 1000, 10000}, operations, schedule);
  growth("schedule, chain of n assigns", {100, 1000, 10000}, assigns, schedule);
  growth("schedule, n outputs", {10, 100, 1000}, outputs, schedule);
}
