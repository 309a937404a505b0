// The list of LLVM's passes begins with the kernel's text, holds only passes that changed it, and has a
// meaning for each name.
#include "engine/base/error.h"
#include "engine/runtime/llvm_passes.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace uopscope;

namespace {

constexpr const char* kSum = R"(define void @r_64(ptr noalias align 4 %data0, ptr noalias align 4 %data1) {
entry:
  %acc = alloca float, align 4
  store float 0.0, ptr %acc, align 4
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %p = getelementptr inbounds float, ptr %data1, i32 %i
  %x = load float, ptr %p, align 4
  %s = load float, ptr %acc, align 4
  %t = fadd float %s, %x
  store float %t, ptr %acc, align 4
  %next = add nsw i32 %i, 1
  %more = icmp slt i32 %next, 64
  br i1 %more, label %loop, label %end
end:
  %r = load float, ptr %acc, align 4
  store float %r, ptr %data0, align 4
  ret void
}
)";

} // namespace

#ifdef UOPSCOPE_HAVE_LLVM
TEST_CASE("llvm passes: each that changed the kernel, from its text to the last") {
  const std::vector<LlvmPass> passes = llvmPasses(kSum);
  REQUIRE(passes.size() > 3);
  CHECK(passes.front().name == "input");
  CHECK(passes.front().text.find("alloca float") != std::string::npos);
  const auto sroa = std::ranges::find(passes, "sroa", &LlvmPass::name);
  REQUIRE(sroa != passes.end());
  CHECK(sroa->text.find("alloca") == std::string::npos);
  for (size_t k = 1; k < passes.size(); ++k) {
    CAPTURE(passes[k].name);
    CHECK(passes[k].text != passes[k - 1].text);
    CHECK(!llvmPassMeaning(passes[k].name).empty());
  }
  CHECK(passes.back().text.find("define internal") != std::string::npos);
}

TEST_CASE("llvm passes: a text that is none of LLVM's") {
  CHECK_THROWS_AS(llvmPasses("void E_4(float* data0) {}"), Error);
  CHECK_THROWS_AS(llvmPasses("define void @broken( {"), Error);
}
#endif

TEST_CASE("llvm passes: words for each name are found") {
  CHECK(llvmPassMeaning("sroa") == "splits memory of a function's own into values");
  CHECK(llvmPassMeaning("gvn").size() > 0);
  CHECK(llvmPassMeaning("vector-combine").size() > 0);
  CHECK(llvmPassMeaning("no-such-pass").empty());
}
