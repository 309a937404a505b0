// The OpenCL device: memory, offsets, launches, several devices, and messages about impossible requests.
// Every test says so and stops where no driver is installed.
#include "engine/runtime/buffer.h"
#include "engine/runtime/opencl_memory.h"
#include "tests/engine/runtime/gpu_here.h"
#include "tests/engine/runtime/gpu_kernel.h"

using namespace uopscope;
using namespace uopscope::testing;

TEST_CASE("OpenCL: launches on whole buffers, on aligned parts and on parts at any element") {
  if (!openClHere()) return;
  checkLaunchesOnParts("CL");
}

TEST_CASE("OpenCL: a second device has its own memory and runs what the first compiled") {
  if (!openClHere()) return;
  if (opencl::devices().size() < 2) return;
  Device& cl = Device::get("CL");
  LoweredKernel k = addNumber(8);
  auto program = cl.compile(k, cl.renderer().render(k));
  auto a = filled("CL", 8), b = filled("CL:1", 8);
  const int64_t groups[] = {2}, threads[] = {4}, vars[] = {1};
  void* there[] = {b->memory(), b->memory()};
  program->launch(there, vars, groups, threads, true);
  CHECK(read(*b)[7] == 8);
  CHECK(read(*a)[7] == 7);
  void* mixed[] = {a->memory(), b->memory()};
  CHECK(messageOf([&] { program->launch(mixed, vars, groups, threads, true); }).find("memory of CL (") !=
        std::string::npos);
}

TEST_CASE("OpenCL: errors name the kernel, the line and what was asked for") {
  if (!openClHere()) return;
  Device& cl = Device::get("CL");
  LoweredKernel k = addNumber(8);
  std::string message =
      messageOf([&] { cl.compile(k, "__kernel void add_number() {\n  int x = nonsense;\n}\n"); });
  CAPTURE(message);
  CHECK(message.find("kernel add_number: CL (") == 0);
  CHECK(message.find("line 2:   int x = nonsense;") != std::string::npos);
  k.localSize = {Sint(int64_t{1} << 20)};
  std::string large = messageOf([&] { cl.compile(k, cl.renderer().render(k)); });
  CHECK_MESSAGE(large.find("1048576 threads in a group") != std::string::npos, large);
  CHECK(messageOf([&] { cl.allocate(size_t{1} << 50); }).find("out of memory on CL") == 0);
  CHECK(messageOf([] { Device::get("CL:77"); }).find("there is no CL:77: OpenCL finds") == 0);
  int host = 0;
  CHECK(messageOf([&] { cl.copyIn(&host, &host, 4); }).find("no memory of an OpenCL device") !=
        std::string::npos);
}
