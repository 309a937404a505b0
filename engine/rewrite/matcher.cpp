// Dispatch. Each operation has the list of rules whose root may have it, in order. Bit tables then select the
// rules that can match a node, by the node and the operations of its first sources.
#include "engine/rewrite/matcher.h"

#include "engine/base/error.h"
#include "engine/rewrite/counters.h"
#include "engine/rewrite/match_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <map>
#include <mutex>

namespace uopscope {

namespace {

struct Identities {
  std::mutex mutex;
  std::map<std::vector<const RuleDef*>, uint64_t> numbers;
};

uint64_t identityOf(const std::vector<std::shared_ptr<const Rule>>& rules) {
  std::vector<const RuleDef*> definitions;
  for (const auto& rule : rules) {
    if (!rule->definition()) return 0;
    definitions.push_back(rule->definition());
  }
  static Identities known;
  std::lock_guard lock(known.mutex);
  return known.numbers.try_emplace(std::move(definitions), known.numbers.size() + 1).first->second;
}

} // namespace

// A member of PatternMatcher has this type, so it has a name that other files see (g++ warns otherwise where files are compiled
// together).

/// The variants ("ways") of all rules for one operation, in order, and tables with a bit per way. The tables
/// select the ways that can match a node: by its scalar kind, its number of sources, and the operations of
/// its first three sources.
struct ForOp {
  static constexpr size_t kPositions = MatchVariant::kSources,
                          kCounts = 6; ///< larger counts of sources share the last table row
  struct Way {
    uint32_t rule, place, firstStep, stepCount; ///< place: position of the rule in `rules`
    bool bindsAll; ///< it binds every variable of the rule, so none needs to be cleared first
  };
  std::vector<Way> ways;
  std::vector<uint32_t> rules; ///< rules that have a way, in order
  std::vector<MatchStep> steps;
  size_t words = 0;
  std::array<std::array<uint8_t, kOpCount>, kPositions>
      classOf{}; ///< operations that no rule distinguishes are in one class
  std::array<std::vector<uint64_t>, kPositions> byClass;
  std::vector<uint64_t> byKind, byCount;

  void add(uint32_t rule, const Rule& source, const MatchVariant& v) {
    if (rules.empty() || rules.back() != rule) rules.push_back(rule);
    auto first = static_cast<uint32_t>(steps.size());
    uint64_t bound = 0;
    bool repeats = false;
    for (const MatchStep& step : v.steps) {
      repeats |= step.kind == MatchStep::Kind::Repeat;
      if (step.kind == MatchStep::Kind::Bind) bound |= uint64_t{1} << step.index;
      if (!v.implied(step)) steps.push_back(step);
    }
    bool all = !repeats && bound + 1 == uint64_t{1} << source.vars().size();
    ways.push_back({rule, static_cast<uint32_t>(rules.size()) - 1, first,
                    static_cast<uint32_t>(steps.size()) - first, all});
    variants.push_back(&v);
  }

  /// Builds the tables, once all ways are added.
  void finish() {
    words = (ways.size() + 63) / 64;
    byKind = table(kScalarCount,
                   [](const MatchVariant& v, size_t kind) { return !v.dtypes || (v.dtypes >> kind & 1); });
    byCount = table(kCounts, [](const MatchVariant& v, size_t count) {
      return count + 1 == kCounts ? v.atMost + size_t{1} >= kCounts : v.atLeast <= count && count <= v.atMost;
    });
    for (size_t position = 0; position < kPositions; ++position) {
      std::vector<Op> member = classify(position);
      byClass[position] = table(
          member.size(), [&](const MatchVariant& v, size_t k) { return v.sources[position].has(member[k]); });
    }
    variants.clear();
  }

private:
  std::vector<const MatchVariant*> variants; ///< variants of the ways, until finish()

  /// Fills classOf: every set of operations that a way accepts splits the existing classes. Returns one
  /// operation of each class.
  std::vector<Op> classify(size_t position) {
    auto& classes = classOf[position];
    std::vector<OpSet> wanted;
    for (const MatchVariant* v : variants)
      if (std::find(wanted.begin(), wanted.end(), v->sources[position]) == wanted.end())
        wanted.push_back(v->sources[position]);
    int count = 1;
    for (const OpSet& set : wanted) {
      std::array<int, 2 * kOpCount> now;
      now.fill(-1);
      count = 0;
      for (size_t op = 0; op < kOpCount; ++op) {
        int& place = now[2 * size_t{classes[op]} + set.has(static_cast<Op>(op))];
        if (place < 0) place = count++;
        classes[op] = static_cast<uint8_t>(place);
      }
    }
    std::vector<Op> member(static_cast<size_t>(count));
    for (size_t op = kOpCount; op-- > 0;) member[classes[op]] = static_cast<Op>(op);
    return member;
  }

