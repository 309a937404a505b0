// The entry point of every test program; tests/<part>/**/*_test.cpp are linked into it. The tests take no
// compiled code from the user's cache and leave none there. CAPTURE_PROCESS_REPLAY=1 stores the tests'
// compilations in a corpus, which UOPSCOPE_CORPUS names.
#define DOCTEST_CONFIG_IMPLEMENT
#include "replay/record/capture_session.h"

#include <doctest/doctest.h>

#include <cstdlib>

namespace {
/// Runs before the settings read the environment, since they read it only once.
[[gnu::constructor(101)]] void keepNothing() {
  setenv("CCACHE", "0", 0);
}
} // namespace

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  const std::string corpus = uopscope::CaptureSession::pathFromEnvironment();
  if (corpus.empty()) return context.run();
  uopscope::CaptureSession capture(corpus, argv[0]);
  int code = 0;
  {
    uopscope::ObserverScope scope(&capture.observer());
    code = context.run();
  }
  capture.finish(code == 0 ? "complete" : "failed");
  return code;
}
