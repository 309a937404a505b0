// Reads what the recorder stored about registers. A trace is untrusted: numbers that are missing are 0, and a file of
// registers without bytes is none.
#include "replay/read/kernel_registers.h"

#include "replay/read/materialize.h"

#include <nlohmann/json.hpp>

namespace uopscope {

namespace {

int64_t numberOf(const nlohmann::json& j, const char* key) {
  const auto it = j.find(key);
  return it != j.end() && it->is_number_integer() ? std::max<int64_t>(0, it->get<int64_t>()) : 0;
}

} // namespace

std::optional<KernelRegisters> kernelRegisters(Trace& trace, ScopeId kernel) {
  const std::optional<std::string> text = trace.artifact(kernel, "registers");
  const auto j = nlohmann::json::parse(text.value_or(""), nullptr, false);
  if (!j.is_object() || !j.contains("file") || !j["file"].is_object() || !j.contains("peak") ||
      !j["peak"].is_object())
    return {};
  const nlohmann::json &file = j["file"], &peak = j["peak"];
  KernelRegisters r;
  r.file = {numberOf(file, "vectors"), numberOf(file, "vector_bytes"), numberOf(file, "general"),
            numberOf(file, "general_bytes")};
  if (!r.file.generalBytes || (r.file.vectors && !r.file.vectorBytes)) return {};
  r.peak.vectors = numberOf(peak, "vectors"), r.peak.at = numberOf(peak, "at");
  r.peak.general = numberOf(peak, "general"), r.peak.generalAt = numberOf(peak, "general_at");
  r.predictedBytes = numberOf(j, "predicted_bytes");
  if (const auto used = j.find("used"); used != j.end() && used->is_object())
    r.used = {numberOf(*used, "registers"),      numberOf(*used, "spills"),
              numberOf(*used, "reloads"),        numberOf(*used, "spilled_bytes"),
              numberOf(*used, "reloaded_bytes"), numberOf(*used, "stack_bytes")};
  return r;
}

std::vector<UOp> programOf(Trace& trace, ScopeId kernel, Pool& pool) {
  PoolScope scope(pool);
  Materializer again(trace.nodes().reader(), pool);
  std::vector<UOp> program;
  for (const NodeId id : trace.program(kernel)) program.push_back(again(id));
  return program;
}

} // namespace uopscope
