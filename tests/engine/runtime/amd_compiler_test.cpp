// LLVM needs no GPU: kernels of every kind compile for three generations of GPUs, their machine code has the expected
// instructions, and errors name the kernel and the line. Every test says so and stops where the engine has no LLVM.
#include "engine/base/child_process.h"
#include "engine/base/error.h"
#include "engine/render/amd_renderer.h"
#include "engine/runtime/amd_compiler.h"
#include "tests/engine/codegen/kernels.h"
#include "tests/engine/runtime/gpu_here.h"
#include "tests/engine/runtime/gpu_kernel.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

constexpr const char* kAmdAdd = "define amdgpu_kernel void @add(ptr addrspace(1) %a) {\n"
                                "  %x = load float, ptr addrspace(1) %a\n"
                                "  %y = fadd float %x, 1.0\n"
                                "  store float %y, ptr addrspace(1) %a\n"
                                "  ret void\n"
                                "}\n";

struct Made {
  amd::Binary binary;
  std::string name, listing;
};
Made compiledFor(UOp ast, const char* architecture) {
  AmdRenderer renderer(amdTarget(architecture));
  LoweredKernel k = lowerKernel(ast, renderer.target());
  PoolScope inner(*k.pool);
  Made m{amd::compile(k.name, renderer.render(k), architecture), k.name, {}};
  m.listing = amd::listing(m.binary, nullptr);
  return m;
}
bool has(const Made& m, const char* word) {
  return m.listing.find(word) != std::string::npos;
}

bool amdCompilerHere() {
  return compilerHere([] { amd::compile("add", kAmdAdd, "gfx942"); });
}

} // namespace

TEST_CASE("AMD: kernels compile for three generations, with the instructions of each") {
  if (!amdCompilerHere()) return;
  Pool pool;
  PoolScope scope(pool);
  const UOp wide =
      elementwise(65536, [](UOp x) { return x.alu(Op::EXP2) + x.alu(Op::SIN) + x.alu(Op::SQRT); });
  const UOp half = squareProduct(dtypes::float16, 128), bfloat = squareProduct(dtypes::bfloat16, 64);
  for (const char* architecture : {"gfx90a", "gfx942", "gfx1100"}) {
    CAPTURE(architecture);
    const bool isWave32 = architecture == std::string("gfx1100");
    Made m = compiledFor(wide, architecture);
    CAPTURE(m.listing);
    CHECK(has(m, "registers a thread, 0 registers spilled, 0 bytes shared;"));
    CHECK(has(m, isWave32 ? "a wavefront of 32" : "a wavefront of 64"));
    CHECK(has(m, "// 16 bytes of arguments: data0_65536 at 0, data1_65536 at 8\n"));
    CHECK(has(m, isWave32 ? "global_load_b128" : "global_load_dwordx4"));
    CHECK(has(m, isWave32 ? "global_store_b128" : "global_store_dwordx4"));
    CHECK(has(m, "s_endpgm"));

    m = compiledFor(squareProduct(dtypes::float32, 256), architecture);
    CHECK(has(m, "s_barrier"));
    CHECK(has(m, isWave32 ? "ds_load" : "ds_read"));
    CHECK(has(m, isWave32 ? "ds_store" : "ds_write"));
    CHECK(has(m, isWave32 ? "v_dual_fmac_f32" : "v_fmac_f32"));
    CHECK(amd::resourcesOf(m.binary).sharedBytes > 4096);

    CHECK(has(compiledFor(half, architecture), isWave32 ? "v_wmma_f32_16x16x16_f16" : "v_mfma_f32_16x16x16"));
    CHECK(has(compiledFor(bfloat, architecture), isWave32 ? "v_wmma_f32_16x16x16_bf16"
                                                 : architecture == std::string("gfx90a")
                                                     ? "v_mfma_f32_16x16x16bf16_1k"
                                                     : "v_mfma_f32_16x16x16_bf16"));
  }
}

TEST_CASE("AMD: a code object is linked, and its parts are those of the ABI") {
  if (!amdCompilerHere()) return;
  Pool pool;
  PoolScope scope(pool);
  Made m = compiledFor(rowSums(8, 512), "gfx942");
  const InputFile file(amd::codeObject(m.name, m.binary));
  const std::string readelf = findProgram("llvm-readelf-19", "/usr/lib/llvm-19/bin");
  if (readelf.empty()) return;
  const std::string text = runProgram({readelf, "--file-header", "--dyn-syms", "--notes", file.path()}).out;
  CAPTURE(text);
  for (const char* part :
       {"AMDGPU - HSA", "DYN (Shared object file)", "gfx942", "amdhsa.target:   amdgcn-amd-amdhsa--gfx942",
        ".kernarg_segment_size: 16", ".wavefront_size: 64", ".value_kind:     global_buffer"})
    CHECK(text.find(part) != std::string::npos);
  CHECK(text.find("OBJECT  GLOBAL PROTECTED     6 " + m.name + ".kd") + text.find(m.name + ".kd") !=
        2 * std::string::npos);
}

