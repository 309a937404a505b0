// Kernels in the languages of GPUs. Golden texts fix the output (UPDATE_GOLDEN=1 writes them anew). The same
// programs run on the reference interpreter, which checks their values. Compilers accept the texts where one
// is installed: nvcc for CUDA, clang for OpenCL C.
#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/render/gpu_text.h"
#include "engine/runtime/device.h"
#include "tests/engine/codegen/kernels.h"
#include "tests/engine/codegen/oracle.h"
#include "tests/engine/render/golden_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

using namespace uopscope;
using namespace uopscope::test;
using namespace uopscope::testing;
namespace fs = std::filesystem;

namespace {

struct NamedKernel {
  std::string name;
  UOp ast;
};

/// Wide access, work groups, shared memory with a barrier, padding under a gate, small types, a variable.
std::vector<NamedKernel> cases() {
  std::vector<NamedKernel> all;
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

std::string extensionOf(std::string_view language) {
  return language == "CUDA"    ? "cu"
         : language == "METAL" ? "metal"
         : language == "CL"    ? "cl"
         : language == "AMD"   ? "amd.ll"
                               : "wgsl";
}

/// The output of a command; empty where it succeeds silently.
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
    for (const NamedKernel& c : cases()) {
      CAPTURE(c.name);
      LoweredKernel k = checkKernel(c.ast, renderer->target(), 7, {{"n", 21}}, 1e-6);
      k.name = c.name;
      checkGolden(fmt::format("{}.{}", c.name, extensionOf(language.name)), renderer->render(k));
    }
  }
}

TEST_CASE("GPU languages: a line of the text is known by the instruction that it comes from") {
  Pool pool;
  PoolScope scope(pool);
  for (const GpuLanguage& language : gpuLanguages()) {
    std::string named = language.name;
    CAPTURE(named);
    auto renderer = makeGpuRenderer(language.name);
    LoweredKernel k = lowerKernel(cases()[2].ast, renderer->target());
    PoolScope inner(*k.pool);
    std::vector<TextLine> lines;
    std::istringstream text(renderer->renderWithLines(k, &lines));
    std::vector<std::string> written{""};
    for (std::string line; std::getline(text, line);) written.push_back(line);
    int stores = 0;
    for (TextLine l : lines) {
      UOp u = k.uops[l.instruction];
      if (!u.is(Op::STORE) || !u.src(0).bufferOf().is(Op::DEFINE_GLOBAL)) continue;
      CAPTURE(written.at(l.line));
      // IR computes the address in a line of its own, and may store by it.
      const bool isIr = named == "AMD" && written[l.line].find("store float") != std::string::npos;
      stores += isIr || written[l.line].find("data0") != std::string::npos;
    }
    CHECK(stores >= 2);
  }
}

/// out[i,j] = sum over k of a[i,k] * b[k,j]; halves are summed as floats.
static UOp halfProduct(int64_t n, int64_t m, int64_t inner) {
  UOp i = UOp::range(n, 0), j = UOp::range(m, 1), k = UOp::range(inner, 2, AxisType::Reduce);
  UOp product = read(memory(1, n * inner, dtypes::float16), i * inner + k) *
                read(memory(2, inner * m, dtypes::float16), k * m + j);
  UOp sum = product.cast(dtypes::float32).reduce(Op::ADD, std::vector<UOp>{k});
  return kernel({memory(0, n * m).indexed({i * m + j}).store(sum).end({i, j})});
}

TEST_CASE("a product of halves is computed by tensor cores, and right") {
  Pool pool;
  PoolScope scope(pool);
  for (const char* language : {"CUDA", "METAL", "AMD"}) {
    CAPTURE(std::string(language));
    auto renderer = makeGpuRenderer(language);
    auto lower = [&](UOp ast) {
      ContextScope spec({{"SPEC", 1}});
      return checkKernel(ast, renderer->target());
    };
    auto tiles = [](const LoweredKernel& k) {
      return std::count_if(k.uops.begin(), k.uops.end(), [](UOp u) { return u.is(Op::WMMA); });
    };
    Opt tc{OptOp::TC, 0, {-1, 0, 1}};
    LoweredKernel k = lower(withOpts(halfProduct(32, 32, 64), {tc}));
    CHECK(tiles(k) == 1);
    k.name = "tensor_core";
    checkGolden(fmt::format("tensor_core.{}", extensionOf(language)), renderer->render(k));
    // Tiles side by side, a single step, padding, and the automatic choice.
    CHECK(tiles(lower(withOpts(halfProduct(64, 32, 64), {tc, {OptOp::UPCAST, 0, {2}}}))) == 2);
    CHECK(tiles(lower(withOpts(halfProduct(16, 16, 16), {tc}))) == 1);
    CHECK(tiles(lower(withOpts(halfProduct(30, 30, 30), {{OptOp::TC, 0, {-1, 2, 1}}}))) == 1);
    CHECK(tiles(lower(halfProduct(64, 64, 64))) > 0);
    CHECK_THROWS_WITH_AS(lower(withOpts(halfProduct(30, 32, 64), {tc})),
                         doctest::Contains("does not divide 30"), Error);
    CHECK_THROWS_WITH_AS(lower(withOpts(rowSums(16, 16), {tc})), doctest::Contains("sums no product"), Error);
    // Threads of a warp are neighbours, whichever further axes are LOCAL.
    LoweredKernel grouped =
        lower(withOpts(halfProduct(64, 64, 64), {tc, {OptOp::LOCAL, 0, {2}}, {OptOp::LOCAL, 1, {2}}}));
    auto fastest = std::find_if(grouped.uops.begin(), grouped.uops.end(),
                                [](UOp u) { return u.is(Op::SPECIAL) && u.arg().str() == "lidx0"; });
    REQUIRE(fastest != grouped.uops.end());
    CHECK((*fastest).vmax() == renderer->target().tensorCores[0].threads - 1);
    // A tile holds every element once.
    for (const TensorCore& core : renderer->target().tensorCores)
      for (const auto& layout : {core.a, core.b, core.c}) {
        std::string bits = std::string(layout.row) + layout.column;
        std::set<std::string> different;
        for (size_t i = 0; i < bits.size(); i += 2) different.insert(bits.substr(i, 2));
        CHECK(different.size() * 2 == bits.size());
        for (const char* lane : {"l0", "l1", "l2", "l3", "l4"}) CHECK(different.contains(lane));
      }
  }
  UOp ast = withOpts(halfProduct(16, 16, 16), {{OptOp::TC, 0, {-1, 0, 1}}});
  CHECK_THROWS_WITH_AS(lowerKernel(ast, makeGpuRenderer("CL")->target()),
                       doctest::Contains("no tensor cores"), Error);
}

TEST_CASE("CUDA texts compile, where nvcc is there") {
  if (!isInPath("nvcc")) return;
  Pool pool;
  PoolScope scope(pool);
  auto renderer = makeGpuRenderer("CUDA");
  std::string all;
  for (const NamedKernel& c : cases()) {
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
  for (const NamedKernel& c : cases()) {
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
  CHECK(Device::get("NULL:AMD").renderer().target().suffix == "gfx942");
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
