// Rules: application from a table entry to a result, and the printing of patterns.
#include "engine/rewrite/rule.h"

#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/base/source_path.h"
#include "engine/rewrite/result.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {

/// The nodes that mean "stop here" and "valid". They never become part of a graph.
const Node kGate{}, kAccepted{};

std::string opsText(const OpSet& ops) {
  if (ops.empty()) return "any";
  if (ops == OpSet{Op::CONST, Op::VCONST}) return "const";
  if (ops.size() > 6) return fmt::format("one of {} operations", ops.size());
  std::string text;
  ops.forEach([&](Op op) { text += (text.empty() ? "" : "|") + std::string(opName(op)); });
  return text;
}

std::string numberText(double v) {
  return v == static_cast<double>(static_cast<int64_t>(v)) ? fmt::format("{}", static_cast<int64_t>(v))
                                                           : fmt::format("{}", v);
}

std::string printPattern(std::span<const PatNode> nodes, std::span<const std::array<char, 16>> vars,
                         size_t at) {
  const PatNode& n = nodes[at];
  std::string name = n.var >= 0 ? vars[static_cast<size_t>(n.var)].data() : "";
  auto child = [&](uint8_t k) { return printPattern(nodes, vars, n.children[k]); };
  auto joined = [&](std::string_view separator) {
    std::string text;
    for (uint8_t k = 0; k < n.childCount; ++k) text += (k ? std::string(separator) : "") + child(k);
    return text;
  };
  std::string text;
  if (n.literal)
    text = numberText(n.number);
  else if (n.oneOf)
    text = "(" + joined(" or ") + ")";
  else {
    Op only = n.ops.empty() ? Op::NOOP : n.ops.first();
    if (n.ops.size() == 1 && n.childCount == 2 && !opSymbol(only).empty() &&
        (n.mode == SrcMode::Exact || n.mode == SrcMode::AnyOrder))
      text = fmt::format("({} {} {})", child(0), opSymbol(only), child(1));
    else if (n.ops.empty() && !n.childCount && n.mode == SrcMode::Any)
      text = name.empty() ? "any" : "";
    else {
      text = opsText(n.ops);
      if (n.mode == SrcMode::Exact || n.mode == SrcMode::AnyOrder)
        text += "(" + joined(", ") + (n.mode == SrcMode::AnyOrder ? ", any order)" : ")");
      if (n.mode == SrcMode::Prefix) text += "(" + joined(", ") + ", ...)";
      if (n.mode == SrcMode::Repeat) text += "(each " + joined(", ") + ")";
    }
    if (n.argTest == PatNode::ArgTest::Equal)
      text += "[arg=" + Arg::fromRaw(n.argKind, n.argBits).repr() + "]";
    if (n.argTest == PatNode::ArgTest::Number) text += "[arg=" + numberText(n.number) + "]";
  }
  if (n.exactDtype)
    text += ":" + DType::fromBits(n.exactDtype).name();
  else if (n.dtypes == kMaskBool)
    text += ":bool";
  else if (n.dtypes == kMaskInts)
    text += ":int";
  else if (n.dtypes == kMaskIndex)
    text += ":index";
  else if (n.dtypes == kMaskFloats)
    text += ":float";
  else if (n.dtypes)
    for (int k = 0; k < kScalarCount; ++k)
      if (n.dtypes >> k & 1) text += ":" + DType(static_cast<Scalar>(k)).name();
  if (name.empty()) return text;
  return text.empty() || text[0] == ':' ? name + text : name + "=" + text;
}

