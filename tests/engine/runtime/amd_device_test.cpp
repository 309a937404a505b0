// AMD's device on a double of HIP (tests/devices/hip_double): what is given to the driver, in which order, and what it
// answers. The double loads code objects as a driver does and runs a function of these tests for a kernel: no GPU runs.
#include "engine/runtime/amd_compiler.h"
#include "engine/runtime/driver_memory.h"
#include "engine/runtime/driver_program.h"
#include "engine/runtime/hip_api.h"
#include "tests/engine/runtime/amd_double.h"
#include "tests/engine/runtime/gpu_kernel.h"

#include <cstring>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

std::string calls() {
  return ofDouble<const char*()>("hip_double_calls")();
}
bool called(const std::string& all, const char* call) {
  return all.find(call) != std::string::npos;
}

/// What addNumber's kernel does, from the block of arguments that the driver would give it.
void runAddNumber(const hip_double_launch* l) {
  REQUIRE(std::string(l->kernel) == "add_number");
  REQUIRE(l->argumentBytes == 20);
  float* out = nullptr;
  const float* in = nullptr;
  int32_t n = 0;
  const auto* block = static_cast<const std::byte*>(l->arguments);
  std::memcpy(static_cast<void*>(&out), block, 8);
  std::memcpy(static_cast<void*>(&in), block + 8, 8);
  std::memcpy(&n, block + 16, 4);
  for (uint32_t group = 0; group < l->grid[0]; ++group)
    for (uint32_t thread = 0; thread < l->block[0]; ++thread)
      out[group * 4 + thread] = in[group * 4 + thread] + static_cast<float>(n);
}

} // namespace

TEST_CASE("AMD: launches on whole buffers and on parts at any element, one by one and as a batch") {
  if (!amdDoubleHere()) return;
  ofDouble<void(hip_double_runner)>("hip_double_run")(runAddNumber);
  Device& amd = Device::get("AMD");
  CHECK(amd.renderer().target().suffix == "(Double) gfx1100");
  LoweredKernel k = addNumber(8);
  auto program = amd.compile(k, amd.renderer().render(k));
  auto from = filled("AMD", 1024), to = filled("AMD", 1024);
  const int64_t groups[] = {2}, threads[] = {4}, vars[] = {5};
  for (int64_t offset : {0, 256, 3, 1016}) {
    CAPTURE(offset);
    auto in = Buffer::view(from, dtypes::float32, 8, offset * 4),
         out = Buffer::view(to, dtypes::float32, 8, offset * 4);
    void* memory[] = {out->memory(), in->memory()};
    calls();
    CHECK(program->launch(memory, vars, groups, threads, true) == doctest::Approx(0.25e-3));
    const std::string made = calls();
    CAPTURE(made);
    CHECK(called(made,
                 "hipStreamSynchronize\nhipEventRecord\nhipModuleLaunchKernel add_number 2x1x1 of 4x1x1\n"
                 "hipEventRecord\nhipEventSynchronize\nhipEventElapsedTime\n"));
    CHECK(testing::read(*out)[7] == static_cast<float>(offset + 12));
    CHECK(testing::read(*to)[500] == 500);
  }
  void* memory[] = {to->memory(), to->memory()};
  for (int i = 0; i < 100; ++i) CHECK(program->launch(memory, vars, groups, threads, false) == 0);
  CHECK(testing::read(*to)[0] == 505); // a launch does not wait, reading does
  calls();
  const int64_t none[] = {0};
  CHECK(program->launch(memory, vars, none, threads, false) == 0);
  CHECK(!called(calls(), "hipModuleLaunchKernel"));

  std::vector<BatchedLaunch> launches(3, BatchedLaunch{program.get(), memory, vars, groups, threads});
  auto batch = amd.makeBatch(launches);
  REQUIRE(batch);
  batch->launch();
  CHECK(testing::read(*to)[0] == 520);
  const int64_t other[] = {7};
  void* elsewhere[] = {from->memory(), to->memory()};
  batch->change(2, {program.get(), elsewhere, other, groups, threads});
  batch->launch();
  CHECK(testing::read(*to)[0] == 530);
  CHECK(testing::read(*from)[0] == 537);
}

TEST_CASE("a launch, alone and in a graph, asks for more shared memory than a program declares, and has "
          "further arguments") {
  if (!amdDoubleHere()) return;
  ofDouble<void(hip_double_runner)>("hip_double_run")(runAddNumber);
  struct AsksForMore : driver::Code {
    explicit AsksForMore(std::string image) : image_(std::move(image)) {}
    const std::string& image() const override { return image_; }
    std::string listing(std::vector<AssemblyLine>*) const override { return {}; }
    int64_t sharedBytes() const override { return 70000; }
    std::vector<driver::LargeArgument> furtherArguments(std::span<void* const> buffers) const override {
      askedFor().push_back(buffers[0]);
      return {driver::LargeArgument{}};
    }
    static std::vector<void*>& askedFor() {
      static std::vector<void*> buffers;
      return buffers;
    }
    std::string image_;
  };
  Device& amd = Device::get("AMD");
  LoweredKernel k = addNumber(8);
  auto to = filled("AMD", 8);
  void* memory[] = {to->memory(), to->memory()};
  const int64_t groups[] = {2}, threads[] = {4}, vars[] = {5};
  calls();
  auto program = driver::makeProgram(k,
                                     std::make_unique<AsksForMore>(amd::codeObject(
                                         k.name, amd::compile(k.name, amd.renderer().render(k), "gfx1100"))),
                                     driver::memoryTable().gpuOf(hip::api(), memory[0]));
  CHECK(called(calls(), "hipModuleGetFunction add_number\nhipFuncSetAttribute 8 70000\n"));
  program->launch(memory, vars, groups, threads, true);
  CHECK(called(calls(), "hipModuleLaunchKernel add_number 2x1x1 of 4x1x1 and 70000 bytes\n"));
  auto batch = amd.makeBatch(std::vector<BatchedLaunch>{{program.get(), memory, vars, groups, threads}});
  batch->launch();
  batch->change(0, {program.get(), memory, vars, groups, threads});
  const std::string made = calls();
  CHECK(called(made, "hipGraphAddKernelNode and 70000 bytes\n"));
  CHECK(called(made, "hipGraphExecKernelNodeSetParams and 70000 bytes\n"));
  CHECK(testing::read(*to)[7] == 17);
  // They are made for the buffers of each launch, and of each node of a graph when it is made or changed.
  CHECK(AsksForMore::askedFor() == std::vector<void*>(3, memory[0]));
}

