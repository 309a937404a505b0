// Each rate has a loop that the processor can do nothing else in; the fastest of many short rounds counts, since other
// programs only ever make a round longer. Empty assembly statements keep the compiler from computing less.
#include "replay/experiment/rates.h"

#include "engine/base/clock.h"
#include "engine/runtime/processor.h"
#include "engine/runtime/thread_pool.h"
#include "replay/experiment/measuring.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

namespace uopscope {

namespace {

constexpr int kSteps = 20'000;

/// Numbers that a processor cannot foresee, the same each time.
class Scatter {
public:
  uint64_t next() {
    state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
    return state_ >> 20;
  }

private:
  uint64_t state_ = 88172645463325252ULL;
};

/// A number that stands in a register: newer Intel cores add constants while they rename registers, several in a cycle.
int64_t one() {
  const volatile int64_t number = 1;
  return number;
}

double cycleNs() {
  constexpr int kSteps = 200'000;
  return fastestNs([step = one()] {
           int64_t x = 1;
           for (int i = 0; i < kSteps; ++i) {
#pragma GCC unroll 10
             for (int k = 0; k < 10; ++k) asm volatile("" : "+r"(x += step));
           }
         }) /
         (10.0 * kSteps);
}

/// Nanoseconds of an addition that waits for the one before.
double latencyNs() {
  const volatile float summand = 0.001F;
  const float c = summand;
  return fastestNs([&] {
           float x = 1;
           for (int i = 0; i < kSteps; ++i) {
             x = x + c;
             asm volatile("" : "+x"(x));
           }
         }) /
         kSteps;
}
/// The same through memory.
double forwardingNs() {
  volatile float x = 1;
  return fastestNs([&] {
           for (int i = 0; i < kSteps; ++i) x = x + 1.0F;
         }) /
         kSteps;
}
double instructionNs() {
  return fastestNs([o = one()] {
           int64_t a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
           for (int i = 0; i < kSteps; ++i) {
#pragma GCC unroll 2
             for (int k = 0; k < 2; ++k)
               asm volatile(""
                            : "+r"(a += o), "+r"(b += o), "+r"(c += o), "+r"(d += o), "+r"(e += o),
                              "+r"(f += o), "+r"(g += o), "+r"(h += o));
           }
         }) /
         (16.0 * kSteps);
}
double scalarDivisionNs() {
  const volatile float factor = 0.999F;
  const float m = factor;
  return fastestNs([&] {
           float a[8];
#pragma GCC unroll 8
           for (float& x : a) x = 1;
           for (int i = 0; i < kSteps; ++i) {
#pragma GCC unroll 8
             for (float& x : a) {
               x = m / x;
               asm volatile("" : "+x"(x));
             }
           }
         }) /
         (8.0 * kSteps);
}
/// Half of the branches of random bits go the other way than expected, none of those of equal bits.
double mispredictedNs() {
  constexpr size_t kBranches = 1 << 17;
  std::vector<uint8_t> bits(kBranches);
  auto run = [&] {
    return fastestNs(
        [&] {
          int64_t sum = 0;
          for (const uint8_t b : bits)
            if (b) asm volatile("" : "+r"(sum += 1));
        },
        5);
  };
  const double calm = run();
  Scatter random;
  for (uint8_t& b : bits) b = random.next() & 1;
  return std::max(0.0, run() - calm) / (kBranches / 2.0);
}

/// Bytes a cycle of each of several threads that go through memory of this size in order, all at once. Pieces are timed one by
/// one, and nine of ten are slower than the answer: where other programs take a core away, many pieces are still whole.
template <typename F>
double inOrder(int threads, size_t bytes, double cycle, F&& work) {
  constexpr size_t kPiece = size_t{1} << 20, kAtLeast = size_t{64} << 20;
  const size_t piece = std::min(bytes, kPiece) / sizeof(float), pieces = bytes / sizeof(float) / piece;
  const size_t turns = std::max<size_t>(2, kAtLeast / bytes);
  std::vector<std::vector<double>> ns(static_cast<size_t>(threads));
  {
    std::barrier together(threads);
    std::vector<std::jthread> workers;
    for (std::vector<double>& mine : ns)
      workers.emplace_back([&together, &mine, &work, bytes, piece, pieces, turns] {
        std::vector<float> data(bytes / sizeof(float), 1.0F);
        together.arrive_and_wait();
        for (size_t turn = 0; turn < turns; ++turn)
          for (size_t i = 0; i < pieces; ++i) {
            const int64_t from = nowNs();
            work(data.data() + i * piece, piece);
            mine.push_back(static_cast<double>(nowNs() - from));
          }
      });
  }
  std::vector<double> all;
  for (const std::vector<double>& mine : ns) all.insert(all.end(), mine.begin(), mine.end());
  std::ranges::sort(all);
  return static_cast<double>(piece * sizeof(float)) * cycle / all[all.size() / 10];
}
double readBytes(int threads, size_t bytes, double cycle) {
  std::atomic<float> sink = 0; // nothing that is computed may be left out
  return inOrder(threads, bytes, cycle, [&](const float* data, size_t count) { sink = reads(data, count); });
}
double writtenBytes(int threads, size_t bytes, double cycle) {
  return inOrder(threads, bytes, cycle, [](float* data, size_t count) { writes(data, count, 2); });
}
/// Cycles of a read that is a page and some lines away from the one before; reads do not wait for each other.
double scatteredCycles(size_t bytes, double cycle) {
  constexpr size_t kApart = (4096 + 192) / 4;
  std::vector<float> data(bytes / 4, 1.0F);
  constexpr size_t kReads = 10'000; // a short round ends before another program takes the core
  size_t at = 0;
  volatile float sink = 0;
  const double ns = fastestNs(
      [&] {
        float sum = 0;
        for (size_t i = 0; i < kReads; ++i) {
          sum += data[at];
          at += kApart;
          if (at >= data.size()) at -= data.size();
        }
        sink = sum;
      },
      60);
  return ns / kReads / cycle;
}

/// Nanoseconds of a read whose address the read before it gives, in random order.
double chasedNs(size_t bytes) {
  constexpr size_t kLine = 64 / sizeof(size_t);
  std::vector<size_t> order(bytes / 64), next(bytes / sizeof(size_t));
  std::iota(order.begin(), order.end(), size_t{0});
  Scatter random;
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.next() % i]);
  for (size_t i = 0; i < order.size(); ++i) next[order[i] * kLine] = order[(i + 1) % order.size()] * kLine;
  constexpr size_t kReads = 2'000;
  volatile size_t sink = 0; // goes on where the round before ended
  return fastestNs(
             [&] {
               size_t at = sink;
               for (size_t i = 0; i < kReads; ++i) at = next[at];
               sink = at;
             },
             150) /
         kReads;
}

