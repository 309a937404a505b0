// Kernels broken on purpose, each with the message about its fault; correct kernels without a finding; and
// the interpreter's report on the cost of memory.
#include "engine/base/error.h"
#include "engine/codegen/async_copy.h"
#include "engine/runtime/buffer.h"
#include "engine/runtime/device.h"
#include "engine/runtime/ref_program.h"
#include "tests/engine/render/linear_program.h"

#include <doctest/doctest.h>

#include <functional>
#include <numeric>

using namespace uopscope;
using namespace uopscope::test;

namespace {

constexpr int64_t kThreads = 8, kGroups = 2, kSize = 64;

/// The parts of a broken kernel: 64 floats to write, 64 to read, 8 or more of shared memory.
struct Parts {
  explicit Parts(int64_t sharedSize = kThreads) : sharedSize(sharedSize) {}
  int64_t sharedSize;
  LinearProgram p{"broken"};
  UOp out = p.global(0, dtypes::float32, kSize), in = p.global(1, dtypes::float32, kSize);
  UOp shared =
      p.add(Op::DEFINE_LOCAL, dtypes::float32.ptr(sharedSize, AddrSpace::Local), {}, Arg::of(int64_t{0}));
  UOp g = p.add(Op::SPECIAL, dtypes::int32, {p.i32(kGroups)}, Arg::of("gidx0"));
  UOp l = p.add(Op::SPECIAL, dtypes::int32, {p.i32(kThreads)}, Arg::of("lidx0"));
  UOp all = sum(p.add(Op::MUL, dtypes::int32, {g, p.i32(kThreads)}), l);

