// Operands in shared memory: products keep their values, for operands of any layout. Nothing is staged where
// threads share too little.
#include "engine/codegen/async_copy.h"
#include "engine/codegen/staging.h"
#include "engine/codegen/staging_stages.h"
#include "engine/render/cuda_architecture.h"
#include "engine/render/gpu_text.h"
#include "engine/render/nvptx_renderer.h"
#include "tests/engine/codegen/kernels.h"
#include "tests/engine/codegen/oracle.h"

#include <doctest/doctest.h>

#include <set>
#include <sstream>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

int64_t sharedOf(const LoweredKernel& k) {
  int64_t elements = 0;
  for (UOp u : k.uops)
    if (u.is(Op::DEFINE_LOCAL)) elements += u.dtype().size();
  return elements;
}
int64_t barriersOf(const LoweredKernel& k) {
  return std::count_if(k.uops.begin(), k.uops.end(),
                       [](UOp u) { return u.is(Op::BARRIER) && !closesCopies(u); });
}

/// Four warps compute 32 by 64 results of tensor cores, 32 terms a step.
const std::vector<Opt> kCores{{OptOp::UPCAST, 1, {4}},
                              {OptOp::UNROLL, 0, {2}},
                              {OptOp::TC, 0, {-1, 2, 1}},
                              {OptOp::LOCAL, 0, {2}},
                              {OptOp::LOCAL, 1, {2}}};

/// The interpreter's report on a launch of the kernel on zeros.
std::string reportOf(const LoweredKernel& k, const Target& target) {
  std::vector<std::byte> zeros(1 << 17);
  std::vector<void*> buffers(k.globals.size(), zeros.data());
  std::vector<std::byte> result(1 << 20);
  buffers[0] = result.data();
  std::vector<int64_t> groups, threads;
  for (const Sint& s : k.globalSize) groups.push_back(s.i());
  for (const Sint& s : k.localSize) threads.push_back(s.i());
  RefProgram program(k, RefGpu{{}, target.tensorCores});
  program.launch(buffers, {}, groups, threads, true);
  return program.report();
}
/// The passes over the banks that the report tells of, and those without conflicts, for all accesses.
std::pair<double, double> passesIn(const std::string& report) {
  double passes = 0, least = 0;
  std::istringstream text(report);
  for (std::string line; std::getline(text, line);) {
    size_t at = line.find(" passes over");
    if (at == std::string::npos) continue;
    passes += std::stod(line.substr(line.rfind(' ', at - 1)));
    size_t second = line.find(" without");
    least += std::stod(line.substr(line.rfind(' ', second - 1)));
  }
  return {passes, least};
}
int64_t asyncOf(const LoweredKernel& k) {
  return std::count_if(k.uops.begin(), k.uops.end(), [](UOp u) { return isAsyncCopy(u); });
}

const std::vector<Opt> kStagedTile{{OptOp::UNROLL, 0, {8}},
                                   {OptOp::UPCAST, 1, {4}},
                                   {OptOp::LOCAL, 0, {8}},
                                   {OptOp::LOCAL, 1, {8}},
                                   {OptOp::UPCAST, 0, {2}}};

/// Requests for shared memory take as many passes over its banks as if their words lay in different ones.
void checkBanks(const LoweredKernel& k, const Target& target) {
  const std::string report = reportOf(k, target);
  CAPTURE(report);
  auto [passes, least] = passesIn(report);
  CHECK(least > 0);
  CHECK(passes == least);
}

} // namespace

TEST_CASE("operands that a group shares are read from shared memory, whatever way they lie") {
  Pool pool;
  PoolScope scope(pool);
  Target target = makeGpuRenderer("CUDA")->target();
  for (bool a : {false, true})
    for (bool b : {false, true}) {
      CAPTURE(a);
      CAPTURE(b);
      LoweredKernel k =
          checkKernel(withOpts(product(16, 32, 24, a, b, dtypes::float32), kStagedTile), target, 3, {}, 1e-5);
      // Two halves with 8 terms of 16 rows and of 32 columns; each row of terms is 4 elements longer.
      CHECK(sharedOf(k) == 2 * 8 * (16 + 4) + 2 * 8 * (32 + 4));
      CHECK(barriersOf(k) == 1);
    }
}

