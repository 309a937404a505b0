// The spec of a single node, common to all levels: types of arithmetic, conversions and constants. And how
// a node that does not fit is reported.
//
//   wellTyped(a + b)                 false where a, b and the sum are not of one type
//   specError(u, nodes, "kernel 'r_8' is not valid after pass 'expander': ", " does not fit its sources")
#pragma once
#include "engine/rewrite/matcher.h"

#include <span>
#include <string>
#include <string_view>

namespace uopscope {

/// Arithmetic (group::kAlu), CAST, BITCAST, CONST: true where types and lanes agree; for any other node true.
bool wellTyped(UOp u);
/// A node in words: "ADD dtypes.int arg None".
std::string describeNode(UOp u);
/// Throws Error(Spec): `before`, the node, `why`, its sources and who among `nodes` uses it.
[[noreturn]] void specError(UOp u, std::span<const UOp> nodes, std::string_view before, std::string_view why);

/// SPEC=2: every node that a rewrite makes is checked as it is made; an error names the rule. Hands all
/// events on to the observer that was there.
class SpecObserver : public Observer {
public:
  /// `where` opens the message: "kernel 'r_8', pass 'expander'".
  SpecObserver(const PatternMatcher& spec, std::string where, Observer* next);
  bool wantsCounts() const override { return next_ && next_->wantsCounts(); }
  const std::atomic<bool>* stopFlag() const override { return next_ ? next_->stopFlag() : nullptr; }
  void onUnchanged(const Rule& rule, UOp node) override {
    if (next_ && next_->wantsRewrites()) next_->onUnchanged(rule, node);
  }
  void onScopeBegin(const ScopeBegin& e) override;
  void onScopeEnd() override;
  void onPassBegin(const PassBegin& e) override;
  void onPassEnd(const PassEnd& e) override;
  Control onRewrite(const RewriteEvent& e) override;
  void onGate(UOp u) override;
  void onDecision(const Decision& decision) override {
    if (next_) next_->onDecision(decision);
  }
  void onRuleError(const Rule& rule, UOp before, std::string_view message) override;
  void onCounts(std::span<const MatchCount> counts) override;
  void onDeclines(std::span<const DeclineCount> declines) override {
    if (next_) next_->onDeclines(declines);
  }
  void poolRetired(Pool& pool) override;

private:
  const PatternMatcher& spec_;
  std::string where_;
  Observer* next_;
};

} // namespace uopscope
