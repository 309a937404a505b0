// Binary search on fuel. Invariant: the kernel is bad with the upper amount and good with the lower one.
#include "replay/compare/bisect.h"

#include "engine/base/error.h"
#include "engine/rewrite/rule.h"
#include "engine/uop/print.h"
#include "replay/compare/kernel_run.h"
#include "replay/record/rewrite_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace uopscope {

Control FuelGate::onRewrite(const RewriteEvent& event) {
  if (!isOptionalRule(*event.rule)) return Control::Apply;
  if (used_ >= fuel_) return Control::Skip;
  if (++used_ == fuel_) {
    rule = event.rule->name();
    pass = passes_.empty() ? "" : passes_.back();
    before = expression(event.before, 5, 300);
    after = expression(event.after, 5, 300);
  }
  return Control::Apply;
}

namespace {
constexpr size_t kAll = std::numeric_limits<size_t>::max();

bool isBad(const Compilation& kernel, BisectFor what, size_t fuel, int timeout) {
  std::string answer = isolated(
      [&] {
        FuelGate gate(fuel), none(0);
        KernelRunner runner(kernel, {.gate = &gate, .repeats = what == BisectFor::Slow ? 25 : 0});
        KernelOutcome now = runner.run();
        if (what == BisectFor::Slow) {
          KernelRunner plain(kernel, {.gate = &none, .repeats = 25});
          TimeComparison t = compareTimes(plain.run().seconds, now.seconds);
          return std::string(t.low > 1.1 ? "bad" : "good");
        }
        // The oracle runs no optional rewrite, no optimisation, and one operation at a time.
        KernelRunner oracle(kernel, {.device = "REF", .gate = &none, .noopt = true});
        return std::string(isWrong(oracle.run(), now) ? "bad" : "good");
      },
      timeout);
  return answer == "bad";
}
} // namespace

RewriteCulprit bisectRewrites(const Compilation& kernel, BisectFor what, int timeout,
                              const std::function<bool(const Compilation&, Observer&)>& judge) {
  bool failedOnTheWay = false;
  auto bad = [&](size_t fuel) {
    try {
      if (judge) {
        FuelGate gate(fuel);
        return judge(kernel, gate);
      }
      return isBad(kernel, what, fuel, timeout);
    } catch (const Error&) {
      if (fuel == kAll) throw;
      failedOnTheWay = true;
      return false;
    }
  };
  RewriteCulprit c;
  const char* word = what == BisectFor::Wrong ? "wrong" : "slow";
  FuelGate all(kAll);
  if (!judge) {
    KernelRunner count(kernel, {.gate = &all});
    c.optional = all.used();
  } else {
    judge(kernel, all);
    c.optional = all.used();
  }
  if (!bad(kAll)) {
    c.sentence =
        fmt::format("{} is not {} with all its rewrites: there is nothing to find", kernel.name, word);
    return c;
  }
  if (bad(0)) {
    c.sentence =
        fmt::format("{} is {} without any rewrite that can be left out: look at the passes that lower it",
                    kernel.name, word);
    return c;
  }
  size_t good = 0, firstBad = c.optional;
  while (firstBad - good > 1) {
    size_t middle = good + (firstBad - good) / 2;
    (bad(middle) ? firstBad : good) = middle;
  }
  FuelGate last(firstBad);
  if (judge)
    judge(kernel, last);
  else
    KernelRunner again(kernel, {.gate = &last});
  c.found = true;
  c.number = firstBad;
  c.rule = last.rule, c.pass = last.pass, c.before = last.before, c.after = last.after;
  c.sentence = fmt::format(
      "{} becomes {} with rewrite {} of {} that can be left out: rule '{}' in pass '{}' turns {} into {}{}",
      kernel.name, word, firstBad, c.optional, c.rule, c.pass, c.before, c.after,
      failedOnTheWay ? " (with some fewer it does not compile, which was taken for right)" : "");
  return c;
}

} // namespace uopscope
