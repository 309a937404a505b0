// uopscope bisect: the rewrite that makes a script fail, or that makes a kernel of a trace wrong, slow, or gives it a line
// of its code. A script runs in processes of this program; code of a trace runs in a sandbox. With a trace the answer names
// the step.
#include "app/cli/output.h"
#include "app/cli/replay_command.h"
#include "app/cli/sandbox.h"
#include "app/cli/teach_command.h"
#include "engine/uop/print.h"
#include "replay/compare/bisect.h"
#include "replay/compare/bisect_script.h"
#include "replay/compare/stored_compilations.h"
#include "replay/read/link.h"
#include "replay/read/materialize.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace uopscope::cli {

namespace {

namespace fs = std::filesystem;

std::function<void(size_t, size_t)> progressOf(const BisectArguments& o) {
  if (!o.progress && !useColour()) return {};
  return [lines = o.progress](size_t run, size_t about) {
    fmt::print(stderr, "{}run {}{}{}", lines ? "" : "\r", run,
               about ? fmt::format(" of about {}", about) : "", lines ? "\n" : "   ");
    std::fflush(stderr);
  };
}
void endProgress(const BisectArguments& o) {
  if (!o.progress && useColour()) fmt::print(stderr, "\r                      \r");
}

struct Answer {
  bool found = false;
  std::string sentence, rule, at, kernel, pass, before, after, hint;
  size_t rewrites = 0, number = 0, runs = 0;
  StepId step = 0;
  std::string link;
};

/// Numbers of nodes that stand for deeper parts belong to one process.
std::string withoutNumbers(const std::string& text) {
  std::string out;
  bool number = false;
  for (const char c : text) {
    number = c == '#' || (number && c >= '0' && c <= '9');
    if (!number || c == '#') out += c;
  }
  return out;
}

/// The step of a kernel's trace that a bisection found, by its pass, its rule and its expression; 0: none.
StepId stepOf(Trace& trace, ScopeId scope, const Answer& a) {
  constexpr int kDepth = 5, kLength = 300; // as the search prints it
  Pool pool;
  PoolScope inPool(pool);
  Materializer make(trace.nodes().reader(), pool);
  const std::string wanted = withoutNumbers(a.before);
  StepId byRule = 0;
  for (const PassInfo& p : trace.passes(scope)) {
    if (p.name != a.pass) continue;
    for (const StepInfo& s : trace.steps(p.id)) {
      if (trace.rule(s.rule).name != a.rule) continue;
      if (!byRule) byRule = s.id;
      if (withoutNumbers(expression(make(s.before), kDepth, kLength)) == wanted) return s.id;
    }
  }
  return byRule;
}

void place(Answer& a, Trace& trace, ScopeId kernel) {
  a.step = stepOf(trace, kernel, a);
  if (!a.step) return;
  for (const PassInfo& p : trace.passes(kernel))
    if (a.step >= p.firstStep && a.step <= p.lastStep)
      for (const StepInfo& s : trace.steps(p.id))
        if (s.id == a.step) {
          ResolvedLink at;
          at.scope = kernel, at.pass = p.id, at.step = s.k;
          a.link = makeLink(trace, at).str();
        }
}

int tell(const Answer& a, const BisectArguments& o) {
  if (o.json) {
    printJson(Json{{"found", a.found},
                   {"sentence", a.sentence},
                   {"rewrites", a.rewrites},
                   {"number", a.number},
                   {"runs", a.runs},
                   {"rule", a.rule},
                   {"at", a.at},
                   {"kernel", a.kernel},
                   {"pass", a.pass},
                   {"before", a.before},
                   {"after", a.after},
                   {"step", a.step},
                   {"link", a.link}});
  } else {
    fmt::print("{} ({} runs)\n", a.sentence, a.runs);
    if (!a.hint.empty()) fmt::print("{}\n", a.hint);
  }
  return a.found ? kFailed : kFine;
}

int bisectKernel(const BisectArguments& o) {
  if (o.kernel.empty())
    throw Error(ErrorKind::Value, "a bisection in a trace is about one kernel: name it with --kernel");
  const BisectFor what = !o.line.empty()    ? BisectFor::Line
                         : o.what == "slow" ? BisectFor::Slow
                                            : BisectFor::Wrong;
  Trace trace(o.script);
  warnAbout(trace);
  const ScopeId scope = trace.findScope(o.kernel);
  const Compilation kernel = storedCompilation(trace, scope);
  if (kernel.kind != ScopeKind::Kernel)
    throw Error(ErrorKind::Value, fmt::format("{} is no kernel; a bisection compiles kernels", kernel.name));
  if (what != BisectFor::Line && !o.trust) continueInSandbox("bisect", {o.script}, kernel.name, "");
  Answer a;
  const auto told = progressOf(o);
  const RewriteCulprit c = bisectRewrites(
      kernel, what, {.timeoutSeconds = o.timeout, .line = o.line, .progress = [&](size_t run, size_t about) {
                       a.runs = run;
                       if (told) told(run, about);
                     }});
  endProgress(o);
  a.found = c.found, a.sentence = c.sentence, a.rewrites = c.optional, a.number = c.number;
  a.rule = c.rule, a.kernel = kernel.name, a.pass = c.pass, a.before = c.before, a.after = c.after;
  if (a.found) place(a, trace, scope);
  if (a.step) a.hint = fmt::format("the step: uopscope open {} --at \"{}\"", o.script, a.link);
  return tell(a, o);
}

int bisectScriptOf(const BisectArguments& o) {
  std::vector<std::string> command = {selfPath(), "run", o.script};
  command.insert(command.end(), o.arguments.begin(), o.arguments.end());
  TemporaryFile log(".log"), report(".json");
  const ScriptCulprit c = bisectScript(
      [&](size_t fuel) {
        std::error_code ignored;
        fs::remove(report.path(), ignored);
        std::vector<std::pair<std::string, std::string>> environment = {
            {"UOPSCOPE_FUEL_REPORT", report.path()}};
        if (fuel != SIZE_MAX) environment.emplace_back("UOPSCOPE_FUEL", std::to_string(fuel));
        const int code = runProgram(command, {}, log.path(), environment);
        if (code == kInterrupted) throw Error(ErrorKind::Runtime, "interrupted");
        ScriptTrial run{code != kFine, {}};
        if (fs::exists(report.path(), ignored))
          run.last = LastRewrite::read(report.path());
        else if (fuel == SIZE_MAX)
          throw Error(ErrorKind::Value, fmt::format("{} did not get as far as the compiler: {}", o.script,
                                                    lastLine(log.path())));
        return run;
      },
      progressOf(o));
  endProgress(o);
  Answer a;
  a.found = c.found, a.sentence = c.sentence, a.rewrites = c.optional, a.number = c.number, a.runs = c.runs;
  a.rule = c.rewrite.rule, a.at = c.rewrite.at, a.kernel = c.rewrite.kernel, a.pass = c.rewrite.pass;
  a.before = c.rewrite.before, a.after = c.rewrite.after;
  if (a.found) a.hint = fmt::format("without it: UOPSCOPE_WITHOUT={} uopscope run {}", a.rule, o.script);
  if (a.found && !o.trace.empty()) {
    Trace trace(o.trace);
    warnAbout(trace);
    // A kernel gets its name at the end of its lowering, and the report is older.
    for (const bool named : {true, false})
      for (const ScopeInfo& s : trace.scopes())
        if (!a.step && (!named || s.name == a.kernel)) place(a, trace, s.id);
  }
  return tell(a, o);
}

} // namespace

int bisect(const BisectArguments& o) {
  std::error_code ignored;
  if (!fs::is_regular_file(o.script, ignored))
    throw Error(ErrorKind::File,
                fmt::format("{}: no such file; give a script, or a .uoptrace and --kernel", o.script));
  if (isTraceFile(o.script)) return bisectKernel(o);
  if (!o.kernel.empty() || !o.line.empty() || !o.what.empty())
    throw Error(
        ErrorKind::Value,
        fmt::format("--kernel, --for and --line are about a kernel of a trace, and {} is none", o.script));
  return bisectScriptOf(o);
}

} // namespace uopscope::cli
