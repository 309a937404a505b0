// Products of cores that read shared memory themselves (wgmma): every way that operands lie, types, widths and steps keep the
// values; kernels that are broken on purpose are found.
#include "engine/codegen/async_boxes.h"
#include "engine/codegen/async_copy.h"
#include "engine/codegen/async_products.h"
#include "engine/codegen/shared_operand.h"
#include "engine/render/cuda_architecture.h"
#include "engine/render/gpu_text.h"
#include "engine/runtime/cuda_boxes.h"
#include "tests/engine/codegen/kernels.h"
#include "tests/engine/codegen/oracle.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <random>
#include <set>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

/// sm_90a, whose threads or whose memory engine copies operands.
const Target& hopper(bool byEngine = false) {
  static const std::array<Target, 2> targets = [] {
    std::array<Target, 2> both{cudaLanguage("sm_90a").target(), cudaLanguage("sm_90a").target()};
    both[0].copiesBoxes = false;
    return both;
  }();
  return targets.at(byEngine ? 1 : 0);
}
/// The number of the core of this width for a type.
int64_t coreOf(int64_t columns, DType type) {
  const auto& cores = hopper().tensorCores;
  for (size_t i = 0; i < cores.size(); ++i)
    if (readsShared(cores[i]) && columnsOf(cores[i]) == columns && cores[i].in == type)
      return static_cast<int64_t>(i);
  FAIL("no such core");
  return -1;
}
std::vector<Opt> optsFor(int64_t core, std::vector<Opt> more) {
  std::vector<Opt> opts{{OptOp::TC, 0, {core, 0, 1}}, {OptOp::UNROLL, 0, {4}}};
  opts.insert(opts.end(), more.begin(), more.end());
  return opts;
}
/// Runs a kernel of `product` on random numbers with few bits, whose sums are exact; the message of what is found, or of a wrong
/// value.
std::string failureOf(const LoweredKernel& k, int64_t n, int64_t m, int64_t terms, bool aTransposed,
                      bool bTransposed, DType type = dtypes::float16) {
  std::mt19937 random(7);
  auto numbers = [&](int64_t size) {
    std::vector<double> v(static_cast<size_t>(size));
    for (double& x : v) x = static_cast<double>(random() % 17) / 4 - 2;
    return v;
  };
  auto stored = [&](const std::vector<double>& v) {
    std::vector<uint16_t> bits;
    for (double x : v) bits.push_back(type == dtypes::float16 ? dtypes::toHalf(x) : dtypes::toBFloat16(x));
    return bits;
  };
  const std::vector<double> a = numbers(n * terms), b = numbers(terms * m);
  std::vector<uint16_t> left = stored(a), right = stored(b);
  std::vector<float> out(static_cast<size_t>(n * m));
  void* buffers[] = {out.data(), left.data(), right.data()};
  std::vector<int64_t> groups, threads;
  for (const Sint& s : k.globalSize) groups.push_back(s.i());
  for (const Sint& s : k.localSize) threads.push_back(s.i());
  try {
    RefProgram(k, RefGpu{{}, hopper().tensorCores}).launch(buffers, {}, groups, threads, true);
  } catch (const Error& e) {
    return e.what();
  }
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < m; ++j) {
      double sum = 0;
      for (int64_t t = 0; t < terms; ++t)
        sum += a[static_cast<size_t>(aTransposed ? t * n + i : i * terms + t)] *
               b[static_cast<size_t>(bTransposed ? j * terms + t : t * m + j)];
      if (out[static_cast<size_t>(i * m + j)] != static_cast<float>(sum))
        return fmt::format("({}, {}) is {}, not {}", i, j, out[static_cast<size_t>(i * m + j)], sum);
    }
  return {};
}
int64_t countWhere(const LoweredKernel& k, const std::function<bool(UOp)>& f) {
  return std::count_if(k.uops.begin(), k.uops.end(), f);
}

} // namespace