TEST_CASE("AMD: a listing leads back to the lines of the source, and these to instructions of the program") {
  if (!amdCompilerHere()) return;
  std::vector<AssemblyLine> lines;
  std::string text = amd::listing(amd::compile("add", kAmdAdd, "gfx1100"), &lines);
  CAPTURE(text);
  const auto count = static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  std::vector<std::string> all;
  for (size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
    all.push_back(text.substr(at, end - at));
  REQUIRE(all.size() == count);
  bool load = false, store = false;
  for (AssemblyLine l : lines) {
    REQUIRE(l.line <= count);
    const std::string& code = all[l.line - 1];
    if (code.find("_load_b32 v") != std::string::npos || code.find("s_load_b32 ") != std::string::npos)
      load = load || l.source == 2;
    if (code.find("global_store_b32") != std::string::npos) store = store || l.source == 4;
  }
  CHECK(load);
  CHECK(store);

  LoweredKernel k = addNumber(8);
  PoolScope inner(*k.pool);
  std::vector<TextLine> written;
  const std::string source = AmdRenderer(amdTarget("gfx942")).renderWithLines(k, &written);
  CAPTURE(source);
  std::vector<std::string> sourceLines{""};
  for (size_t at = 0, end; (end = source.find('\n', at)) != std::string::npos; at = end + 1)
    sourceLines.push_back(source.substr(at, end - at));
  int found = 0;
  for (TextLine l : written) {
    UOp u = k.uops[l.instruction];
    const std::string& line = sourceLines.at(l.line);
    if (u.is(Op::SPECIAL)) found += line.find("@llvm.amdgcn.work") != std::string::npos;
    if (u.is(Op::STORE)) found += line.find("store float") != std::string::npos;
    if (u.is(Op::DEFINE_GLOBAL)) found += line.find("define amdgpu_kernel") != std::string::npos;
  }
  CHECK(found == 5);
}

TEST_CASE("AMD: errors name the kernel and the line") {
  if (!amdCompilerHere()) return;
  std::string bad = messageOf([] {
    amd::compile("bad", "define amdgpu_kernel void @bad() {\n  %x = nonsense i32 1\n  ret void\n}\n",
                 "gfx942");
  });
  CAPTURE(bad);
  CHECK(bad.find("kernel bad: LLVM does not take it") == 0);
  CHECK(bad.find(":2:") != std::string::npos);
  CHECK(bad.find("%x = nonsense i32 1") != std::string::npos);
  std::string large = messageOf([] {
    amd::compile("large",
                 "@much = internal addrspace(3) global [100000 x i32] poison\n"
                 "define amdgpu_kernel void @large(i32 %i, ptr addrspace(1) %out) {\n"
                 "  %p = getelementptr i32, ptr addrspace(3) @much, i32 %i\n"
                 "  store volatile i32 %i, ptr addrspace(3) %p\n"
                 "  ret void\n}\n",
                 "gfx942");
  });
  CAPTURE(large);
  CHECK(large.find("kernel large: LLVM does not compile it for gfx942") == 0);
  CHECK(large.find("local memory (400000) exceeds limit (65536)") != std::string::npos);
  CHECK(messageOf([] {
          amd::compile("add", kAmdAdd, "gfx1");
        }).find("LLVM 19.1.7 knows no GPU of AMD called \"gfx1\"") == 0);
  setenv("AMD_ARCH", "MI300", 1);
  CHECK(messageOf([] { amd::wantedArchitecture(); }).find("AMD_ARCH is \"MI300\"") == 0);
  unsetenv("AMD_ARCH");
}

TEST_CASE("AMD: code objects of others are read as far as they go, and made ones crash nothing") {
  if (!amdCompilerHere()) return;
  const std::string object = amd::compile("add", kAmdAdd, "gfx942").object;
  std::string architecture;
  const std::string text = amd::disassembly(object, &architecture);
  CHECK(architecture == "gfx942");
  CHECK(text.find("v_add_f32") != std::string::npos);
  // The number of the architecture: that of gfx950, which LLVM 19 does not know, and numbers of nobody.
  auto numbered = [&](unsigned char number) {
    std::string other = object;
    other[48] = static_cast<char>(number);
    return other;
  };
  CHECK(amd::disassembly(numbered(0x4f), &architecture).find("v_add_f32") != std::string::npos);
  CHECK(architecture == "gfx950");
  for (int number : {0x00, 0x27, 0x50, 0x5a, 0xff})
    CHECK_THROWS_WITH_AS(amd::disassembly(numbered(static_cast<unsigned char>(number))),
                         doctest::Contains("that LLVM knows"), Error);
  // An assembler of kernels by hand leaves the machine and the order of bytes out.
  const size_t code = text.find("s_load_dwordx2");
  CHECK(code != std::string::npos);
  std::string bare(64 + 64, '\0');
  bare.replace(0, 4,
               "\x7f"
               "ELF");
  bare[40] = 64;                        // its sections
  bare[64 + 24] = 8, bare[64 + 32] = 4; // the first: 4 bytes at 8, which are zeros
  CHECK(amd::disassembly(bare, &architecture, "gfx1200").starts_with("kernel:\n"));
  CHECK(architecture == "gfx1200");
  CHECK_THROWS_AS(amd::disassembly(bare), Error); // of no architecture
  std::mt19937 random(5);
  for (int round = 0; round < 3000; ++round) {
    std::string made = random() % 2 ? object : bare;
    for (unsigned k = 1 + random() % 6; k > 0; --k)
      made[random() % made.size()] = static_cast<char>(random());
    if (random() % 4 == 0) made.resize(random() % made.size());
    try {
      amd::disassembly(made, nullptr, "gfx1100");
    } catch (const Error&) {
    }
  }
}
