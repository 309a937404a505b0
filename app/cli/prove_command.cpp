// uopscope prove [RULE]: prints the status of every rule of the engine's tables, or of a script's rules.
#include "app/cli/cli.h"
#include "engine/base/error.h"
#include "engine/prove/report.h"

#include <fmt/format.h>
#include <unistd.h>

namespace uopscope::cli {

namespace {

/// Runs the script first, then proves the rules of the PatternMatchers among its global names.
int proveScript(const ProveArguments& o) {
#ifdef UOPSCOPE_HAVE_PYTHON
  auto quoted = [](const std::string& text) { return nlohmann::json(text).dump(); };
  return runPython(
      {"-c", fmt::format("from uopscope.proofs import main; main({}, {}, {}, {})", quoted(o.rules),
                         quoted(o.rule), o.milliseconds, o.json ? "True" : "False")});
#else
  throw Error(
      ErrorKind::Unsupported,
      fmt::format("{}: this uopscope was built without Python, which the rules of a script need", o.rules));
#endif
}

} // namespace

int proveCommand(const ProveArguments& o) {
  if (!o.rules.empty()) return proveScript(o);
  prove::ProveOptions options;
  options.rule = o.rule;
  options.table = o.table;
  if (o.milliseconds) options.milliseconds = static_cast<unsigned>(o.milliseconds);
  if (!o.full && !o.markdown) options.graphs = 8;
  bool tells = !o.json && !o.markdown && isatty(STDERR_FILENO);
  size_t done = 0;
  if (tells)
    options.onProof = [&](const prove::RuleProof& p) { fmt::print(stderr, "\r{:4} {:<40}", ++done, p.rule); };
  std::vector<prove::RuleProof> proofs = prove::proveTables(options);
  if (tells) fmt::print(stderr, "\r{:46}\r", "");
  fmt::print("{}", o.json       ? prove::reportJson(proofs)
                   : o.markdown ? prove::reportMarkdown(proofs)
                                : prove::reportText(proofs));
  return prove::allHold(proofs) ? kFine : kFailed;
}

} // namespace uopscope::cli
