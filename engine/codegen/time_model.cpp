// A walk over the program collects the work of each loop's own instructions; loops are then priced one by one.
#include "engine/codegen/time_model.h"

#include "engine/codegen/access_traffic.h"
#include "engine/codegen/instruction_work.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace uopscope {

namespace {

constexpr double kOverlap = 4;    ///< 1: parts are added up; infinite: the longest one counts alone
constexpr double kLeftLoop = 0.5; ///< of a misprediction, each time that a long loop is left
constexpr double kForeseen = 32;  ///< turns of a loop whose end a processor foresees
/// Part of the lanes that LLVM makes of the turns of a loop: what is left over is done singly.
constexpr double kLaneGain = 0.5;
constexpr double kFewTurns = 4; ///< a shorter loop is written out
/// A kernel that runs for the first time just after it was compiled; after others were; that ran long ago. The fastest of many
/// launches finds its code nearer, but in memory at best.
constexpr double kFreshCodeNs = 120, kNewCodeNs = 550, kOldCodeNs = 600, kFarCodeNs = 100;
constexpr int64_t kMostChosen = 16; ///< more launches find nothing faster
constexpr double kCodeBytes = 6;    ///< of an instruction of the program, in machine code
constexpr double kWindow = 448;     ///< instructions that a processor looks ahead

struct Block {
  Work work;
  bool innermost = true;
  double chain = 0; ///< cycles until the next turn may begin
  double path = 0;  ///< cycles from the first to the last instruction of a turn
  size_t count = 0; ///< instructions
};

/// The sum of parts that overlap: between the longest and all of them.
double together(std::initializer_list<double> parts) {
  double most = 0, sum = 0;
  for (const double p : parts) most = std::max(most, p);
  if (most <= 0) return 0;
  for (const double p : parts) sum += std::pow(p / most, kOverlap);
  return most * std::pow(sum, 1 / kOverlap);
}

class Walk {
public:
  Walk(std::span<const UOp> program, const MachineRates& rates, double share)
      : rates_(rates), share_(share), work_(program, rates.registerLanes), blocks_(1) {
    for (UOp u : program) visit(u);
    traffic_.finish();
    std::ranges::sort(globals_, {}, [](UOp g) { return g.arg().i(); });
  }
  bool understood() const { return understood_; }
  int threads() const { return threads_; }
  const std::vector<Block>& blocks() const { return blocks_; }
  const AccessTraffic& traffic() const { return traffic_; }
  const std::vector<UOp>& globals() const { return globals_; } ///< by their numbers

private:
  void visit(UOp u) {
    if (u.is(Op::SPECIAL) || u.is(Op::WMMA)) understood_ = false;
    if (u.is(Op::DEFINE_VAR) && u.arg().as<VarArg>().name == "core_id")
      threads_ = static_cast<int>(u.arg().as<VarArg>().vmax + 1);
    if (u.is(Op::DEFINE_GLOBAL) && u.arg().kind() == ArgKind::Int) globals_.push_back(u);
    if (u.is(Op::RANGE)) {
      traffic_.open(u, turnsOf(u.src(0)));
      ranges_.push_back(u);
      blocks_[static_cast<size_t>(traffic_.parent(traffic_.current()))].innermost = false;
      blocks_.emplace_back();
      started_.emplace_back();
    }
    if (u.is(Op::END)) {
      for (size_t i = 1; i < u.srcCount() && !ranges_.empty(); ++i) {
        traffic_.close();
        ranges_.pop_back();
        started_.pop_back();
      }
      return;
    }
    const auto block = static_cast<size_t>(traffic_.current());
    blocks_[block].work += work_.of(u);
    ++blocks_[block].count;
    if (u.is(Op::LOAD) || u.is(Op::STORE)) {
      const UOp index = accessIndex(u);
      if (index.is(Op::INDEX) && !index.bufferOf().is(Op::DEFINE_REG)) traffic_.add(u);
    }
    follow(u, block);
  }

