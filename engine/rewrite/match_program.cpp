// Compilation of patterns to variants, and the loop that runs them.
#include "engine/rewrite/match_program.h"

#include "engine/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <mutex>
#include <unordered_map>

namespace uopscope {

namespace {

/// A pattern with every choice made: a plain tree.
struct Tree {
  const PatNode* node;
  std::vector<const PatNode*> alsoKnownAs; ///< oneOf nodes this stands in for, whose name and dtype hold too
  std::vector<Tree> children;
};

using Trees = std::vector<Tree>;

Trees expand(std::span<const PatNode> nodes, const PatNode& n, const std::string& ruleName) {
  constexpr size_t kMost = 512;
  std::vector<Trees> choices;
  for (uint8_t k = 0; k < n.childCount; ++k) choices.push_back(expand(nodes, nodes[n.children[k]], ruleName));
  Trees out;
  if (n.oneOf) {
    for (Trees& alternatives : choices)
      for (Tree& t : alternatives) {
        t.alsoKnownAs.push_back(&n);
        out.push_back(std::move(t));
      }
    return out;
  }
  std::vector<size_t> order(n.childCount);
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  do {
    Trees partial{Tree{&n, {}, {}}};
    for (size_t i : order) {
      Trees next;
      for (const Tree& p : partial)
        for (const Tree& c : choices[i]) {
          next.push_back(p);
          next.back().children.push_back(c);
          if (next.size() + out.size() > kMost)
            throw Error(
                ErrorKind::Rewrite,
                fmt::format("rule {} has more than {} ways to match: name operands in order or split it",
                            ruleName, kMost));
        }
      partial = std::move(next);
    }
    out.insert(out.end(), partial.begin(), partial.end());
  } while (n.mode == SrcMode::AnyOrder && std::next_permutation(order.begin(), order.end()));
  return out;
}

class Emitter {
public:
  explicit Emitter(const std::string& ruleName) : ruleName_(ruleName) {}

  MatchVariant emit(const Tree& tree) {
    MatchVariant v;
    v.root = tree.node->ops.empty() ? OpSet::all() : tree.node->ops;
    auto narrow = [&](const PatNode& n) {
      if (n.dtypes) v.dtypes = v.dtypes ? v.dtypes & n.dtypes : n.dtypes;
    };
    narrow(*tree.node);
    for (const PatNode* also : tree.alsoKnownAs) narrow(*also);
    // Operands of these have the type of the result, so a test of one is a test of the root.
    constexpr OpSet kOneType{Op::ADD, Op::SUB, Op::MUL, Op::IDIV, Op::MOD,
                             Op::MAX, Op::AND, Op::OR,  Op::XOR,  Op::FDIV};
    const bool oneType = !tree.node->ops.empty() && kOneType.contains(tree.node->ops);
    const bool ordered = tree.node->mode == SrcMode::Exact || tree.node->mode == SrcMode::AnyOrder ||
                         tree.node->mode == SrcMode::Prefix;
    for (size_t i = 0; i < tree.children.size(); ++i) {
      if (oneType) narrow(*tree.children[i].node);
      const OpSet& ops = tree.children[i].node->ops;
      if (ordered && i < v.sources.size() && !ops.empty()) v.sources[i] = ops;
    }
    if (ordered) v.atLeast = static_cast<uint32_t>(tree.children.size());
    if (ordered && tree.node->mode != SrcMode::Prefix) v.atMost = v.atLeast;
    node(tree, 0, /*isRoot=*/true);
    v.steps = std::move(steps_);
    return v;
  }

private:
  void add(MatchStep::Kind kind, uint8_t reg, uint8_t from = 0, uint32_t index = 0, uint64_t a = 0,
           uint64_t b = 0) {
    steps_.push_back({kind, reg, from, index, a, b});
  }
  uint8_t takeRegister() {
    if (++registers_ == kMatchRegisters)
      throw Error(ErrorKind::Rewrite, fmt::format("rule {}: the pattern is too large", ruleName_));
    return static_cast<uint8_t>(registers_);
  }
  void ownTests(const PatNode& n, uint8_t reg) {
    if (n.dtypes) add(MatchStep::Kind::DTypes, reg, 0, 0, n.dtypes);
    if (n.exactDtype) add(MatchStep::Kind::ExactDType, reg, 0, 0, n.exactDtype);
    if (n.argTest == PatNode::ArgTest::Equal)
      add(MatchStep::Kind::ArgEqual, reg, 0, static_cast<uint32_t>(n.argKind), n.argBits);
    if (n.argTest == PatNode::ArgTest::Number)
      add(MatchStep::Kind::ArgNumber, reg, 0, 0, std::bit_cast<uint64_t>(n.number));
  }
  void bind(const PatNode& n, uint8_t reg) {
    if (n.var < 0) return;
    uint32_t bit = 1u << n.var;
    add(bound_ & bit || inRepeat_ ? MatchStep::Kind::Same : MatchStep::Kind::Bind, reg, 0,
        static_cast<uint32_t>(n.var));
    bound_ |= bit;
  }
  /// `place`: of the node among the root's sources, counted from 1, where MatchVariant::sources covers it.
  void node(const Tree& t, uint8_t reg, bool isRoot, uint32_t place = 0) {
    const PatNode& n = *t.node;
    if (!isRoot && !n.ops.empty()) {
      uint64_t words[2] = {0, 0};
      n.ops.forEach([&](Op op) {
        words[static_cast<size_t>(op) >> 6] |= uint64_t{1} << (static_cast<size_t>(op) & 63);
      });
      add(MatchStep::Kind::Ops, reg, 0, place, words[0], words[1]);
    }
    if (n.mode == SrcMode::Exact || n.mode == SrcMode::AnyOrder)
      add(MatchStep::Kind::SrcCount, reg, 0, n.childCount);
    if (n.mode == SrcMode::Prefix) add(MatchStep::Kind::SrcAtLeast, reg, 0, n.childCount);
    ownTests(n, reg);
    for (const PatNode* also : t.alsoKnownAs) ownTests(*also, reg);
    if (n.mode == SrcMode::Repeat && !t.children.empty()) {
      size_t at = steps_.size();
      uint8_t each = takeRegister();
      add(MatchStep::Kind::Repeat, each, reg);
      bool outer = inRepeat_;
      inRepeat_ = true;
      node(t.children[0], each, false);
      inRepeat_ = outer;
      steps_[at].a = steps_.size() - at - 1;
    } else {
      for (size_t i = 0; i < t.children.size(); ++i) {
        const Tree& c = t.children[i];
        uint8_t r = takeRegister();
        add(MatchStep::Kind::Load, r, reg, static_cast<uint32_t>(i));
        node(c, r, false, isRoot && i < MatchVariant::kSources ? static_cast<uint32_t>(i) + 1 : 0);
      }
    }
    bind(n, reg);
    for (const PatNode* also : t.alsoKnownAs) bind(*also, reg);
  }

