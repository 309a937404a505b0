// Schedules on devices: kernels, copies and views run in order; kernels are lowered once; the observer is
// told.
#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/runtime/device.h"
#include "engine/tensor/tensor.h"

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

using namespace uopscope;

namespace {

struct Told : Observer {
  bool wantsRewrites() const override { return false; }
  void onScopeBegin(const ScopeBegin& b) override { scopes += b.kind == ScopeKind::Kernel; }
  void onArtifact(const Artifact& a) override { artifacts[std::string(a.kind)] = a.text; }
  void onLaunch(const Launch& l) override {
    launches.emplace_back(l.kernel);
    CHECK(l.startNs > 0);
    CHECK(l.durationNs >= 0);
    bytes += l.bytes;
  }
  void poolRetired(Pool&) override { ++retired; }
  int scopes = 0, retired = 0;
  int64_t bytes = 0;
  std::map<std::string, std::string> artifacts;
  std::vector<std::string> launches;
};

Tensor on(const char* device, Ints shape) {
  std::vector<float> values(static_cast<size_t>(shape[0] * shape[1]));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7) - 2.5f;
  TensorOptions o;
  o.device = device;
  return Tensor::from(values, shape, o);
}

std::vector<float> product(const char* device) {
  return on(device, {12, 20}).matmul(on(device, {20, 8})).relu().softmax().values<float>();
}

} // namespace

TEST_CASE("CPU through LLVM and clang gives what REF gives") {
  std::vector<float> wanted = product("REF");
  REQUIRE(wanted.size() == 96);
  for (int llvm : {1, 0}) {
    for (int noopt : {0, 1}) {
      ContextScope scope({{"CPU_LLVM", llvm}, {"NOOPT", noopt}});
      std::vector<float> got = product("CPU");
      for (size_t i = 0; i < wanted.size(); ++i) CHECK(got[i] == doctest::Approx(wanted[i]).epsilon(1e-5));
    }
  }
}

TEST_CASE("a kernel is lowered once, and what is told of it is complete") {
  clearKernelCache();
  Told told;
  {
    ObserverScope scope(&told);
    Tensor a = on("CPU", {16, 16}).realize();
    a.matmul(a).realize();
    CHECK(told.scopes == 1);
    CHECK(told.launches.size() == 1);
    int64_t kernels = GlobalCounters::kernelCount;
    a.matmul(a).realize();
    CHECK(told.scopes == 1);
    CHECK(told.launches.size() == 2);
    CHECK(GlobalCounters::kernelCount == kernels + 1);
    CHECK(kernelCacheStats().misses == 1);
    CHECK(kernelCacheStats().hits >= 1);
    // Other settings make other code.
    ContextScope noopt({{"NOOPT", 1}});
    a.matmul(a).realize();
    CHECK(told.scopes == 2);
    clearKernelCache();
    CHECK(told.retired >= 2); // two kernels; schedules have pools too
  }
  CHECK(told.bytes >= 3 * 2 * 1024);
  std::string name = told.artifacts["name"];
  CHECK(name.starts_with("r_"));
  CHECK(told.launches.back() == name);
  CHECK(told.artifacts["source"].find("void " + name + "(") != std::string::npos);
  CHECK(told.artifacts["uops"].find("DEFINE_GLOBAL") != std::string::npos);
  CHECK(!told.artifacts["asm"].empty());
  auto launch = nlohmann::json::parse(told.artifacts["launch"]);
  CHECK(launch["name"] == name);
  CHECK(launch["device"] == "CPU");
  CHECK(launch["outs"] == nlohmann::json::array({0}));
  CHECK(launch["estimates"]["ops"] == 2 * 16 * 16 * 16);
  CHECK(nlohmann::json::parse(told.artifacts["opts"]).is_array());
}

TEST_CASE("tensors move between devices") {
  TensorOptions ref;
  ref.device = "REF";
  Tensor a = on("CPU", {4, 5}).realize();
  Tensor b = a.to("REF").add(1.0).realize();
  std::vector<float> got = b.to("CPU").values<float>();
  CHECK(got[0] == -1.5f);
  CHECK(got[19] == static_cast<float>(19 % 7) - 1.5f);
}

TEST_CASE("a schedule runs on NULL without numbers") {
  Told told;
  ObserverScope scope(&told);
  on("NULL", {8, 8}).exp().realize();
  CHECK(told.artifacts["source"].find("void ") != std::string::npos);
  CHECK(told.artifacts.count("asm") == 0);
  CHECK(told.launches.size() == 1);
}
