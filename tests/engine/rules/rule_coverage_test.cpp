// Some test must make every rule of every rule set fire. While the whole program runs, an observer of each
// test notes the rules that apply, beside the observer that captures kernels if there is one. At the end the
// run lists the rules that never applied, and fails.
//
// Only a run of all tests can decide this, so a run with filters reports nothing.
#include "engine/rewrite/matcher.h"
#include "engine/rewrite/observer.h"
#include "engine/rewrite/rule.h"
#include "replay/record/tee.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <set>
#include <string>

using namespace uopscope;

namespace {

/// The name and the file: some families have a rule of the same name.
using RuleKey = std::pair<std::string, std::string>;

struct FiredRules : Observer {
  Control onRewrite(const RewriteEvent& e) override {
    if (e.rule->definition()) fired.insert(e.rule->definition());
    return Control::Apply;
  }
  std::unique_ptr<Observer> fork(uint64_t) override { return std::make_unique<FiredRules>(); }
  void join(std::unique_ptr<Observer> o) override { fired.merge(dynamic_cast<FiredRules&>(*o).fired); }
  std::set<const RuleDef*> fired;
};

/// Rules that are asked and never applied: a spec and a gradient only answer, and marks stay in the context.
/// Answers of the first two have tests of their own.
bool isAskedOnly(const RuleDef& rule) {
  std::string name = rule.name, file = rule.file;
  static const std::set<std::string> kMarks{
      "sink-sources",          "always-stored",     "copied",
      "custom-kernel-buffers", "mark-range-modulo", "mark-range-quotient"};
  return name.starts_with("valid-") || name.starts_with("tensor-") || file.ends_with("tensor/gradient.cpp") ||
         file.find("engine/transform/") != std::string::npos || kMarks.contains(name);
}

class Coverage : public doctest::IReporter {
public:
  explicit Coverage(const doctest::ContextOptions&) {}
  void test_case_start(const doctest::TestCaseData&) override {
    if (Observer* capture = Observer::current()) tee_ = std::make_unique<Tee>(&rules_, capture);
    scope_ = std::make_unique<ObserverScope>(tee_ ? tee_.get() : static_cast<Observer*>(&rules_));
  }
  void test_case_end(const doctest::CurrentTestCaseStats&) override {
    scope_.reset();
    tee_.reset();
  }
  void test_run_end(const doctest::TestRunStats& s) override {
    if (s.numTestCasesPassingFilters < s.numTestCases) return;
    std::set<RuleKey> fired, known;
    for (const RuleDef* r : rules_.fired) fired.insert({r->name, r->file});
    for (const RuleDef* r : knownRules()) known.insert({r->name, r->file});
    int missing = 0;
    for (const auto& [name, file] : fired)
      if (!file.ends_with("_test.cpp") && !known.contains({name, file}))
        std::printf("%s %s: rule '%s' applied, and its table has no KnownRules\n",
                    missing++ ? "  " : "ERROR:", file.c_str(), name.c_str());
    for (const RuleDef* r : knownRules()) {
      if (isAskedOnly(*r) || fired.contains({r->name, r->file})) continue;
      std::printf("%s %s:%d: no test makes rule '%s' apply\n", missing++ ? "  " : "ERROR:", r->file, r->line,
                  r->name);
    }
    std::printf("rules: %zu, %d without a test\n", knownRules().size(), missing);
    // Listeners cannot fail a run. The summary is written before this message.
    if (missing)
      std::atexit([] {
        std::fflush(nullptr);
        _exit(1);
      });
  }
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}

private:
  FiredRules rules_;
  std::unique_ptr<Tee> tee_;
  std::unique_ptr<ObserverScope> scope_;
};
REGISTER_LISTENER("rule coverage", 1, Coverage);

} // namespace
