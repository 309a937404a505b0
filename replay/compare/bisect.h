// Finds the rewrite that makes a kernel wrong, slow, or gives it a line of its code. The search switches off optional
// rewrites from the end (fuel on the observer's gate) until the kernel is right, fast, or without the line.
//
//   RewriteCulprit c = bisectRewrites(compilation, BisectFor::Wrong);
//   RewriteCulprit c = bisectRewrites(compilation, BisectFor::Line, {.line = "float val0 = data1[ridx0];"});
//   if (c.found) print(c.sentence);
#pragma once
#include "replay/record/capture.h"

#include <functional>

namespace uopscope {

enum class BisectFor : uint8_t { Wrong, Slow, Line };

struct BisectOptions {
  int timeoutSeconds = 60; ///< of one run
  std::string line = {};   ///< of the readable C, for BisectFor::Line; blanks around it do not count
  /// Replaces the test: whether the kernel is bad with this gate.
  std::function<bool(const Compilation&, Observer&)> judge = {};
  /// Told before each run: its number, and about how many there will be (0: not known yet).
  std::function<void(size_t run, size_t about)> progress = {};
};

struct RewriteCulprit {
  bool found = false;
  size_t optional = 0; ///< optional rewrites of the whole compilation
  size_t number = 0;   ///< number of the culprit among them, from 1
  std::string rule, pass, before, after, sentence;
};

/// Only rewrites by rules of engine/rules count, which state equations between expressions; lowering rules
/// always apply. A kernel that does not compile with less fuel counts as right, and the sentence says so.
/// Error(Value) for a line that the kernel does not have.
RewriteCulprit bisectRewrites(const Compilation& kernel, BisectFor what, const BisectOptions& options = {});

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
