// Schedules on devices: kernels, copies and views run in order; kernels are lowered once; the observer gets
// all calls.
#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/runtime/counters.h"
#include "engine/runtime/device.h"
#include "engine/runtime/kernel_cache.h"
#include "engine/runtime/run_schedule.h"
#include "engine/tensor/tensor.h"
#include "engine/tensor/tensor_memory.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

using namespace uopscope;

namespace {

struct ToldRuns : Observer {
  bool wantsRewrites() const override { return false; }
  void onScopeBegin(const ScopeBegin& b) override { scopes += b.kind == ScopeKind::Kernel; }
  void onArtifact(const Artifact& a) override { artifacts[std::string(a.kind)] = a.text; }
  void onProgram(std::span<const UOp> program) override { instructions += program.size(); }
  void onLaunch(const Launch& l) override {
    launches.emplace_back(l.kernel);
    CHECK(l.startNs > 0);
    CHECK(l.durationNs >= 0);
    bytes += l.bytes;
  }
  void poolRetired(Pool&) override { ++retired; }
  int scopes = 0, retired = 0;
  size_t instructions = 0;
  int64_t bytes = 0;
  std::map<std::string, std::string> artifacts;
  std::vector<std::string> launches;
};

Tensor tensorOn(const char* device, Ints shape) {
  std::vector<float> values(static_cast<size_t>(shape[0] * shape[1]));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7) - 2.5f;
  TensorOptions o;
  o.device = device;
  return Tensor::from(values, shape, o);
}

std::vector<float> productOn(const char* device) {
  return tensorOn(device, {12, 20}).matmul(tensorOn(device, {20, 8})).relu().softmax().values<float>();
}

} // namespace

TEST_CASE("random numbers for a language without 64-bit integers take 32-bit words alone") {
  ToldRuns told;
  ObserverScope scope(&told);
  TensorOptions o;
  o.device = "NULL:WGSL";
  for (int64_t n : {1, 2, 63, 64}) {
    CHECK_NOTHROW(Tensor::rand({n}, o).realize());
    CHECK_NOTHROW(Tensor::randn({n}, o).realize());
    CHECK_NOTHROW(Tensor::randint({n}, 0, 10, o).realize());
  }
}

TEST_CASE("what is realized on NULL with a language is written in it, on the numbered ones as well") {
  for (auto [device, word] : {std::pair{"NULL:CUDA", "__global__"},
                              {"NULL:METAL", "kernel void"},
                              {"NULL:WGSL", "@compute"},
                              {"NULL:CL", "__kernel"},
                              {"NULL:AMD", "amdgpu_kernel"},
                              {"NULL", "restrict"},
                              {"NULL:2", "restrict"}}) {
    ToldRuns told;
    ObserverScope scope(&told);
    clearKernelCache();
    (tensorOn(device, {3, 5}) + tensorOn(device, {3, 5})).realize();
    CAPTURE(device);
    CHECK(told.artifacts["source"].find(word) != std::string::npos);
  }
}

TEST_CASE("CPU through LLVM and clang gives what REF gives") {
  std::vector<float> wanted = productOn("REF");
  REQUIRE(wanted.size() == 96);
  for (int llvm : {1, 0}) {
    for (int noopt : {0, 1}) {
      ContextScope scope({{"CPU_LLVM", llvm}, {"NOOPT", noopt}});
      std::vector<float> got = productOn("CPU");
      for (size_t i = 0; i < wanted.size(); ++i) CHECK(got[i] == doctest::Approx(wanted[i]).epsilon(1e-5));
    }
  }
}

TEST_CASE("kernels are kept up to a limit, and made again after it") {
  clearKernelCache();
  size_t before = limitKernelCache(8);
  for (int64_t n = 1; n <= 40; ++n) {
    Tensor a = tensorOn("CPU", {n, 2}).realize();
    CHECK((a + a).values<float>()[0] == -5.0f);
    CHECK(kernelCacheStats().kernels <= 9);
  }
  Tensor last = tensorOn("CPU", {40, 2}).realize(), first = tensorOn("CPU", {1, 2}).realize();
  uint64_t made = kernelCacheStats().misses;
  last.add(last).realize();
  CHECK(kernelCacheStats().misses == made);
  first.add(first).realize();
  CHECK(kernelCacheStats().misses == made + 1);
  limitKernelCache(before);
  clearKernelCache();
}

