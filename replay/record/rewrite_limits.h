// Runs a script without some of its rewrites: without rules given by name, or with only the first N optional
// rewrites. Environment variables set the limits, so they hold for any script and the processes it starts:
//
//   UOPSCOPE_WITHOUT=mul-one,add-zero     these rules never apply
//   UOPSCOPE_FUEL=120                     only the first 120 optional rewrites are made
//   UOPSCOPE_FUEL_REPORT=FILE             at the end: the number of optional rewrites, and the last one made
//
// Optional rules are those that state an equation (engine/rules) and those written in Python; without the
// lowering rules nothing would compile. Invariant: rewrites happen in the order of one thread, so a number
// always means the same rewrite.
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
  /// Error(Value) names a variable that holds no number. The variables stay set, so processes that the script
  /// starts are limited as well.
  static RewriteLimits fromEnvironment();
};

/// The last optional rewrite that was made, as the report states it.
struct LastRewrite {
  size_t optional = 0; ///< number of optional rewrites made
  std::string rule, at, kernel, pass, before, after;
  static LastRewrite read(const std::string& reportFile); ///< Error(File) where the file does not exist
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
