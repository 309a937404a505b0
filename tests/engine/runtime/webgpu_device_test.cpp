// The WebGPU device: memory, offsets, launches, batches, several devices, and messages about impossible
// requests. Every test says so and stops where the library or a driver is missing.
#include "engine/runtime/buffer.h"
#include "engine/runtime/webgpu_memory.h"
#include "tests/engine/runtime/gpu_here.h"
#include "tests/engine/runtime/gpu_kernel.h"

#include <array>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

/// out[i] = in[i] + 1 for bytes, a thread for each: four threads write each word.
LoweredKernel nextByte(int64_t size) {
  LinearProgram p("next_byte");
  UOp out = p.global(0, dtypes::uint8, size), in = p.global(1, dtypes::uint8, size);
  UOp at = p.add(Op::SPECIAL, dtypes::int32, {p.i32(size)}, Arg::of("gidx0"));
  UOp one = p.add(Op::CAST, dtypes::uint8, {p.i32(1)});
  p.store(out, at, p.add(Op::ADD, dtypes::uint8, {p.load(in, at), one}));
  LoweredKernel k = p.finish();
  k.outs = {0};
  k.ins = {1};
  return k;
}

} // namespace

TEST_CASE("WebGPU: launches on whole buffers, on aligned parts and on parts at any element") {
  if (!webGpuHere()) return;
  checkLaunchesOnParts("WEBGPU");
}

TEST_CASE("WebGPU: threads that write bytes of one word keep the others; copies may begin at any byte") {
  if (!webGpuHere()) return;
  Device& gpu = Device::get("WEBGPU");
  constexpr int64_t kSize = 1000;
  auto bytes = std::make_shared<Buffer>("WEBGPU", dtypes::uint8, kSize + 24);
  std::vector<uint8_t> host(kSize + 24);
  for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<uint8_t>(i * 7);
  bytes->copyIn(host.data());
  LoweredKernel k = nextByte(kSize);
  auto program = gpu.compile(k, gpu.renderer().render(k));
  const int64_t groups[] = {kSize};
  for (int64_t offset : {0, 1, 2, 3, 13}) {
    CAPTURE(offset);
    auto part = Buffer::view(bytes, dtypes::uint8, kSize, offset);
    void* memory[] = {part->memory(), part->memory()};
    program->launch(memory, {}, groups, {}, true);
    for (size_t i = 0; i < kSize; ++i) ++host[static_cast<size_t>(offset) + i];
    std::vector<uint8_t> now(host.size());
    bytes->copyOut(now.data());
    CHECK(now == host);
  }
  for (size_t offset : {0, 1, 2, 3, 5, 1019}) {
    for (size_t size : {1, 2, 3, 4, 5}) {
      const std::array<uint8_t, 5> fresh{200, 201, 202, 203, 204};
      auto part =
          Buffer::view(bytes, dtypes::uint8, static_cast<int64_t>(size), static_cast<int64_t>(offset));
      part->copyIn(fresh.data());
      std::copy_n(fresh.begin(), size, host.begin() + static_cast<std::ptrdiff_t>(offset));
      std::array<uint8_t, 5> back{};
      part->copyOut(back.data());
      CHECK(std::equal(back.begin(), back.begin() + static_cast<std::ptrdiff_t>(size), fresh.begin()));
      std::vector<uint8_t> now(host.size());
      bytes->copyOut(now.data());
      CHECK(now == host);
    }
  }
}

TEST_CASE("WebGPU: a batch runs its launches in order, with changed memory and variables") {
  if (!webGpuHere()) return;
  Device& gpu = Device::get("WEBGPU");
  LoweredKernel k = addNumber(8);
  auto program = gpu.compile(k, gpu.renderer().render(k));
  auto a = filled("WEBGPU", 8), b = filled("WEBGPU", 8), c = filled("WEBGPU", 8);
  const int64_t groups[] = {2}, threads[] = {4}, five[] = {5}, seven[] = {7};
  void* first[] = {b->memory(), a->memory()};
  void* second[] = {c->memory(), b->memory()};
  void* third[] = {a->memory(), c->memory()};
  std::vector<BatchedLaunch> launches{{program.get(), first, five, groups, threads},
                                      {program.get(), second, five, groups, threads},
                                      {program.get(), third, five, groups, threads}};
  auto batch = gpu.makeBatch(launches);
  REQUIRE(batch);
  batch->launch();
  CHECK(read(*a)[3] == 18);
  batch->launch();
  CHECK(read(*a)[3] == 33);
  launches[1].vars = seven;
  batch->change(1, launches[1]);
  batch->launch();
  CHECK(read(*a)[3] == 50);
}

TEST_CASE("WebGPU: a second device has its own memory and runs what the first compiled") {
  if (!webGpuHere()) return;
  Device& gpu = Device::get("WEBGPU");
  LoweredKernel k = addNumber(8);
  auto program = gpu.compile(k, gpu.renderer().render(k));
  auto a = filled("WEBGPU", 8), b = filled("WEBGPU:1", 8);
  const int64_t groups[] = {2}, threads[] = {4}, vars[] = {1};
  void* there[] = {b->memory(), b->memory()};
  program->launch(there, vars, groups, threads, true);
  CHECK(read(*b)[7] == 8);
  CHECK(read(*a)[7] == 7);
  void* mixed[] = {a->memory(), b->memory()};
  CHECK(messageOf([&] { program->launch(mixed, vars, groups, threads, true); }).find("memory of WEBGPU (") !=
        std::string::npos);
}

TEST_CASE("WebGPU: errors name the kernel, the line and what was asked for") {
  if (!webGpuHere()) return;
  Device& gpu = Device::get("WEBGPU");
  LoweredKernel k = addNumber(8);
  auto refused = [&](const std::string& text) { return messageOf([&] { gpu.compile(k, text); }); };
  std::string unknown = refused("@compute @workgroup_size(4) fn add_number_() {\n  let x = nonsense;\n}\n");
  CAPTURE(unknown);
  CHECK(unknown.find("kernel add_number: WEBGPU (") == 0);
  CHECK(unknown.find("line 2:   let x = nonsense;") != std::string::npos);
  std::string wrongType =
      refused("@compute @workgroup_size(4) fn add_number_() {\n\n  let x: i32 = 1.5f;\n}\n");
  CHECK_MESSAGE(wrongType.find("line 3:   let x: i32 = 1.5f;") != std::string::npos, wrongType);
  std::string noEntry = refused("@compute @workgroup_size(4) fn other() {}\n");
  CHECK_MESSAGE(noEntry.find("kernel add_number: WEBGPU (") == 0, noEntry);
  k.localSize = {Sint(int64_t{1} << 20)};
  std::string large = messageOf([&] { gpu.compile(k, gpu.renderer().render(k)); });
  CHECK_MESSAGE(large.find("1048576 threads in a group") != std::string::npos, large);
  CHECK(messageOf([&] { gpu.allocate(size_t{1} << 50); }).find("out of memory on WEBGPU") == 0);
  CHECK(messageOf([] { Device::get("WEBGPU:77"); }).find("there is no WEBGPU:77: WebGPU finds") == 0);
  int host = 0;
  CHECK(messageOf([&] { gpu.copyIn(&host, &host, 4); }).find("no memory of a WebGPU device") !=
        std::string::npos);
  // After all of these the device still works.
  CHECK(read(*filled("WEBGPU", 8))[7] == 7);
}
