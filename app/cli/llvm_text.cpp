// uopscope show TRACE KERNEL --what llvm [--step N]: lists the passes of LLVM that changed a kernel, or
// prints the difference that pass N made. The trace holds only the kernel's IR; the command runs LLVM's passes
// on it again.
//
//   uopscope show matmul.uoptrace 4 --what llvm --step 2
#include "app/cli/output.h"
#include "engine/runtime/llvm_passes.h"
#include "replay/read/text_diff.h"
#include "replay/schema/quantity_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace uopscope::cli {

namespace {

/// As people read it; programs read "input".
std::string shownName(const std::vector<LlvmPass>& passes, size_t k) {
  return k ? passes[k].name : "as rendered";
}

int printDifference(const std::vector<LlvmPass>& passes, size_t k, const LookOptions& o) {
  if (o.json) {
    printJson(Json{{"pass", passes[k].name}, {"step", k}, {"text", passes[k].text}});
    return kFine;
  }
  fmt::print("{}  step {} of {}  {}\n", paint(Paint::Bold, shownName(passes, k)), k, passes.size() - 1,
             llvmPassMeaning(passes[k].name));
  if (k == 0) {
    fmt::print("{}", passes[0].text);
    return kFine;
  }
  std::istringstream changes(unifiedDiff(passes[k - 1].text, passes[k].text, "before", "after"));
  for (std::string line; std::getline(changes, line);)
    fmt::print("{}\n", line[0] == '+'   ? paint(Paint::Added, line)
                       : line[0] == '-' ? paint(Paint::Removed, line)
                                        : line);
  return kFine;
}

} // namespace

int showLlvm(Trace& trace, ScopeId scope, const LookOptions& o) {
  const auto text = trace.artifact(scope, "ir");
  if (!text)
    throw Error(ErrorKind::Key,
                fmt::format("\"{}\" has no LLVM IR: record the script on the CPU with CPU_LLVM=1",
                            trace.scope(scope).name));
  const std::vector<LlvmPass> passes = llvmPasses(*text);
  if (o.step >= 0) {
    if (o.step >= static_cast<int64_t>(passes.size()))
      throw Error(ErrorKind::Index, fmt::format("LLVM changed \"{}\" in {} passes; there is no step {}",
                                                trace.scope(scope).name, passes.size() - 1, o.step));
    return printDifference(passes, static_cast<size_t>(o.step), o);
  }
  Json out = Json::array();
  Table table({"#", "pass", "lines", "added", "removed", "what it does"});
  for (size_t k = 0; k < passes.size(); ++k) {
    const LineChanges c = k ? lineChanges(passes[k - 1].text, passes[k].text) : LineChanges{};
    const auto lines = std::count(passes[k].text.begin(), passes[k].text.end(), '\n');
    if (o.json)
      out.push_back(Json{{"step", k},
                         {"pass", passes[k].name},
                         {"lines", lines},
                         {"added", c.added},
                         {"removed", c.removed}});
    else
      table.add({fmt::format("{}", k), shownName(passes, k), countText(lines), countText(c.added),
                 countText(c.removed),
                 k ? std::string(llvmPassMeaning(passes[k].name)) : "what our last pass leaves"});
  }
  if (o.json)
    printJson(out);
  else
    table.print();
  return kFine;
}

} // namespace uopscope::cli
