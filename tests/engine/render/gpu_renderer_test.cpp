// Kernels in the languages of GPUs: golden texts (UPDATE_GOLDEN=1 writes them anew); what they say is
// computed is right, since the same program runs on the reference interpreter; and compilers take them, where
// there is one: nvcc for CUDA, clang for OpenCL C.
#include "engine/base/error.h"
#include "engine/render/gpu_text.h"
#include "engine/runtime/device.h"
#include "tests/engine/codegen/kernels.h"
#include "tests/engine/codegen/oracle.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace uopscope;
using namespace uopscope::testing;
namespace fs = std::filesystem;

namespace {

struct Case {
  std::string name;
  UOp ast;
};

UOp withOpts(UOp ast, std::vector<Opt> opts) {
  KernelInfo info;
  info.hasOptsToApply = true;
  info.optsToApply = std::move(opts);
  return ast.withArg(Arg::of(info));
}

/// Wide access, work groups, shared memory with a barrier, padding under a gate, small types, a variable.
std::vector<Case> cases() {
  std::vector<Case> all;
  all.push_back({"wide", withOpts(elementwise(256, [](UOp x) { return x.alu(Op::EXP2) + x; }),
                                  {{OptOp::UPCAST, 0, {4}}, {OptOp::LOCAL, 0, {16}}})});
  all.push_back({"grouped", withOpts(rowSums(8, 64), {{OptOp::GROUPTOP, 0, {16}}})});
  all.push_back({"tiled", withOpts(matmul(16, 16, 16), {{OptOp::LOCAL, 0, {4}},
                                                        {OptOp::LOCAL, 1, {4}},
                                                        {OptOp::UPCAST, 0, {2}},
                                                        {OptOp::UNROLL, 0, {4}}})});
  UOp i = UOp::range(40, 0);
  UOp inside = i >= 4;
  UOp padded = read(memory(1, 36, dtypes::float16), (i - 4).validWhere(inside));
  all.push_back({"padded", withOpts(kernel({memory(0, 40, dtypes::float16)
                                                .indexed({i})
                                                .store(padded * UOp::constant(dtypes::float16, 0.5))
                                                .end({i})}),
                                    {{OptOp::LOCAL, 0, {8}}})});
  UOp n = UOp::variable("n", 1, 30), j = UOp::range(n, {0});
  UOp small = read(memory(1, 30, dtypes::int8), j), flag = read(memory(2, 30, dtypes::bool_), j);
  all.push_back(
      {"small_types", withOpts(kernel({memory(0, 30, dtypes::int8)
                                           .indexed({j})
                                           .store(flag.where(small * small.constLike(int64_t{3}), small))
                                           .end({j})}),
                               {})});
  return all;
}

void checkGolden(const std::string& name, const std::string& text) {
  std::string path = std::string(UOPSCOPE_SOURCE_DIR) + "/tests/golden/render/" + name;
  if (std::getenv("UPDATE_GOLDEN")) std::ofstream(path) << text;
  std::stringstream wanted;
  wanted << std::ifstream(path).rdbuf();
  CHECK_MESSAGE(text == wanted.str(), path, ":\n", text);
}

std::string extensionOf(std::string_view language) {
  return language == "CUDA" ? "cu" : language == "METAL" ? "metal" : language == "CL" ? "cl" : "wgsl";
}

/// What a command prints; empty where it succeeds without a word.
std::string outputOf(const std::string& command) {
  std::string out;
  FILE* pipe = popen((command + " 2>&1; echo \"exit $?\"").c_str(), "r");
  REQUIRE(pipe);
  char block[4096];
  while (size_t got = fread(block, 1, sizeof block, pipe)) out.append(block, got);
  pclose(pipe);
  return out;
}
bool isInPath(const std::string& program) {
  return outputOf("command -v " + program).ends_with("exit 0\n");
}

} // namespace

TEST_CASE("GPU languages: the text of a few kernels is as it was, and the program computes what is asked") {
  Pool pool;
  PoolScope scope(pool);
  for (const GpuLanguage& language : gpuLanguages()) {
    std::string named = language.name;
    CAPTURE(named);
    auto renderer = makeGpuRenderer(language.name);
    for (const Case& c : cases()) {
      CAPTURE(c.name);
      LoweredKernel k = checkKernel(c.ast, renderer->target(), 7, {{"n", 21}}, 1e-6);
      k.name = c.name;
      checkGolden(fmt::format("{}.{}", c.name, extensionOf(language.name)), renderer->render(k));
    }
  }
}

TEST_CASE("CUDA texts compile, where nvcc is there") {
  if (!isInPath("nvcc")) return;
  Pool pool;
  PoolScope scope(pool);
  auto renderer = makeGpuRenderer("CUDA");
  std::string all;
  for (const Case& c : cases()) {
    LoweredKernel k = lowerKernel(c.ast, renderer->target());
    k.name = c.name;
    all += renderer->render(k) + "\n";
  }
  fs::path file = fs::temp_directory_path() / fmt::format("uopscope-{}.cu", getpid());
  std::ofstream(file) << all;
  std::string said = outputOf(fmt::format("nvcc -arch=sm_80 -ptx -o /dev/null {}", file.string()));
  fs::remove(file);
  CHECK_MESSAGE(said == "exit 0\n", said, all);
}

TEST_CASE("OpenCL texts compile, where clang is there") {
  std::string clang = isInPath("clang-19") ? "clang-19" : isInPath("clang") ? "clang" : "";
  if (clang.empty()) return;
  Pool pool;
  PoolScope scope(pool);
  auto renderer = makeGpuRenderer("CL");
  for (const Case& c : cases()) {
    LoweredKernel k = lowerKernel(c.ast, renderer->target());
    std::string text = renderer->render(k);
    fs::path file = fs::temp_directory_path() / fmt::format("uopscope-{}.cl", getpid());
    std::ofstream(file) << text;
    std::string said = outputOf(
        fmt::format("{} -x cl -cl-std=CL2.0 -Xclang -finclude-default-header -fsyntax-only -target spir64 {}",
                    clang, file.string()));
    fs::remove(file);
    CHECK_MESSAGE(said == "exit 0\n", said, text);
  }
}

TEST_CASE("what a language lacks is an error that names it") {
  Pool pool;
  PoolScope scope(pool);
  auto wgsl = makeGpuRenderer("WGSL");
  UOp wide = withOpts(elementwise(8, [](UOp x) { return x + x; }, dtypes::float64), {});
  try {
    wgsl->render(lowerKernel(wide, wgsl->target()));
    FAIL("rendered");
  } catch (const Error& e) {
    CHECK(std::string(e.what()).find("dtypes.double has no form in WGSL") != std::string::npos);
  }
  CHECK(makeGpuRenderer("FORTRAN") == nullptr);
}

TEST_CASE("GPU languages are looked at through NULL") {
  CHECK(Device::get("NULL:CUDA").renderer().target().device == "CUDA");
  CHECK(Device::get("null:wgsl").renderer().target().device == "WGSL");
  for (const char* name : {"CUDA", "METAL", "NULL:FORTRAN"}) {
    std::string message;
    try {
      Device::get(name);
    } catch (const Error& e) {
      CHECK(e.kind() == ErrorKind::Device);
      message = e.what();
    }
    CHECK(message.find("NULL:CUDA") + message.find("NULL:METAL") != 2 * std::string::npos);
  }
}