  UOp sum(UOp a, UOp b) { return p.add(Op::ADD, dtypes::int32, {a, b}); }
  UOp sum(UOp a, int64_t b) { return sum(a, p.i32(b)); }
  UOp next() { return p.add(Op::MOD, dtypes::int32, {sum(l, 1), p.i32(kThreads)}); }
  UOp number(UOp i) { return p.add(Op::CAST, dtypes::float32, {i}); }
  UOp less(UOp a, int64_t b) { return p.add(Op::CMPLT, dtypes::bool_, {a, p.i32(b)}); }
  void copyAsync(UOp to, UOp from) {
    UOp plain = p.store(shared, to, p.load(in, from));
    p.kernel().uops.back() = asyncCopy(plain);
  }
  void closeCopies() { p.kernel().uops.push_back(::uopscope::closeCopies({})); }
  void barrierForCopies(int64_t left = 0) {
    p.kernel().uops.push_back(::uopscope::barrierForCopies({}, left));
  }
  void barrier() { p.kernel().uops.push_back(UOp::make(Op::BARRIER, dtypes::void_)); }
  UOp when(UOp gate) { return p.add(Op::IF, dtypes::void_, {gate}); }
  void end(UOp when) { p.add(Op::ENDIF, dtypes::void_, {when}); }
};

std::string runWatched(const std::function<void(Parts&)>& write, std::string* report = nullptr,
                       int64_t sharedSize = kThreads) {
  Parts parts(sharedSize);
  write(parts);
  RefProgram program(parts.p.finish(), RefGpu{});
  std::vector<float> out(kSize), in(kSize);
  std::iota(in.begin(), in.end(), 0.0f);
  void* memory[] = {out.data(), in.data()};
  const int64_t groups[] = {kGroups}, threads[] = {kThreads};
  std::string message;
  try {
    program.launch(memory, {}, groups, threads, true);
  } catch (const Error& e) {
    message = e.what();
  }
  if (report) *report = program.report();
  return message;
}

struct Broken {
  const char* what;
  std::vector<const char*> says;
  std::function<void(Parts&)> write;
};

const std::vector<Broken>& broken() {
  static const std::vector<Broken> list{
      {"all threads write one element",
       {"race:", "writes data0_64[0]", "no barrier", "STORE"},
       [](Parts& k) { k.p.store(k.out, k.p.i32(0), k.number(k.l)); }},
      {"two threads share an element of shared memory",
       {"race:", "local memory", "no barrier"},
       [](Parts& k) {
         k.p.store(k.shared, k.p.add(Op::SHR, dtypes::int32, {k.l, k.p.i32(1)}), k.number(k.l));
         k.p.store(k.out, k.all, k.p.load(k.in, k.all));
       }},
      {"a neighbour's value is read without a barrier",
       {"race:", "reads local memory", "wrote it", "LOAD"},
       [](Parts& k) {
         k.p.store(k.shared, k.l, k.number(k.l));
         k.p.store(k.out, k.all,
                   k.p.load(k.shared, k.p.add(Op::MAX, dtypes::int32, {k.sum(k.l, -1), k.p.i32(0)})));
       }},
      {"a loop writes what others still read",
       {"race:", "writes local memory", "read it"},
       [](Parts& k) {
         UOp i = k.p.range(2, 0);
         k.p.store(k.shared, k.l, k.number(k.sum(k.l, i)));
         k.barrier();
         k.p.store(k.out, k.all, k.p.load(k.shared, k.next()));
         k.p.end(i);
       }},
      {"a group reads what another writes",
       {"race:", "groups wait for no other"},
       [](Parts& k) { k.p.store(k.out, k.all, k.p.load(k.out, k.sum(k.all, kThreads))); }},
      {"stores of four lanes overlap",
       {"race:", "writes data0_64"},
       [](Parts& k) { k.p.store(k.out, k.all, k.p.load(k.in, k.sum(k.all, k.all), 4)); }},
      {"a store beyond the end",
       {"index 64 of data0_64", "thread (7,0,0) of group (1,0,0)", "STORE"},
       [](Parts& k) { k.p.store(k.out, k.sum(k.all, kSize - kGroups * kThreads + 1), k.number(k.l)); }},
      {"a load before the beginning",
       {"index -1 of data1_64", "LOAD"},
       [](Parts& k) { k.p.store(k.out, k.all, k.p.load(k.in, k.sum(k.all, -1))); }},
      {"a store beyond shared memory",
       {"index 8 of local memory", "thread (7,0,0)"},
       [](Parts& k) { k.p.store(k.shared, k.sum(k.l, 1), k.number(k.l)); }},
      {"shared memory that nobody wrote",
       {"never written:", "local memory"},
       [](Parts& k) { k.p.store(k.out, k.all, k.p.load(k.shared, k.l)); }},
      {"shared memory of another group is not this one's",
       {"never written:", "group (1,0,0)"},
       [](Parts& k) {
         UOp first = k.when(k.less(k.g, 1));
         k.p.store(k.shared, k.l, k.number(k.l));
         k.end(first);
         k.p.store(k.out, k.all, k.p.load(k.shared, k.l));
       }},
      {"a copy that a barrier does not wait for",
       {"copy under way:", "reads local memory", "thread (1,0,0) of group (0,0,0) began to copy", "LOAD",
        "STORE"},
       [](Parts& k) {
         k.copyAsync(k.l, k.all);
         k.barrier();
         k.p.store(k.out, k.all, k.p.load(k.shared, k.next()));
       }},
      {"a thread reads what it began to copy itself",
       {"copy under way:", "thread (0,0,0) of group (0,0,0) reads local memory 0[0]"},
       [](Parts& k) {
         k.copyAsync(k.l, k.all);
         k.p.store(k.out, k.all, k.p.load(k.shared, k.l));
       }},
      {"a barrier for copies that comes before the copy",
       {"copy under way:", "reads local memory"},
       [](Parts& k) {
         k.barrierForCopies();
         k.copyAsync(k.l, k.all);
         k.closeCopies();
         k.p.store(k.out, k.all, k.p.load(k.shared, k.next()));
       }},
      {"a copy that belongs to no group that was ended",
       {"copy under way:", "reads local memory"},
       [](Parts& k) {
         k.copyAsync(k.l, k.all);
         k.barrierForCopies();
         k.p.store(k.out, k.all, k.p.load(k.shared, k.next()));
       }},
      {"a barrier that leaves the group of the copy under way",
       {"copy under way:", "reads local memory"},
       [](Parts& k) {
         k.copyAsync(k.l, k.all);
         k.closeCopies();
         k.barrierForCopies(1);
         k.p.store(k.out, k.all, k.p.load(k.shared, k.next()));
       }},
      {"a store to where a copy is under way",
       {"copy under way:", "writes local memory"},
       [](Parts& k) {
         k.copyAsync(k.l, k.all);
         k.p.store(k.shared, k.l, k.number(k.l));
       }},
      {"a register that nobody wrote",
       {"never written:", "registers"},
       [](Parts& k) { k.p.store(k.out, k.all, k.p.load(k.p.reg(dtypes::float32, 1), k.p.i32(0))); }},
      {"a barrier that half of the threads come to",
       {"divergent barrier:", "thread (0,0,0)", "waits at a barrier", "thread (4,0,0)", "came to its end"},
       [](Parts& k) {
         UOp half = k.when(k.less(k.l, 4));
         k.barrier();
         k.end(half);
         k.p.store(k.out, k.all, k.number(k.l));
       }},
      {"two barriers, one for each half",
       {"divergent barrier:"},
       [](Parts& k) {
         UOp half = k.when(k.less(k.l, 4));
         k.barrier();
         k.end(half);
         UOp other = k.when(k.p.add(Op::CMPLT, dtypes::bool_, {k.p.i32(3), k.l}));
         k.barrier();
         k.end(other);
         k.p.store(k.out, k.all, k.number(k.l));
       }},
      {"a loop with a barrier that threads leave at different times",
       {"divergent barrier:"},
       [](Parts& k) {
         UOp i = k.p.range(k.sum(k.l, 1), 0);
         k.p.store(k.out, k.all, k.number(i));
         k.barrier();
         k.p.end(i);
       }},
  };
  return list;
}

} // namespace