  template <typename Accepts>
  std::vector<uint64_t> table(size_t rows, Accepts accepts) const {
    std::vector<uint64_t> bits(rows * words);
    for (size_t row = 0; row < rows; ++row)
      for (size_t w = 0; w < variants.size(); ++w)
        if (accepts(*variants[w], row)) bits[row * words + w / 64] |= uint64_t{1} << (w % 64);
    return bits;
  }
};

struct PatternMatcher::Compiled {
  std::vector<std::shared_ptr<const Rule>> rules;
  std::vector<std::shared_ptr<const std::vector<MatchVariant>>> variants; ///< by rule
  OpSet roots;
  uint64_t identity = 0;

  explicit Compiled(std::vector<std::shared_ptr<const Rule>> all) : rules(std::move(all)) {
    for (const auto& rule : rules)
      for (const MatchVariant& v : *variants.emplace_back(variantsOf(*rule))) roots = roots | v.root;
    identity = identityOf(rules);
  }

  /// The tables of an operation. They are made when a node of the operation is first met: a process meets few
  /// of all pairs of matcher and operation.
  const ForOp* forOp(Op op) const {
    if (!roots.has(op)) return nullptr;
    const ForOp* made = byOp_[static_cast<size_t>(op)].load(std::memory_order_acquire);
    return made ? made : makeForOp(op);
  }

private:
  const ForOp* makeForOp(Op op) const {
    std::lock_guard lock(mutex_);
    auto& place = byOp_[static_cast<size_t>(op)];
    if (const ForOp* made = place.load(std::memory_order_relaxed)) return made;
    auto list = std::make_unique<ForOp>();
    for (uint32_t r = 0; r < rules.size(); ++r)
      for (const MatchVariant& v : *variants[r])
        if (v.root.has(op)) list->add(r, *rules[r], v);
    list->finish();
    place.store(list.get(), std::memory_order_release);
    return owned_.emplace_back(std::move(list)).get();
  }

