// Beam search over Opts. The attempts of a round are compiled in parallel and timed one after the other, on
// zero buffers of the kernel's sizes.
#include "engine/runtime/search.h"

#include "engine/base/context_var.h"
#include "engine/base/engine_session.h"
#include "engine/base/error.h"
#include "engine/codegen/opt.h"
#include "engine/runtime/buffer.h"
#include "engine/runtime/disk_cache.h"
#include "engine/runtime/kernel_cache.h"
#include "engine/runtime/kernel_report.h"
#include "engine/runtime/processor.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

namespace uopscope {

namespace {

constexpr int kRounds = 12;
/// A kernel with more lanes always spills registers.
constexpr int64_t kMaxExpanded = 256;
/// A launch is repeated until it has taken this much time in all, up to a number of launches.
constexpr double kTimingSeconds = 0.01;
constexpr int kTimings = 12;
/// The search goes on while a round improves the time by this factor.
constexpr double kProgress = 0.99;
/// No round begins after so many candidates for each of the best that are kept: a kernel with several reductions, as
/// attention has, offers hundreds a round, and later rounds gain a few percent.
constexpr size_t kMostCandidates = 500;

std::vector<Opt> actionsFor(const KernelOptimizer& s) {
  std::vector<Opt> actions;
  auto add = [&](OptOp op, size_t axis, int64_t amount) {
    actions.push_back({op, static_cast<int>(axis), {amount}});
  };
  const Target& target = s.target();
  // Whole vectors that do not divide a loop: tiles and threads overlap, terms are peeled off.
  auto addOverlap = [&](OptOp op, size_t axis, int64_t amount, int64_t n) {
    if (!target.hasLocal && n % amount && n > 2 * amount)
      actions.push_back({op, static_cast<int>(axis), {amount, kOverlap}});
  };
  const int64_t lanes = std::max(4, target.aluLanes);
  for (size_t a = 0; a < s.ranges().size(); ++a) {
    AxisType type = s.ranges()[a].axisType();
    int64_t n = s.extent(a);
    bool output = type == AxisType::Loop || type == AxisType::Global || type == AxisType::Local;
    if (output) {
      for (int64_t amount : {0, 2, 3, 4, 5, 7, 8, 16, 24, 32})
        if (amount ? n % amount == 0 && amount < n : n <= 32) add(OptOp::UPCAST, a, amount);
      for (int64_t amount : {lanes, 2 * lanes}) addOverlap(OptOp::UPCAST, a, amount, n);
      if (n > 8 && n % 8) add(OptOp::PADTO, a, 8);
    }
    if (type == AxisType::Loop && target.hasThreads)
      for (int64_t t = 2; t <= target.globalMax[0]; ++t) {
        add(OptOp::THREAD, a, t);
        addOverlap(OptOp::THREAD, a, t, n);
      }
    if (output && target.hasLocal)
      for (int64_t amount : {2, 3, 4, 8, 16, 32}) add(OptOp::LOCAL, a, amount);
    if (type == AxisType::Loop || type == AxisType::Global)
      for (size_t b = a + 1; b < s.ranges().size(); ++b)
        if (s.ranges()[b].axisType() == type) add(OptOp::SWAP, a, static_cast<int64_t>(b));
  }
  size_t summed = 0, unrollable = 0;
  for (size_t a : s.axesOf({AxisType::GroupReduce, AxisType::Reduce})) {
    int64_t n = s.extent(a);
    if (n > 1) {
      for (int64_t amount : {0, 2, 4, 8, 16})
        if (amount ? n % amount == 0 && amount < n : n <= 16) add(OptOp::UNROLL, unrollable, amount);
      for (int64_t amount : {lanes, 2 * lanes}) addOverlap(OptOp::UNROLL, unrollable, amount, n);
      ++unrollable;
    }
    if (s.ranges()[a].axisType() != AxisType::Reduce) continue;
    if (target.hasLocal)
      for (int64_t amount : {4, 8, 16, 32, 64}) {
        add(OptOp::GROUP, summed, amount);
        add(OptOp::GROUPTOP, summed, amount);
      }
    ++summed;
  }
  return actions;
}

/// The same Opts without one of them, with another amount of one, or with two neighbours exchanged: what no Opt that is added
/// reaches, such as a tile of 6 rows instead of 8.
std::vector<std::vector<Opt>> variationsOf(const std::vector<Opt>& opts) {
  std::vector<std::vector<Opt>> all;
  for (size_t i = 0; i < opts.size(); ++i) {
    auto without = opts;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
    all.push_back(without);
    if (i + 1 < opts.size()) {
      auto exchanged = opts;
      std::swap(exchanged[i], exchanged[i + 1]);
      all.push_back(exchanged);
    }
    if (opts[i].op != OptOp::UPCAST && opts[i].op != OptOp::UNROLL) continue;
    for (int64_t amount : {2, 3, 4, 5, 6, 7, 8, 12, 14, 16, 24, 32, 48, 64}) {
      if (amount == opts[i].arg[0]) continue;
      auto other = opts;
      other[i].arg[0] = amount;
      all.push_back(other);
    }
  }
  return all;
}

struct Attempt {
  KernelOptimizer state;
  LoweredKernel lowered = {};
  std::shared_ptr<Program> program = {};
  std::string refusal = {};
  double seconds = std::numeric_limits<double>::infinity();
  size_t number = 0;      ///< in the order of consideration
  bool isBounded = false; ///< refused if it has more operations than BEAM_UOPS_MAX
};

std::string textOf(const std::vector<Opt>& opts) {
  auto list = nlohmann::json::array();
  for (const Opt& o : opts) list.push_back(toString(o));
  return list.dump();
}

bool isTooLarge(const LoweredKernel& k) {
  return static_cast<int64_t>(k.uops.size()) > vars::beamUopsMax;
}

/// Compiles without an observer: the winning kernel is recorded when it is finally made.
void compileAll(UOp ast, std::vector<Attempt>& candidates, Device& device) {
  std::vector<UOp> asked;
  for (const Attempt& c : candidates) asked.push_back(withOpts(ast, c.state.applied()));
  std::atomic<size_t> next{0};
  auto work = [&, &session = EngineSession::current()] {
    EngineSessionScope in(session);
    ObserverScope unheard(nullptr);
    for (size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < candidates.size();) {
      Attempt& c = candidates[i];
      try {
        c.lowered = lowerKernel(asked[i], device.renderer().target());
        PoolScope pool(*c.lowered.pool);
        if (c.isBounded && isTooLarge(c.lowered)) {
          c.refusal = fmt::format("{} operations, more than BEAM_UOPS_MAX={}", c.lowered.uops.size(),
                                  vars::beamUopsMax.value());
          continue;
        }
        c.program = device.compile(c.lowered, device.renderer().render(c.lowered));
      } catch (const Error& e) {
        c.refusal = e.what();
      }
    }
  };
  std::vector<std::thread> helpers;
  for (int t = 1; t < loweringThreads(); ++t) helpers.emplace_back(work);
  work();
  for (std::thread& t : helpers) t.join();
}

/// The memory and the values of variables to run a kernel with.
class Bench {
public:
  Bench(UOp ast, Device& device) {
    for (UOp u : ast.toposort()) {
      if (u.is(Op::DEFINE_VAR)) {
        const VarArg& var = u.arg().as<VarArg>();
        values_.emplace_back(var.name, var.vmin + (var.vmax - var.vmin) / 2);
      }
      if (!u.is(Op::DEFINE_GLOBAL)) continue;
      auto at = static_cast<size_t>(u.arg().i());
      if (buffers_.size() <= at) buffers_.resize(at + 1);
      buffers_[at] = std::make_unique<Buffer>(device.name(), u.dtype().base().scalar(),
                                              std::max<int64_t>(1, u.dtype().size()));
      std::vector<std::byte> zeros(buffers_[at]->bytes());
      buffers_[at]->copyIn(zeros.data());
    }
  }

