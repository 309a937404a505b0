// What a trace tells about registers, whatever stands in it.
#include "replay/read/kernel_registers.h"
#include "tests/replay/support.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::test;

namespace {

std::optional<KernelRegisters> readBack(const std::string& text) {
  TempTrace file;
  recordTo(file.path, [&] {
    Pool pool;
    PoolScope scope(pool);
    ObservedScope kernel({ScopeKind::Kernel, "k", {}, {}});
    if (!text.empty()) Observer::current()->onArtifact({"registers", text});
  });
  Trace trace(file.path);
  return kernelRegisters(trace, trace.findScope("k"));
}

} // namespace

TEST_CASE("registers are read back as they were recorded, with or without what the compiler did") {
  const std::string file = R"("file":{"vectors":32,"vector_bytes":64,"general":15,"general_bytes":8})",
                    peak = R"("peak":{"vectors":36,"at":7,"general":9,"general_at":2},"predicted_bytes":256)";
  const auto all = readBack("{" + file + "," + peak +
                            R"(,"used":{"registers":31,"spills":3,"spilled_bytes":192,"reloads":4,)"
                            R"("reloaded_bytes":256,"stack_bytes":128}})");
  REQUIRE(all);
  CHECK(all->most() == 36);
  CHECK(all->mostAt() == 7);
  CHECK(all->available() == 32);
  CHECK(all->predictedBytes == 256);
  REQUIRE(all->used);
  CHECK(all->used->registers == 31);
  CHECK(all->used->spills == 3);
  CHECK(all->used->spilledBytes == 192);
  CHECK(all->used->reloads == 4);
  CHECK(all->used->reloadedBytes == 256);
  CHECK(all->used->stackBytes == 128);
  const auto told = readBack("{" + file + "," + peak + R"(,"used":null})");
  REQUIRE(told);
  CHECK_FALSE(told->used);
  // A thread of a GPU has no vectors.
  const auto thread =
      readBack(R"({"file":{"vectors":0,"vector_bytes":0,"general":255,"general_bytes":4},)" + peak + "}");
  REQUIRE(thread);
  CHECK(thread->most() == 9);
  CHECK(thread->mostAt() == 2);
  CHECK(thread->available() == 255);
}

TEST_CASE("registers that a stranger's trace makes up are none, or numbers that can be used") {
  for (const char* text :
       {"", "no JSON", "[]", "{}", R"({"file":7,"peak":{}})", R"({"file":{},"peak":{}})",
        R"({"file":{"vectors":4,"vector_bytes":0,"general":4,"general_bytes":8},"peak":{}})"}) {
    CAPTURE(text);
    CHECK_FALSE(readBack(text));
  }
  const auto odd =
      readBack(R"({"file":{"vectors":-3,"general":"x","general_bytes":8},"peak":{"at":1e300,"general":-1}})");
  REQUIRE(odd);
  CHECK(odd->most() == 0);
  CHECK(odd->available() == 0);
  CHECK(odd->mostAt() == 0);
}
