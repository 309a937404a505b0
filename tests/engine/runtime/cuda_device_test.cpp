// CUDA: launches, parts of memory, batches, several devices and messages. Every test says so and stops where
// no driver or no GPU exists.
#include "engine/runtime/driver_memory.h"
#include "tests/engine/runtime/gpu_here.h"
#include "tests/engine/runtime/gpu_kernel.h"

using namespace uopscope;
using namespace uopscope::testing;

TEST_CASE("CUDA: launches on whole buffers and on parts at any element, one by one and as a batch") {
  if (!cudaHere()) return;
  Device& cuda = Device::get("CUDA");
  LoweredKernel k = addNumber(8);
  auto program = cuda.compile(k, cuda.renderer().render(k));
  auto from = filled("CUDA", 1024), to = filled("CUDA", 1024);
  const int64_t groups[] = {2}, threads[] = {4}, vars[] = {5};
  for (int64_t offset : {0, 256, 3, 1016}) {
    CAPTURE(offset);
    auto in = Buffer::view(from, dtypes::float32, 8, offset * 4),
         out = Buffer::view(to, dtypes::float32, 8, offset * 4);
    void* memory[] = {out->memory(), in->memory()};
    CHECK(program->launch(memory, vars, groups, threads, true) > 0);
    CHECK(read(*out)[7] == static_cast<float>(offset + 12));
    CHECK(read(*to)[500] == 500);
  }
  void* memory[] = {to->memory(), to->memory()};
  for (int i = 0; i < 100; ++i) CHECK(program->launch(memory, vars, groups, threads, false) == 0);
  CHECK(read(*to)[0] == 505);

  std::vector<BatchedLaunch> launches(3, BatchedLaunch{program.get(), memory, vars, groups, threads});
  auto batch = cuda.makeBatch(launches);
  REQUIRE(batch);
  batch->launch();
  CHECK(read(*to)[0] == 520);
  const int64_t other[] = {7};
  void* elsewhere[] = {from->memory(), to->memory()};
  batch->change(2, {program.get(), elsewhere, other, groups, threads});
  batch->launch();
  CHECK(read(*to)[0] == 530);
  CHECK(read(*from)[0] == 537);
}

TEST_CASE("CUDA: a second device has its own memory, runs what the first compiled, and is copied from") {
  if (!cudaHere()) return;
  Device& cuda = Device::get("CUDA");
  LoweredKernel k = addNumber(8);
  auto program = cuda.compile(k, cuda.renderer().render(k));
  auto a = filled("CUDA", 8), b = filled("CUDA:1", 8);
  const int64_t groups[] = {2}, threads[] = {4}, vars[] = {1};
  void* there[] = {b->memory(), b->memory()};
  program->launch(there, vars, groups, threads, true);
  CHECK(read(*b)[7] == 8);
  CHECK(read(*a)[7] == 7);
  CHECK(cuda.copyFrom(a->memory(), Device::get("CUDA:1"), b->memory(), 32));
  CHECK(read(*a)[7] == 8);
}

TEST_CASE("CUDA: errors name the kernel, the line and what was asked for") {
  if (!cudaHere()) return;
  Device& cuda = Device::get("CUDA");
  LoweredKernel k = addNumber(8);
  std::string message = messageOf(
      [&] { cuda.compile(k, "extern \"C\" __global__ void add_number() {\n  int x = nonsense;\n}\n"); });
  CAPTURE(message);
  CHECK(message.find("kernel add_number: NVRTC does not compile it") == 0);
  CHECK(message.find("line 2:   int x = nonsense;") != std::string::npos);
  CHECK(messageOf([&] { cuda.allocate(size_t{1} << 50); }).find("out of memory on CUDA") == 0);
  CHECK(messageOf([] { Device::get("CUDA:77"); }).find("there is no CUDA:77: CUDA finds") == 0);
}
