// uopscope check TRACE (or SCRIPT): tests whether rewrites keep the value of the rewritten node. It lists
// rewrites that cannot be evaluated, with the reason, and prints a link to the first wrong one.
#include "app/cli/output.h"
#include "replay/compare/difference_script.h"
#include "replay/compare/step_checker.h"
#include "replay/compare/value_check.h"
#include "replay/read/link.h"
#include "replay/read/print.h"
#include "replay/schema/quantity_text.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <fstream>

namespace uopscope::cli {

namespace {

bool isTrace(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  char magic[6] = {};
  return !in.read(magic, 6) || std::memcmp(magic, "SQLite", 6) == 0; // Trace explains an unreadable file
}

const char* verdictName(ValueCheck::Verdict verdict) {
  return verdict == ValueCheck::Verdict::Same      ? "same"
         : verdict == ValueCheck::Verdict::Differs ? "differs"
                                                   : "unknown";
}

/// Writes a script that shows the rewrite, shrunk to a small one.
void writeScript(Trace& trace, StepId step, const std::string& path) {
  const std::string text = stepScript(trace, step);
  std::ofstream out(path);
  if (!(out << text) || !out.flush())
    throw Error(ErrorKind::File,
                fmt::format("{}: cannot be written; choose another place with --script", path));
  fmt::print(stderr, "uopscope: {} shows it: uopscope run {}\n", path, path);
}

int checkOne(Trace& trace, const LookOptions& o) {
  if (o.pass.empty() || o.step < 1)
    throw Error(ErrorKind::Value, "to check one rewrite, name its pass and step: --pass P --step K; "
                                  "without KERNEL every rewrite of the trace is checked");
  PassId pass = trace.findPass(trace.findScope(o.kernel), o.pass);
  std::vector<StepInfo> steps = trace.steps(pass, o.step, 1);
  if (steps.empty())
    throw Error(ErrorKind::Index, fmt::format("pass \"{}\" has {} steps, there is no step {}",
                                              trace.pass(pass).name, trace.pass(pass).steps, o.step));
  const StepInfo& s = steps[0];
  NodeReader read = trace.nodes().reader();
  ValueCheck c;
  if (s.after)
    c = checkStep(trace, s.id, 400);
  else
    c.why = "the rule failed: " + trace.stepMessage(s.id);
  if (o.json) {
    printJson(Json{{"rule", trace.rule(s.rule).name},
                   {"verdict", verdictName(c.verdict)},
                   {"samples", c.samples},
                   {"where", c.where},
                   {"before", c.before},
                   {"after", c.after},
                   {"why", c.why}});
  } else {
    fmt::print("{}: {}", trace.rule(s.rule).name, expression(read, s.before, 6, 200));
    fmt::print(" -> {}\n", s.after ? expression(read, s.after, 6, 200) : "nothing");
    switch (c.verdict) {
    case ValueCheck::Verdict::Same:
      fmt::print("the same value on {} assignments, corners and random ones\n", c.samples);
      break;
    case ValueCheck::Verdict::Differs:
      fmt::print("not the same: {} before and {} after, for {}\n", c.before, c.after,
                 c.where.empty() ? "any values" : c.where);
      break;
    case ValueCheck::Verdict::Unknown: fmt::print("nothing can be said: {}\n", c.why);
    }
  }
  if (c.verdict == ValueCheck::Verdict::Differs && !o.script.empty()) writeScript(trace, s.id, o.script);
  return c.verdict == ValueCheck::Verdict::Differs ? kFailed : kFine;
}

Json faultsJson(Trace& trace, const ValueSurvey& found) {
  Json faults = Json::array();
  for (const ValueSurvey::Fault& f : found.faults)
    faults.push_back(Json{{"step", f.step},
                          {"rule", f.rule ? trace.rule(f.rule).name : ""},
                          {"pass", trace.pass(f.pass).name},
                          {"kernel", f.kernel ? trace.scope(f.kernel).name : ""},
                          {"before", f.check.before},
                          {"after", f.check.after},
                          {"where", f.check.where}});
  return faults;
}
Json surveyJson(Trace& trace, const ValueSurvey& found) {
  Json blind = Json::array();
  for (const ValueSurvey::Blind& b : found.blind)
    blind.push_back(
        Json{{"rule", b.rule}, {"pass", b.pass}, {"why", b.why}, {"count", b.count}, {"first", b.first}});
  auto whole = [](const ValueSurvey::Whole& w) {
    return Json{{"checked", w.checked}, {"same", w.same}, {"unknown", w.unknown}};
  };
  return Json{{"checked", found.checked},
              {"same", found.same},
              {"unknown", found.unknown},
              {"unchanged", found.unchanged},
              {"differ", found.differ},
              {"complete", found.complete},
              {"passes", whole(found.passes)},
              {"kernels", whole(found.kernels)},
              {"blind", blind},
              {"faults", faultsJson(trace, found)}};
}
void printSurvey(Trace& trace, const ValueSurvey& found, const LookOptions& o) {
  if (o.errors && !found.blind.empty()) {
    Table blind({"times", "rule", "pass", "first step", "why"});
    for (const ValueSurvey::Blind& b : found.blind)
      blind.add({countText(b.count), b.rule, b.pass, fmt::format("{}", b.first), b.why});
    blind.print();
  }
  if (!found.faults.empty()) {
    Table table({"step", "rule", "pass", "before", "after", "where"});
    for (const ValueSurvey::Fault& f : found.faults)
      table.add({f.step ? fmt::format("{}", f.step) : "all",
                 f.rule ? trace.rule(f.rule).name : "a whole graph",
                 f.kernel ? fmt::format("{}, from its start to the end of '{}'", trace.scope(f.kernel).name,
                                        trace.pass(f.pass).name)
                          : trace.pass(f.pass).name,
                 f.check.before, f.check.after, f.check.where});
    table.print();
  }
  if (!found.faults.empty() && found.faults.front().step) {
    const ValueSurvey::Fault& f = found.faults.front();
    const PassInfo pass = trace.pass(f.pass);
    int64_t k = 0;
    for (const StepInfo& s : trace.steps(f.pass))
      if (s.id == f.step) k = s.k;
    ResolvedLink at;
    at.scope = pass.scope, at.pass = f.pass, at.step = k;
    fmt::print("the first wrong rewrite: uopscope open {} --at \"{}\"\n", trace.path(),
               makeLink(trace, at).str());
  }
  if (found.passes.checked)
    fmt::print("{} passes: {} keep their values, {} cannot be evaluated; {}: {}, {}\n",
               countText(found.passes.checked), countText(found.passes.same), countText(found.passes.unknown),
               countedText(found.kernels.checked, "kernel"), countText(found.kernels.same),
               countText(found.kernels.unknown));
  fmt::print("{} rewrites: {} keep their value, {} cannot be evaluated, {} differ{}\n",
             countText(found.checked), countText(found.same + found.unchanged), countText(found.unknown),
             countText(found.differ),
             found.unknown && !o.errors ? " (--blind lists those that cannot be evaluated)" : "");
}

} // namespace

int checkValues(const LookOptions& given) {
  LookOptions o = given;
  if (!isTrace(o.trace)) { // a script: its compilation is recorded first
    RecordOptions r;
    r.script = o.trace;
    r.quiet = true;
    r.output = o.trace = std::filesystem::path(r.script).stem().string() + ".uoptrace";
    if (const int code = record(r); code == kInterrupted || !std::filesystem::exists(o.trace)) return code;
  }
  Trace trace(o.trace);
  warnAbout(trace);
  if (!o.kernel.empty()) return checkOne(trace, o);
  SurveyOptions options;
  if (o.limit > 0) options.mostFaults = static_cast<size_t>(o.limit);
  options.whole = o.whole;
  const ValueSurvey found = checkTrace(trace, options);
  if (o.json)
    printJson(surveyJson(trace, found));
  else
    printSurvey(trace, found, o);
  if (!o.script.empty() && !found.faults.empty() && found.faults[0].step)
    writeScript(trace, found.faults[0].step, o.script);
  return found.faults.empty() ? kFine : kFailed;
}

} // namespace uopscope::cli
