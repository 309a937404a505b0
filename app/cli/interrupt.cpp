// A signal handler may touch nothing but a lock-free atomic.
#include "app/cli/interrupt.h"

#include "app/cli/cli.h"

#include <csignal>
#include <cstdlib>

namespace uopscope::cli {

namespace {
std::atomic<bool> stopAsked{false};
}

StopOnInterrupt::StopOnInterrupt() {
  stopAsked = false;
  std::signal(SIGINT, [](int) {
    if (stopAsked.exchange(true)) std::_Exit(kInterrupted);
  });
}

StopOnInterrupt::~StopOnInterrupt() {
  std::signal(SIGINT, SIG_DFL);
}

const std::atomic<bool>* StopOnInterrupt::asked() {
  return &stopAsked;
}

} // namespace uopscope::cli