bool holds(const Guard& g, const Match& m) {
  if (g.kind == Guard::Kind::MayRound) return !vars::strictFloat || !m.root().dtype().isFloat();
  if (g.kind == Guard::Kind::Test) return g.test(m);
  UOp u = m.bind(static_cast<size_t>(g.var));
  auto integer = [](UOp c) { return c.isConst() && c.arg().kind() == ArgKind::Int; };
  switch (g.kind) {
  case Guard::Kind::Const: return u.isConst();
  case Guard::Kind::NotConst: return !laneConst(u);
  case Guard::Kind::NotInvalid: return !u.isInvalidConst();
  case Guard::Kind::NotPointer: return !u.dtype().isPtr();
  case Guard::Kind::Signed: return !u.dtype().isUnsigned();
  case Guard::Kind::NotZero: return integer(u) && u.arg().i() != 0;
  case Guard::Kind::Positive: return integer(u) && u.arg().i() > 0;
  case Guard::Kind::AtLeast: return u.vmin() >= g.number;
  case Guard::Kind::MayRound: // these two have no variable and are answered above
  case Guard::Kind::Test: break;
  case Guard::Kind::AtMost: return u.vmax() <= g.number;
  case Guard::Kind::Different: return u != m.bind(static_cast<size_t>(g.other));
  case Guard::Kind::Unlike: return u.dtype() != m.root().dtype();
  case Guard::Kind::Alike: return u.dtype() == m.root().dtype();
  case Guard::Kind::Divides: {
    UOp of = m.bind(static_cast<size_t>(g.other));
    return integer(u) && integer(of) && u.arg().i() != 0 && of.arg().i() % u.arg().i() == 0;
  }
  }
  return false;
}

} // namespace

UOp gateHere() {
  return UOp(&kGate);
}
bool isGate(UOp answer) {
  return answer.node() == &kGate;
}
UOp accepted() {
  return UOp(&kAccepted);
}

void Match::badContext(const std::type_info& wanted) const {
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(wanted.name(), nullptr, nullptr, &status),
                                              std::free);
  throw Error(ErrorKind::Rewrite,
              fmt::format("a rule wants a pass context of type {}, and the pass {}",
                          name ? name.get() : wanted.name(), ctx_ ? "has one of another type" : "has none"));
}

namespace {
constinit const KnownRules* newestTable = nullptr;
} // namespace

KnownRules::KnownRules(std::span<const RuleDef> table) noexcept : table_(table), next_(newestTable) {
  newestTable = this;
}

std::vector<const RuleDef*> knownRules() {
  std::vector<const RuleDef*> out;
  for (const KnownRules* known = newestTable; known; known = known->next_)
    for (const RuleDef& def : known->table_) out.push_back(&def);
  std::sort(out.begin(), out.end(), [](const RuleDef* a, const RuleDef* b) {
    return std::pair(std::string_view(a->file), a->line) < std::pair(std::string_view(b->file), b->line);
  });
  return out;
}

Rule::Rule(const RuleDef& def)
    : name_(def.name), file_(projectPath(def.file)), text_(def.text), line_(def.line),
      pattern_(def.pattern.nodes.begin(), def.pattern.nodes.begin() + def.pattern.count),
      vars_(def.pattern.vars.begin(), def.pattern.vars.begin() + def.pattern.varCount), def_(&def) {}

Rule::Rule(std::string name, std::string file, int line, std::string text, std::vector<PatNode> pattern,
           const std::vector<std::string>& vars, Function fn)
    : name_(std::move(name)), file_(std::move(file)), text_(std::move(text)), line_(line),
      pattern_(std::move(pattern)), fn_(std::move(fn)) {
  if (vars.size() > Match::kMaxBinds)
    throw Error(ErrorKind::Rewrite, fmt::format("rule {} binds {} names, at most {} are possible", name_,
                                                vars.size(), Match::kMaxBinds));
  for (const std::string& v : vars) {
    auto& slot = vars_.emplace_back();
    std::copy_n(v.begin(), std::min(v.size(), slot.size() - 1), slot.begin());
  }
}

std::string Rule::patternText() const {
  return printPattern(pattern_, vars_, pattern_.size() - 1);
}

UOp Rule::apply(Match& m) const {
  if (!def_) return fn_(m);
  for (size_t i = 0; i < def_->guardCount; ++i)
    if (const Guard& g = def_->guards[i]; !holds(g, m)) return m.decline(g.reason ? g.reason : g.why.data());
  if (def_->fn) return def_->fn(m);
  return buildResult(def_->result, {m.root(), m.binds(), &m});
}

} // namespace uopscope
