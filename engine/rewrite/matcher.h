// PatternMatcher: a list of rules, compiled for dispatch. The operation of a node selects the rules. A rule
// whose required source operations are absent is rejected before it is matched. Straight-line checks decide
// about the remaining rules.
//
//   const PatternMatcher& symbolic() { static const PatternMatcher m({kArith, kDivMod}); return m; }
//   PatternMatcher both = a + b;                       // rules of a first
//   UOp r = m.rewrite(node, ctx);                      // null: no rule applies
//
// A matcher is immutable after construction, so all threads share it. Rules of Python hold the interpreter's
// lock while they run.
#pragma once
#include "engine/rewrite/observer.h"
#include "engine/rewrite/rule.h"

#include <memory>
#include <string_view>
#include <vector>

namespace uopscope {

/// The context of a pass: a reference to any object, together with its type.
class PassContext {
public:
  PassContext() = default;
  template <typename T>
    requires(!std::is_same_v<std::remove_cv_t<T>, PassContext>)
  PassContext(T& object) : object_(&object), type_(&typeid(T)) {}
  void* object() const { return object_; }
  const std::type_info* type() const { return type_; }

private:
  void* object_ = nullptr;
  const std::type_info* type_ = nullptr;
};

/// Counts of attempts while a pass runs: a cell per rule of the matcher, operation and outcome.
class MatchCounters;

class PatternMatcher {
public:
  PatternMatcher();
  /// Families of rules in order; the first rule is tried first.
  PatternMatcher(std::initializer_list<std::span<const RuleDef>> families);
  explicit PatternMatcher(std::vector<std::shared_ptr<const Rule>> rules);
  ~PatternMatcher();
  PatternMatcher(const PatternMatcher&);
  PatternMatcher(PatternMatcher&&) noexcept;
  PatternMatcher& operator=(PatternMatcher) noexcept;
  PatternMatcher operator+(const PatternMatcher& o) const;

  const std::vector<std::shared_ptr<const Rule>>& rules() const;
  /// The operations that roots of the rules may have. A graph without them is not rewritten.
  const OpSet& roots() const;
  /// The number of this list of rules; equal lists have equal numbers. 0 if a rule was made at run time: the
  /// answer of such a rule may depend on anything, while a rule of a table without context always gives the
  /// same answer for a node.
  uint64_t identity() const;

  /// Facts about an attempt besides its result.
  struct Attempts {
    const Rule* fired = nullptr; ///< the rule that rewrote last
    bool skipped = false;        ///< the observer forbade a rewrite
  };
  /// The first result that a rule gives for this node; null if no rule applies. Events go to `observer` and
  /// facts to `attempts`, if given.
  UOp rewrite(UOp node, const PassContext& ctx = {}, Observer* observer = nullptr,
              MatchCounters* counters = nullptr, bool bottomUp = false, Attempts* attempts = nullptr) const;

  /// The reason why a rule does not apply to a node: the first test of the pattern that fails ("src[1] is
  /// ADD, wants CONST"), or the reason of its guards or its function ("y is a constant"). Empty if the rule
  /// applies. The function runs with this context and without an observer.
  std::string explain(const Rule& rule, UOp node, const PassContext& ctx = {}) const;

private:
  /// The reason of a rule that declines although its pattern matches with these bindings.
  static std::string explainFunction(const Rule& rule, UOp node, std::span<const UOp> binds,
                                     const PassContext& ctx);

  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

} // namespace uopscope
