// A kernel gets a pool of its own: its nodes die with the answer.
#include "replay/experiment/predicted.h"

#include "engine/base/error.h"
#include "engine/codegen/estimates.h"
#include "replay/read/materialize.h"

#include <algorithm>
#include <cmath>

namespace uopscope {

PredictedTime predictedTime(Trace& trace, ScopeId kernel, const MachineRates& rates, LaunchState state,
                            int64_t flops) {
  if (kernel == 0 || !rates.known()) return {};
  try {
    Pool pool;
    const PoolScope scope(pool);
    Materializer again(trace.nodes().reader(), pool);
    std::vector<UOp> program;
    for (const NodeId node : trace.program(kernel)) program.push_back(again(node));
    if (const Sint most = estimate(program).ops; flops >= 0 && !most.isInt() && most.vmax() > 0)
      state.share = static_cast<double>(flops) / static_cast<double>(most.vmax());
    return predictTime(program, rates, state);
  } catch (const Error&) {
    return {}; // a program that no engine makes
  }
}

namespace {
constexpr double kBetween = 2,
                 kInterpreter = 400e3; ///< bytes a nanosecond that pass through the caches while no kernel
                                       ///< runs, up to what the interpreter uses again and again
constexpr double kCompiling = 0.02;    ///< bytes a nanosecond beyond that
constexpr int64_t kAwakeNs =
    20'000; ///< engine/runtime/thread_pool.cpp: as long do threads wait for the next job
constexpr int64_t kJustMadeNs = 200'000; ///< other kernels were compiled after this one
constexpr int64_t kLarge = 2 << 20,
                  kKept = 128 << 10; ///< smaller blocks come from memory that the process used before
double passedWhile(int64_t ns) {
  const auto idle = static_cast<double>(std::max<int64_t>(0, ns));
  return std::min(kBetween * idle, kInterpreter) + kCompiling * idle;
}
} // namespace

CacheHistory::CacheHistory(Trace& trace) {
  for (const ScopeInfo& s : trace.scopes())
    if (s.endNs) madeNs_[s.id] = *s.endNs;
  std::vector<BufferInfo> buffers = trace.buffers();
  // A freed block serves the next buffer of its size, and its pages are there.
  std::ranges::sort(buffers, {}, &BufferInfo::beginNs);
  std::multimap<std::pair<std::string, int64_t>, int64_t> freed;
  for (const BufferInfo& b : buffers) {
    if (b.base == 0) {
      const std::pair key{b.device, b.bytes};
      for (auto [at, end] = freed.equal_range(key); at != end; ++at)
        if (at->second <= b.beginNs) {
          touched_[b.id] = b.bytes;
          freed.erase(at);
          break;
        }
      if (b.endNs) freed.emplace(key, *b.endNs);
    }
    buffers_[b.id] = b;
  }
}

LaunchState CacheHistory::before(const LaunchInfo& launch) {
  LaunchState out;
  const int64_t gap = std::max<int64_t>(0, launch.beginNs - endNs_);
  passed_ += passedWhile(gap);
  out.asleep = gap > kAwakeNs;
  const std::pair kernel{launch.compiled, launch.kernel};
  if (const auto ran = lastRun_.find(kernel); ran != lastRun_.end())
    out.sinceCode = passed_ - ran->second;
  else if (const auto made = madeNs_.find(launch.compiled); made != madeNs_.end())
    out.first = true, out.newCode = launch.beginNs - made->second > kJustMadeNs;
  double used = 0;
  for (const int64_t id : launch.buffers) {
    const auto found = buffers_.find(id);
    if (found == buffers_.end()) {
      out.since.push_back(0);
      continue;
    }
    const BufferInfo& b = found->second;
    const int64_t owner = b.base ? b.base : id, begin = b.base ? b.offset : 0, end = begin + b.bytes;
    const auto last = lastUsed_.find({owner, begin});
    // What no kernel used the script has written, when the buffer was made.
    out.since.push_back(last == lastUsed_.end() ? passedWhile(launch.beginNs - b.beginNs)
                                                : passed_ - last->second);
    const auto whole = buffers_.find(owner);
    const int64_t block = whole == buffers_.end() ? b.bytes : whole->second.bytes;
    int64_t& touched = touched_[owner];
    if (block >= kKept)
      (block >= kLarge ? out.newLargeBytes : out.newBytes) +=
          static_cast<double>(std::max<int64_t>(0, end - std::max(begin, touched)));
    touched = std::max(touched, end);
    used += static_cast<double>(b.bytes);
  }
  passed_ += used;
  for (const int64_t id : launch.buffers)
    if (const auto found = buffers_.find(id); found != buffers_.end()) {
      const BufferInfo& b = found->second;
      lastUsed_[{b.base ? b.base : id, b.base ? b.offset : 0}] = passed_;
    }
  lastRun_[kernel] = passed_;
  endNs_ = launch.beginNs + launch.ns;
  return out;
}

PredictionErrors predictionErrors(std::vector<double> ratios) {
  PredictionErrors e;
  e.kernels = ratios.size();
  if (ratios.empty()) return e;
  for (double& r : ratios) r = std::abs(r - 1);
  std::ranges::sort(ratios);
  auto at = [&](double part) {
    return ratios[std::min(ratios.size() - 1,
                           static_cast<size_t>(part * static_cast<double>(ratios.size())))];
  };
  e.median = at(0.5);
  e.mostOfTen = at(0.9);
  e.within30 = static_cast<double>(std::ranges::count_if(ratios, [](double r) { return r <= 0.3; })) /
               static_cast<double>(ratios.size());
  return e;
}

} // namespace uopscope
