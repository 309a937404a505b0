// Devices: names, programs, threads, errors; buffers and the memory under them.
#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/runtime/allocator.h"
#include "engine/runtime/buffer.h"
#include "engine/runtime/counters.h"
#include "engine/runtime/device.h"
#include "engine/runtime/kernel_report.h"
#include "engine/runtime/thread_pool.h"
#include "tests/engine/expected_error.h"
#include "tests/engine/render/linear_program.h"

#include <doctest/doctest.h>
#ifdef __linux__
#include <sched.h>
#endif

#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

using namespace uopscope;
using namespace uopscope::test;

namespace {

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

/// out[i] = in[i + shift]
LoweredKernel shifted(int64_t size, int64_t shift, bool gatedStore = false) {
  LinearProgram p("shifted");
  UOp out = p.global(0, dtypes::int32, size), in = p.global(1, dtypes::int32, size), i = p.range(size, 0);
  UOp v = p.load(in, p.add(Op::ADD, dtypes::int32, {i, p.i32(shift)}));
  if (gatedStore) {
    UOp gate = p.add(Op::CMPLT, dtypes::bool_, {v, p.i32(3)});
    p.add(Op::STORE, dtypes::void_, {p.index(out, i, gate), v});
  } else {
    p.store(out, i, v);
  }
  p.end(i);
  return p.finish();
}

double compileAndLaunch(Device& d, const LoweredKernel& k, std::vector<void*> memory,
                        std::vector<int64_t> vars = {}, std::vector<int64_t> global = {},
                        std::vector<int64_t> local = {}) {
  return d.compile(k, d.renderer().render(k))->launch(memory, vars, global, local, true);
}

} // namespace

TEST_CASE("names of devices") {
  CHECK(Device::canonicalize("cpu") == "CPU");
  CHECK(Device::canonicalize("CPU:0") == "CPU");
  CHECK(Device::canonicalize("gpu:1") == "GPU:1");
  CHECK(&Device::get("cpu:0") == &Device::get("CPU"));
  CHECK(&Device::get("CPU:1") != &Device::get("CPU"));
  CHECK(Device::get("CPU:1").name() == "CPU:1");
  for (const char* bad : {"TOASTER", "CPU:x", "CPU:", ""}) {
    std::string message = errorOf([&] { Device::get(bad); }, ErrorKind::Device);
    CHECK(contains(message, "CPU, NULL, REF"));
  }
  std::string before = Device::defaultName();
  Device::setDefaultName("ref");
  CHECK(Device::defaultName() == "REF");
  CHECK_THROWS_AS(Device::setDefaultName("TOASTER"), Error);
  CHECK(Device::defaultName() == "REF");
  Device::setDefaultName(before);
}

TEST_CASE("REF names the kernel, the index and the buffer of an access out of bounds") {
  std::vector<int32_t> out(8), in(8);
  std::string message =
      errorOf([&] { compileAndLaunch(Device::get("REF"), shifted(8, 1), {out.data(), in.data()}); },
              ErrorKind::Index);
  CHECK(message ==
        "kernel shifted: LOAD of 1 element at index 8 of data1_8, which has 8 elements of dtypes.int");
  CHECK_THROWS_AS(compileAndLaunch(Device::get("REF"), shifted(8, -1), {out.data(), in.data()}), Error);
}

TEST_CASE("a gated store leaves the rest alone") {
  for (const char* device : {"REF", "CPU"}) {
    std::vector<int32_t> out(8, -1), in(8);
    std::iota(in.begin(), in.end(), 0);
    compileAndLaunch(Device::get(device), shifted(8, 0, true), {out.data(), in.data()});
    CHECK(out == std::vector<int32_t>{0, 1, 2, -1, -1, -1, -1, -1});
  }
}

TEST_CASE("a kernel with core_id runs once for each thread, variables arrive by name") {
  LinearProgram p("threads");
  UOp core = p.variable("core_id", 0, 3), n = p.variable("n", 0, 1000);
  UOp out = p.global(0, dtypes::int32, 64), i = p.range(16, 0);
  UOp at = p.add(Op::ADD, dtypes::int32, {p.add(Op::MUL, dtypes::int32, {core, p.i32(16)}), i});
  p.store(out, at, p.add(Op::ADD, dtypes::int32, {n, at}));
  p.end(i);
  LoweredKernel k = p.finish();
  for (auto [device, llvm] : {std::pair{"REF", 1}, {"CPU", 1}, {"CPU", 0}}) {
    ContextScope scope({{"CPU_LLVM", llvm}});
    std::vector<int32_t> got(64), wanted(64);
    std::iota(wanted.begin(), wanted.end(), 500);
    compileAndLaunch(Device::get(device), k, {got.data()}, {0, 500}, {4, 1, 1});
    CHECK(got == wanted);
  }
}

