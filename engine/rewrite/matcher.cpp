// Dispatch: for each operation the rules whose root may have it, in order, each with its variants.
#include "engine/rewrite/matcher.h"

#include "engine/base/error.h"
#include "engine/rewrite/counters.h"
#include "engine/rewrite/match_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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

struct PatternMatcher::Compiled {
  /// A rule as it is tried on nodes of one operation.
  struct Entry {
    OpSet required; ///< shared by all variants: absent sources reject the rule at once
    OpSet anyOf; ///< of any variant: with none of them among the sources no variant matches; empty: not asked
    DTypeMask dtypes; ///< likewise for the root's scalar kind
    uint32_t rule;
    std::vector<uint32_t> variants;
  };
  std::vector<std::shared_ptr<const Rule>> rules;
  std::vector<MatchVariant> variants;
  std::array<std::vector<Entry>, kOpCount> byOp;
  OpSet roots;
  uint64_t identity = 0;

  explicit Compiled(std::vector<std::shared_ptr<const Rule>> all) : rules(std::move(all)) {
    for (uint32_t r = 0; r < rules.size(); ++r) {
      auto first = static_cast<uint32_t>(variants.size());
      for (MatchVariant& v : compilePattern(*rules[r])) variants.push_back(std::move(v));
      for (int op = 0; op < kOpCount; ++op) {
        Entry entry{OpSet::all(), {}, 0, r, {}};
        bool anySource = false, anyDtype = false;
        for (uint32_t v = first; v < variants.size(); ++v) {
          if (!variants[v].root.has(static_cast<Op>(op))) continue;
          entry.variants.push_back(v);
          entry.required = entry.required & variants[v].required;
          entry.anyOf = entry.anyOf | variants[v].anyOf;
          entry.dtypes |= variants[v].dtypes;
          anySource |= variants[v].anyOf.empty();
          anyDtype |= variants[v].dtypes == 0;
        }
        if (anySource) entry.anyOf = {};
        if (anyDtype) entry.dtypes = 0;
        if (entry.variants.empty()) continue;
        roots.add(static_cast<Op>(op));
        byOp[static_cast<size_t>(op)].push_back(std::move(entry));
      }
    }
    identity = identityOf(rules);
  }
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

UOp PatternMatcher::rewrite(UOp node, const PassContext& ctx, Observer* observer, MatchCounters* counters,
                            bool bottomUp, Attempts* attempts) const {
  const auto& entries = compiled_->byOp[static_cast<size_t>(node.op())];
  if (entries.empty()) return {};
  OpSet sources;
  for (UOp s : node.src()) sources.add(s.op());
  const DTypeMask kind = maskOf(node.dtype());

  Match match;
  match.root_ = node;
  match.ctx_ = ctx.object();
  match.ctxType_ = ctx.type();
  union Registers { // written before they are read
    constexpr Registers() {}
    UOp at[kMatchRegisters];
  } registers;
  registers.at[0] = node;
  bool sampled = counters && counters->startNode();
  uint32_t* early = counters && !sampled ? counters->earlyOf(node.op()) : nullptr;
  bool timed = observer || counters;

  for (const auto& entry : entries) {
    const Rule& rule = *compiled_->rules[entry.rule];
    uint64_t start = sampled ? ticks() : 0;
    auto fail = [&](Outcome outcome) {
      if (counters)
        counters->count(entry.rule, node.op(), outcome,
                        sampled ? (ticks() - start) * MatchCounters::kSampleEvery : 0);
    };
    bool impossible = !sources.contains(entry.required) || (entry.dtypes && !(entry.dtypes & kind)) ||
                      (!entry.anyOf.empty() && !entry.anyOf.intersects(sources));
    if (impossible) {
      if (early)
        ++early[entry.rule];
      else
        fail(Outcome::RejectedEarly);
      continue;
    }
    match.varNames_ = rule.vars().data();
    match.varCount_ = rule.vars().size();
    Outcome outcome = Outcome::RejectedEarly;
    uint64_t functionTicks = 0;
    for (uint32_t v : entry.variants) {
      const MatchVariant& variant = compiled_->variants[v];
      if (!sources.contains(variant.required) || (variant.dtypes && !(variant.dtypes & kind))) continue;
      if (outcome == Outcome::RejectedEarly) outcome = Outcome::StructureDiffers;
      std::fill_n(match.binds_.at, match.varCount_, UOp());
      if (runSteps(variant.steps, registers.at, match.binds_.at) != variant.steps.size()) continue;

      uint64_t before = timed ? ticks() : 0;
      uint32_t firstNew = Pool::current().nextId();
      UOp result;
      try {
        result = rule.apply(match);
      } catch (const std::exception& e) {
        if (observer) observer->onRuleError(rule, node, e.what());
        throw;
      }
      uint64_t spent = timed ? ticks() - before : 0;
      functionTicks += spent;
      if (!result) {
        outcome = Outcome::Declined;
        continue;
      }
      if (isGate(result)) return result;
      if (result == node) {
        outcome = Outcome::Unchanged;
        continue;
      }
      if (observer && observer->wantsRewrites()) {
        Control answer = observer->onRewrite({&rule, node, result, ticksToNs(spent), firstNew, bottomUp});
        if (answer == Control::Skip) {
          outcome = Outcome::Declined;
          if (attempts) attempts->skipped = true;
          continue;
        }
      }
      if (counters) counters->count(entry.rule, node.op(), Outcome::Applied, functionTicks);
      if (attempts) attempts->fired = &rule;
      return result;
    }
    if (!counters) continue;
    if (outcome == Outcome::Declined || outcome == Outcome::Unchanged)
      counters->count(entry.rule, node.op(), outcome, functionTicks);
    else
      fail(outcome);
  }
  return {};
}

std::vector<MatchCount> MatchCounters::collect(const std::vector<std::shared_ptr<const Rule>>& rules) const {
  std::vector<MatchCount> out;
  for (size_t rule = 0; rule < ruleCount_; ++rule)
    for (size_t op = 0; op < kOpCount; ++op) {
      if (!ofOps_[op].cells) continue;
      const Cell& c = ofOps_[op].cells[rule];
      MatchCount m{rules[rule].get(), static_cast<Op>(op), {}, {}};
      uint64_t total = 0;
      for (size_t o = 0; o < kOutcomeCount; ++o) {
        m.count[o] = c.count[o];
        m.ns[o] = ticksToNs(c.ticks[o]);
      }
      m.count[static_cast<size_t>(Outcome::RejectedEarly)] += ofOps_[op].early[rule];
      for (uint64_t count : m.count) total += count;
      if (total) out.push_back(m);
    }
  return out;
}

namespace {

/// "src[1].src[0]" for a register, by following the loads that filled it.
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

std::string PatternMatcher::explain(const Rule& rule, UOp node) const {
  std::string best;
  size_t furthest = 0;
  for (const MatchVariant& variant : compilePattern(rule)) {
    std::string reason;
    size_t passed = 0;
    if (!variant.root.has(node.op())) {
      reason = fmt::format("the node is {}, the rule wants {}", opName(node.op()), rule.patternText());
    } else {
      std::array<UOp, kMatchRegisters> registers;
      std::array<UOp, Match::kMaxBinds> binds;
      registers[0] = node;
      size_t at = runSteps(variant.steps, registers.data(), binds.data());
      if (at == variant.steps.size()) return {};
      passed = at + 1;
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
