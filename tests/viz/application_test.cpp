// Ends the shared application when the last test has run: Qt does not survive being torn down with the
// statics.
#include "tests/viz/support.h"

#include <doctest/doctest.h>

namespace {

struct CloseApplication : doctest::IReporter {
  explicit CloseApplication(const doctest::ContextOptions&) {}
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override { uopscope::test::applicationSlot().reset(); }
  void test_case_start(const doctest::TestCaseData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};

DOCTEST_REGISTER_LISTENER("close-application", 1, CloseApplication);

} // namespace
