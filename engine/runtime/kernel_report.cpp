// Writes texts about kernels and launches.
#include "engine/runtime/kernel_report.h"

#include "engine/base/error.h"
#include "engine/codegen/live_ranges.h"
#include "engine/runtime/counters.h"
#include "engine/runtime/register_use.h"
#include "engine/uop/eval.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace uopscope {

std::string optsJson(const LoweredKernel& kernel) {
  auto list = nlohmann::json::array();
  for (const Opt& o : kernel.appliedOpts) list.push_back(toString(o));
  return list.dump();
}

namespace {
std::string jsonText(std::string_view text) {
  return nlohmann::json(text).dump();
}
std::string jsonSize(const Sint& size) {
  return size.isInt() ? fmt::to_string(size.i()) : jsonText(size.str());
}
template <typename List, typename Text>
std::string jsonList(const List& list, Text text) {
  std::string out = "[";
  for (const auto& item : list) {
    if (out.size() > 1) out += ',';
    out += text(item);
  }
  return out += ']';
}
} // namespace

// Text, not a tree of JSON values, which takes a hundredth of a compilation.
std::string launchJson(const LoweredKernel& k, const Device& device) {
  auto variable = [](UOp v) {
    const VarArg& var = v.arg().as<VarArg>();
    return fmt::format(R"({{"name":{},"min":{},"max":{}}})", jsonText(var.name), var.vmin, var.vmax);
  };
  return fmt::format(
      R"({{"name":{},"device":{},"global":{},"local":{},"vars":{},"globals":[{}],"outs":[{}],"ins":[{}],)"
      R"("estimates":{{"ops":{},"lds":{},"mem":{}}}}})",
      jsonText(k.name), jsonText(device.name()), jsonList(k.globalSize, jsonSize),
      jsonList(k.localSize, jsonSize), jsonList(k.vars, variable), fmt::join(k.globals, ","),
      fmt::join(k.outs, ","), fmt::join(k.ins, ","), jsonSize(k.estimates.ops), jsonSize(k.estimates.lds),
      jsonSize(k.estimates.mem));
}

std::string registersJson(const LoweredKernel& k, const Device& device, const Program* program) {
  const LiveRanges live = liveRanges(k.uops, registerFileOf(device.renderer().target()));
  const auto* tells = dynamic_cast<const TellsRegisters*>(program);
  const std::optional<RegisterUse> used = tells ? tells->registerUse() : std::nullopt;
  std::string counted = "null";
  if (used)
    counted =
        fmt::format(R"({{"registers":{},"spills":{},"spilled_bytes":{},"reloads":{},"reloaded_bytes":{},)"
                    R"("stack_bytes":{}}})",
                    used->registers, used->spills, used->spilledBytes, used->reloads, used->reloadedBytes,
                    used->stackBytes);
  return fmt::format(
      R"({{"file":{{"vectors":{},"vector_bytes":{},"general":{},"general_bytes":{}}},)"
      R"("peak":{{"vectors":{},"at":{},"general":{},"general_at":{}}},"predicted_bytes":{},"used":{}}})",
      live.file.vectors, live.file.vectorBytes, live.file.general, live.file.generalBytes,
      live.vectors.registers, live.vectors.at, live.general.registers, live.general.at, live.spilledBytes,
      counted);
}

int64_t evaluate(const Sint& size, std::span<const std::pair<std::string, int64_t>> values) {
  if (size.isInt()) return size.i();
  UOpMap<ConstValue> known;
  for (UOp u : size.uop().toposort()) {
    if (u.isConst()) {
      known[u] = u.constValue();
    } else if (u.is(Op::DEFINE_VAR)) {
      const std::string& name = u.arg().as<VarArg>().name;
      bool found = false;
      for (const auto& [n, v] : values)
        if (n == name) known[u] = ConstValue::ofInt(v), found = true;
      if (!found)
        throw Error(ErrorKind::Value,
                    fmt::format("variable {} has no value: bind it before the kernel runs", name));
    } else if (u.is(Op::BIND)) {
      known[u] = known.at(u.src(0));
    } else {
      std::vector<ConstValue> operands;
      for (UOp s : u.src()) operands.push_back(known.at(s));
      known[u] = evalAlu(u.op(), u.dtype(), u.src(u.is(Op::WHERE) ? 1 : 0).dtype(), operands);
    }
  }
  return known.at(size.uop()).i;
}

namespace {

std::string timeText(double seconds) {
  if (seconds > 10) return fmt::format("{:9.2f}s ", seconds);
  if (seconds > 0.01) return fmt::format("{:9.2f}ms", seconds * 1e3);
  return fmt::format("{:9.2f}us", seconds * 1e6);
}

} // namespace

std::string launchLine(const LaunchReport& r, bool colours) {
  auto colour = [&](const std::string& text, int code) {
    return colours ? fmt::format("\033[{}m{}\033[0m", code, text) : text;
  };
  std::string head =
      fmt::format("*** {:7} {:4}", r.device.substr(0, 7), GlobalCounters::current().kernelCount);
  std::string name(r.name);
  std::string padding(name.size() < 46 ? 46 - name.size() : 1, ' ');
  std::string out = fmt::format("{} {}{} arg {:2} mem {:6.2f} GB", r.firstRun ? colour(head, 32) : head,
                                r.isCopy ? colour(name, 33) : name, padding, r.buffers,
                                static_cast<double>(GlobalCounters::current().memUsed) * 1e-9);
  if (r.seconds >= 0) {
    double s = std::max(r.seconds, 1e-20);
    double flops = static_cast<double>(r.ops) / s, mem = static_cast<double>(std::min(r.mem, r.lds)) / s,
           lds = static_cast<double>(r.lds) / s;
    std::string time = timeText(r.seconds);
    out += fmt::format(" tm {}/{:9.2f}ms ({} {})", r.seconds > 0.01 ? colour(time, 33) : time,
                       GlobalCounters::current().timeSum * 1e3,
                       flops < 1e14 ? fmt::format("{:7.1f} GFLOPS", flops * 1e-9)
                                    : fmt::format("{:7.1f} TFLOPS", flops * 1e-12),
                       mem < 1e13 && lds < 1e15
                           ? fmt::format("{:5.1f}|{:<7.1f} GB/s", mem * 1e-9, lds * 1e-9)
                           : fmt::format("{:5.1f}|{:<7.1f} TB/s", mem * 1e-12, lds * 1e-12));
  }
  if (r.metadata && !r.metadata->empty()) {
    out += " [";
    for (size_t i = 0; i < r.metadata->size(); ++i)
      out += fmt::format("{}'{}'", i ? ", " : "", (*r.metadata)[i]);
    out += ']';
  }
  return out;
}

std::string sourceLine(std::string_view source, size_t line) {
  for (size_t i = 1; i < line; ++i) {
    size_t end = source.find('\n');
    if (end == std::string_view::npos) return {};
    source.remove_prefix(end + 1);
  }
  return fmt::format("line {}: {}\n", line, source.substr(0, source.find('\n')));
}

} // namespace uopscope
