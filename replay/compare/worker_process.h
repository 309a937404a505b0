// Prepares a forked process: the process alone reports its crash, not the parent's handlers.
#pragma once
#include <sys/resource.h>

#include <csignal>

namespace uopscope {

/// Deadly signals end the process again, whatever handlers the parent has set; no core file is left.
inline void becomeWorkerProcess() {
  for (int number : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL, SIGTERM}) std::signal(number, SIG_DFL);
  rlimit noCore{0, 0};
  setrlimit(RLIMIT_CORE, &noCore);
}

} // namespace uopscope