TEST_CASE("nothing is staged that few threads read, that is gated, or that does not fit") {
  Pool pool;
  PoolScope scope(pool);
  Target target = makeGpuRenderer("CUDA")->target();
  auto staged = [&](UOp ast, std::vector<Opt> opts) {
    return sharedOf(checkKernel(withOpts(ast, std::move(opts)), target, 5, {}, 1e-5)) > 0;
  };
  UOp plain = product(16, 32, 24, false, false, dtypes::float32);
  CHECK(staged(plain, kStagedTile));
  CHECK_FALSE(staged(
      plain,
      {{OptOp::UNROLL, 0, {8}}, {OptOp::UPCAST, 1, {4}}, {OptOp::LOCAL, 0, {4}}, {OptOp::LOCAL, 1, {4}}}));
  CHECK_FALSE(staged(
      plain, {{OptOp::UPCAST, 1, {4}}, {OptOp::LOCAL, 0, {8}}, {OptOp::LOCAL, 1, {8}}})); // no terms at once
  CHECK_FALSE(staged(product(16, 32, 8, false, false, dtypes::float32), kStagedTile));    // a single step
  CHECK_FALSE(staged(product(20, 32, 24, false, false, dtypes::float32), {{OptOp::PADTO, 0, {32}},
                                                                          {OptOp::UNROLL, 0, {8}},
                                                                          {OptOp::UPCAST, 1, {4}},
                                                                          {OptOp::LOCAL, 0, {8}},
                                                                          {OptOp::LOCAL, 1, {8}}}));
  target.sharedMax = 2048;
  CHECK_FALSE(staged(plain, kStagedTile));
}

TEST_CASE("warps share operands of tensor cores without conflicts of banks, while the next step is copied") {
  Pool pool;
  PoolScope scope(pool);
  Target target = makeGpuRenderer("CUDA")->target();
  for (bool isAsyncHere : {true, false})
    for (bool a : {false, true})
      for (bool b : {false, true}) {
        CAPTURE(isAsyncHere);
        CAPTURE(a);
        CAPTURE(b);
        if (!isAsyncHere && a != b) continue; // the layouts do not depend on it
        target.copiesAsync = isAsyncHere;
        LoweredKernel k =
            checkKernel(withOpts(product(64, 64, 64, a, b, dtypes::float16), kCores), target, 7);
        // Two halves with 32 terms of 32 rows and of 64 columns, without padding.
        CHECK(sharedOf(k) == 2 * 32 * 32 + 2 * 32 * 64);
        CHECK(barriersOf(k) == 1);
        // Four threads copy 16 bytes each: once from the left, twice from the right operand, before the loop
        // and in it.
        CHECK(asyncOf(k) == (isAsyncHere ? 2 * 3 : 0));
        checkBanks(k, target);
      }
}

TEST_CASE("every language's warps share operands, whatever the layout of its tensor core") {
  Pool pool;
  PoolScope scope(pool);
  for (const GpuLanguage& language : gpuLanguages()) {
    const Target target = language.target();
    if (target.tensorCores.empty()) continue;
    CAPTURE(std::string(language.name));
    LoweredKernel k =
        checkKernel(withOpts(product(64, 128, 64, false, true, dtypes::float16), kCores), target, 9);
    CHECK(sharedOf(k) > 0);
    CHECK((asyncOf(k) > 0) == target.copiesAsync);
  }
}

