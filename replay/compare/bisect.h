// Finds the rewrite that makes a kernel wrong or slow. The search switches off optional rewrites from the end
// (fuel on the observer's gate) until the kernel is right again.
//
//   RewriteCulprit c = bisectRewrites(compilation, BisectFor::Wrong);
//   if (c.found) print(c.sentence);
#pragma once
#include "replay/record/capture.h"

#include <functional>

namespace uopscope {

enum class BisectFor : uint8_t { Wrong, Slow };

struct RewriteCulprit {
  bool found = false;
  size_t optional = 0; ///< optional rewrites of the whole compilation
  size_t number = 0;   ///< number of the culprit among them, from 1
  std::string rule, pass, before, after, sentence;
};

/// Only rewrites by rules of engine/rules count, which state equations between expressions; lowering rules
/// always apply. A kernel that does not compile with less fuel counts as right, and the sentence says so.
/// `judge` replaces the test: it returns whether the kernel is bad with this much fuel.
RewriteCulprit bisectRewrites(const Compilation& kernel, BisectFor what, int timeoutSeconds = 60,
                              const std::function<bool(const Compilation&, Observer&)>& judge = {});

/// Allows the first `fuel` optional rewrites (replay/record/rewrite_limits.h), skips the rest, and remembers
/// the last one it allowed.
class FuelGate : public Observer {
public:
  explicit FuelGate(size_t fuel) : fuel_(fuel) {}
  void onPassBegin(const PassBegin& begin) override { passes_.emplace_back(begin.name); }
  void onPassEnd(const PassEnd&) override {
    if (!passes_.empty()) passes_.pop_back();
  }
  Control onRewrite(const RewriteEvent& event) override;
  size_t used() const { return used_; }
  std::string rule, pass, before, after; ///< describe the last rewrite allowed

private:
  size_t fuel_, used_ = 0;
  std::vector<std::string> passes_;
};

} // namespace uopscope
