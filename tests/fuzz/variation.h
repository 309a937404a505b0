// How a random program is compiled for the CPU, drawn from its seed: settings, random Opts for its kernels,
// rules of the engine that are switched off. None of it may change a value.
//
//   Variation v = variationOf(17);
//   { EngineSession own; EngineSessionScope in(own); ContextScope settings(v.settings); v.realize(outputs); }
//   v.text()      // "SPEC=1 NOOPT=0 .., random Opts, without mul-one"
#pragma once
#include "engine/base/context_var.h"
#include "engine/codegen/codegen.h"
#include "engine/codegen/opt.h"
#include "engine/rewrite/matcher.h"
#include "engine/rewrite/observer.h"
#include "engine/runtime/device.h"
#include "engine/runtime/run_schedule.h"
#include "engine/runtime/search.h"
#include "engine/tensor/tensor.h"
#include "replay/record/rewrite_limits.h"

#include <fmt/ranges.h>

#include <cstdlib>
#include <mutex>
#include <random>
#include <set>

namespace uopscope::fuzz {

/// The device that is compared with REF.
inline const std::string& deviceUnderTest() {
  static const std::string name =
      std::getenv("UOPSCOPE_FUZZ_DEVICE") ? std::getenv("UOPSCOPE_FUZZ_DEVICE") : "CPU";
  return name;
}

/// Leaves out every rewrite of the rules that a seed chooses: one optional rule in `kOneIn`.
class RulesOff final : public Observer {
public:
  static constexpr uint64_t kOneIn = 5;
  struct Met {
    std::mutex lock;
    std::set<std::string, std::less<>> rules; ///< those that would have applied
  };
  RulesOff(uint64_t seed, std::shared_ptr<Met> met) : seed_(seed), met_(std::move(met)) {}

  Control onRewrite(const RewriteEvent& event) override {
    if (!isOptionalRule(*event.rule) ||
        std::hash<std::string_view>{}(event.rule->name()) % kOneIn != seed_ % kOneIn)
      return Control::Apply;
    std::lock_guard hold(met_->lock);
    met_->rules.emplace(event.rule->name());
    return Control::Skip;
  }
  std::unique_ptr<Observer> fork(uint64_t) override { return std::make_unique<RulesOff>(seed_, met_); }

private:
  uint64_t seed_;
  std::shared_ptr<Met> met_;
};

struct Variation {
  std::vector<std::pair<std::string, int64_t>> settings;
  bool randomOpts = false, rulesOff = false;
  uint64_t seed = 0;
  std::shared_ptr<RulesOff::Met> met = std::make_shared<RulesOff::Met>();

  /// A session of its own: no kernel that was made otherwise is found there, and none of its is left behind.
  bool wantsSession() const { return randomOpts || rulesOff; }
  std::string text() const {
    std::string all;
    for (const auto& [name, value] : settings)
      all += fmt::format("{}{}={}", all.empty() ? "" : " ", name, value);
    if (randomOpts) all += ", random Opts";
    if (rulesOff) all += fmt::format(", without {}", fmt::join(met->rules, " "));
    return all;
  }
  void realize(const std::vector<Tensor>& outputs) const;
};

inline Variation variationOf(uint64_t seed) {
  std::mt19937_64 random(seed * 31 + 7);
  auto oneIn = [&](uint64_t n) { return random() % n == 0 ? 1 : 0; };
  Variation v;
  v.seed = seed;
  v.settings = {
      {"SPEC", 1 + oneIn(8)},          {"CPU_LLVM", 1 - oneIn(25)},     {"NOOPT", oneIn(6)},
      {"NO_MEMORY_PLANNER", oneIn(6)}, {"DISABLE_FAST_IDIV", oneIn(6)}, {"SPLIT_REDUCEOP", 1 - oneIn(6)},
      {"IGNORE_OOB", oneIn(2)}};
  v.randomOpts = oneIn(4) != 0;
  v.rulesOff = oneIn(6) != 0;
  v.settings.emplace_back("PLAIN", oneIn(8));
  return v;
}

/// Some Opts that this kernel accepts, at most 64 lanes of them.
inline std::vector<Opt> randomOptsFor(UOp ast, const Target& target, std::mt19937_64& random) {
  constexpr OptOp kOps[] = {OptOp::UPCAST, OptOp::UPCAST, OptOp::UNROLL,
                            OptOp::PADTO,  OptOp::SWAP,   OptOp::THREAD};
  constexpr int64_t kAmounts[] = {0, 2, 3, 4, 5, 7, 8, 16};
  Pool scratch;
  PoolScope pool(scratch);
  ObserverScope unheard(nullptr);
  KernelOptimizer s(readyForOpts(scratch.import(ast), target), target);
  s.loopsToGlobal();
  for (uint64_t tries = 2 + random() % 12; tries && !s.ranges().empty(); --tries) {
    const OptOp op = kOps[random() % std::size(kOps)];
    const auto axis = static_cast<int>(random() % s.ranges().size());
    const int64_t amount = op == OptOp::SWAP    ? static_cast<int64_t>(random() % s.ranges().size())
                           : op == OptOp::PADTO ? int64_t{8}
                                                : kAmounts[random() % std::size(kAmounts)];
    KernelOptimizer next = s;
    try {
      next.apply({op, axis, {amount}});
    } catch (const Error&) { // it does not fit: the kernel says so and stays as it was
      continue;
    }
    if (next.expandedSize() <= 64) s = next;
  }
  return s.applied();
}

inline void Variation::realize(const std::vector<Tensor>& outputs) const {
  RulesOff without(seed, met);
  std::optional<ObserverScope> observed;
  if (rulesOff) observed.emplace(&without);
  if (!randomOpts) return Tensor::realize(outputs);
  std::mt19937_64 random(seed + 99);
  Schedule schedule = Tensor::schedule(outputs);
  for (ScheduleItem& item : schedule.items) {
    if (!item.ast.is(Op::SINK)) continue;
    const KernelInfo* info =
        item.ast.arg().kind() == ArgKind::Kernel ? &item.ast.arg().as<KernelInfo>() : nullptr;
    if (info && (info->hasOptsToApply || !info->appliedOpts.empty())) continue;
    PoolScope pool(*item.pool);
    const Target& target = Device::get(deviceUnderTest()).renderer().target();
    const std::vector<Opt> opts = randomOptsFor(item.ast, target, random);
    if (std::getenv("UOPSCOPE_FUZZ_TRACE"))
      for (const Opt& o : opts) fmt::print(stderr, "  {}\n", toString(o));
    item.ast = withOpts(item.ast, opts);
  }
  runSchedule(schedule);
}

} // namespace uopscope::fuzz
