// A kernel rewritten by hand: wherever the graph is taken from, the compiler goes on with it to the code that it made before,
// and each choice is a step of the variant.
#include "engine/base/error.h"
#include "engine/tensor/tensor.h"
#include "replay/compare/stored_compilations.h"
#include "replay/record/session.h"
#include "replay/teach/by_hand.h"
#include "tests/replay/support.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace uopscope;
using namespace uopscope::test;

namespace {

/// Kernels with a tile, with two reductions, and with loops that are cut.
const std::string& kernels() {
  static const TempTrace file;
  static const bool recorded = [] {
    SessionOptions options;
    options.path = file.path, options.script = "kernels.py", options.handleSignals = false;
    RecordingSession session(options);
    TensorOptions cpu;
    cpu.device = "CPU";
    const Tensor a = Tensor::empty({64, 48}, cpu).realize(), b = Tensor::empty({48, 256}, cpu).realize();
    a.matmul(b).relu().realize();
    a.softmax().realize();
    TensorOptions gpu;
    gpu.device = "NULL:CUDA";
    Tensor::empty({128, 128}, gpu).matmul(Tensor::empty({128, 128}, gpu)).realize(); // with shared memory
    Tensor::cat({a, a * 2}, 0).realize();
    return true;
  }();
  (void)recorded;
  return file.path;
}

std::vector<ScopeId> kernelsOf(Trace& trace) {
  std::vector<ScopeId> out;
  for (const ScopeInfo& s : trace.scopes())
    if (s.kind == ScopeKind::Kernel) out.push_back(s.id);
  return out;
}

PassInfo passNamed(Trace& trace, ScopeId kernel, const std::string& name) {
  for (const PassInfo& p : trace.passes(kernel))
    if (p.depth == 0 && p.name == name && p.steps > 0) return p;
  return {};
}

std::string messageOf(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

} // namespace

TEST_CASE("by hand: with nothing chosen, the compiler makes the same code from every pass") {
  Trace trace(kernels());
  size_t asked = 0;
  for (const ScopeId kernel : kernelsOf(trace)) {
    std::vector<Variant> variants;
    for (const PassInfo& p : trace.passes(kernel)) {
      if (p.depth > 0) continue;
      for (const int64_t step : std::set<int64_t>{0, p.steps / 2, p.steps}) {
        try {
          Variant v = HandGraph(trace, {p.id, step}).variant();
          v.name = p.name + " " + std::to_string(step) + " of " + std::to_string(p.steps);
          variants.push_back(std::move(v));
        } catch (const Error& e) {
          const std::string told = e.what();
          CHECK_MESSAGE((told.find("as a whole") != std::string::npos ||
                         told.find("a second time") != std::string::npos),
                        p.name << ": " << told);
        }
      }
    }
    const WhatIf w = whatIf(storedCompilation(trace, kernel), variants, {.repeats = 0});
    for (const VariantResult& v : w.variants) {
      CHECK_MESSAGE(v.problem.empty(), w.kernel << ", " << v.name << ": " << v.problem);
      CHECK_MESSAGE(v.sameCode, w.kernel << ", " << v.name << ": " << v.source << "\nin place of\n"
                                         << w.base.source);
      ++asked;
    }
  }
  CHECK(asked > 60);
}

TEST_CASE(
    "by hand: what the pass does first is among the matches, and choosing it is the step of the trace") {
  Trace trace(kernels());
  const ScopeId kernel = kernelsOf(trace).front();
  size_t met = 0;
  for (const char* name :
       {"initial symbolic", "expander", "remove_reduce", "devectorize", "decompositions"}) {
    const PassInfo pass = passNamed(trace, kernel, name);
    if (!pass.id) continue;
    ++met;
    CAPTURE(std::string(name));
    HandGraph hand(trace, {pass.id, 0});
    Cursor cursor(trace, pass.id);
    const std::string rule = trace.rule(cursor.step(1).rule).name;
    CAPTURE(rule);
    const auto& all = hand.matches();
    const auto found = std::ranges::find(all, rule, &HandMatch::rule);
    REQUIRE(found != all.end());
    CHECK(found->pass == name);
    CHECK(hand.unasked().size() < kernels().size());
    const size_t before = hand.graph().toposort().size();
    hand.choose(found->name());
    CHECK(hand.chosen().size() == 1);
    CHECK(hand.graph() != hand.before());
    CHECK(hand.graph().toposort().size() > before / 2);
  }
  CHECK(met >= 3);
}

TEST_CASE("by hand: numbers of matches, refusals, and the form of the text") {
  Trace trace(kernels());
  const ScopeId kernel = kernelsOf(trace).front();
  const PassInfo pass = passNamed(trace, kernel, "initial symbolic");
  REQUIRE(pass.id);
  HandGraph hand(trace, {pass.id, 0});
  const auto many = std::ranges::find(hand.matches(), size_t{2}, &HandMatch::number);
  REQUIRE(many != hand.matches().end());
  CHECK(many->name() == many->rule + "#2");
  const std::string rule = many->rule;
  CHECK(messageOf([&] { hand.choose("add-nothing"); }).find("matches nowhere") != std::string::npos);
  CHECK(messageOf([&] { hand.choose(rule + "#999"); }).find("there is no \"" + rule + "#999\"") !=
        std::string::npos);
  for (const ScopeInfo& s : trace.scopes())
    if (s.kind == ScopeKind::Schedule && !trace.passes(s.id).empty())
      CHECK(messageOf([&] { HandGraph(trace, {trace.passes(s.id).front().id, 0}); }).find("no kernel") !=
            std::string::npos);
  const HandText text = handText("kernel=3&pass=devectorize&step=1: mul-one , add-zero#2");
  CHECK(text.place == "kernel=3&pass=devectorize&step=1");
  CHECK(text.choices == std::vector<std::string>{"mul-one", "add-zero#2"});
  CHECK(messageOf([] { handText(" :mul-one"); }).find("PLACE") != std::string::npos);
  CHECK(messageOf([&] { handPlace(trace, "99999999", ""); }).find("has no step") != std::string::npos);
  CHECK(messageOf([&] { handPlace(trace, "pass=devectorize", ""); }).find("kernel and a pass") !=
        std::string::npos);
  CHECK(handPlace(trace, std::to_string(pass.firstStep), "").step == 1);
}

TEST_CASE("by hand: a step of a nested pass stands for the kernel meanwhile, in the pass around it") {
  Trace trace(kernels());
  size_t nested = 0;
  for (const ScopeId kernel : kernelsOf(trace)) {
    std::vector<Variant> variants;
    for (const PassInfo& p : trace.passes(kernel)) {
      if (p.depth == 0 || p.steps == 0 || variants.size() == 4) continue;
      HandGraph hand(trace, {p.id, p.steps});
      const PassInfo around = trace.pass(p.parent);
      CAPTURE(p.name);
      CHECK(hand.inside() == p.name);
      if (around.depth == 0) {
        CHECK(hand.pass() == around.name);
        CHECK(hand.step() == p.parentSteps);
        HandGraph outer(trace, {around.id, p.parentSteps});
        CHECK(hand.graph().toposort().size() == outer.graph().toposort().size());
        CHECK(hand.matches().size() == outer.matches().size());
      }
      CHECK(handMatchesText(hand).find("\"" + p.name + "\" rewrites an expression") != std::string::npos);
      variants.push_back(hand.variant());
      ++nested;
    }
    const WhatIf w = whatIf(storedCompilation(trace, kernel), variants, {.repeats = 0});
    for (const VariantResult& v : w.variants) CHECK_MESSAGE(v.sameCode, v.name << ": " << v.problem);
  }
  CHECK(nested > 0);
}

TEST_CASE("by hand: a variant with choices compiles, says what was done, and parts at the step") {
  Trace trace(kernels());
  const ScopeId kernel = kernelsOf(trace).front();
  const PassInfo pass = passNamed(trace, kernel, "initial symbolic");
  REQUIRE(pass.id);
  HandGraph hand(trace, {pass.id, 1});
  hand.choose(hand.matches().front().name());
  REQUIRE(!hand.matches().empty());
  hand.choose(hand.matches().back().name());
  const WhatIf w = whatIf(storedCompilation(trace, kernel), {hand.variant()}, {.repeats = 2});
  REQUIRE(w.variants.size() == 1);
  CAPTURE(w.variants[0].problem);
  CAPTURE(w.variants[0].name);
  CHECK(w.variants[0].name.ends_with(" (initial symbolic 1)"));
  if (w.variants[0].problem.empty()) {
    CHECK_FALSE(w.variants[0].wrong);
    CHECK(w.variants[0].difference.starts_with("by hand at step 1 of \"initial symbolic\": "));
    CHECK(w.variants[0].pass == "initial symbolic");
  }
}
