// Ctrl-C ends long work between two parts of it; a second Ctrl-C ends the program.
//
//   StopOnInterrupt stop;
//   options.stop = stop.asked();      // work looks at it between two kernels
#pragma once
#include <atomic>

namespace uopscope::cli {

/// One at a time. What was asked stays known after its end, until the next one begins.
class StopOnInterrupt {
public:
  StopOnInterrupt();
  ~StopOnInterrupt();
  StopOnInterrupt(const StopOnInterrupt&) = delete;
  StopOnInterrupt& operator=(const StopOnInterrupt&) = delete;
  static const std::atomic<bool>* asked();
};

} // namespace uopscope::cli