TEST_CASE("REF runs work groups in step from barrier to barrier") {
  LinearProgram p("groups");
  UOp out = p.global(0, dtypes::int32, 12);
  UOp g = p.add(Op::SPECIAL, dtypes::int32, {p.i32(3)}, Arg::of("gidx0")),
      l = p.add(Op::SPECIAL, dtypes::int32, {p.i32(4)}, Arg::of("lidx0"));
  UOp temp = p.add(Op::DEFINE_LOCAL, dtypes::int32.ptr(4, AddrSpace::Local), {}, Arg::of(int64_t{0}));
  p.store(temp, l, p.add(Op::MUL, dtypes::int32, {l, l}));
  p.add(Op::BARRIER, dtypes::void_);
  UOp other = p.add(Op::SUB, dtypes::int32, {p.i32(3), l});
  p.store(out, p.add(Op::ADD, dtypes::int32, {p.add(Op::MUL, dtypes::int32, {g, p.i32(4)}), l}),
          p.load(temp, other));
  LoweredKernel k = p.finish();
  std::vector<int32_t> got(12);
  Device::get("REF").compile(k, "")->launch(std::vector<void*>{got.data()}, {}, std::vector<int64_t>{3},
                                            std::vector<int64_t>{4}, true);
  CHECK(got == std::vector<int32_t>{9, 4, 1, 0, 9, 4, 1, 0, 9, 4, 1, 0});
}

TEST_CASE("REF shows what nobody wrote") {
  LinearProgram p("unwritten");
  UOp out = p.global(0, dtypes::float32, 1), acc = p.reg(dtypes::float32, 1);
  p.store(out, p.i32(0), p.load(acc, p.i32(0)));
  std::vector<float> got(1);
  compileAndLaunch(Device::get("REF"), p.finish(), {got.data()});
  CHECK(got[0] != got[0]);
}

TEST_CASE("text of a user goes to clang, and what it says comes back with the source") {
  LinearProgram good("custom"), bad("broken");
  for (LinearProgram* p : {&good, &bad}) {
    UOp out = p->global(0, dtypes::int32, 1), v = p->add(Op::CUSTOMI, dtypes::int32, {p->i32(41)},
                                                         Arg::of(p == &good ? "({0} + 1)" : "nonsense({0}"));
    p->store(out, p->i32(0), v);
  }
  int32_t got = 0;
  compileAndLaunch(Device::get("CPU"), good.finish(), {&got});
  CHECK(got == 42);
  LoweredKernel k = bad.finish();
  std::string message = errorOf([&] { compileAndLaunch(Device::get("CPU"), k, {&got}); }, ErrorKind::Compile);
  CHECK(contains(message, "kernel broken: clang does not compile it"));
  CHECK(contains(message, "error:"));
  CHECK(contains(message, "data0_1[0] = nonsense(41;"));
  CHECK(contains(errorOf([&] { compileAndLaunch(Device::get("REF"), k, {&got}); }, ErrorKind::Unsupported),
                 "CUSTOMI"));
}

TEST_CASE("compiled kernels show their assembly") {
  LoweredKernel k = shifted(64, 0);
  for (int llvm : {1, 0}) {
    ContextScope scope({{"CPU_LLVM", llvm}});
    Device& d = Device::get("CPU");
    auto program = d.compile(k, d.renderer().render(k));
    CHECK(contains(program->assembly(), "shifted:"));
    CHECK(contains(program->assembly(), "\tret"));
  }
}

TEST_CASE("the NULL device compiles and runs nothing") {
  Device& d = Device::get("NULL");
  LoweredKernel k = shifted(8, 0);
  CHECK(contains(d.renderer().render(k), "void shifted("));
  CHECK(d.compile(k, "") == nullptr);
  auto b = std::make_shared<Buffer>("NULL", dtypes::float32, 4);
  float host[4] = {1, 2, 3, 4};
  b->copyIn(host);
  b->copyOut(host);
  CHECK(host[3] == 0);
}

