// The walk over the program has collected the work of each loop's own instructions; loops are priced one by one.
#include "engine/codegen/time_model.h"

#include "engine/codegen/program_walk.h"

#include <algorithm>
#include <cmath>

namespace uopscope {

namespace {

constexpr double kOverlapPower = 4; ///< 1: parts are added up; infinite: the longest one counts alone
constexpr double kLeftLoop = 0.5;   ///< of a misprediction, each time that a long loop is left
constexpr double kForeseen = 32;    ///< turns of a loop whose end a processor foresees
/// Part of the lanes that LLVM makes of the turns of a loop: what is left over is done singly.
constexpr double kLaneGain = 0.5;
constexpr double kFewTurns = 4; ///< a shorter loop is written out
/// A kernel that runs for the first time just after it was compiled; after others were; that ran long ago. The fastest of many
/// launches finds its code nearer, but in memory at best.
constexpr double kFreshCodeNs = 120, kNewCodeNs = 550, kOldCodeNs = 600, kFarCodeNs = 100;
constexpr int64_t kMostChosen = 16; ///< more launches find nothing faster
constexpr double kCodeBytes = 6;    ///< of an instruction of the program, in machine code
constexpr double kLookAhead = 448;  ///< instructions that a processor looks ahead

/// The sum of parts that overlap: between the longest and all of them.
double together(std::initializer_list<double> parts) {
  double most = 0, sum = 0;
  for (const double p : parts) most = std::max(most, p);
  if (most <= 0) return 0;
  for (const double p : parts) sum += std::pow(p / most, kOverlapPower);
  return most * std::pow(sum, 1 / kOverlapPower);
}

struct Prices {
  double arithmetic = 0, firstCache = 0, latency = 0, caches = 0, memory = 0; ///< cycles
};

/// Cycles of an iteration's instructions.
double arithmeticOf(const Work& w, const MachineRates& r) {
  const double floats = std::max(
      {w.multiplies / r.multiplyAdds, w.additions / r.additions, (w.multiplies + w.additions) / r.mixed});
  return std::max({floats, w.divisions * r.division + w.scalarDivisions * r.scalarDivision,
                   w.shuffles / r.shuffles, w.scalars / r.instructions, w.instructions() / r.instructions});
}

/// Cycles until the lines of a group have come from one cache or memory, where `bandwidth` is bytes a cycle.
double cyclesOf(double lines, double run, double bandwidth, double scattered) {
  // Lines that lie together come at the bandwidth, single ones at the price of a jump.
  const double inOrder = kLineBytes / bandwidth, jumps = kLineBytes / std::max(kLineBytes, run);
  return lines * (inOrder + std::max(0.0, scattered - inOrder) * jumps);
}

/// Bytes that have passed through the caches since the buffer was used.
double sinceOf(const ProgramWalk& walk, const LaunchState& state, UOp buffer) {
  const auto at = static_cast<size_t>(std::ranges::find(walk.globals(), buffer) - walk.globals().begin());
  return at < state.since.size() ? state.since[at] : 0;
}

class Pricing {
public:
  Pricing(const ProgramWalk& walk, const MachineRates& rates, const LaunchState& state)
      : walk_(walk), rates_(rates), state_(state) {}