TEST_CASE("a core reads operands from shared memory, whatever way they lie") {
  Pool pool;
  PoolScope scope(pool);
  for (bool byEngine : {false, true})
    for (bool a : {false, true})
      for (bool b : {false, true}) {
        CAPTURE(byEngine);
        CAPTURE(a);
        CAPTURE(b);
        LoweredKernel k =
            lowerKernel(withOpts(product(128, 64, 256, a, b, dtypes::float16),
                                 optsFor(coreOf(64, dtypes::float16), {{OptOp::LOCAL, 0, {2}}})),
                        hopper(byEngine));
        CHECK(failureOf(k, 128, 64, 256, a, b) == "");
        CHECK(countWhere(k, [](UOp u) { return u.is(Op::WMMA); }) == 4);
        CHECK(countWhere(k, beginsProducts) == 1);
        CHECK(countWhere(k, [](UOp u) { return productsLeft(u).has_value(); }) == 1);
        CHECK(countWhere(k, waitsForAllProducts) == 1);
        CHECK(countWhere(k, showsToUnits) == (byEngine ? 0 : 1));
        CHECK(countWhere(k, waitsForBoxes) == (byEngine ? 1 : 0));
        // Two steps ahead and one in the loop; 128 rows that lie side by side are two boxes of 64.
        CHECK(countWhere(k, isBox) == (byEngine ? 3 * (a ? 3 : 2) : 0));
        CHECK(k.ins == std::vector<int>{1, 2});
      }
}

TEST_CASE("the kernel as it is written gives the same values as on such a core") {
  Pool pool;
  PoolScope scope(pool);
  for (bool byEngine : {false, true})
    checkKernel(withOpts(product(64, 64, 192, true, false, dtypes::float16),
                         optsFor(coreOf(64, dtypes::float16), {})),
                hopper(byEngine), 3);
}

TEST_CASE(
    "every width and type of such a core, more rows and columns of a group, and more steps keep the values") {
  Pool pool;
  PoolScope scope(pool);
  struct Case {
    int64_t rows, columns, terms, width;
    DType type;
    bool a, b;
    std::vector<Opt> more;
  };
  const std::vector<Case> cases{
      {64, 128, 192, 128, dtypes::float16, false, false, {}},
      {64, 256, 256, 256, dtypes::bfloat16, true, false, {}},
      {64, 256, 192, 256, dtypes::float16, false, true, {}},
      {128, 64, 448, 64, dtypes::bfloat16, true, true, {{OptOp::LOCAL, 0, {2}}}},
      // A warp's rows beside each other in its registers, and groups beside each other.
      {128, 128, 192, 64, dtypes::float16, false, false, {{OptOp::UPCAST, 0, {2}}}},
      {256, 64, 192, 64, dtypes::float16, true, false, {{OptOp::UPCAST, 0, {2}}, {OptOp::LOCAL, 0, {2}}}},
      // Two warps share the rows of the left operand; two tiles of columns in a thread's registers.
      {64, 128, 192, 64, dtypes::float16, false, false, {{OptOp::LOCAL, 0, {2}}}},
      {64, 512, 192, 128, dtypes::float16, true, true, {{OptOp::UPCAST, 0, {2}}}},
      {64, 64, 128, 64, dtypes::float16, false, false, {}}, // fewer steps than stages
      // A step of 128 terms is two rows of 128 bytes.
      {64, 64, 384, 64, dtypes::float16, false, true, {{OptOp::UNROLL, 0, {2}}}}};
  for (const Case& c : cases)
    for (bool byEngine : {false, true}) {
      const std::string size = fmt::format("{} by {} by {}, core of {}", c.rows, c.columns, c.terms, c.width);
      CAPTURE(size);
      CAPTURE(byEngine);
      LoweredKernel k = lowerKernel(withOpts(product(c.rows, c.columns, c.terms, c.a, c.b, c.type),
                                             optsFor(coreOf(c.width, c.type), c.more)),
                                    hopper(byEngine));
      CHECK(failureOf(k, c.rows, c.columns, c.terms, c.a, c.b, c.type) == "");
      CHECK((countWhere(k, isBox) > 0) == byEngine);
    }
}

