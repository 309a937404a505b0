// Stops what SQLite does for a trace as soon as nobody waits for the answer.
//
//   Interrupt guard(trace, [&] { return cancelled.load(); });      // a query under way then throws
//   Error(File)
#pragma once
#include "replay/read/trace.h"

#include <functional>

namespace uopscope {

/// Asked about every tenth of a millisecond, on the thread of the query, as long as this lives. One at a
/// time.
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

} // namespace uopscope
