// Makes the table of docs/guide/devices.md from the targets of code generation. UPDATE_GOLDEN=1 writes it
// anew.
#include "engine/render/c_renderer.h"
#include "engine/render/gpu_text.h"
#include "engine/runtime/device.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>

using namespace uopscope;

namespace {

struct Column {
  const char* name;
  Target target;
};

std::vector<Column> columns() {
  std::vector<Column> all;
  all.push_back({"CPU", cpuTarget("LLVM")});
  for (const char* name : {"CL", "CUDA", "AMD", "METAL", "WGSL"})
    for (const GpuLanguage& l : gpuLanguages())
      if (l.name == std::string(name)) all.push_back({name, l.target()});
  all.push_back({"REF", Device::get("REF").renderer().target()});
  all.push_back({"REF:GPU", Device::get("REF:GPU").renderer().target()});
  return all;
}

std::string table() {
  std::vector<Column> all = columns();
  std::string out = "| |", rule = "|---|";
  for (const Column& c : all) {
    out += fmt::format(" {} |", c.name);
    rule += "---|";
  }
  out += "\n" + rule + "\n";
  auto row = [&](const std::string& name, const std::function<std::string(const Target&)>& cell) {
    out += fmt::format("| {} |", name);
    for (const Column& c : all) out += fmt::format(" {} |", cell(c.target));
    out += '\n';
  };
  auto yes = [](bool b) { return std::string(b ? "yes" : ""); };
  row("work groups", [&](const Target& t) { return yes(t.hasLocal); });
  row("shared memory, bytes",
      [](const Target& t) { return t.hasShared ? fmt::format("{}", t.sharedMax) : ""; });
  row("threads of the CPU", [&](const Target& t) { return yes(t.hasThreads); });
  row("lanes of a load",
      [](const Target& t) { return t.supportsVectors ? fmt::format("{}", t.maxVectorLanes) : ""; });
  row("tensor cores", [](const Target& t) {
    std::string names;
    for (const TensorCore& c : t.tensorCores)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", c.in.name());
    return names;
  });
  for (DType d :
       {dtypes::float16, dtypes::bfloat16, dtypes::fp8e4m3, dtypes::fp8e5m2, dtypes::float64, dtypes::int64})
    row(d.name(), [&](const Target& t) { return yes(!t.supportsDtype || t.supportsDtype(d)); });
  group::kAlu.forEach([&](Op op) {
    row(std::string(opName(op)), [&](const Target& t) { return yes(t.nativeOps.has(op)); });
  });
  return out;
}

} // namespace

TEST_CASE("docs/guide/devices.md says what each device computes") {
  const std::string path = UOPSCOPE_SOURCE_DIR "/docs/guide/devices.md", begin = "<!-- table -->\n",
                    end = "<!-- end -->";
  std::stringstream read;
  read << std::ifstream(path).rdbuf();
  std::string page = read.str();
  size_t from = page.find(begin), to = page.find(end);
  REQUIRE(from != std::string::npos);
  REQUIRE(to != std::string::npos);
  from += begin.size();
  std::string made = table();
  if (std::getenv("UPDATE_GOLDEN"))
    std::ofstream(path) << page.substr(0, from) + made + page.substr(to);
  else
    CHECK_MESSAGE(page.substr(from, to - from) == made, "UPDATE_GOLDEN=1 writes the table anew");
}