TEST_CASE("results that pass operations with branches wait for all products of a step") {
  Pool pool;
  PoolScope scope(pool);
  UOp i = UOp::range(64, 0), j = UOp::range(64, 1), t = UOp::range(192, 2, AxisType::Reduce);
  UOp a = read(memory(1, 64 * 192, dtypes::float16), i * 192 + t),
      b = read(memory(2, 64 * 192, dtypes::float16), t * 64 + j);
  UOp sum = (a * b).cast(dtypes::float32).reduce(Op::ADD, std::vector<UOp>{t});
  for (bool byEngine : {false, true})
    for (bool branches : {false, true}) {
      CAPTURE(byEngine);
      UOp result = branches ? sum.alu(Op::SQRT) : sum + 1.0;
      UOp ast = kernel({memory(0, 64 * 64).indexed({i * 64 + j}).store(result).end({i, j})});
      LoweredKernel k =
          checkKernel(withOpts(ast, optsFor(coreOf(64, dtypes::float16), {})), hopper(byEngine), 9);
      CHECK(countWhere(k, [](UOp u) { return productsLeft(u) == 0; }) == (branches ? 1 : 0));
      CHECK(countWhere(k, [](UOp u) { return productsLeft(u) == 1; }) == (branches ? 0 : 1));
    }
}

TEST_CASE("kernels that hand over, show or wait too little are found") {
  Pool pool;
  PoolScope scope(pool);
  const UOp ast = withOpts(product(128, 64, 384, false, false, dtypes::float16),
                           optsFor(coreOf(64, dtypes::float16), {{OptOp::LOCAL, 0, {2}}}));
  struct Broken {
    const char *what, *says;
    std::function<UOp(UOp)> change; ///< a null node is left out
    bool byEngine = false;
  };
  auto isPlain = [](UOp u) { return u.is(Op::BARRIER) && !u.arg(); };
  const std::vector<Broken> all{
      {"registers are not handed over",
       "not handed over: ", [](UOp u) { return beginsProducts(u) ? UOp() : u; }},
      {"copies are not shown", "not shown: a product of thread (0,0,0) of group (0,0,0) reads local memory",
       [](UOp u) { return showsToUnits(u) ? barrierForCopies({}, *copiesLeft(u)) : u; }},
      {"one copy too many is left under way", "copy under way: ",
       [](UOp u) { return showsToUnits(u) ? barrierForCopies({}, *copiesLeft(u) + 1, true) : u; }},
      {"one product too many is left under way", "product under way: ",
       [](UOp u) { return productsLeft(u) ? waitForProducts({}, *productsLeft(u) + 1) : u; }},
      {"sums are read before the last products are there", "to which a product may still add",
       [](UOp u) { return waitsForAllProducts(u) ? UOp() : u; }},
      {"products are never waited for",
       "product under way: ", [](UOp u) { return productsLeft(u) || waitsForAllProducts(u) ? UOp() : u; }},
      {"threads neither wait nor meet", "never written: ", [](UOp u) { return showsToUnits(u) ? UOp() : u; }},
  };
  for (const Broken& b : all) {
    const std::string what = b.what;
    CAPTURE(what);
    LoweredKernel k = lowerKernel(ast, hopper(b.byEngine));
    PoolScope inner(*k.pool);
    std::vector<UOp> changed;
    for (UOp u : k.uops)
      if (UOp now = b.change(u)) changed.push_back(now);
    CHECK(changed != k.uops);
    k.uops = changed;
    const std::string found = failureOf(k, 128, 64, 384, false, false);
    CAPTURE(found);
    CHECK(found.find(b.says) != std::string::npos);
  }
}

TEST_CASE("a descriptor leads to the elements that NVIDIA's layouts name") {
  // Rows of terms: line 9 is the second row of the second atom; its columns are exchanged by 1.
  const uint64_t terms = 0x2000 / 16 + descriptorFields(0, 1024);
  CHECK(addressIn(terms, true, 0, 0, 2) == 0x2000);
  CHECK(addressIn(terms, true, 9, 0, 2) == 0x2000 + 1024 + 128 + 16);
  CHECK(addressIn(terms, true, 9, 12, 2) == 0x2000 + 1024 + 128 + 8);
  CHECK(addressIn(terms + 32 / 16, true, 7, 0, 2) == 0x2000 + 7 * 128 + (2 ^ 7) * 16); // the second 16 terms
  // Rows of 64 lines: eight terms are an atom.
  const uint64_t lines = descriptorFields(8192, 1024);
  CHECK(addressIn(lines, false, 3, 0, 2) == 6);
  CHECK(addressIn(lines, false, 70, 0, 2) == 8192 + 12);
  CHECK(addressIn(lines, false, 8, 11, 2) == 1024 + 3 * 128 + (1 ^ 3) * 16);
  CHECK(hasRowsOf128(lines));
  CHECK_FALSE(hasRowsOf128(lines ^ uint64_t{3} << 62));
  // No two elements of an operand share a place.
  for (bool side : {false, true}) {
    std::set<int64_t> places;
    for (int64_t line = 0; line < 256; ++line)
      for (int64_t term = 0; term < 16; ++term)
        places.insert(addressIn(side ? terms : lines, side, line, term, 2));
    CHECK(places.size() == 256 * 16);
  }
}