  mutable std::mutex mutex_;
  mutable std::array<std::atomic<const ForOp*>, kOpCount> byOp_{};
  mutable std::vector<std::unique_ptr<const ForOp>> owned_;
};

namespace {

std::vector<std::shared_ptr<const Rule>> rulesOf(std::initializer_list<std::span<const RuleDef>> families) {
  std::vector<std::shared_ptr<const Rule>> rules;
  for (auto family : families)
    for (const RuleDef& def : family) rules.push_back(std::make_shared<const Rule>(def));
  return rules;
}

} // namespace

PatternMatcher::PatternMatcher() : PatternMatcher(std::vector<std::shared_ptr<const Rule>>()) {}
PatternMatcher::PatternMatcher(std::initializer_list<std::span<const RuleDef>> families)
    : PatternMatcher(rulesOf(families)) {}
PatternMatcher::PatternMatcher(std::vector<std::shared_ptr<const Rule>> rules)
    : compiled_(std::make_shared<const Compiled>(std::move(rules))) {}
PatternMatcher::~PatternMatcher() = default;
PatternMatcher::PatternMatcher(const PatternMatcher&) = default;
PatternMatcher::PatternMatcher(PatternMatcher&&) noexcept = default;
PatternMatcher& PatternMatcher::operator=(PatternMatcher o) noexcept {
  std::swap(compiled_, o.compiled_);
  return *this;
}

PatternMatcher PatternMatcher::operator+(const PatternMatcher& o) const {
  auto rules = compiled_->rules;
  rules.insert(rules.end(), o.compiled_->rules.begin(), o.compiled_->rules.end());
  return PatternMatcher(std::move(rules));
}

const std::vector<std::shared_ptr<const Rule>>& PatternMatcher::rules() const {
  return compiled_->rules;
}

const OpSet& PatternMatcher::roots() const {
  return compiled_->roots;
}
uint64_t PatternMatcher::identity() const {
  return compiled_->identity;
}

namespace {
/// The nodes that the steps of a pattern bind. A register is written before it is read.
union Registers {
  constexpr Registers() {}
  UOp at[kMatchRegisters];
};
} // namespace

UOp PatternMatcher::rewrite(UOp node, const PassContext& ctx, Observer* observer, MatchCounters* counters,
                            bool bottomUp, Attempts* attempts) const {
  const ForOp* list = compiled_->forOp(node.op());
  if (!list) return {};
  const size_t words = list->words, sourceCount = node.srcCount();
  std::array<const uint64_t*, ForOp::kPositions> bySource;
  const size_t positions = std::min(sourceCount, ForOp::kPositions);
  for (size_t i = 0; i < positions; ++i)
    bySource[i] = &list->byClass[i][list->classOf[i][static_cast<size_t>(node.src(i).op())] * words];
  const uint64_t* byKind = &list->byKind[static_cast<size_t>(node.dtype().kind()) * words];
  const uint64_t* byCount = &list->byCount[std::min(sourceCount, ForOp::kCounts - 1) * words];

  Match match;
  match.root_ = node;
  match.ctx_ = ctx.object();
  match.ctxType_ = ctx.type();
  Registers registers;
  registers.at[0] = node;

  // The rule that is being tried, and its outcome so far.
  const Rule* rule = nullptr;
  uint32_t ruleIndex = 0, place = 0;
  Outcome outcome = Outcome::StructureDiffers;
  uint64_t functionTicks = 0, start = 0;
  const bool sampled = counters && counters->startNode(node.op(), list->rules);
  const bool followed = observer && observer->wantsRewrites(), timed = followed || counters;
  auto close = [&] {
    if (!counters || !rule) return;
    uint64_t spent = outcome != Outcome::StructureDiffers ? functionTicks
                     : sampled                            ? (ticks() - start) * MatchCounters::kSampleEvery
                                                          : 0;
    counters->count(place, node.op(), outcome, spent);
  };

  for (size_t word = 0; word < words; ++word) {
    uint64_t possible = byKind[word] & byCount[word];
    for (size_t i = 0; i < positions; ++i) possible &= bySource[i][word];
    for (; possible; possible &= possible - 1) {
      const ForOp::Way& way = list->ways[word * 64 + static_cast<size_t>(std::countr_zero(possible))];
      if (!rule || way.rule != ruleIndex) {
        close();
        ruleIndex = way.rule;
        place = way.place;
        rule = compiled_->rules[ruleIndex].get();
        match.varNames_ = rule->vars().data();
        match.varCount_ = rule->vars().size();
        outcome = Outcome::StructureDiffers;
        functionTicks = 0;
        if (sampled) start = ticks();
      }
      if (!way.bindsAll) std::fill_n(match.binds_.at, match.varCount_, UOp());
      std::span steps(list->steps.data() + way.firstStep, way.stepCount);
      if (runSteps(steps, registers.at, match.binds_.at) != way.stepCount) continue;

      uint64_t before = timed ? ticks() : 0;
      uint32_t firstNew = node.node()->pool->nextId();
      UOp result;
      match.declined_ = nullptr;
      try {
        result = rule->apply(match);
      } catch (const std::exception& e) {
        if (counters) counters->stop(place, node.op());
        if (observer) observer->onRuleError(*rule, node, e.what());
        throw;
      }
      uint64_t spent = timed ? ticks() - before : 0;
      functionTicks += spent;
      if (!result) {
        outcome = Outcome::Declined;
        if (counters && match.declined_) counters->countReason(place, node.op(), match.declined_);
        continue;
      }
      if (isGate(result)) {
        if (counters) counters->stop(place, node.op());
        return result;
      }
      if (result == node) {
        outcome = Outcome::Unchanged;
        if (followed) observer->onUnchanged(*rule, node);
        continue;
      }
      if (followed) {
        Control answer = observer->onRewrite({rule, node, result, ticksToNs(spent), firstNew, bottomUp});
        if (answer == Control::Skip) {
          outcome = Outcome::Declined;
          if (attempts) attempts->skipped = true;
          continue;
        }
      }
      outcome = Outcome::Applied;
      close();
      if (attempts) attempts->fired = rule;
      return result;
    }
  }
  close();
  return {};
}

namespace {

/// The path of a register from the root, "src[1].src[0]", found by following the loads that filled it.
std::string pathOf(std::span<const MatchStep> steps, uint8_t reg) {
  if (reg == 0) return "the node";
  for (const MatchStep& s : steps) {
    if (s.reg != reg || (s.kind != MatchStep::Kind::Load && s.kind != MatchStep::Kind::Repeat)) continue;
    std::string leaf = s.kind == MatchStep::Kind::Load ? fmt::format("src[{}]", s.index) : "a source";
    return s.from == 0 ? leaf : pathOf(steps, s.from) + "." + leaf;
  }
  return "a source";
}

std::string opsOfWords(uint64_t a, uint64_t b) {
  std::string text;
  for (int op = 0; op < kOpCount; ++op)
    if ((op < 64 ? a : b) >> (op & 63) & 1)
      text += (text.empty() ? "" : " or ") + std::string(opName(static_cast<Op>(op)));
  return text;
}

std::string explainStep(std::span<const MatchStep> steps, size_t failed, const UOp* registers,
                        const UOp* binds, const Rule& rule) {
  const MatchStep& s = steps[failed];
  UOp u = registers[s.reg];
  std::string where = pathOf(steps, s.reg);
  switch (s.kind) {
  case MatchStep::Kind::Ops:
    return fmt::format("{} is {}, the rule wants {}", where, opName(u.op()), opsOfWords(s.a, s.b));
  case MatchStep::Kind::SrcCount:
    return fmt::format("{} ({}) has {} sources, the rule wants {}", where, opName(u.op()), u.srcCount(),
                       s.index);
  case MatchStep::Kind::SrcAtLeast:
    return fmt::format("{} ({}) has {} sources, the rule wants at least {}", where, opName(u.op()),
                       u.srcCount(), s.index);
  case MatchStep::Kind::DTypes:
  case MatchStep::Kind::ExactDType:
    return fmt::format("{} ({}) has dtype {}, the rule wants another", where, opName(u.op()),
                       u.dtype().name());
  case MatchStep::Kind::ArgEqual:
    return fmt::format("{} ({}) has arg {}, the rule wants {}", where, opName(u.op()), u.arg().repr(),
                       Arg::fromRaw(static_cast<ArgKind>(s.index), s.a).repr());
  case MatchStep::Kind::ArgNumber:
    return fmt::format("{} ({}) has arg {}, the rule wants {}", where, opName(u.op()), u.arg().repr(),
                       std::bit_cast<double>(s.a));
  case MatchStep::Kind::Same:
    return fmt::format("{} ({} {}) is not the node bound to {} ({} {})", where, opName(u.op()), u.id(),
                       rule.vars()[s.index].data(), opName(binds[s.index].op()), binds[s.index].id());
  default: return fmt::format("{} does not fit", where);
  }
}

} // namespace

std::string PatternMatcher::explainFunction(const Rule& rule, UOp node, std::span<const UOp> binds,
                                            const PassContext& ctx) {
  ObserverScope unobserved(nullptr);
  Match match;
  match.root_ = node;
  match.ctx_ = ctx.object();
  match.ctxType_ = ctx.type();
  match.varNames_ = rule.vars().data();
  match.varCount_ = rule.vars().size();
  std::copy(binds.begin(), binds.end(), match.binds_.at);
  try {
    UOp result = rule.apply(match);
    if (result && result != node) return {};
    if (result) return "its result is the node itself";
  } catch (const std::exception& e) {
    return fmt::format("the pattern matches; the rule cannot be tried outside its pass: {}", e.what());
  }
  return match.declined() ? match.declined() : "the pattern matches; the rule's function declines";
}

std::string PatternMatcher::explain(const Rule& rule, UOp node, const PassContext& ctx) const {
  std::string best;
  size_t furthest = 0;
  const auto variants = variantsOf(rule); // the only owner, for a rule made at run time
  for (const MatchVariant& variant : *variants) {
    std::string reason;
    size_t passed = 0;
    if (!variant.root.has(node.op())) {
      reason = fmt::format("the node is {}, the rule wants {}", opName(node.op()), rule.patternText());
    } else {
      std::array<UOp, kMatchRegisters> registers;
      std::array<UOp, Match::kMaxBinds> binds;
      registers[0] = node;
      size_t at = runSteps(variant.steps, registers.data(), binds.data());
      passed = at + 1;
      if (at == variant.steps.size()) {
        reason = explainFunction(rule, node, std::span(binds).first(rule.vars().size()), ctx);
        if (reason.empty()) return {};
      } else
        reason = explainStep(variant.steps, at, registers.data(), binds.data(), rule);
    }
    if (best.empty() || passed > furthest) {
      best = reason;
      furthest = passed;
    }
  }
  return best;
}

} // namespace uopscope
