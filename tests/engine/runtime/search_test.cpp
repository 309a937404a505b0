// BEAM: a found kernel computes the same values, the observer gets the candidates, results are kept.
#include "engine/base/context_var.h"
#include "engine/runtime/disk_cache.h"
#include "engine/runtime/kernel_cache.h"
#include "engine/runtime/search.h"
#include "engine/tensor/tensor.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

using namespace uopscope;

namespace {

struct ToldCandidates : Observer {
  bool wantsRewrites() const override { return false; }
  void onCandidate(const Candidate& c) override {
    ++candidates;
    timed += c.durationNs > 0;
    CHECK(std::string(c.opts).starts_with('['));
    if (c.durationNs < 0) CHECK(!c.message.empty());
  }
  int candidates = 0, timed = 0;
};

/// A temporary directory for the cache on disk.
struct CacheDirectory {
  CacheDirectory() {
    const char* before = std::getenv("XDG_CACHE_HOME");
    if (before) before_ = before;
    path = std::filesystem::temp_directory_path() / ("uopscope-search-" + std::to_string(getpid()));
    setenv("XDG_CACHE_HOME", path.c_str(), 1);
    DiskCache::closeAll();
  }
  CacheDirectory(const CacheDirectory&) = delete;
  CacheDirectory& operator=(const CacheDirectory&) = delete;
  ~CacheDirectory() {
    if (before_.empty())
      unsetenv("XDG_CACHE_HOME");
    else
      setenv("XDG_CACHE_HOME", before_.c_str(), 1);
    DiskCache::closeAll();
    std::filesystem::remove_all(path);
  }
  std::filesystem::path path;
  std::string before_;
};

/// Whole numbers, so that sums do not depend on their order.
Tensor filledTensor(Ints shape, const char* device) {
  std::vector<float> values(static_cast<size_t>(shape[0] * shape[1]));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7);
  TensorOptions o;
  o.device = device;
  return Tensor::from(values, shape, o);
}

} // namespace

TEST_CASE("what a search finds computes what the interpreter computes") {
  CacheDirectory directory;
  std::vector<float> expected =
      filledTensor({6, 12}, "REF").matmul(filledTensor({12, 24}, "REF")).values<float>();
  ToldCandidates told;
  {
    ContextScope settings({{"BEAM", 1}, {"CCACHE", 1}});
    clearKernelCache();
    Tensor a = filledTensor({6, 12}, "CPU").realize(), b = filledTensor({12, 24}, "CPU").realize();
    ObserverScope watch(&told);
    CHECK(a.matmul(b).values<float>() == expected);
    CHECK(told.candidates >= 2); // the number depends on which are fast
    CHECK(told.timed >= 2);

    // The second time the kept result is used: nothing is tried.
    int before = told.candidates;
    clearKernelCache();
    CHECK(a.matmul(b).values<float>() == expected);
    CHECK(told.candidates == before);

    ContextScope afresh({{"IGNORE_BEAM_CACHE", 1}});
    clearKernelCache();
    CHECK(a.matmul(b).values<float>() == expected);
    CHECK(told.candidates > before);
  }
  clearKernelCache();
}

TEST_CASE("a search refuses large kernels before they are compiled, but not the two that it begins with") {
  CacheDirectory directory;
  ToldCandidates told;
  {
    ContextScope settings({{"BEAM", 1}, {"BEAM_UOPS_MAX", 1}});
    clearKernelCache();
    Tensor a = filledTensor({6, 12}, "CPU").realize(), b = filledTensor({12, 24}, "CPU").realize();
    const std::vector<float> expected =
        filledTensor({6, 12}, "REF").matmul(filledTensor({12, 24}, "REF")).values<float>();
    ObserverScope watch(&told);
    CHECK(a.matmul(b).values<float>() == expected);
  }
  CHECK(told.timed >= 1);
  CHECK(told.timed <= 2);
  CHECK(told.candidates > told.timed);
  clearKernelCache();
}

TEST_CASE("what a search found is a step of the kernel") {
  CacheDirectory directory;
  clearKernelCache();
  {
    ContextScope settings({{"BEAM", 1}});
    CHECK(filledTensor({3, 12}, "CPU").realize().add(1.0).values<float>()[0] == 1.0f);
  }
  clearKernelCache();
}

TEST_CASE("kernels with optimisations of their own and devices without a clock are not searched") {
  Pool pool;
  PoolScope nodes(pool);
  ContextScope settings({{"BEAM", 1}});
  UOp i = UOp::range(8, 0),
      out = UOp::make(Op::DEFINE_GLOBAL, dtypes::float32.ptr(8), {}, Arg::of(int64_t{0}));
  UOp one = UOp::constant(dtypes::float32, 1.0);
  UOp ast = UOp::sink(std::vector<UOp>{out.indexed({i}).store(one).end({i})}, Arg::of(KernelInfo{}));
  CHECK(wantsSearch(ast, Device::get("CPU")));
  CHECK_FALSE(wantsSearch(ast, Device::get("REF")));
  CHECK_FALSE(wantsSearch(ast, Device::get("NULL")));
  CHECK_FALSE(wantsSearch(withOpts(ast, {}), Device::get("CPU")));
}