TEST_CASE("a core that reads shared memory refuses what it cannot read there") {
  Pool pool;
  PoolScope scope(pool);
  auto why = [&](UOp ast, std::vector<Opt> opts) -> std::string {
    try {
      lowerKernel(withOpts(ast, std::move(opts)), hopper());
    } catch (const Error& e) {
      return e.what();
    }
    return {};
  };
  const int64_t core = coreOf(64, dtypes::float16);
  CHECK(why(product(64, 64, 192, false, false, dtypes::float16), optsFor(core, {})) == "");
  CHECK(why(product(64, 64, 192, false, false, dtypes::float16), {{OptOp::TC, 0, {core, 0, 1}}})
            .find("a step has no tile of 64 elements side by side") != std::string::npos);
  CHECK(why(product(64, 64, 64, false, false, dtypes::float16), optsFor(core, {}))
            .find("the sum is no loop over steps") != std::string::npos);
  UOp i = UOp::range(64, 0), j = UOp::range(64, 1), t = UOp::range(192, 2, AxisType::Reduce);
  UOp a = read(memory(1, 64 * 192, dtypes::float16), i * 192 + t),
      b = read(memory(2, 64 * 192, dtypes::float16), t * 64 + j);
  Target small = hopper();
  small.sharedMax = 49152 - 1;
  CHECK_THROWS_WITH_AS(
      lowerKernel(withOpts(product(64, 64, 192, false, false, dtypes::float16), optsFor(core, {})), small),
      doctest::Contains("the stages of a step do not fit"), Error);
  UOp doubled = kernel({memory(0, 64 * 64)
                            .indexed({i * 64 + j})
                            .store(((a + a) * b).cast(dtypes::float32).reduce(Op::ADD, std::vector<UOp>{t}))
                            .end({i, j})});
  CHECK(why(doubled, optsFor(core, {})).find("reads operands as they lie in memory") != std::string::npos);
}

TEST_CASE(
    "the core of a large product is chosen by the cycles of its launch, and each Opt may choose another") {
  Pool pool;
  PoolScope scope(pool);
  struct Listener : Observer {
    void onDecision(const Decision& d) override {
      if (d.unit == "cycles" || d.unit == "cycles a step") decisions.push_back(d);
    }
    std::vector<Decision> decisions;
  } listener;
  LoweredKernel k;
  {
    ObserverScope observe(&listener);
    k = lowerKernel(product(4096, 4096, 4096, false, false, dtypes::float16), hopper());
  }
  CHECK(k.appliedOpts == optsFor(coreOf(256, dtypes::float16), {{OptOp::LOCAL, 0, {2}}}));
  REQUIRE(listener.decisions.size() == 2);
  const Decision &core = listener.decisions[0], &stages = listener.decisions[1];
  // 512 groups on 132 processors, 64 steps; 48 KiB of a step arrive in 1,536 cycles.
  CHECK(core.reason ==
        "TC axis 0: wgmma_64_256_16_half for 128 rows: 512 groups of 128 by 256 results in 4 runs");
  CHECK(core.price == 4 * 64 * (1536 + 40));
  CHECK(std::any_of(core.others.begin(), core.others.end(), [](const auto& o) {
    return o.what == "mma_16_8_16_half" && o.price > 4 * 64 * (1536 + 40);
  }));
  CHECK(stages.reason ==
        "the copies of 2 steps are under way while a step is computed; 4 stages of 49152 bytes "
        "take turns");
  CHECK(stages.others[0].price == 1536 + 480 + 40);

  LoweredKernel other = lowerKernel(
      withOpts(product(256, 256, 256, false, false, dtypes::float16), {{OptOp::TC, 0, {0, 0, 1}}}), hopper());
  CHECK(countWhere(other, [](UOp u) {
          return u.is(Op::WMMA) && u.arg().as<WmmaArg>().name == "mma_16_8_16_half";
        }) > 0);
  CHECK(countWhere(lowerKernel(product(4096, 4096, 4096, false, false, dtypes::float16),
                               cudaLanguage("sm_90").target()),
                   [](UOp u) { return u.is(Op::WMMA) && u.arg().as<WmmaArg>().name == "mma_16_8_16_half"; }) >
        0);
}