TEST_CASE("buffers, views and foreign memory") {
  int64_t used = GlobalCounters::current().memUsed;
  {
    auto b = std::make_shared<Buffer>("CPU", dtypes::int32, 8);
    CHECK(!b->isAllocated());
    CHECK_THROWS_AS(b->copyOut(nullptr), Error);
    std::vector<int32_t> in{0, 1, 2, 3, 4, 5, 6, 7}, out(8);
    b->copyIn(in.data());
    CHECK(GlobalCounters::current().memUsed == used + 32);
    CHECK(reinterpret_cast<uintptr_t>(b->memory()) % 64 == 0);
    b->copyOut(out.data());
    CHECK(out == in);

    auto middle = Buffer::view(b, dtypes::int32, 4, 8), last = Buffer::view(middle, dtypes::int16, 2, 12);
    b.reset(); // the views keep it
    std::vector<int32_t> part(4);
    middle->copyOut(part.data());
    CHECK(part == std::vector<int32_t>{2, 3, 4, 5});
    int16_t halves[2];
    last->copyOut(halves);
    CHECK(halves[0] == 5);
    CHECK_THROWS_AS(Buffer::view(middle, dtypes::int32, 8, 0), Error);
    CHECK_THROWS_AS(Buffer::view(middle, dtypes::int32, 1, -4), Error);
    CHECK(GlobalCounters::current().memUsed == used + 32);

    auto keep = std::make_shared<std::vector<int32_t>>(std::vector<int32_t>{7, 8});
    std::weak_ptr<std::vector<int32_t>> watch = keep;
    auto foreign = Buffer::foreign("CPU", dtypes::int32, 2, keep->data(), keep);
    keep.reset();
    CHECK(!watch.expired());
    CHECK(static_cast<int32_t*>(foreign->memory())[1] == 8);
    foreign.reset();
    CHECK(watch.expired());
  }
  CHECK(GlobalCounters::current().memUsed == used);
  CHECK_THROWS_AS(Buffer("CPU", dtypes::int32, -1), Error);
  Buffer empty("CPU", dtypes::int32, 0);
  CHECK(empty.memory() != nullptr);
}

TEST_CASE("memory of a BUFFER node goes with the node") {
  int64_t used = GlobalCounters::current().memUsed;
  Pool pool;
  PoolScope scope(pool);
  UOp device = UOp::make(Op::DEVICE, dtypes::void_, {}, Arg::of("CPU"));
  auto make = [&](int64_t n) {
    return UOp::make(Op::BUFFER, dtypes::float32,
                     {UOp::make(Op::UNIQUE, dtypes::void_, {}, Arg::of(n)), device}, Arg::of(int64_t{100}));
  };
  UOpRef kept = make(1);
  UOp dropped = make(2);
  void* memory = Buffer::of(kept)->memory();
  CHECK(Buffer::of(dropped)->memory() != memory);
  CHECK(Buffer::of(kept)->memory() == memory);
  CHECK(GlobalCounters::current().memUsed == used + 800);
  UOp view = UOp::make(Op::BUFFER_VIEW, dtypes::float32, {kept.get()}, Arg::of(std::vector<int64_t>{10, 20}));
  CHECK(Buffer::of(view)->memory() == static_cast<float*>(memory) + 20);
  pool.collect();
  CHECK(GlobalCounters::current().memUsed == used + 400);
  Buffer::forget(kept);
  CHECK(GlobalCounters::current().memUsed == used);
}

TEST_CASE("freed blocks are used again, the oldest go first, absurd sizes are refused") {
  BlockAllocator a("CPU", 4096);
  void* p = a.allocate(1000);
  a.release(p, 1000);
  CHECK(a.bytesKept() == 1024);
  CHECK(a.allocate(1010) == p); // the same size class
  CHECK(a.bytesInUse() == 1024);
  void *q = a.allocate(2048), *r = a.allocate(3072);
  a.release(p, 1010);
  a.release(q, 2048);
  CHECK(a.bytesKept() == 3072);
  a.release(r, 3072); // p and q go
  CHECK(a.bytesKept() == 3072);
  CHECK(a.allocate(3072) == r);
  a.release(r, 3072);
  std::string message = errorOf([&] { a.allocate(size_t{1} << 50); }, ErrorKind::Runtime);
  CHECK(contains(message, "out of memory on CPU"));
  CHECK(contains(message, "in use"));
  CHECK_THROWS_AS(a.allocate(~size_t{0}), Error);
}

