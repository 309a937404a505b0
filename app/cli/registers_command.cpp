// uopscope ls TRACE [KERNEL] --registers: what kernels do with registers, and the curve of the live ranges along one program.
#include "app/cli/output.h"
#include "engine/codegen/program_text.h"
#include "replay/read/kernel_registers.h"
#include "replay/schema/quantity_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope::cli {

namespace {

struct Row {
  ScopeId scope = 0;
  std::string name;
  KernelRegisters registers;
  int64_t spilledBytes() const { return registers.used ? registers.used->spilledBytes : 0; }
};

Json usedJson(const std::optional<RegisterUse>& used) {
  if (!used) return {};
  return {{"registers", used->registers},          {"spills", used->spills},
          {"spilled_bytes", used->spilledBytes},   {"reloads", used->reloads},
          {"reloaded_bytes", used->reloadedBytes}, {"stack_bytes", used->stackBytes}};
}
Json rowJson(const Row& row) {
  const KernelRegisters& r = row.registers;
  return {{"scope", row.scope},
          {"name", row.name},
          {"registers", r.available()},
          {"register_bytes", r.file.hasVectors() ? r.file.vectorBytes : r.file.generalBytes},
          {"peak", r.most()},
          {"peak_at", r.mostAt()},
          {"predicted_bytes", r.predictedBytes},
          {"used", usedJson(r.used)}};
}

std::vector<Row> rowsOf(Trace& trace, const LookOptions& o) {
  std::vector<Row> rows;
  for (const ScopeInfo& s : trace.scopes()) {
    if (s.kind != ScopeKind::Kernel || s.name.find(o.name) == std::string::npos) continue;
    if (auto found = kernelRegisters(trace, s.id)) rows.push_back({s.id, s.name, *found});
  }
  if (o.sort == "name")
    std::ranges::stable_sort(rows, {}, &Row::name);
  else
    std::ranges::stable_sort(rows, std::greater{}, [](const Row& r) {
      return std::pair(r.spilledBytes(), r.registers.most() - r.registers.available());
    });
  return rows;
}

int listKernels(Trace& trace, const LookOptions& o) {
  const std::vector<Row> rows = rowsOf(trace, o);
  const size_t shown = o.limit > 0 ? std::min(rows.size(), static_cast<size_t>(o.limit)) : rows.size();
  if (o.json) {
    Json out = Json::array();
    for (size_t k = 0; k < shown; ++k) out.push_back(rowJson(rows[k]));
    printJson(out);
    return kFine;
  }
  if (rows.empty()) {
    fmt::print("no kernel of this trace tells about registers\n");
    return kFine;
  }
  Table table(
      {"#", "kernel", "alive", "of", "at", "too many", "used", "spilled", "reloaded", "moves", "stack"});
  for (size_t k = 0; k < shown; ++k) {
    const Row& row = rows[k];
    const KernelRegisters& r = row.registers;
    auto cell = [&](int64_t RegisterUse::* member, bool isSize) {
      if (!r.used) return std::string("-");
      return isSize ? sizeText((*r.used).*member) : countText((*r.used).*member);
    };
    table.add({fmt::format("{}", row.scope), row.name, countText(r.most()), countText(r.available()),
               countText(r.mostAt()), r.predictedBytes ? sizeText(r.predictedBytes) : "",
               cell(&RegisterUse::registers, false), cell(&RegisterUse::spilledBytes, true),
               cell(&RegisterUse::reloadedBytes, true),
               r.used ? countText(r.used->spills + r.used->reloads) : "-",
               cell(&RegisterUse::stackBytes, true)});
  }
  table.print();
  if (shown < rows.size())
    fmt::print("{} of {} shown; --limit 0 shows all\n", countText(shown), countText(rows.size()));
  int64_t spilling = 0, spilled = 0, reloaded = 0;
  for (const Row& row : rows) {
    if (!row.registers.used) continue;
    spilling += row.spilledBytes() > 0;
    spilled += row.spilledBytes(), reloaded += row.registers.used->reloadedBytes;
  }
  fmt::print("{}, {} of which spill: {} spilled, {} reloaded in their code\n",
             countedText(rows.size(), "kernel"), countText(spilling), sizeText(spilled), sizeText(reloaded));
  return kFine;
}

constexpr int64_t kBar = 32; ///< characters of the bar at the peak, or at the limit if that is more

/// A bar with a mark where the registers end.
std::string barOf(int64_t alive, int64_t available, int64_t longest) {
  auto length = [&](int64_t n) { return static_cast<size_t>(n * kBar / std::max<int64_t>(1, longest)); };
  std::string bar(length(longest) + 1, ' ');
  std::fill_n(bar.begin(), std::min(length(alive), bar.size()), '#');
  if (available <= longest) bar[length(available)] = alive > available ? '!' : '|';
  return bar;
}

int listProgram(Trace& trace, ScopeId scope, const LookOptions& o) {
  const auto registers = kernelRegisters(trace, scope);
  if (!registers) throw Error(ErrorKind::Key, "the trace does not tell about the registers of this kernel");
  Pool pool;
  const std::vector<UOp> program = programOf(trace, scope, pool);
  const LiveRanges live = liveRanges(program, registers->file);
  const int64_t available = registers->available();
  if (o.json) {
    Json alive = Json::array(), there = Json::array();
    for (size_t i = 0; i < program.size(); ++i) alive.push_back(aliveOf(live, i));
    for (const LiveValue& v : live.aliveBehind(static_cast<size_t>(registers->mostAt())))
      there.push_back(
          {{"made", v.made}, {"until", v.until}, {"registers", v.registers}, {"vector", v.isVector}});
    Json out = rowJson({scope, trace.scope(scope).name, *registers});
    out["alive"] = alive, out["alive_at_peak"] = there;
    printJson(out);
    return kFine;
  }
  const std::string text = programText(program);
  const size_t shown = o.limit > 0 ? std::min(program.size(), static_cast<size_t>(o.limit)) : program.size();
  size_t from = 0;
  for (size_t i = 0; i < shown; ++i) {
    const size_t end = text.find('\n', from);
    const bool isPeak = static_cast<int64_t>(i) == registers->mostAt();
    const std::string line =
        fmt::format("{:>4} {} {}", aliveOf(live, i),
                    barOf(aliveOf(live, i), available, std::max(available, registers->most())),
                    text.substr(from, end - from));
    fmt::print("{}\n", isPeak                         ? paint(Paint::Bold, line)
                       : aliveOf(live, i) > available ? paint(Paint::Warning, line)
                                                      : line);
    from = end + 1;
  }
  if (shown < program.size())
    fmt::print("{} of {} shown; --limit 0 shows all\n", countText(shown), countText(program.size()));
  fmt::print("most alive behind instruction {}: {} of {} registers\n", registers->mostAt(), registers->most(),
             available);
  if (registers->mostAt() < static_cast<int64_t>(program.size()))
    for (const LiveValue& v : live.aliveBehind(static_cast<size_t>(registers->mostAt())))
      if (v.isVector == registers->file.hasVectors())
        fmt::print("  {:>5} {:14} {}, to {}\n", v.made, opName(program[v.made].op()),
                   countedText(v.registers, "register"), v.until);
  return kFine;
}

} // namespace

int listRegisters(Trace& trace, const LookOptions& o) {
  return o.kernel.empty() ? listKernels(trace, o) : listProgram(trace, trace.findScope(o.kernel), o);
}

} // namespace uopscope::cli