TEST_CASE("the memory engine is told of matrices and of the boxes of a step") {
  Pool pool;
  PoolScope scope(pool);
  struct Listener : Observer {
    void onDecision(const Decision& d) override {
      if (d.unit == "copies that a group begins for a step") decisions.push_back(d);
    }
    std::vector<Decision> decisions;
  } listener;
  LoweredKernel k;
  {
    ObserverScope observe(&listener);
    k = lowerKernel(product(4096, 2048, 4096, false, false, dtypes::float16), hopper(true));
  }
  // 128 rows of 64 terms; 64 terms of 256 columns are four boxes of 64.
  const std::vector<cuda::BoxMap> maps = cuda::boxMapsOf(k);
  REQUIRE(maps.size() == 2);
  const cuda::TiledMap left = cuda::tiledMapOf(maps[0].position == 1 ? maps[0] : maps[1]),
                       right = cuda::tiledMapOf(maps[0].position == 1 ? maps[1] : maps[0]);
  CHECK(left.sizes == std::array<uint64_t, 2>{4096, 4096});
  CHECK(left.distances == std::array<uint64_t, 1>{8192});
  CHECK(left.box == std::array<uint32_t, 2>{64, 128});
  CHECK(left.type == 6); // CU_TENSOR_MAP_DATA_TYPE_FLOAT16
  CHECK(right.sizes == std::array<uint64_t, 2>{2048, 4096});
  CHECK(right.box[0] == 64);
  CHECK(right.box[1] == 64);
  CHECK_THROWS_AS(cuda::tiledMapOf({.element = dtypes::float32}), Error);
  REQUIRE(listener.decisions.size() == 1);
  CHECK(*listener.decisions[0].price < listener.decisions[0].others.at(0).price);

  const std::string text = makeGpuRenderer(cudaLanguage("sm_90a"), hopper(true))->render(k);
  CAPTURE(text);
  for (const char* part : {"const __grid_constant__ TensorMap map1)", "prepare_boxes(temp0", "copy_box(temp1",
                           "wait_for_boxes(temp0", "cp.async.bulk.tensor.2d.shared::cluster.global"})
    CHECK_MESSAGE(text.find(part) != std::string::npos, part);
  CHECK(text.find("cp.async.cg") == std::string::npos);
  // Lines that a row of the matrix does not hold are copied by threads.
  UOp i = UOp::range(64, 0), j = UOp::range(64, 1), t = UOp::range(192, 2, AxisType::Reduce);
  UOp windows = read(memory(1, 64 * 72 + 192, dtypes::float16), i * 72 + t),
      b = read(memory(2, 64 * 192, dtypes::float16), t * 64 + j);
  UOp overlapping =
      kernel({memory(0, 64 * 64)
                  .indexed({i * 64 + j})
                  .store((windows * b).cast(dtypes::float32).reduce(Op::ADD, std::vector<UOp>{t}))
                  .end({i, j})});
  LoweredKernel plain =
      checkKernel(withOpts(overlapping, optsFor(coreOf(64, dtypes::float16), {})), hopper(true), 5);
  CHECK(countWhere(plain, isBox) == 0);
}

TEST_CASE("the text of such a product begins, closes and waits") {
  Pool pool;
  PoolScope scope(pool);
  LoweredKernel k = lowerKernel(withOpts(product(128, 64, 256, false, true, dtypes::float16),
                                         optsFor(coreOf(64, dtypes::float16), {{OptOp::LOCAL, 0, {2}}})),
                                hopper());
  const std::string text = makeGpuRenderer(cudaLanguage("sm_90a"), hopper())->render(k);
  CAPTURE(text);
  for (const char* part :
       {"wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16", "%32, %33, 1, 1, 1, 0, 0;",
        "wgmma.fence.sync.aligned", "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 1;",
        "fence.proxy.async.shared::cta", "__cvta_generic_to_shared(temp0)"})
    CHECK_MESSAGE(text.find(part) != std::string::npos, part);
}
