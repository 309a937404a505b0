// What a forked process does first: a crash in it is its own, not the parent's to report.
#pragma once
#include <sys/resource.h>

#include <csignal>

namespace uopscope {

/// Deadly signals end the process again, whatever the parent's handlers do with them; no core file is left.
inline void becomeWorkerProcess() {
  for (int number : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL, SIGTERM}) std::signal(number, SIG_DFL);
  rlimit noCore{0, 0};
  setrlimit(RLIMIT_CORE, &noCore);
}

} // namespace uopscope