TEST_CASE("kernels that are broken on purpose are all found, the same each time") {
  for (const Broken& b : broken()) {
    std::string what = b.what;
    CAPTURE(what);
    std::string message = runWatched(b.write);
    CAPTURE(message);
    CHECK(message.find("kernel broken") == 0);
    for (const char* part : b.says) CHECK_MESSAGE(message.find(part) != std::string::npos, part);
    CHECK(runWatched(b.write) == message);
  }
}

TEST_CASE("nothing is found in kernels that are right") {
  CHECK(runWatched(
            [](Parts& k) { // a neighbour's value behind a barrier, and a second one before the next round
              UOp i = k.p.range(3, 0);
              k.p.store(k.shared, k.l, k.number(k.sum(k.l, i)));
              k.barrier();
              UOp value = k.p.load(k.shared, k.next());
              k.barrier();
              k.p.store(k.out, k.all, value);
              k.p.end(i);
            })
            .empty());
  CHECK(runWatched([](Parts& k) { // a copy that its barrier waits for, in every round of a loop
          UOp i = k.p.range(3, 0);
          k.copyAsync(k.l, k.all);
          k.closeCopies();
          k.barrierForCopies();
          UOp value = k.p.load(k.shared, k.next());
          k.barrier();
          k.p.store(k.out, k.all, value);
          k.p.end(i);
        })
            .empty());
  CHECK(runWatched(
            [](Parts& k) { // a group of copies is left under way while the one before it is read
              k.copyAsync(k.l, k.all);
              k.closeCopies();
              k.copyAsync(k.sum(k.l, kThreads), k.all);
              k.closeCopies();
              k.barrierForCopies(1);
              k.p.store(k.out, k.all, k.p.load(k.shared, k.next()));
              k.barrierForCopies();
              k.p.store(k.out, k.sum(k.all, kSize / 2), k.p.load(k.shared, k.sum(k.next(), kThreads)));
            },
            nullptr, 2 * kThreads)
            .empty());
  CHECK(runWatched([](Parts& k) { // all threads write the same value, in place
          k.p.store(k.out, k.p.i32(3), k.number(k.p.i32(0)));
          k.p.store(k.out, k.sum(k.all, 8), k.p.load(k.out, k.sum(k.all, 8)));
        })
            .empty());
  CHECK(runWatched([](Parts& k) { // all threads of one group reach the barrier, none of the other group
          UOp first = k.when(k.less(k.g, 1));
          k.barrier();
          k.end(first);
          k.p.store(k.out, k.all, k.number(k.l));
        })
            .empty());
}

TEST_CASE("the cost of memory: sectors, banks, reuse, registers") {
  std::string report;
  CHECK(runWatched([](Parts& k) { k.p.store(k.out, k.all, k.p.load(k.in, k.all)); }, &report).empty());
  CAPTURE(report);
  CHECK(report.find("2 groups of 8 threads, 64 bytes of shared memory") != std::string::npos);
  CHECK(report.find("LOAD  data1_64         1.0 sectors a request, 1.0 if all lay side by side") !=
        std::string::npos);
  CHECK(report.find("used 1.0 times: 64 bytes loaded, 64 of them different") != std::string::npos);
  std::string far;
  CHECK(runWatched(
            [](Parts& k) { // threads 32 bytes apart, all groups the same
              UOp apart = k.p.add(Op::MUL, dtypes::int32, {k.l, k.p.i32(8)});
              k.p.store(k.out, k.all, k.p.load(k.in, apart));
            },
            &far)
            .empty());
  CAPTURE(far);
  CHECK(far.find("8.0 sectors a request, 1.0 if") != std::string::npos);
  CHECK(far.find("used 2.0 times") != std::string::npos);
}

TEST_CASE("REF:GPU knows which memory was written, and is named by language too") {
  Device& gpu = Device::get("REF:GPU");
  CHECK(gpu.renderer().target().hasShared);
  CHECK(Device::get("ref:cuda").name() == "REF:CUDA");
  Parts parts;
  parts.p.store(parts.out, parts.all, parts.p.load(parts.in, parts.all));
  LoweredKernel k = parts.p.finish();
  auto program = gpu.compile(k, gpu.renderer().render(k));
  Buffer out("REF:GPU", dtypes::float32, kSize), in("REF:GPU", dtypes::float32, kSize);
  void* memory[] = {out.memory(), in.memory()};
  const int64_t groups[] = {kGroups}, threads[] = {kThreads};
  std::string message;
  try {
    program->launch(memory, {}, groups, threads, true);
  } catch (const Error& e) {
    message = e.what();
  }
  CHECK_MESSAGE(message.find("never written") != std::string::npos, message);
  std::vector<float> values(kSize, 2.0f);
  in.copyIn(values.data());
  CHECK_NOTHROW(program->launch(memory, {}, groups, threads, true));
  out.copyOut(values.data());
  CHECK(values[15] == 2.0f);
}
