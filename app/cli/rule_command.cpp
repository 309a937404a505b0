// uopscope rule FILE TRACE: rules of a Python file tried on a trace. The file runs in a child process with a limit of
// time, because the user named it; nothing of the trace runs unless --times asks for it, and then in a sandbox.
#include "app/cli/output.h"
#include "app/cli/sandbox.h"
#include "app/cli/teach_command.h"
#include "engine/prove/report.h"
#include "engine/tensor/operation_scope.h"
#include "engine/tensor/tensor_memory.h"
#include "replay/compare/kernel_run.h"
#include "replay/teach/rule_bench.h"
#include "viz/pictures/rule_picture.h"
#ifdef UOPSCOPE_HAVE_PYTHON
#include "engine/python/interpreter/interpreter.h"
#endif

#include <fmt/format.h>

#include <filesystem>

namespace uopscope::cli {

namespace {

constexpr int kGraphs = 8; // instances of a rule with a function: as many as `prove` takes by default

Json proofsOf(const PatternMatcher& rules) {
  Json out = Json::array();
  PoolScope scope(tensorPool());
  NodesHeld held;
  prove::ProveOptions options;
  options.graphs = kGraphs;
  options.programs = false;
  options.pool = &tensorPool();
  try {
    for (const prove::RuleProof& p : prove::proveRules(rules.rules(), options))
      out.push_back(Json{{"rule", p.rule},
                         {"status", prove::statusName(p.status)},
                         {"scope", p.scope},
                         {"reason", p.reason},
                         {"counterexample", p.counterexample}});
  } catch (const std::exception& e) { // a build without Z3, or a rule that raises
    out.push_back(Json{{"rule", ""}, {"status", "assumed"}, {"reason", e.what()}});
  }
  return out;
}

/// Runs in the child: JSON with the answer as text and as data.
std::string answer(const RuleArguments& o) {
#ifdef UOPSCOPE_HAVE_PYTHON
  std::string out;
  withRules({o.file, o.after}, [&](const PatternMatcher& given, const std::string& after) {
    Trace trace(o.trace);
    RuleBenchOptions options;
    if (!o.kernel.empty()) options.scope = trace.findScope(o.kernel);
    if (o.json) {
      options.draw = [](UOp before, UOp after) { return rewriteGraph(before, after); };
      options.drawPattern = [](const Rule& rule) { return patternGraph(rule); };
    }
    options.kernels = {o.times ? o.repeats : 0, o.timeout, o.keep};
    const RuleBench bench = benchRules(trace, std::make_shared<const PatternMatcher>(given), after, options);
    const Json proofs = proofsOf(given);
    Json data = ruleBenchJson(bench);
    data["proofs"] = proofs;
    bool bad = isBad(bench);
    std::string text = ruleBenchText(bench);
    for (const WhatIf& w : bench.kernels) text += "\n" + whatIfText(w, 40);
    text += '\n';
    for (const Json& p : proofs) {
      bad |= p["status"] == "refuted";
      text += fmt::format("prove: {} {}{}\n", p.value("rule", ""), p.value("status", ""),
                          p.value("reason", "").empty() ? "" : ": " + p.value("reason", ""));
      if (!p.value("counterexample", "").empty()) text += p.value("counterexample", "") + "\n";
    }
    out = jsonLine(Json{{"text", text}, {"data", data}, {"bad", bad}});
    return kFine;
  });
  return out;
#else
  throw Error(
      ErrorKind::Unsupported,
      fmt::format("{}: this uopscope was built without Python, which the rules of a file need", o.file));
#endif
}

} // namespace

int tryRules(const RuleArguments& o) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(o.file, ignored))
    throw Error(ErrorKind::File,
                fmt::format("{}: no such file; give a Python file of rules, then a trace", o.file));
  if (!o.keep.empty() && o.kernel.empty())
    throw Error(ErrorKind::Value, "--keep writes the corpora of one kernel: name it with --kernel");
  {
    Trace trace(o.trace); // its faults are told before the file runs
    warnAbout(trace);
    if (!o.kernel.empty()) trace.findScope(o.kernel);
  }
  if (o.times && !o.trust) continueInSandbox("rule", {o.trace}, "the kernels that change", "");
  Json all;
  try {
    all = Json::parse(isolated([&] { return answer(o); }, o.timeout, "the file of rules"));
  } catch (const Error& e) {
    throw Error(ErrorKind::Value, e.what());
  }
  if (o.json)
    printJson(all["data"]);
  else
    fmt::print("{}", all.value("text", ""));
  return all.value("bad", true) ? kFailed : kFine;
}

} // namespace uopscope::cli