  /// The shortest time of several launches. Stops early if it is far slower than `best`.
  double time(const LoweredKernel& k, Program& program, double best) {
    std::vector<void*> memory;
    for (int position : k.globals) memory.push_back(buffers_.at(static_cast<size_t>(position))->memory());
    std::vector<int64_t> vars, global, local;
    for (UOp v : k.vars)
      vars.push_back(v.arg().as<VarArg>().name == "core_id" ? 0 : evaluate(Sint(v), values_));
    for (const Sint& s : k.globalSize) global.push_back(evaluate(s, values_));
    for (const Sint& s : k.localSize) local.push_back(evaluate(s, values_));
    double fastest = std::numeric_limits<double>::infinity(), spent = 0;
    for (int run = 0; run < kTimings && (run < 3 || spent < kTimingSeconds); ++run) {
      double seconds = program.launch(memory, vars, global, local, true);
      fastest = std::min(fastest, seconds);
      spent += seconds;
      if (seconds > 3 * best) break;
    }
    return fastest;
  }

private:
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<std::pair<std::string, int64_t>> values_;
};

void tell(const Attempt& c) {
  bool ran = c.refusal.empty();
  std::string opts = textOf(c.state.applied());
  if (Observer* observer = Observer::current())
    observer->onCandidate({opts, ran ? static_cast<int64_t>(c.seconds * 1e9) : -1, c.refusal});
  if (vars::debug >= 3)
    fmt::print("BEAM {:>12} {:>6} {}\n", ran ? fmt::format("{:.2f} us", c.seconds * 1e6) : "refused",
               c.lowered.uops.size(), opts);
}

/// Whether Opts still beat those by hand when both are timed in turns: among hundreds of candidates one is fast by chance.
bool isFaster(UOp ast, Device& device, Bench& bench, const KernelOptimizer& found,
              const KernelOptimizer& byHand) {
  constexpr int kTurns = 6;
  std::vector<Attempt> both{{.state = found}, {.state = byHand}};
  compileAll(ast, both, device);
  if (!both[0].refusal.empty() || !both[1].refusal.empty()) return both[0].refusal.empty();
  for (int turn = 0; turn < kTurns; ++turn)
    for (Attempt& a : both)
      a.seconds =
          std::min(a.seconds, bench.time(a.lowered, *a.program, std::numeric_limits<double>::infinity()));
  return both[0].seconds < kProgress * both[1].seconds;
}

SearchResult search(UOp ast, Device& device, int width) {
  SearchResult result;
  const Target& target = device.renderer().target();
  Bench bench(ast, device);
  KernelOptimizer bare = [&] {
    ObserverScope unheard(nullptr);
    KernelOptimizer s(readyForOpts(ast, target), target);
    s.loopsToGlobal();
    return s;
  }();
  UOpMap<bool> seen;
  std::vector<Attempt> beam, round;
  auto consider = [&](KernelOptimizer s, bool isBounded = true) {
    if (s.expandedSize() <= kMaxExpanded && seen.emplace(s.ast(), true).second)
      round.push_back({.state = std::move(s), .number = seen.size(), .isBounded = isBounded});
  };
  KernelOptimizer chosen = bare;
  {
    ObserverScope unheard(nullptr);
    chooseOpts(chosen);
  }
  consider(bare, false);
  consider(chosen, false);
  double best = std::numeric_limits<double>::infinity();
  for (int n = 0; n < kRounds && !round.empty(); ++n) {
    compileAll(ast, round, device);
    double before = best;
    for (Attempt& c : round) {
      if (c.refusal.empty()) c.seconds = bench.time(c.lowered, *c.program, best);
      best = std::min(best, c.seconds);
      tell(c);
      const bool ran = c.refusal.empty();
      result.candidates.push_back(
          {c.state.applied(), n, ran ? static_cast<int64_t>(c.seconds * 1e9) : -1, c.refusal});
      c.program = {};
      c.lowered = {};
    }
    for (Attempt& c : round) beam.push_back(std::move(c));
    round.clear();
    std::stable_sort(beam.begin(), beam.end(), [](auto& a, auto& b) { return a.seconds < b.seconds; });
    if (n > 0 && best > kProgress * before) break;
    if (result.candidates.size() >= kMostCandidates * static_cast<size_t>(width)) break;
    if (beam.size() > static_cast<size_t>(width)) beam.resize(static_cast<size_t>(width), Attempt{bare});
    ObserverScope unheard(nullptr);
    // In an order that times do not decide, so that the same survivors give the same candidates.
    std::vector<const Attempt*> survivors;
    for (const Attempt& c : beam) survivors.push_back(&c);
    std::ranges::sort(survivors, {}, [](const Attempt* c) { return c->number; });
    for (const Attempt* survivor : survivors) {
      for (const std::vector<Opt>& opts : variationsOf(survivor->state.applied())) {
        KernelOptimizer changed = bare;
        try {
          for (const Opt& o : opts) changed.apply(o);
        } catch (const Error& e) {
          if (e.kind() != ErrorKind::Compile) throw;
          continue;
        }
        consider(std::move(changed));
      }
      for (const Opt& action : actionsFor(survivor->state)) {
        KernelOptimizer changed = survivor->state;
        try {
          changed.apply(action);
        } catch (const Error& e) {
          if (e.kind() != ErrorKind::Compile) throw;
          continue; // a refused Opt is no error here
        }
        consider(std::move(changed));
      }
    }
  }
  result.best = beam.front().state.applied();
  if (result.best != chosen.applied() && !isFaster(ast, device, bench, beam.front().state, chosen))
    result.best = chosen.applied();
  return result;
}

std::string keyOf(const std::string& content, Device& device, int width) {
  const Target& target = device.renderer().target();
  return fmt::format("{} BEAM={} {} {} cores={} NOLOCALS={} TC={} TC_SELECT={} PLAIN={} most={}\n{}\n{}",
                     content, width, target.device, target.suffix, target.globalMax[0],
                     vars::nolocals.value(), vars::tc.value(), vars::tcSelect.value(), vars::plain.value(),
                     vars::beamUopsMax.value(), buildIdentity(), processor().name + hostIdentity());
}

/// Opts may have been kept from anybody's file: those that do not fit the kernel count as none.
bool fits(UOp ast, Device& device, const std::vector<Opt>& opts) {
  ObserverScope unheard(nullptr);
  const Target& target = device.renderer().target();
  try {
    KernelOptimizer s(readyForOpts(ast, target), target);
    s.loopsToGlobal();
    for (const Opt& o : opts) s.apply(o);
    return s.expandedSize() <= kMaxExpanded;
  } catch (const Error&) {
    return false;
  }
}

} // namespace

std::string packOpts(const std::vector<Opt>& opts) {
  auto list = nlohmann::json::array();
  for (const Opt& o : opts) list.push_back({optOpName(o.op), o.axis, o.arg});
  return list.dump();
}

std::optional<std::vector<Opt>> unpackOpts(const std::string& text) {
  try {
    std::vector<Opt> opts;
    for (const auto& o : nlohmann::json::parse(text)) {
      auto op = optOpFromName(o.at(0).get<std::string>());
      if (!op) return {};
      opts.push_back({*op, o.at(1).get<int>(), o.at(2).get<std::vector<int64_t>>()});
    }
    return opts;
  } catch (const nlohmann::json::exception&) {
    return {}; // written by a different version: search again
  }
}

UOp withOpts(UOp ast, std::vector<Opt> opts) {
  KernelInfo info;
  if (ast.arg().kind() == ArgKind::Kernel) info = ast.arg().as<KernelInfo>();
  info.hasOptsToApply = true;
  info.optsToApply = std::move(opts);
  return ast.withArg(Arg::of(info));
}

bool wantsSearch(UOp ast, Device& device) {
  if (vars::beam <= 0 || vars::noopt || !device.isTimed()) return false;
  if (ast.arg().kind() != ArgKind::Kernel) return true;
  const auto& info = ast.arg().as<KernelInfo>();
  return !info.hasOptsToApply && info.appliedOpts.empty();
}

std::string searchContent(UOp ast) {
  Pool pool;
  PoolScope scope(pool);
  const auto [a, b] = pool.import(ast).key();
  return fmt::format("{:016x}{:016x}", a, b);
}

SearchResult searchAnew(UOp ast, Device& device, int width) {
  Pool pool;
  PoolScope scope(pool);
  return search(pool.import(ast), device, width);
}

bool keepSearched(const std::string& content, Device& device, int width, const std::vector<Opt>& opts) {
  DiskCache* cache = DiskCache::named("beam");
  if (cache) cache->store(keyOf(content, device, width), packOpts(opts));
  return cache != nullptr;
}

std::vector<Opt> searchOpts(UOp ast, Device& device, int width) {
  Pool pool;
  PoolScope scope(pool);
  UOp mine = pool.import(ast);
  const std::string content = searchContent(mine);
  DiskCache* cache = vars::ignoreBeamCache ? nullptr : DiskCache::named("beam");
  if (cache)
    if (auto kept = cache->find(keyOf(content, device, width)))
      if (auto opts = unpackOpts(*kept); opts && fits(mine, device, *opts)) return *opts;
  std::vector<Opt> found = search(mine, device, width).best;
  if (cache) keepSearched(content, device, width, found);
  return found;
}

} // namespace uopscope
