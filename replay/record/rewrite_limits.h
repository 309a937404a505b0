// A run that goes without some of its rewrites: rules by name, or all optional rewrites after the first so
// many. Set by the environment, so that any script, and whatever it starts, can be run under limits:
//
//   UOPSCOPE_WITHOUT=mul-one,add-zero     these rules never apply
//   UOPSCOPE_FUEL=120                     the first 120 optional rewrites are made, no others
//   UOPSCOPE_FUEL_REPORT=FILE             at the end: how many there were, and which one was the last
//
// Optional are rules that state an equation (engine/rules) and rules written in Python; without lowering
// nothing would compile. Invariant: the order of rewrites is that of one thread, so that a number always
// means the same rewrite.
#pragma once
#include "engine/rewrite/forwarding_observer.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace uopscope {

/// Whether the rule is an equation that a compilation can do without.
bool isOptionalRule(const Rule& rule);

struct RewriteLimits {
  std::set<std::string, std::less<>> without;
  size_t fuel = SIZE_MAX;
  std::string report;
  bool any() const { return !without.empty() || fuel != SIZE_MAX || !report.empty(); }
  /// Error(Value) for a number that is none. The variables stay: a script's own processes are limited as
  /// well.
  static RewriteLimits fromEnvironment();
};

/// The last optional rewrite that was made, as the report says it.
struct LastRewrite {
  size_t optional = 0; ///< optional rewrites that were made
  std::string rule, at, kernel, pass, before, after;
  static LastRewrite read(const std::string& reportFile); ///< Error(File) where there is none
};

class LimitGate final : public ForwardingObserver {
public:
  LimitGate(Observer& inner, RewriteLimits limits) : ForwardingObserver(inner), limits_(std::move(limits)) {}
  ~LimitGate() override;
  LimitGate(const LimitGate&) = delete;
  LimitGate& operator=(const LimitGate&) = delete;
  void onScopeBegin(const ScopeBegin& begin) override;
  void onScopeEnd() override;
  void onPassBegin(const PassBegin& begin) override;
  void onPassEnd(const PassEnd& end) override;
  Control onRewrite(const RewriteEvent& event) override;

private:
  RewriteLimits limits_;
  size_t used_ = 0;
  LastRewrite last_;
  std::vector<std::string> passes_, scopes_;
};

} // namespace uopscope
