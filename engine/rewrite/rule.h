// A rule: a name, its place in the source, a pattern, and a result, which is an expression or a function.
// Rules written in C++ are constants (RuleDef) in tables, one line each:
//
//   constexpr RuleDef kArith[] = {
//     RULE("add-zero", x + 0, x),
//     RULE("add-const", (x + c0) + c1, x + fold(c0 + c1)),
//     RULE("max-const-last", pat::op(Op::MAX, c0, x), pat::max(x, c0), guard::notConst(x)),
//     RULE("collapse-reduce", op(Op::REDUCE, x).more(), collapseReduce),      // UOp collapseReduce(Match&)
//   };
//   const KnownRules kArithKnown(kArith);
//
// A result or guard that uses a variable which the pattern does not bind does not compile. A function
// declines by `return m.decline("two users");`: the reason is counted and shown. In a bottom-up pass, a
// function that returns `gateHere()` stops the descent at this node.
#pragma once
#include "engine/rewrite/guard.h"
#include "engine/rewrite/pattern.h"
#include "engine/rewrite/result_words.h"

#include <cstring>
#include <functional>
#include <memory>
#include <typeinfo>

namespace uopscope {

/// The bindings of a match, as the function of a rule sees them.
class Match {
public:
  /// The node bound to a variable; null if the matching alternative does not contain the variable.
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
  /// The node on which the rule is tried.
  UOp root() const { return root_; }
  /// The context of the pass; T must be its type.
  template <typename T>
  T& ctx() const {
    if (!ctx_ || *ctxType_ != typeid(T)) badContext(typeid(T));
    return *static_cast<T*>(ctx_);
  }
  bool hasCtx() const { return ctx_ != nullptr; }
  void* rawCtx() const { return ctx_; }
  /// The return value of a function that declines this match. The reason is a literal, which lives forever: a
  /// few words that name the obstacle, such as "not divisible by 4".
  UOp decline(const char* why) {
    declined_ = why;
    return {};
  }
  /// The last reason given; null if the rule gave none.
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
  union Binds { // written before it is read: clearing it for every match would cost too much
    constexpr Binds() {}
    UOp at[kMaxBinds];
    UOp& operator[](size_t i) { return at[i]; }
    UOp operator[](size_t i) const { return at[i]; }
  } binds_;
};

/// The answer of a rule function that means: do not rewrite, and do not descend into this node (bottom-up
/// passes).
UOp gateHere();
bool isGate(UOp answer);

/// The answer of a spec's rule for a valid node. It belongs to no graph, since the node itself would mean
/// "unchanged".
UOp accepted();

/// A rule as written in a table. It lives forever.
struct RuleDef {
  static constexpr size_t kMaxGuards = 4;
  const char* name;
  const char* file;
  int line;
  const char* text; ///< source text of the pattern, the result and the guards
  Pat pattern;
  Pat result; ///< its variables are positions in pattern.vars; count 0: fn is used
  RuleFn fn = nullptr;
  std::array<Guard, kMaxGuards> guards{};
  uint8_t guardCount = 0;
  /// Whether the result is an expression. A function may make a part of it.
  constexpr bool hasExpression() const { return result.count && result.root().making != Making::Call; }
};

/// The position of a variable among those that a pattern binds.
consteval int8_t placeOf(const Pat& pattern, std::string_view name) {
  for (uint8_t k = 0; k < pattern.varCount; ++k)
    if (name == std::string_view(pattern.vars[k].data())) return static_cast<int8_t>(k);
  throw "the result or a guard uses a variable that the pattern does not bind";
}

/// Makes a RuleDef; the result is an expression or a function.
template <typename P, typename R, typename... G>
consteval RuleDef makeRule(const char* name, const char* text, const char* file, int line, const P& pattern,
                           R result, G... guards) {
  static_assert(sizeof...(G) <= RuleDef::kMaxGuards);
  RuleDef d{name, file, line, text, Pat(pattern), Pat()};
  if constexpr (std::is_convertible_v<R, RuleFn>) {
    d.fn = result;
  } else {
    d.result = Pat(result);
    for (int i = 0; i < d.result.count; ++i) { // maps variables of the result to positions in the pattern
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

/// A rule in use. Rules of tables and rules made at run time (Python) have the same interface.
class Rule {
public:
  using Function = std::function<UOp(Match&)>;

  /// A rule of a table.
  explicit Rule(const RuleDef& def);
  /// A rule made at run time. The pattern is stored as in tables: children before parents, root last. Names
  /// of variables are shortened to 15 letters for display.
  Rule(std::string name, std::string file, int line, std::string text, std::vector<PatNode> pattern,
       const std::vector<std::string>& vars, Function fn);

  const std::string& name() const { return name_; }
  const std::string& file() const { return file_; }
  int line() const { return line_; }
  /// The source text; and the pattern printed from its data.
  const std::string& text() const { return text_; }
  std::string patternText() const;
  std::span<const PatNode> pattern() const { return pattern_; }
  /// The table entry; null for a rule made at run time.
  const RuleDef* definition() const { return def_; }
  std::span<const std::array<char, 16>> vars() const { return vars_; }

  /// The result for a complete match; null if the rule declines (Match::declined has the reason).
  UOp apply(Match& m) const;

private:
  std::string name_, file_, text_;
  int line_ = 0;
  std::vector<PatNode> pattern_;
  std::vector<std::array<char, 16>> vars_;
  const RuleDef* def_ = nullptr;
  Function fn_;
};

/// Puts a table on the list of all tables when the program starts: rules are known before a matcher is made of them.
///
///   constexpr RuleDef kArith[] = {...};
///   const KnownRules kArithKnown(kArith);
class KnownRules {
public:
  /// The table lives as long as the program.
  explicit KnownRules(std::span<const RuleDef> table) noexcept;

private:
  friend std::vector<const RuleDef*> knownRules();
  std::span<const RuleDef> table_;
  const KnownRules* next_;
};

/// Every rule of the program's tables, sorted by file and line.
std::vector<const RuleDef*> knownRules();

} // namespace uopscope