  /// Cycles of a loop's own body in all its runs.
  Prices of(size_t block) const {
    const AccessTraffic& t = walk_.traffic();
    const Block& b = walk_.blocks()[block];
    const double times = t.executions(static_cast<int>(block));
    const double trips = block ? t.trips(static_cast<int>(block)) : 1;
    // LLVM computes the turns of a loop of single values in lanes, unless each waits for the one before.
    const bool lanes = block && b.innermost && !b.work.vector && b.chain == 0 && trips >= kFewTurns;
    const double gain = lanes ? std::min<double>(trips, rates_.registerLanes) * kLaneGain : 1;
    const Work work = lanes ? b.work.inLanes(gain) : b.work;
    Prices p;
    p.arithmetic = times * arithmeticOf(work, rates_);
    if (block && trips > kForeseen) p.arithmetic += times / trips * kLeftLoop * rates_.mispredicted;
    p.firstCache = times * std::max((work.loads + (lanes ? 0 : misaligned(block))) / rates_.loads,
                                    work.stores / rates_.stores);
    const double ahead =
        block ? std::max(1.0, kLookAhead / static_cast<double>(std::max<size_t>(1, b.count))) : 1;
    p.latency = times * std::max(b.chain, b.path / ahead / gain);
    for (const AccessGroup& g : t.groups()) {
      if (g.block != static_cast<int>(block)) continue;
      caches(g, p);
    }
    return p;
  }

private:
  /// Vectors that cross the end of a line, a turn.
  double misaligned(size_t block) const {
    double more = 0;
    for (const AccessGroup& g : walk_.traffic().groups())
      if (g.block == static_cast<int>(block) && !g.isStore && !g.isAligned)
        more +=
            static_cast<double>(g.offsets.size()) * std::min(1.0, static_cast<double>(g.width) / kLineBytes);
    return more;
  }
  void caches(const AccessGroup& g, Prices& p) const {
    const AccessTraffic& t = walk_.traffic();
    const double threads = std::min(walk_.threads(), rates_.cores), run = t.runBytes(g);
    // What is stored goes further out only once it no longer fits.
    auto rate = [&](const MemoryRates& m, const MemoryRates& into) {
      const bool stays = t.footprint(0) <= static_cast<double>(into.bytes);
      return g.isStore && !stays && !g.isStreamed ? m.write : threads > 1 ? m.shared : m.read;
    };
    const double since = sinceOf(walk_, state_, g.buffer),
                 second = t.linesFrom(g, static_cast<double>(rates_.first.bytes), since),
                 last = t.linesFrom(g, static_cast<double>(rates_.second.bytes), since),
                 memory = t.linesFrom(g, static_cast<double>(rates_.last.bytes) / threads, since);
    p.caches += cyclesOf(second - last, run, rate(rates_.second, rates_.first), rates_.second.scattered) +
                cyclesOf(last - memory, run, rate(rates_.last, rates_.second), rates_.last.scattered);
    p.memory += cyclesOf(memory, run, rate(rates_.memory, rates_.last), rates_.memory.scattered);
  }
  const ProgramWalk& walk_;
  const MachineRates& rates_;
  const LaunchState& state_;
};

/// Nanoseconds until the first value is there, which so many bytes have passed since.
double firstValueNs(double since, const MachineRates& r) {
  if (since <= static_cast<double>(r.second.bytes)) return 0;
  return since <= static_cast<double>(r.last.bytes) ? r.last.latencyNs : r.memory.latencyNs;
}

double launchNs(const ProgramWalk& walk, size_t instructions, const MachineRates& r,
                const LaunchState& state) {
  const double start = walk.threads() == 1 ? r.launchNs : state.asleep ? r.wakeNs : r.threadsNs;
  const double lines = static_cast<double>(instructions) * kCodeBytes / kLineBytes;
  double code = 0;
  if (state.newCode)
    code = kNewCodeNs + lines * r.last.latencyNs;
  else if (state.first)
    code = kFreshCodeNs + lines * r.second.latencyNs;
  else if (state.sinceCode > static_cast<double>(r.second.bytes))
    code = std::max(kOldCodeNs / static_cast<double>(std::clamp<int64_t>(state.fastestOf, 1, kMostChosen)),
                    state.sinceCode > static_cast<double>(r.last.bytes) ? kFarCodeNs : 0);
  double since = 0;
  for (const AccessGroup& g : walk.traffic().groups())
    if (!g.isStore) since = std::max(since, sinceOf(walk, state, g.buffer));
  return start + firstValueNs(since, r) + code + state.newBytes * r.newByteNs +
         state.newLargeBytes * r.newLargeByteNs;
}

} // namespace

std::string_view timePartName(TimePart part) {
  switch (part) {
  case TimePart::Arithmetic: return "arithmetic";
  case TimePart::FirstCache: return "first cache";
  case TimePart::Caches: return "caches";
  case TimePart::Memory: return "memory";
  case TimePart::Latency: return "latency";
  case TimePart::Launch: break;
  }
  return "launch";
}

TimePart PredictedTime::bound() const {
  return static_cast<TimePart>(std::ranges::max_element(parts) - parts.begin());
}

PredictedTime predictTime(std::span<const UOp> program, const MachineRates& rates, const LaunchState& state) {
  PredictedTime out;
  if (!rates.known() || program.empty()) return out;
  const ProgramWalk walk(program, rates, state.share);
  if (!walk.understood()) return out;
  out.threads = walk.threads();
  const double second = rates.cycleNs * 1e-9;
  double cycles = 0;
  Prices sum;
  const Pricing pricing(walk, rates, state);
  for (size_t block = 0; block < walk.blocks().size(); ++block) {
    const Prices p = pricing.of(block);
    cycles += together({std::max({p.arithmetic, p.firstCache, p.latency}), p.caches, p.memory});
    sum.arithmetic += p.arithmetic, sum.firstCache += p.firstCache, sum.latency += p.latency;
    sum.caches += p.caches, sum.memory += p.memory;
  }
  // More threads than cores take turns.
  const double turns = std::ceil(static_cast<double>(walk.threads()) / rates.cores);
  const double launch = launchNs(walk, program.size(), rates, state);
  out.parts = {sum.arithmetic * second * turns, sum.firstCache * second * turns, sum.caches * second * turns,
               sum.memory * second * turns,     sum.latency * second * turns,    launch * 1e-9};
  out.seconds = cycles * second * turns + launch * 1e-9;
  return out;
}

} // namespace uopscope
