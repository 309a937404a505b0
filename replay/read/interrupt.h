// Stops SQLite's work for a trace as soon as nobody waits for the answer.
//
//   Interrupt guard(trace, [&] { return cancelled.load(); });      // a running query then throws Error(File)
#pragma once
#include "replay/read/trace.h"

#include <functional>

namespace uopscope {

/// While it lives, it calls the function about every tenth of a millisecond, on the thread of the query. A
/// trace takes one at a time.
class Interrupt {
public:
  Interrupt(Trace& trace, std::function<bool()> stop);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

private:
  Trace& trace_;
  std::function<bool()> stop_;
};

/// Whether the last reading ended because it was stopped: what it left behind is no answer, and is read again.
bool wasStopped(const Database& db);

} // namespace uopscope
