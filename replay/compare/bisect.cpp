// Binary search on fuel. Invariant: the kernel is bad with the upper amount and good with the lower one.
#include "replay/compare/bisect.h"

#include "engine/base/error.h"
#include "engine/rewrite/rule.h"
#include "replay/compare/kernel_run.h"
#include "replay/compare/recompile.h"
#include "replay/read/readable.h"
#include "replay/record/rewrite_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

namespace uopscope {

Control FuelGate::onRewrite(const RewriteEvent& event) {
  if (!isOptionalRule(*event.rule)) return Control::Apply;
  if (used_ >= fuel_) return Control::Skip;
  if (++used_ == fuel_) {
    rule = event.rule->name();
    pass = passes_.empty() ? "" : passes_.back();
    before = readableExpression(event.before, 5, 300);
    after = readableExpression(event.after, 5, 300);
  }
  return Control::Apply;
}

namespace {
constexpr size_t kAll = std::numeric_limits<size_t>::max();

std::string_view trimmed(std::string_view line) {
  const size_t from = line.find_first_not_of(" \t\r"), to = line.find_last_not_of(" \t\r");
  return from == std::string_view::npos ? std::string_view() : line.substr(from, to + 1 - from);
}
bool hasLine(std::string_view text, std::string_view wanted) {
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (trimmed(text.substr(at, end - at)) == wanted) return true;
    at = end + 1;
  }
  return false;
}

/// Asked in a child: a kernel that is lowered with fewer rewrites, and run, may end its process.
bool isBad(const Compilation& kernel, BisectFor what, size_t fuel, const BisectOptions& options) {
  const std::string answer = isolated(
      [&] {
        FuelGate gate(fuel), none(0);
        if (what == BisectFor::Line) {
          const Compilation made = recompile(kernel, {.gate = &gate});
          if (made.status != "ok") throw Error(ErrorKind::Runtime, made.message);
          return std::string(hasLine(made.source, trimmed(options.line)) ? "bad" : "good");
        }
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
      options.timeoutSeconds);
  return answer == "bad";
}

/// Lowers the kernel with a gate that counts, and remembers the last rewrite that it allows.
void lowerWith(const Compilation& kernel, Observer& gate, BisectFor what, const BisectOptions& options) {
  if (options.judge)
    options.judge(kernel, gate);
  else if (what == BisectFor::Line)
    recompile(kernel, {.gate = &gate});
  else
    KernelRunner lowered(kernel, {.gate = &gate});
}

/// "r_16 is slow", "r_16 becomes slow"
std::string inWords(const Compilation& kernel, BisectFor what, const BisectOptions& options, bool becomes) {
  if (what == BisectFor::Line)
    return fmt::format("{} {} the line \"{}\"", kernel.name, becomes ? "gets" : "has", trimmed(options.line));
  return fmt::format("{} {} {}", kernel.name, becomes ? "becomes" : "is",
                     what == BisectFor::Wrong ? "wrong" : "slow");
}
} // namespace

RewriteCulprit bisectRewrites(const Compilation& kernel, BisectFor what, const BisectOptions& options) {
  bool failedOnTheWay = false;
  size_t run = 0, about = 0;
  auto bad = [&](size_t fuel) {
    if (options.progress) options.progress(++run, about);
    try {
      if (options.judge) {
        FuelGate gate(fuel);
        return options.judge(kernel, gate);
      }
      return isBad(kernel, what, fuel, options);
    } catch (const Error&) {
      if (fuel == kAll) throw;
      failedOnTheWay = true;
      return false;
    }
  };
  RewriteCulprit c;
  FuelGate all(kAll);
  lowerWith(kernel, all, what, options);
  c.optional = all.used();
  about = 2 + static_cast<size_t>(std::bit_width(c.optional));
  if (!bad(kAll)) {
    if (what == BisectFor::Line)
      throw Error(
          ErrorKind::Value,
          fmt::format("no line of {} is \"{}\"; give a line of its code as show --what source prints it",
                      kernel.name, trimmed(options.line)));
    c.sentence = fmt::format("{} is not {} with all its rewrites: there is nothing to find", kernel.name,
                             what == BisectFor::Wrong ? "wrong" : "slow");
    return c;
  }
  if (c.optional == 0 || bad(0)) {
    c.sentence = fmt::format(
        "{} without any rewrite that can be left out: {}", inWords(kernel, what, options, false),
        what == BisectFor::Line ? "a pass that lowers the kernel makes it, and Links in the window shows "
                                  "the nodes that it is made of"
                                : "look at the passes that lower it");
    return c;
  }
  size_t good = 0, firstBad = c.optional;
  while (firstBad - good > 1) {
    size_t middle = good + (firstBad - good) / 2;
    (bad(middle) ? firstBad : good) = middle;
  }
  FuelGate last(firstBad);
  lowerWith(kernel, last, what, options);
  c.found = true;
  c.number = firstBad;
  c.rule = last.rule, c.pass = last.pass, c.before = last.before, c.after = last.after;
  c.sentence = fmt::format(
      "{} with rewrite {} of {} that can be left out: rule '{}' in pass '{}' turns {} into {}{}",
      inWords(kernel, what, options, true), firstBad, c.optional, c.rule, c.pass, c.before, c.after,
      failedOnTheWay ? " (with some fewer it does not compile, which was taken for right)" : "");
  return c;
}

} // namespace uopscope
