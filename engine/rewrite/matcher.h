// PatternMatcher: a list of rules, compiled for dispatch. Rules are found by the operation of the node; a
// rule whose required source operations are absent is rejected before anything is matched; straight-line checks
// decide about the rest.
//
//   const PatternMatcher& symbolic() { static const PatternMatcher m({kArith, kDivMod}); return m; }
//   PatternMatcher both = a + b;                       // rules of a first
//   UOp r = m.rewrite(node, ctx);                      // null: no rule applies
//
// Immutable after construction, so one matcher serves all threads (rules of Python run under the
// interpreter's lock).
#pragma once
#include "engine/rewrite/observer.h"
#include "engine/rewrite/rule.h"

#include <memory>
#include <string_view>
#include <vector>

namespace uopscope {

/// Context of a pass: any object, by reference, with its type.
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

/// Attempts counted while a pass runs: one cell per rule of the matcher, operation and outcome.
class MatchCounters;

class PatternMatcher {
public:
  PatternMatcher();
  /// Families of rules in order, first rule first.
  PatternMatcher(std::initializer_list<std::span<const RuleDef>> families);
  explicit PatternMatcher(std::vector<std::shared_ptr<const Rule>> rules);
  ~PatternMatcher();
  PatternMatcher(const PatternMatcher&);
  PatternMatcher(PatternMatcher&&) noexcept;
  PatternMatcher& operator=(PatternMatcher) noexcept;
  PatternMatcher operator+(const PatternMatcher& o) const;

  const std::vector<std::shared_ptr<const Rule>>& rules() const;
  /// Operations the root of some rule may have. A graph without them is not rewritten.
  const OpSet& roots() const;
  /// Number of this list of rules; equal lists have equal numbers. 0 where a rule was made at run time: the
  /// answer of such a rule may depend on anything, while a rule of a table that is given no context answers the
  /// same for the same node.
  uint64_t identity() const;

  /// Facts about an attempt, besides its result.
  struct Attempts {
    const Rule* fired = nullptr; ///< the last rule that rewrote something
    bool skipped = false;        ///< the observer forbade a rewrite
  };
  /// The first result any rule gives for this node, null if none. Reports to `observer` and adds to
  /// `attempts` where asked.
  UOp rewrite(UOp node, const PassContext& ctx = {}, Observer* observer = nullptr,
              MatchCounters* counters = nullptr, bool bottomUp = false, Attempts* attempts = nullptr) const;

  /// Why a rule does not apply to a node: the first test of the pattern that fails ("src[1] is ADD, wants
  /// CONST"), or the reason its guards or its function give when tried ("y is a constant"). Empty where the
  /// rule applies. The function runs without a context and without an observer.
  std::string explain(const Rule& rule, UOp node) const;

private:
  /// The reason of a rule whose pattern matches with these bindings.
  static std::string explainFunction(const Rule& rule, UOp node, std::span<const UOp> binds);

  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

} // namespace uopscope