MemoryRates levelRates(int threads, int64_t capacity, size_t bytes, double cycle) {
  return {.bytes = capacity,
          .read = readBytes(1, bytes, cycle),
          .shared = readBytes(threads, bytes / (capacity ? 1 : static_cast<size_t>(threads)), cycle),
          .write = writtenBytes(threads, bytes / (capacity ? 1 : static_cast<size_t>(threads)), cycle),
          .latencyNs = chasedNs(std::min(bytes, size_t{64} << 20)),
          .scattered = scatteredCycles(bytes, cycle)};
}

/// Calls f with the name and a reference of each rate.
template <typename F>
void eachRate(MachineRates& r, F&& f) {
  f("cycle_ns", r.cycleNs), f("register_lanes", r.registerLanes), f("cores", r.cores);
  f("multiply_adds", r.multiplyAdds), f("additions", r.additions), f("mixed", r.mixed);
  f("division", r.division), f("scalar_division", r.scalarDivision), f("shuffles", r.shuffles);
  f("instructions", r.instructions), f("loads", r.loads), f("stores", r.stores);
  f("latency", r.latency), f("forwarding", r.forwarding), f("mispredicted", r.mispredicted);
  const std::pair<const char*, MemoryRates*> levels[] = {
      {"first", &r.first}, {"second", &r.second}, {"last", &r.last}, {"memory", &r.memory}};
  for (const auto& [name, m] : levels) {
    const std::string of = name;
    f(of + "_bytes", m->bytes), f(of + "_read", m->read), f(of + "_shared", m->shared);
    f(of + "_write", m->write), f(of + "_latency_ns", m->latencyNs), f(of + "_scattered", m->scattered);
  }
  f("launch_ns", r.launchNs), f("threads_ns", r.threadsNs), f("wake_ns", r.wakeNs),
      f("new_byte_ns", r.newByteNs);
  f("new_large_byte_ns", r.newLargeByteNs);
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<long>(values.size() / 2));
  return values[values.size() / 2];
}
/// Nanoseconds of a job that does nothing, timed as a kernel is.
double jobNs(ThreadPool& pool, int count, int times, bool asleep) {
  std::vector<double> ns;
  std::atomic<int> done = 0;
  for (int i = 0; i < times; ++i) {
    if (asleep) std::this_thread::sleep_for(std::chrono::microseconds(300));
    const int64_t from = nowNs();
    pool.run(count, [&](int) { done.fetch_add(1, std::memory_order_relaxed); });
    ns.push_back(static_cast<double>(nowNs() - from));
  }
  return median(std::move(ns));
}
/// Nanoseconds a byte of the first stores into memory that kernels get, in blocks of this size.
double newByteNs(size_t bytes) {
  constexpr size_t kPage = 4096, kLargeBlock = size_t{2} << 20;
  double least = 1e18;
  for (int i = 0; i < 4; ++i) {
    void* memory = mmap(nullptr, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) break;
    const auto address = reinterpret_cast<uintptr_t>(memory);
    auto* at = reinterpret_cast<volatile char*>((address + bytes - 1) / bytes * bytes);
    if (bytes >= kLargeBlock)
      madvise(const_cast<char*>(at), bytes, MADV_HUGEPAGE); // as runtime/allocator.cpp does
    const int64_t from = nowNs();
    for (size_t page = 0; page < bytes; page += kPage) at[page] = 1;
    least = std::min(least, static_cast<double>(nowNs() - from));
    munmap(memory, 2 * bytes);
  }
  return least / static_cast<double>(bytes);
}

} // namespace