TEST_CASE("as many stages take turns as pay, and every number of them keeps the values") {
  // 128 by 256 results, 32 terms: 24 KiB arrive in 768 cycles.
  const StagedStep step{.products = 128 * 256 * 32, .bytes = 24576};
  CHECK(cyclesOfStep(step, 1024, 2) == 768 + 480 + 40);
  CHECK(cyclesOfStep(step, 1024, 3) == 1024 + 40);
  const Stages chosen = stagesOf(step, 1024, 98304, 128);
  CHECK(chosen.count == 3);
  CHECK(chosen.cycles == 1064);
  REQUIRE(chosen.others.size() == 2);
  CHECK(chosen.others[0].what == "4 stages");
  CHECK(chosen.others[1].price == 1288);
  CHECK(stagesOf(step, 1024, 49152, 128).count == 2); // no more fit
  CHECK(stagesOf(step, 1024, 49151, 128).count == 0);
  CHECK(stagesOf(step, 512, 98304, 128).count == 2); // the products take as long as the copy

  Pool pool;
  PoolScope scope(pool);
  Target target = makeGpuRenderer("CUDA")->target();
  const UOp ast = withOpts(product(64, 64, 256, true, false, dtypes::float16), kCores);
  const int64_t stage = 32 * 32 + 32 * 64;
  std::set<int64_t> seen;
  for (int64_t shared = 2; shared <= 5; ++shared)
    for (int64_t rate : {64, 8192}) {
      CAPTURE(shared);
      CAPTURE(rate);
      target.sharedMax = shared * stage * 2 * 4; // four groups share a processor
      target.tensorCores[0].rate = rate;
      LoweredKernel k = lowerKernel(ast, target);
      CHECK(sharedOf(k) % stage == 0);
      CHECK(sharedOf(k) / stage <= shared);
      if (!seen.insert(sharedOf(k) / stage).second) continue;
      checkKernel(ast, target, 11);
      checkBanks(k, target);
    }
  CHECK(seen == std::set<int64_t>{2, 3});
}

TEST_CASE("a kernel asks for shared memory beyond 48 KiB at its launch") {
  Pool pool;
  PoolScope scope(pool);
  auto cuda = makeGpuRenderer("CUDA");
  // 128 by 256 results, 64 terms a step.
  LoweredKernel k =
      lowerKernel(withOpts(product(128, 256, 256, false, true, dtypes::float16), {{OptOp::UPCAST, 1, {4}},
                                                                                  {OptOp::UNROLL, 0, {4}},
                                                                                  {OptOp::TC, 0, {-1, 2, 1}},
                                                                                  {OptOp::UPCAST, 0, {4}},
                                                                                  {OptOp::LOCAL, 0, {2}},
                                                                                  {OptOp::LOCAL, 0, {8}}}),
                  cuda->target());
  CHECK(sharedOf(k) * 2 == 2 * 49152);
  const cuda::SharedMemory shared(k);
  CHECK(shared.dynamic() == 2 * 49152);
  CHECK(shared.places() == std::vector<int64_t>{0, 2 * 128 * 64 * 2});
  std::string text = cuda->render(k);
  CAPTURE(text);
  CHECK(text.find("extern __shared__ __align__(1024) unsigned char shared_memory[];") != std::string::npos);
  CHECK(text.find("half* temp1 = (half*)(shared_memory + 32768); // 32768 elements") != std::string::npos);
  LoweredKernel small =
      lowerKernel(withOpts(product(64, 64, 64, false, false, dtypes::float16), kCores), cuda->target());
  CHECK(cuda::SharedMemory(small).dynamic() == 0);
  CHECK(cuda->render(small).find("shared_memory") == std::string::npos);
  // LLVM's PTX declares its memories: nothing larger is asked of it.
  CHECK(NvptxRenderer(cuda->target()).target().sharedMax == cuda::kStaticShared);
}

