// A double of HIP's library (libamdhip64.so) for machines without a GPU of AMD: memory of the host, streams that run
// nothing before they are waited for, and code objects that are loaded and checked as a driver does. What a kernel does
// is left to a function of the test.
//
//   auto run = reinterpret_cast<void (*)(hip_double_runner)>(dlsym(library, "hip_double_run"));
//   run([](const hip_double_launch* l) { ... l->arguments ... });
//
// HIP_DOUBLE_ARCH (gfx1100) and HIP_DOUBLE_GPUS (2) say which GPUs it shows.
#pragma once
#include <cstddef>
#include <cstdint>

extern "C" {

/// One launch, when its stream comes to it.
struct hip_double_launch {
  const char* kernel;
  const void* code; ///< the first instruction
  uint64_t codeBytes;
  uint32_t grid[3], block[3];
  const void* arguments; ///< the block of arguments, laid out by the metadata
  uint64_t argumentBytes;
  uint32_t resources2; ///< of the kernel's descriptor
  uint32_t sharedBytes;
};
using hip_double_runner = void (*)(const hip_double_launch*);

/// The function that runs kernels; null: they do nothing.
void hip_double_run(hip_double_runner runner);
/// The next call of this function fails with this status.
void hip_double_fail(const char* function, int status);
/// The calls of HIP since the last question, a line each. The text holds until the next question.
const char* hip_double_calls();
}