TEST_CASE("a kernel is lowered once, and what is told of it is complete") {
  clearKernelCache();
  ToldRuns told;
  {
    ObserverScope scope(&told);
    Tensor a = tensorOn("CPU", {16, 16}).realize();
    a.matmul(a).realize();
    CHECK(told.scopes == 1);
    CHECK(told.launches.size() == 1);
    int64_t kernels = GlobalCounters::current().kernelCount;
    a.matmul(a).realize();
    CHECK(told.scopes == 1);
    CHECK(told.launches.size() == 2);
    CHECK(GlobalCounters::current().kernelCount == kernels + 1);
    CHECK(kernelCacheStats().misses == 1);
    CHECK(kernelCacheStats().hits >= 1);
    // Different settings make different code.
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
  CHECK(told.instructions > 3);
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
  Tensor a = tensorOn("CPU", {4, 5}).realize();
  Tensor b = a.to("REF").add(1.0).realize();
  std::vector<float> got = b.to("CPU").values<float>();
  CHECK(got[0] == -1.5f);
  CHECK(got[19] == static_cast<float>(19 % 7) - 1.5f);
}

TEST_CASE("a schedule runs on NULL without numbers") {
  ToldRuns told;
  ObserverScope scope(&told);
  tensorOn("NULL", {8, 8}).exp().realize();
  CHECK(told.artifacts["source"].find("void ") != std::string::npos);
  CHECK(told.artifacts.count("asm") == 0);
  CHECK(told.launches.size() == 1);
}

namespace {

/// Stores the observed calls as lines of text, with their threads.
struct Transcript : Observer {
  explicit Transcript(bool forks = true) : forks(forks) {}
  void onScopeBegin(const ScopeBegin& b) override {
    if (b.kind != ScopeKind::Kernel) return;
    ++depth;
    threads.insert(std::this_thread::get_id());
    text += "kernel\n";
  }
  void onScopeEnd() override { depth -= depth > 0; }
  void onPassBegin(const PassBegin& p) override {
    if (depth) text += "  pass " + std::string(p.name) + '\n';
  }
  Control onRewrite(const RewriteEvent& e) override {
    if (depth) text += fmt::format("    {} {} -> {}\n", e.rule->name(), e.before.id(), e.after.id());
    return Control::Apply;
  }
  void onArtifact(const Artifact& a) override {
    if (depth) text += std::string(a.text);
  }
  std::unique_ptr<Observer> fork(uint64_t) override {
    return forks ? std::make_unique<Transcript>() : nullptr;
  }
  void join(std::unique_ptr<Observer> child) override {
    auto& other = dynamic_cast<Transcript&>(*child);
    text += other.text;
    threads.insert(other.threads.begin(), other.threads.end());
  }
  bool forks;
  int depth = 0;
  std::string text;
  std::set<std::thread::id> threads;
};

/// Several kernels of one schedule.
std::vector<float> severalKernels() {
  clearKernelCache();
  Tensor x = tensorOn("CPU", {24, 36});
  Tensor a = x.matmul(x.transpose()).softmax(), b = x.sum(Ints{0}).exp(), c = x.max(Ints{1}).sin();
  std::vector<float> all = a.values<float>();
  Tensor::realize({b, c});
  for (Tensor t : {b, c})
    for (float v : t.values<float>()) all.push_back(v);
  return all;
}

} // namespace

TEST_CASE("any number of threads makes the same kernels, told in the same order") {
  std::string first;
  std::vector<float> wanted;
  for (int threads : {1, 2, 3, 8}) {
    CAPTURE(threads);
    ContextScope scope({{"UOPSCOPE_THREADS", threads}});
    Transcript told;
    std::vector<float> got;
    {
      ObserverScope observe(&told);
      got = severalKernels();
    }
    if (threads == 1) {
      first = told.text;
      wanted = got;
      CHECK(first.size() > 5000);
      CHECK(told.threads.size() == 1);
    } else {
      CHECK((told.text == first));
      CHECK(told.threads.size() <= static_cast<size_t>(threads));
    }
    CHECK(got == wanted);
  }
}

TEST_CASE("an observer that cannot be forked sees everything on its own thread") {
  ContextScope scope({{"UOPSCOPE_THREADS", 4}});
  Transcript told(false);
  {
    ObserverScope observe(&told);
    severalKernels();
  }
  CHECK(told.threads == std::set<std::thread::id>{std::this_thread::get_id()});
  CHECK(told.text.find("devectorize") != std::string::npos);
}

TEST_CASE("a kernel that cannot be made fails the run the same way on any number of threads") {
  for (int threads : {1, 4}) {
    ContextScope scope({{"UOPSCOPE_THREADS", threads}});
    clearKernelCache();
    PoolScope pool(tensorPool());
    NodesHeld held;
    Schedule s = [&] {
      Tensor x = tensorOn("CPU", {16, 16});
      Tensor y = x.matmul(x).realize();
      return createSchedule(
          UOp::sink(std::vector<UOp>{(y.exp()).uop(), y.sum(Ints{0}).uop(), y.max(Ints{1}).uop()}));
    }();
    REQUIRE(s.items.size() >= 2);
    // The second kernel asks for too many lanes.
    KernelInfo info;
    info.hasOptsToApply = true;
    info.optsToApply = {{OptOp::UPCAST, 0, {7}}};
    PoolScope itemPool(*s.items[1].pool);
    s.items[1].ast = s.items[1].ast.withArg(Arg::of(info));
    std::string message;
    try {
      PoolScope back(tensorPool());
      runSchedule(s);
    } catch (const Error& e) {
      message = e.what();
    }
    CHECK(message.find("UPCAST") != std::string::npos);
    CHECK(message.find("7 does not divide") != std::string::npos);
  }
}
