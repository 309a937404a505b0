// The number of threads that kernels are divided over and launched on; one answer for compiler and runtime.
//
//   ThreadPool pool(cpuCount());
#pragma once

namespace uopscope {

/// CPU_COUNT, or the number of cores that this process may use (`taskset`, containers), at least 1.
int cpuCount();

} // namespace uopscope