TEST_CASE("kept blocks and blocks in use take no more than was once in use") {
  constexpr size_t kMega = size_t{1} << 20;
  std::map<void*, size_t> taken;
  size_t held = 0, most = 0, calls = 0;
  std::vector<std::unique_ptr<std::byte[]>> places;
  BlockSource source{[&](size_t bytes) -> void* {
                       void* at = places.emplace_back(std::make_unique<std::byte[]>(1)).get();
                       taken[at] = bytes;
                       most = std::max(most, held += bytes), ++calls;
                       return at;
                     },
                     [&](void* memory, size_t bytes) {
                       CHECK(taken.at(memory) ==
                             bytes); // a block goes back with the size that it was taken with
                       held -= bytes;
                       taken.erase(memory);
                     },
                     size_t{1} << 40};
  BlockAllocator a("CPU", 0, source);

  a.release(a.allocate(200 * kMega), 200 * kMega); // once, and never again
  void* kept = a.allocate(80 * kMega);
  void* other = a.allocate(150 * kMega);   // the block of 200 is more than a quarter larger, and makes room
  CHECK(held == 80 * kMega + 152 * kMega); // 16 classes between 128 and 256
  a.release(kept, 80 * kMega);
  CHECK(a.allocate(70 * kMega) == kept); // a block little larger serves
  CHECK(a.bytesInUse() == 232 * kMega);
  a.release(kept, 70 * kMega);
  a.release(other, 150 * kMega);
  CHECK(a.bytesKept() == 232 * kMega);
  CHECK(a.bytesInUse() == 0);

  // Steps that need two sizes in turns free and take them once; then both stay.
  auto turn = [&](size_t bytes) { a.release(a.allocate(bytes), bytes); };
  for (int k = 0; k < 3; ++k) turn(200 * kMega), turn(120 * kMega), turn(90 * kMega);
  size_t before = calls;
  for (int k = 0; k < 10; ++k) turn(200 * kMega), turn(120 * kMega), turn(90 * kMega);
  CHECK(calls == before);
  a.trim();
  CHECK(held == 0);
}

TEST_CASE("large blocks of the host begin at huge pages, hold what is written and go back whole") {
  BlockAllocator a("CPU");
  for (size_t bytes : {size_t{1}, size_t{4096}, (size_t{2} << 20) - 1, size_t{2} << 20, size_t{5'000'001}}) {
    auto* p = static_cast<unsigned char*>(a.allocate(bytes));
    CHECK(reinterpret_cast<uintptr_t>(p) % 64 == 0);
    if (bytes >= size_t{2} << 20) CHECK(reinterpret_cast<uintptr_t>(p) % (size_t{2} << 20) == 0);
    p[0] = 7, p[bytes - 1] = 9;
    CHECK(p[bytes - 1] == 9);
    a.release(p, bytes);
  }
  a.trim();
  CHECK(a.bytesKept() == 0);
}

TEST_CASE("the thread pool does every part once, nested and concurrent jobs too") {
  ThreadPool pool(3);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::atomic<int>> done(7);
    pool.run(7, [&](int i) { ++done[static_cast<size_t>(i)]; });
    for (auto& d : done) CHECK(d == 1);
  }
  std::atomic<int> total{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 3; ++c)
    callers.emplace_back([&] {
      for (int round = 0; round < 100; ++round) pool.run(4, [&](int) { pool.run(2, [&](int) { ++total; }); });
    });
  for (auto& t : callers) t.join();
  CHECK(total == 3 * 100 * 8);
}

TEST_CASE("symbolic sizes are evaluated, a variable without a value is named") {
  Pool pool;
  PoolScope scope(pool);
  UOp n = UOp::variable("n", 1, 100);
  std::vector<std::pair<std::string, int64_t>> values{{"n", 7}};
  CHECK(evaluate(Sint(12), {}) == 12);
  CHECK(evaluate(Sint(n * 4 + 2), values) == 30);
  CHECK(contains(errorOf([&] { evaluate(Sint(n + 1), {}); }, ErrorKind::Value), "variable n has no value"));
}

TEST_CASE("the line of a launch looks as in the reference") {
  std::vector<std::string> metadata{"matmul", "relu"};
  LaunchReport r{"CPU", "r_16_16", false, false, 3, 12.34e-6, 151800, 14800, 41960, &metadata};
  int64_t count = GlobalCounters::current().kernelCount, used = GlobalCounters::current().memUsed;
  double time = GlobalCounters::current().timeSum;
  GlobalCounters::current().kernelCount = 12, GlobalCounters::current().memUsed = 10'000'000,
  GlobalCounters::current().timeSum = 5e-5;
  CHECK(launchLine(r, false) ==
        "*** CPU       12 r_16_16                                        arg  3 mem   0.01 GB tm     "
        "12.34us/     0.05ms (   12.3 GFLOPS   1.2|3.4     GB/s) ['matmul', 'relu']");
  GlobalCounters::current().kernelCount = count, GlobalCounters::current().memUsed = used,
  GlobalCounters::current().timeSum = time;
}

#ifdef __linux__
TEST_CASE("workers of a pool may use every processor, whichever they left") {
  ThreadPool pool(3);
  cpu_set_t own;
  REQUIRE(sched_getaffinity(0, sizeof own, &own) == 0);
  std::atomic<int> differs{0}, calls{0};
  for (int job = 0; job < 200; ++job) {
    pool.run(3, [&](int) {
      cpu_set_t here;
      differs += sched_getaffinity(0, sizeof here, &here) != 0 || !CPU_EQUAL(&here, &own);
      ++calls;
    });
    if (job % 8 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1)); // so that workers sleep
  }
  CHECK(calls == 600);
  CHECK(differs == 0);
}
#endif
