// The rewrite that makes a kernel wrong or slow: rewrites that are not needed to compile are switched off
// from the end (fuel on the observer's gate) until the kernel is right again.
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
  size_t optional = 0; ///< rewrites of the whole compilation that are not needed
  size_t number = 0;   ///< of the culprit among them, from 1
  std::string rule, pass, before, after, sentence;
};

/// Only rewrites by rules of engine/rules count, equations between expressions; lowering is left alone. Where
/// the kernel does not compile with less, that counts as right, and the sentence says so. `judge` replaces
/// the judgement: whether the kernel is bad with this much fuel.
RewriteCulprit bisectRewrites(const Compilation& kernel, BisectFor what, int timeoutSeconds = 60,
                              const std::function<bool(const Compilation&, Observer&)>& judge = {});

/// Allows the first `fuel` optional rewrites (replay/record/rewrite_limits.h) and skips the rest; remembers
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
  std::string rule, pass, before, after; ///< of the last rewrite allowed

private:
  size_t fuel_, used_ = 0;
  std::vector<std::string> passes_;
};

} // namespace uopscope
