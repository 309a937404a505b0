// The spec of a single node, common to all stages: types of arithmetic, conversions and constants. It also
// makes the message about a node that is not valid.
//
//   wellTyped(a + b)                 false where a, b and the sum are not of one type
//   specError(u, nodes, "kernel 'r_8' is not valid after pass 'expander': ", " does not fit its sources")
#pragma once
#include "engine/rewrite/matcher.h"

#include <span>
#include <string>
#include <string_view>

namespace uopscope {

/// Whether types and lanes agree, for arithmetic (group::kAlu), CAST, BITCAST and CONST; true for any other
/// node.
bool wellTyped(UOp u);
/// A node in words: "ADD dtypes.int arg None".
std::string describeNode(UOp u);
/// Throws Error(Spec) with `before`, the node, `why`, its sources, and its users among `nodes`.
[[noreturn]] void specError(UOp u, std::span<const UOp> nodes, std::string_view before, std::string_view why);

/// SPEC=2: checks every node that a rewrite makes; an error names the rule. All events are passed on to the
/// previous observer.
class SpecObserver : public Observer {
public:
  /// The messages begin with `where`: "kernel 'r_8', pass 'expander'".
  SpecObserver(const PatternMatcher& spec, std::string where, Observer* next);
  bool wantsCounts() const override { return next_ && next_->wantsCounts(); }
  bool wantsMachineTexts() const override { return next_ && next_->wantsMachineTexts(); }
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
  void onCounts(const PassCounts& counts) override;
  void onDeclines(std::span<const DeclineCount> declines) override {
    if (next_) next_->onDeclines(declines);
  }
  void poolRetired(Pool& pool) override;
  void poolDone(std::shared_ptr<Pool> pool) override;

private:
  const PatternMatcher& spec_;
  std::string where_;
  Observer* next_;
};

} // namespace uopscope