  const std::string& ruleName_;
  std::vector<MatchStep> steps_;
  uint32_t bound_ = 0;
  int registers_ = 0;
  bool inRepeat_ = false;
};

} // namespace

bool MatchVariant::implied(const MatchStep& step) const {
  switch (step.kind) {
  case MatchStep::Kind::SrcCount:
  case MatchStep::Kind::SrcAtLeast: return step.reg == 0 && step.index < 5; // larger counts share a bit
  case MatchStep::Kind::DTypes: return step.reg == 0 && step.a == dtypes;
  case MatchStep::Kind::Ops: return step.index != 0;
  default: return false;
  }
}

namespace {

using Variants = std::shared_ptr<const std::vector<MatchVariant>>;

Variants compilePattern(const Rule& rule) {
  auto nodes = rule.pattern();
  auto variants = std::make_shared<std::vector<MatchVariant>>();
  for (const Tree& t : expand(nodes, nodes.back(), rule.name()))
    variants->push_back(Emitter(rule.name()).emit(t));
  return variants;
}

struct KnownVariants {
  std::mutex mutex;
  std::unordered_map<const RuleDef*, Variants> byDefinition;
};

} // namespace

Variants variantsOf(const Rule& rule) {
  if (!rule.definition()) return compilePattern(rule);
  static KnownVariants known;
  std::lock_guard lock(known.mutex);
  Variants& variants = known.byDefinition[rule.definition()];
  if (!variants) variants = compilePattern(rule);
  return variants;
}

size_t runSteps(std::span<const MatchStep> steps, UOp* registers, UOp* binds) {
  for (size_t at = 0; at < steps.size(); ++at) {
    const MatchStep& s = steps[at];
    UOp u = registers[s.reg];
    switch (s.kind) {
    case MatchStep::Kind::Load: registers[s.reg] = registers[s.from].src(s.index); break;
    case MatchStep::Kind::Ops:
      if (!(((static_cast<unsigned>(u.op()) < 64 ? s.a : s.b) >> (static_cast<unsigned>(u.op()) & 63)) & 1))
        return at;
      break;
    case MatchStep::Kind::SrcCount:
      if (u.srcCount() != s.index) return at;
      break;
    case MatchStep::Kind::SrcAtLeast:
      if (u.srcCount() < s.index) return at;
      break;
    case MatchStep::Kind::DTypes:
      if (!(s.a >> static_cast<unsigned>(u.dtype().kind()) & 1)) return at;
      break;
    case MatchStep::Kind::ExactDType:
      if (u.dtype().bits() != s.a) return at;
      break;
    case MatchStep::Kind::ArgEqual:
      if (static_cast<uint32_t>(u.arg().kind()) != s.index || u.arg().bits() != s.a) return at;
      break;
    case MatchStep::Kind::ArgNumber:
      if (!u.arg().isNumber() || u.arg().number() != std::bit_cast<double>(s.a)) return at;
      break;
    case MatchStep::Kind::Bind: binds[s.index] = u; break;
    case MatchStep::Kind::Same:
      if (!binds[s.index])
        binds[s.index] = u;
      else if (binds[s.index] != u)
        return at;
      break;
    case MatchStep::Kind::Repeat:
      for (UOp src : registers[s.from].src()) {
        registers[s.reg] = src;
        if (size_t passed = runSteps(steps.subspan(at + 1, s.a), registers, binds); passed != s.a)
          return at + 1 + passed;
      }
      at += s.a;
      break;
    }
  }
  return steps.size();
}

std::vector<std::vector<UOp>> matchesOf(const Rule& rule, UOp node) {
  std::vector<std::vector<UOp>> found;
  const Variants variants = variantsOf(rule); // the only owner, for a rule made at run time
  for (const MatchVariant& variant : *variants) {
    if (!variant.root.has(node.op())) continue;
    std::array<UOp, kMatchRegisters> registers;
    std::array<UOp, Match::kMaxBinds> binds{};
    registers[0] = node;
    if (runSteps(variant.steps, registers.data(), binds.data()) == variant.steps.size())
      found.emplace_back(binds.begin(), binds.begin() + static_cast<ptrdiff_t>(rule.vars().size()));
  }
  return found;
}

} // namespace uopscope