TEST_CASE("the limits of an architecture of NVIDIA are those of its name") {
  CHECK(cuda::sharedMaxOf("sm_80") == 163 * 1024);
  CHECK(cuda::sharedMaxOf("sm_86") == 99 * 1024);
  CHECK(cuda::sharedMaxOf("sm_90a") == 227 * 1024);
  CHECK(cuda::sharedMaxOf("") == 163 * 1024);
  CHECK(cuda::sharedMaxOf("sm_60") == cuda::kStaticShared);
  CHECK(cuda::withOwnInstructions("sm_90") == "sm_90a");
  CHECK(cuda::withOwnInstructions("sm_86") == "sm_86");
  const Target turing = cudaLanguage("sm_75").target();
  CHECK(turing.tensorCores.empty());
  CHECK_FALSE(turing.copiesAsync);
  CHECK(cudaLanguage("sm_90").target().sharedMax == 232448);
}

TEST_CASE("the decision to stage says how often a value is used, and the bytes that it saves") {
  Pool pool;
  PoolScope scope(pool);
  struct Listener : Observer {
    void onDecision(const Decision& d) override {
      if (d.unit == "bytes a group loads for a step") decisions.push_back(d);
    }
    std::vector<Decision> decisions;
  } listener;
  {
    ObserverScope observe(&listener);
    lowerKernel(withOpts(product(64, 64, 96, false, false, dtypes::float16), kCores),
                makeGpuRenderer("CUDA")->target());
  }
  REQUIRE(listener.decisions.size() == 1);
  const Decision& d = listener.decisions[0];
  // 32 by 64 results of 32 terms use two values a product; 32 + 64 values are loaded for each term, by every
  // second warp again without staging.
  CHECK(d.reason == "each value loaded is used 43 times, from global memory 21 times; 18432 bytes of shared "
                    "memory, a barrier a step");
  CHECK(d.price == 32 * (32 + 64) * 2);
  REQUIRE(d.others.size() == 1);
  CHECK(d.others[0].price == 2 * 32 * (32 + 64) * 2);
}

TEST_CASE("the groups of a large product, 128 by 256 results, have no conflicts of banks either") {
  Pool pool;
  PoolScope scope(pool);
  Target target = makeGpuRenderer("CUDA")->target();
  for (bool a : {false, true}) {
    CAPTURE(a);
    // The Opts that are chosen for 4,096 by 4,096.
    std::vector<Opt> opts{{OptOp::UPCAST, 1, {8}}, {OptOp::UNROLL, 0, {2}}, {OptOp::TC, 0, {-1, 2, 1}}};
    opts.insert(a ? opts.begin() + 1 : opts.end(), Opt{OptOp::UPCAST, 0, {4}});
    opts.insert(opts.end(), {{OptOp::LOCAL, 0, {2}}, {OptOp::LOCAL, 1, {4}}});
    LoweredKernel k = lowerKernel(withOpts(product(256, 256, 64, a, false, dtypes::float16), opts), target);
    CHECK(sharedOf(k) * 2 == 49152);
    checkBanks(k, target);
  }
}

TEST_CASE("an asynchronous copy is text of CUDA, and a plain copy elsewhere") {
  Pool pool;
  PoolScope scope(pool);
  auto cuda = makeGpuRenderer("CUDA");
  UOp ast = withOpts(product(64, 64, 128, false, false, dtypes::float16), kCores);
  LoweredKernel k = lowerKernel(ast, cuda->target());
  auto count = [](const std::string& text, const char* what) {
    size_t n = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
    return n;
  };
  std::string text = cuda->render(k);
  CAPTURE(text);
  // Three stages: the copies of two steps before the loop, and of one step in it.
  CHECK(count(text, "copy_async<16>(") == 9);
  CHECK(count(text, "cp.async.commit_group") == 3);
  CHECK(count(text, "cp.async.wait_group 1") == 1);
  std::string metal =
      makeGpuRenderer("METAL")->render(k); // the same program, by a language without such copies
  CHECK(count(metal, "threadgroup_barrier") == 1);
  CHECK(count(metal, "copy_async") == 0);
}