nlohmann::json ratesJson(const MachineRates& rates) {
  nlohmann::json out = nlohmann::json::object();
  MachineRates r = rates;
  eachRate(r, [&](const std::string& name, auto& value) { out[name] = value; });
  return out;
}

MachineRates ratesFrom(const nlohmann::json& kept) {
  MachineRates r;
  if (!kept.is_object()) return r;
  bool all = true;
  eachRate(r, [&](const std::string& name, auto& value) {
    const auto at = kept.find(name);
    all &= at != kept.end() && at->is_number();
    if (all) value = at->get<std::remove_reference_t<decltype(value)>>();
  });
  return all ? r : MachineRates{};
}

MachineRates measureRates(int threads) {
  MachineRates r;
  r.cycleNs = cycleNs();
  r.registerLanes = widestLanes();
  r.cores = threads;
  const double cycle = r.cycleNs;
  auto rate = [&](VectorLoop kind) { return vectorRate(kind, r.registerLanes, cycle); };
  r.multiplyAdds = rate(VectorLoop::MultiplyAdd), r.additions = rate(VectorLoop::Add),
  r.mixed = rate(VectorLoop::Mixed);
  r.division = 1 / rate(VectorLoop::Divide), r.shuffles = rate(VectorLoop::Shuffle);
  r.loads = rate(VectorLoop::Load), r.stores = rate(VectorLoop::Store);
  r.scalarDivision = scalarDivisionNs() / cycle;
  r.instructions = cycle / instructionNs();
  r.latency = latencyNs() / cycle;
  r.forwarding = forwardingNs() / cycle - r.latency;
  r.mispredicted = mispredictedNs() / cycle;
  const int64_t first = cacheBytes(1, 32 << 10), second = cacheBytes(2, 256 << 10),
                last = cacheBytes(3, 2 * second);
  r.first.bytes = first;
  r.second = levelRates(threads, second, static_cast<size_t>(second) / 2, cycle);
  r.last = levelRates(threads, last, static_cast<size_t>(std::min<int64_t>(last / (2 * threads), 4 * second)),
                      cycle);
  r.memory = levelRates(threads, 0, size_t{128} << 20, cycle);
  // What a guest of a shared machine gets of the last cache, the system does not tell.
  for (; r.last.bytes > 4 * second; r.last.bytes /= 2)
    if (readBytes(1, static_cast<size_t>(r.last.bytes), cycle) > (r.last.read + r.memory.read) / 2) break;
  ThreadPool pool(threads);
  r.launchNs = jobNs(pool, 1, 2000, false);
  r.threadsNs = threads > 1 ? jobNs(pool, threads, 2000, false) : r.launchNs;
  r.wakeNs = threads > 1 ? jobNs(pool, threads, 40, true) : r.launchNs;
  r.newByteNs = newByteNs(size_t{1} << 20);
  r.newLargeByteNs = newByteNs(size_t{4} << 20);
  return r;
}

} // namespace uopscope
