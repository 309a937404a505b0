// A rule: a name, a place in the source, a pattern, and a result: an expression or a function.
// Rules written in C++ are constants (RuleDef) in tables, one line each:
//
//   constexpr RuleDef kArith[] = {
//     RULE("add-zero", x + 0, x),
//     RULE("add-const", (x + c0) + c1, x + fold(c0 + c1)),
//     RULE("max-const-last", pat::op(Op::MAX, c0, x), pat::max(x, c0), guard::notConst(x)),
//     RULE("collapse-reduce", op(Op::REDUCE, x).more(), collapseReduce),      // UOp collapseReduce(Match&)
//   };
//
// A result or a guard that uses a variable the pattern does not bind does not compile. A function declines by
// `return m.decline("two users");`: the reason is counted and shown. It returns `gateHere()` to stop the
// descent of a bottom-up pass at this node.
#pragma once
#include "engine/rewrite/guard.h"
#include "engine/rewrite/pattern.h"
#include "engine/rewrite/result_words.h"

#include <cstring>
#include <functional>
#include <memory>
#include <typeinfo>

namespace uopscope {

/// Bindings of a match in progress, as the function of a rule sees them.
class Match {
public:
  /// The node bound to a variable; null where an alternative did not bind it.
  UOp operator[](const PatVar& v) const {
    for (size_t i = 0; i < varCount_; ++i)
      if (std::memcmp(varNames_[i].data(), v.name, sizeof v.name) == 0) return binds_[i];
    return {};
  }
  UOp operator[](std::string_view name) const {
    for (size_t i = 0; i < varCount_; ++i)
      if (std::string_view(varNames_[i].data()) == name) return binds_[i];
    return {};
  }
  UOp bind(size_t i) const { return binds_[i]; }
  const UOp* binds() const { return &binds_.at[0]; }
  /// The node the rule is tried on.
  UOp root() const { return root_; }
  /// The context of the pass; T must be its type.
  template <typename T>
  T& ctx() const {
    if (!ctx_ || *ctxType_ != typeid(T)) badContext(typeid(T));
    return *static_cast<T*>(ctx_);
  }
  bool hasCtx() const { return ctx_ != nullptr; }
  void* rawCtx() const { return ctx_; }
  /// The answer of a function that declines this match. The reason lives for ever (a literal); a few
  /// words that name the thing in the way: "not divisible by 4".
  UOp decline(const char* why) {
    declined_ = why;
    return {};
  }
  /// The reason given last; null where the rule gave none.
  const char* declined() const { return declined_; }

  static constexpr size_t kMaxBinds = 32;

private:
  friend class PatternMatcher;
  [[noreturn]] void badContext(const std::type_info& wanted) const;
  UOp root_;
  const std::array<char, 16>* varNames_ = nullptr;
  size_t varCount_ = 0;
  void* ctx_ = nullptr;
  const std::type_info* ctxType_ = nullptr;
  const char* declined_ = nullptr;
  union Binds { // written before it is read: a match is tried too often to clear it first
    constexpr Binds() {}
    UOp at[kMaxBinds];
    UOp& operator[](size_t i) { return at[i]; }
    UOp operator[](size_t i) const { return at[i]; }
  } binds_;
};

/// Answer of a rule function: do not rewrite, and do not descend into this node (bottom-up passes).
UOp gateHere();
bool isGate(UOp answer);

/// Answer of a rule of a spec for a valid node: a node of no graph, since the node itself would read as
/// "nothing applied".
UOp accepted();

/// A rule as written in a table. Lives for ever.
struct RuleDef {
  static constexpr size_t kMaxGuards = 4;
  const char* name;
  const char* file;
  int line;
  const char* text; ///< source text of the pattern and the rest
  Pat pattern;
  Pat result; ///< its variables are places in pattern.vars; count 0: fn is used
  RuleFn fn = nullptr;
  std::array<Guard, kMaxGuards> guards{};
  uint8_t guardCount = 0;
  /// Whether the result is data: an expression, of which a function may make a part.
  constexpr bool hasExpression() const { return result.count && result.root().making != Making::Call; }
};

/// Place of a variable among those a pattern binds.
consteval int8_t placeOf(const Pat& pattern, std::string_view name) {
  for (uint8_t k = 0; k < pattern.varCount; ++k)
    if (name == std::string_view(pattern.vars[k].data())) return static_cast<int8_t>(k);
  throw "the result or a guard uses a variable that the pattern does not bind";
}

/// Accepts as result an expression or a function.
template <typename P, typename R, typename... G>
consteval RuleDef makeRule(const char* name, const char* text, const char* file, int line, const P& pattern,
                           R result, G... guards) {
  static_assert(sizeof...(G) <= RuleDef::kMaxGuards);
  RuleDef d{name, file, line, text, Pat(pattern), Pat()};
  if constexpr (std::is_convertible_v<R, RuleFn>) {
    d.fn = result;
  } else {
    d.result = Pat(result);
    for (int i = 0; i < d.result.count; ++i) { // variables of the result by their place in the pattern
      int8_t& var = d.result.nodes[static_cast<size_t>(i)].var;
      if (var >= 0) var = placeOf(d.pattern, d.result.vars[static_cast<size_t>(var)].data());
    }
  }
  ((d.guards[d.guardCount++] = guards), ...);
  for (Guard& g : d.guards) {
    if (g.name[0]) g.var = placeOf(d.pattern, g.name.data());
    if (g.otherName[0]) g.other = placeOf(d.pattern, g.otherName.data());
  }
  return d;
}
#define RULE(name, ...) ::uopscope::makeRule(name, #__VA_ARGS__, __FILE__, __LINE__, __VA_ARGS__)

/// A rule in use. Rules of tables and rules made at run time (Python) look the same from here.
class Rule {
public:
  using Function = std::function<UOp(Match&)>;

  /// A rule of a table.
  explicit Rule(const RuleDef& def);
  /// A rule made at run time. Pattern as for tables: children before parents, root last. Names of variables
  /// beyond 15 letters are shown shortened.
  Rule(std::string name, std::string file, int line, std::string text, std::vector<PatNode> pattern,
       const std::vector<std::string>& vars, Function fn);

  const std::string& name() const { return name_; }
  const std::string& file() const { return file_; }
  int line() const { return line_; }
  /// Source text, and the pattern printed from its data.
  const std::string& text() const { return text_; }
  std::string patternText() const;
  std::span<const PatNode> pattern() const { return pattern_; }
  /// The table entry; null for a rule made at run time.
  const RuleDef* definition() const { return def_; }
  std::span<const std::array<char, 16>> vars() const { return vars_; }

  /// The result for a complete match, null where the rule declines (Match::declined says why).
  UOp apply(Match& m) const;

private:
  std::string name_, file_, text_;
  int line_ = 0;
  std::vector<PatNode> pattern_;
  std::vector<std::array<char, 16>> vars_;
  const RuleDef* def_ = nullptr;
  Function fn_;
};

/// Every rule of a table that any matcher of this process was made of, in order of file and line. Matchers
/// are made when first used, so this grows while the compiler runs.
std::vector<const RuleDef*> rulesInUse();

} // namespace uopscope