TEST_CASE("AMD: a second device has its own memory, runs what the first compiled, and is copied from") {
  if (!amdDoubleHere()) return;
  ofDouble<void(hip_double_runner)>("hip_double_run")(runAddNumber);
  Device& amd = Device::get("AMD");
  LoweredKernel k = addNumber(8);
  auto program = amd.compile(k, amd.renderer().render(k));
  auto a = filled("AMD", 8), b = filled("AMD:1", 8);
  const int64_t groups[] = {2}, threads[] = {4}, vars[] = {1};
  void* there[] = {b->memory(), b->memory()};
  calls();
  program->launch(there, vars, groups, threads, true);
  CHECK(calls().starts_with("hipSetDevice 1\n"));
  CHECK(testing::read(*b)[7] == 8);
  CHECK(testing::read(*a)[7] == 7);
  CHECK(amd.copyFrom(a->memory(), Device::get("AMD:1"), b->memory(), 32));
  CHECK(called(calls(), "hipMemcpyPeerAsync 1 to 0\n"));
  CHECK(testing::read(*a)[7] == 8);
}

TEST_CASE("AMD: errors name the kernel, the call and what was asked for") {
  if (!amdDoubleHere()) return;
  Device& amd = Device::get("AMD");
  LoweredKernel k = addNumber(8);
  std::string message =
      messageOf([&] { amd.compile(k, "define amdgpu_kernel void @add_number() {\n  nonsense\n}\n"); });
  CAPTURE(message);
  CHECK(message.find("kernel add_number: LLVM does not take it") == 0);
  CHECK(message.find(":2:") != std::string::npos);
  CHECK(messageOf([&] { amd.allocate(size_t{1} << 50); }).find("out of memory on AMD") == 0);
  CHECK(messageOf([] {
          Device::get("AMD:77");
        }).find("there is no AMD:77: AMD finds 2 GPUs here; AMD_SPLIT=39") == 0);

  auto fail = ofDouble<void(const char*, int)>("hip_double_fail");
  fail("hipModuleLoadData", 1);
  message = messageOf([&] { amd.compile(k, amd.renderer().render(k)); });
  CHECK(message ==
        "kernel add_number on AMD (Double): hipModuleLoadData: hipErrorInvalidValue: a double's error");

  auto program = amd.compile(k, amd.renderer().render(k));
  auto a = filled("AMD", 8);
  const int64_t groups[] = {2}, threads[] = {4}, many[] = {64}, vars[] = {1};
  void* memory[] = {a->memory(), a->memory()};
  message = messageOf([&] { program->launch(memory, vars, groups, many, true); });
  CHECK(message ==
        "kernel add_number on AMD (Double): hipModuleLaunchKernel: hipErrorInvalidValue: a double's error");
  float onHost = 0;
  void* foreign[] = {&onHost, &onHost};
  CHECK(called(messageOf([&] { program->launch(foreign, vars, groups, threads, true); }),
               "is no memory of a device of AMD"));
}

TEST_CASE("AMD: a kernel that fails on the GPU is named by the call that waits for it") {
  if (!amdDoubleHere()) return;
  Device& amd = Device::get("AMD");
  LoweredKernel k = addNumber(8);
  auto program = amd.compile(k, amd.renderer().render(k));
  auto a = filled("AMD", 8);
  const int64_t groups[] = {2}, threads[] = {4}, vars[] = {1};
  void* memory[] = {a->memory(), a->memory()};
  ofDouble<void(const char*, int)>("hip_double_fail")("hipModuleLaunchKernel", 719);
  CHECK(program->launch(memory, vars, groups, threads, false) == 0);
  std::string message = messageOf([&] { amd.synchronize(); });
  CAPTURE(message);
  CHECK(
      message.find(
          "AMD (Double): hipErrorLaunchFailure: unspecified launch failure. One of the last kernels failed: "
          "add_number.") == 0);
  CHECK(called(message, "DEV=REF:AMD finds the access"));
}

TEST_CASE("AMD: a code object for a different GPU is refused by the driver, by name") {
  if (!amdDoubleHere()) return;
  Device& amd = Device::get("AMD");
  LoweredKernel k = addNumber(8);
  setenv("HIP_DOUBLE_ARCH", "gfx942", 1); // the double now loads code for this one only
  std::string message = messageOf([&] { amd.compile(k, amd.renderer().render(k)); });
  unsetenv("HIP_DOUBLE_ARCH");
  CHECK(called(message, "kernel add_number on AMD (Double): hipModuleLoadData: hipErrorNoBinaryForGpu"));
  CHECK(called(calls(), "hipModuleLoadData refuses: the image is for a different GPU"));
}