  double turnsOf(UOp extent) const {
    const auto most = static_cast<double>(std::max<int64_t>(1, extent.vmax()));
    return extent.isConst() ? most : std::max(1.0, std::round(most * share_));
  }
  /// Chains of operations: a turn of a loop reads what the turn before it stored at an address that does not depend on the
  /// loop. The length grows from that load to the store.
  void follow(UOp u, size_t block) {
    straight(u, block);
    if (ranges_.empty()) return;
    auto& started = started_.back();
    if (u.is(Op::LOAD)) {
      const UOp index = accessIndex(u);
      if (!index.is(Op::INDEX) || index.src(1).dependsOn(ranges_.back())) return;
      const std::pair key{index.bufferOf(), index.src(1)};
      const auto before = started.stored.find(key);
      if (before != started.stored.end()) {
        if (before->second >= 0) depth_[u] = {block, before->second};
      } else {
        depth_[u] = {block, work_.inRegisters(u) ? 0 : rates_.forwarding};
        started.loaded.insert(key);
      }
      return;
    }
    double longest = -1;
    for (UOp s : u.src())
      if (const auto d = depth_.find(s); d != depth_.end() && d->second.first == block)
        longest = std::max(longest, d->second.second);
    if (u.is(Op::STORE)) {
      const UOp index = accessIndex(u);
      if (!index.is(Op::INDEX)) return;
      const std::pair key{index.bufferOf(), index.src(1)};
      started.stored[key] = longest;
      if (longest >= 0 && started.loaded.contains(key)) {
        double& chain = blocks_[block].chain;
        chain = std::max(chain, longest);
      }
      return;
    }
    if (longest >= 0) depth_[u] = {block, longest + InstructionWork::latency(u) * rates_.latency};
  }

  /// A turn takes as long as what waits for each other in it, unless the processor looks ahead to the next one.
  void straight(UOp u, size_t block) {
    double longest = 0;
    for (UOp s : u.src())
      if (const auto d = ready_.find(s); d != ready_.end() && d->second.first == block)
        longest = std::max(longest, d->second.second);
    const double cycles = longest + (u.is(Op::LOAD) && !work_.inRegisters(u) ? rates_.forwarding / 2 : 0) +
                          InstructionWork::latency(u) * rates_.latency;
    ready_[u] = {block, cycles};
    blocks_[block].path = std::max(blocks_[block].path, cycles);
  }

  struct Place {
    bool operator()(const std::pair<UOp, UOp>& a, const std::pair<UOp, UOp>& b) const {
      return std::pair(a.first.id(), a.second.id()) < std::pair(b.first.id(), b.second.id());
    }
  };
  struct Started {
    std::set<std::pair<UOp, UOp>, Place> loaded;
    std::map<std::pair<UOp, UOp>, double, Place> stored;
  };
  const MachineRates& rates_;
  double share_;
  InstructionWork work_;
  AccessTraffic traffic_;
  std::vector<Block> blocks_;
  std::vector<UOp> ranges_, globals_;
  std::vector<Started> started_;
  UOpMap<std::pair<size_t, double>> ready_; ///< its loop, cycles since the turn began
  UOpMap<std::pair<size_t, double>> depth_; ///< of a value on a chain: its loop, cycles since the load
  int threads_ = 1;
  bool understood_ = true;
};

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
double sinceOf(const Walk& walk, const LaunchState& state, UOp buffer) {
  const auto at = static_cast<size_t>(std::ranges::find(walk.globals(), buffer) - walk.globals().begin());
  return at < state.since.size() ? state.since[at] : 0;
}

class Pricing {
public:
  Pricing(const Walk& walk, const MachineRates& rates, const LaunchState& state)
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
        block ? std::max(1.0, kWindow / static_cast<double>(std::max<size_t>(1, b.count))) : 1;
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
      return g.isStore && !stays ? m.write : threads > 1 ? m.shared : m.read;
    };
    const double since = sinceOf(walk_, state_, g.buffer),
                 second = t.linesFrom(g, static_cast<double>(rates_.first.bytes), since),
                 last = t.linesFrom(g, static_cast<double>(rates_.second.bytes), since),
                 memory = t.linesFrom(g, static_cast<double>(rates_.last.bytes) / threads, since);
    p.caches += cyclesOf(second - last, run, rate(rates_.second, rates_.first), rates_.second.scattered) +
                cyclesOf(last - memory, run, rate(rates_.last, rates_.second), rates_.last.scattered);
    p.memory += cyclesOf(memory, run, rate(rates_.memory, rates_.last), rates_.memory.scattered);
  }
  const Walk& walk_;
  const MachineRates& rates_;
  const LaunchState& state_;
};

/// Nanoseconds until the first value is there, which so many bytes have passed since.
double firstValueNs(double since, const MachineRates& r) {
  if (since <= static_cast<double>(r.second.bytes)) return 0;
  return since <= static_cast<double>(r.last.bytes) ? r.last.latencyNs : r.memory.latencyNs;
}

double launchNs(const Walk& walk, size_t instructions, const MachineRates& r, const LaunchState& state) {
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
  const Walk walk(program, rates, state.share);
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
