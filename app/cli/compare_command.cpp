// uopscope compare TRACE FROM [TO] and uopscope check TRACE: two states of a trace (or of two) beside each
// other, and whether rewrites keep the value of what they rewrite. States are links, as the window copies
// them.
#include "app/cli/output.h"
#include "replay/compare/text_diff.h"
#include "replay/compare/value_check.h"
#include "replay/read/link.h"
#include "replay/read/print.h"

#include <fmt/format.h>

namespace uopscope::cli {

namespace {

/// A state of a trace, and what of it is compared.
std::string textOf(Trace& trace, const ResolvedLink& at, const std::string& what) {
  if (what == "graph") {
    if (!at.pass)
      throw Error(ErrorKind::Value, "to compare graphs, name a pass, as in \"kernel=3&pass=2&step=12\"; "
                                    "ls TRACE KERNEL lists them");
    Cursor cursor(trace, at.pass);
    return printTree(cursor.reader(), cursor.rootAt(std::min(at.step, cursor.steps())));
  }
  if (!at.scope) throw Error(ErrorKind::Value, "to compare texts, name a kernel, as in \"kernel=3\"");
  auto text = trace.artifact(at.scope, what);
  if (!text)
    throw Error(ErrorKind::Key, fmt::format("\"{}\" in {} has no {}; show TRACE KERNEL lists what it has",
                                            trace.scope(at.scope).name, trace.path(), what));
  return *text;
}

const char* verdictName(ValueCheck::Verdict verdict) {
  return verdict == ValueCheck::Verdict::Same      ? "same"
         : verdict == ValueCheck::Verdict::Differs ? "differs"
                                                   : "unknown";
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
  return c.verdict == ValueCheck::Verdict::Differs ? kFailed : kFine;
}

} // namespace

int compareStates(const CompareOptions& o) {
  Trace trace(o.trace);
  warnAbout(trace);
  std::unique_ptr<Trace> second;
  if (!o.other.empty()) second = std::make_unique<Trace>(o.other);
  Trace& right = second ? *second : trace;
  ResolvedLink a = resolve(trace, Link::parse(o.from)), b;
  if (!o.to.empty()) {
    b = resolve(right, Link::parse(o.to));
  } else if (second) {
    b = resolve(right, Link::parse(o.from));
  } else {
    b = a;
    if (b.pass) b.step = trace.pass(b.pass).steps;
  }
  std::string before = textOf(trace, a, o.what), after = textOf(right, b, o.what);
  bool same = before == after;
  auto name = [](const Trace& t, const std::string& link) { return t.path() + " " + link; };
  std::string from = name(trace, o.from), to = name(right, !o.to.empty() ? o.to
                                                           : second      ? o.from
                                                                         : "as the pass ended");
  if (o.json) {
    Json lines = Json::array();
    for (const DiffLine& l : diffLines(before, after))
      if (l.mark != ' ')
        lines.push_back(Json{
            {"mark", std::string(1, l.mark)}, {"text", l.text}, {"before", l.before}, {"after", l.after}});
    printJson(Json{{"same", same}, {"what", o.what}, {"from", from}, {"to", to}, {"lines", lines}});
  } else if (same) {
    fmt::print("the same {}\n", o.what);
  } else {
    fmt::print("{}", unifiedDiff(before, after, from, to));
  }
  return same ? kFine : kFailed;
}

namespace {

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
      blind.add({grouped(b.count), b.rule, b.pass, fmt::format("{}", b.first), b.why});
    blind.print();
  }
  if (!found.faults.empty()) {
    Table table({"step", "rule", "pass", "before", "after", "where"});
    for (const ValueSurvey::Fault& f : found.faults)
      table.add({f.step ? fmt::format("{}", f.step) : "all", f.rule ? trace.rule(f.rule).name : "a whole graph",
                 f.kernel ? trace.scope(f.kernel).name : trace.pass(f.pass).name, f.check.before, f.check.after,
                 f.check.where});
    table.print();
  }
  if (found.passes.checked)
    fmt::print("{} passes: {} keep what they compute, {} cannot be evaluated; {} kernels: {}, {}\n",
               grouped(found.passes.checked), grouped(found.passes.same), grouped(found.passes.unknown),
               grouped(found.kernels.checked), grouped(found.kernels.same), grouped(found.kernels.unknown));
  fmt::print("{} rewrites: {} keep their value, {} cannot be evaluated, {} differ{}\n", grouped(found.checked),
             grouped(found.same + found.unchanged), grouped(found.unknown), grouped(found.differ),
             found.unknown && !o.errors ? " (--blind lists what cannot be evaluated)" : "");
}

} // namespace

int checkValues(const LookOptions& o) {
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
  return found.faults.empty() ? kFine : kFailed;
}

} // namespace uopscope::cli
