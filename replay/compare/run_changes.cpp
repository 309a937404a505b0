// Compares results and times of changed kernels. The second corpus may come from a different build, so both
// sides run the stored code.
#include "engine/base/error.h"
#include "replay/compare/difference.h"
#include "replay/compare/kernel_run.h"

#include <fmt/format.h>

namespace uopscope {

namespace {
std::string compareRuns(const Compilation& before, const Compilation& after) {
  constexpr int kRounds = 15, kEach = 3;
  KernelRunner runner(after, {.repeats = kEach});
  auto code = [](const Compilation& c) -> const std::string& { return c.ir.empty() ? c.source : c.ir; };
  KernelOutcome x, y;
  std::vector<double> timesX, timesY;
  for (int i = 0; i < kRounds; ++i) { // in turn, so that a disturbance of the machine hits both
    x = runner.run(code(before), before.name, before.launch);
    y = runner.run(code(after), after.name, after.launch);
    timesX.insert(timesX.end(), x.seconds.begin(), x.seconds.end());
    timesY.insert(timesY.end(), y.seconds.begin(), y.seconds.end());
  }
  bool wrong = isWrong(x, y);
  TimeComparison t = compareTimes(timesX, timesY);
  std::string time =
      t.differs() ? fmt::format("{:.2f}x the time (95 % between {:.2f} and {:.2f})", t.ratio, t.low, t.high)
                  : fmt::format("no difference in time beyond noise ({:.2f} to {:.2f}x)", t.low, t.high);
  return fmt::format("{}{}; {:.1f} -> {:.1f} us, {}", wrong ? "!" : "=",
                     wrong ? fmt::format("results differ by {:.2g} of their size", largestDifference(x, y))
                           : "same results",
                     t.before * 1e6, t.after * 1e6, time);
}
} // namespace

void runChanges(CorpusDiff& d, const Corpus& before, const Corpus& after, int timeoutSeconds) {
  for (Change& c : d.changes) {
    if (c.status != Change::Status::Changed || !c.entry().isKernel() ||
        c.before->inputHash != c.after->inputHash)
      continue;
    Compilation x = before.load(*c.before), y = after.load(*c.after);
    if (x.source == y.source && x.ir == y.ir) continue;
    try {
      std::string told = isolated([&] { return compareRuns(x, y); }, timeoutSeconds);
      c.resultsDiffer = told.starts_with('!');
      c.ran = told.substr(1);
    } catch (const Error& e) {
      std::string why = e.what();
      c.ran = fmt::format("not run: {}", why.substr(0, why.find('\n')));
    }
  }
}

} // namespace uopscope
