// The result of each pass on a few small kernels, as text. UPDATE_GOLDEN=1 writes tests/golden/codegen anew.
#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/codegen/kernel_passes.h"
#include "engine/codegen/program_text.h"
#include "engine/rewrite/observer.h"
#include "engine/rules/user_rules.h"
#include "engine/schedule/schedule_passes.h"
#include "kernels.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

/// The graph after every pass that changed it, and the names of all passes.
class PassTexts : public Observer {
public:
  bool wantsRewrites() const override { return false; }
  void onPassBegin(const PassBegin& p) override {
    names.emplace_back(p.name);
    open_.emplace_back(p.name);
    before_.push_back(p.root);
  }
  void onPassEnd(const PassEnd& p) override {
    bool nested = open_.size() > 1;
    bool changed = p.root != before_.back();
    if (!nested) text += "== " + open_.back() + (changed ? "\n" + p.root.str() + "\n" : ": unchanged\n");
    open_.pop_back();
    before_.pop_back();
  }
  std::string text;
  std::vector<std::string> names;

private:
  std::vector<std::string> open_;
  std::vector<UOp> before_;
};

void checkPasses(const std::string& name, UOp ast, const Target& target) {
  PassTexts passes;
  std::string text;
  {
    ContextScope settings({{"SPEC", 1}});
    ObserverScope watch(&passes);
    LoweredKernel k = lowerKernel(ast, target);
    text = passes.text + "== program " + k.name;
    for (const Opt& o : k.appliedOpts) text += " " + toString(o);
    text += "\n" + programText(k.uops);
  }
  std::string path = std::string(UOPSCOPE_SOURCE_DIR) + "/tests/golden/codegen/" + name + ".txt";
  if (std::getenv("UPDATE_GOLDEN")) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
  }
  std::ifstream file(path);
  std::stringstream wanted;
  wanted << file.rdbuf();
  CHECK(text == wanted.str());
}

} // namespace

TEST_CASE("passes of an elementwise kernel, a reduction and a matrix product") {
  Pool pool;
  PoolScope scope(pool);
  {
    ContextScope plain({{"NOOPT", 1}});
    checkPasses("elementwise_plain", elementwise(8, [](UOp v) { return v * 2 + 1; }), plainTarget());
    checkPasses("row_sums_plain", rowSums(2, 6), plainTarget());
    checkPasses("matmul_plain", matmul(2, 3, 4), plainTarget());
  }
  checkPasses("elementwise", elementwise(8, [](UOp v) { return v * 2 + 1; }), plainTarget());
  checkPasses("row_sums", rowSums(2, 8), plainTarget(4));
  checkPasses("matmul", matmul(2, 4, 3), plainTarget(4));
}

TEST_CASE("the pipeline runs its passes in order, by the names its users know") {
  Pool pool;
  PoolScope scope(pool);
  PassTexts passes;
  {
    ObserverScope watch(&passes);
    lowerKernel(matmul(4, 4, 4), plainTarget());
  }
  std::vector<std::string> wanted{"View Base AST",
                                  "early movement ops",
                                  "carry maximum",
                                  "load collapse",
                                  "running sums",
                                  "split ranges",
                                  "initial symbolic",
                                  "simplify ranges",
                                  "column sums",
                                  "cut store ranges",
                                  "windows",
                                  "flatten range",
                                  "describe kernel",
                                  "postopt symbolic",
                                  "expander",
                                  "add local buffers",
                                  "remove_reduce",
                                  "add gpudims",
                                  "** add loads (code)",
                                  "devectorize",
                                  "lower all index dtypes",
                                  "post index symbolic",
                                  "decompositions",
                                  "final rewrite",
                                  "add control flow",
                                  "linearize/render"};
  std::vector<std::string> got;
  for (const std::string& n : passes.names)
    if (n != "simplify range" && n != "simplify" && !optOpFromName(n))
      got.push_back(n); // nested passes, and Opts
  CHECK(got == wanted);
}

TEST_CASE("the page of passes is the tables") {
  std::string page = "# The passes\n\nTwo tables drive the compiler; `tests/engine/codegen/passes_test.cpp` "
                     "makes this page of them. A "
                     "name in\nquotes is that of a pass nested in, or beside, the one it stands with.\n\n## "
                     "Of a schedule\n\nIn order, "
                     "from the graph of tensors to kernels: the table of "
                     "`engine/schedule/schedule_passes.cpp`. Where tensors lie\non "
                     "several devices, \"Apply Multi Map\" takes their graph apart first; \"rewrite for "
                     "sched cache\" gives it the "
                     "numbers\nunder which a schedule is looked up.\n\n| pass | verified as | rules | what "
                     "it does |\n|---|---|---|---|\n";
  for (const sched::SchedulePass& pass : sched::schedulePasses()) {
    const PatternMatcher* rules = pass.rules();
    page += "| " + std::string(pass.name) + " | " + (pass.verified ? "tensor graph" : "-") + " | " +
            (rules ? std::to_string(rules->rules().size()) : "-") + " | " + std::string(pass.about) + " |\n";
  }
  page +=
      "\n## Of a kernel\n\nIn order, from the graph that the schedule made to the one that is put in a "
      "line and "
      "rendered: the table of\n`engine/codegen/kernel_passes.cpp`. Between *before Opts* and *after "
      "Opts* stand the "
      "Opts themselves, each a pass\nwith its name, then \"inner values\" (what the schedule stores inside "
      "the kernel), \"panels\" or \"order of blocks\" and\n\"shared operands\", \"flatten "
      "range\" and \"describe "
      "kernel\".\n\n"
      "| pass | runs | verified as | rules | what it does |\n|---|---|---|---|---|\n";
  Target target = plainTarget();
  for (const KernelPass& pass : kernelPasses()) {
    const char* runs = pass.part == KernelPass::Part::Always       ? "always"
                       : pass.part == KernelPass::Part::BeforeOpts ? "before Opts"
                                                                   : "after Opts";
    const char* stage = !pass.stage ? "-" : *pass.stage == SpecStage::Kernel ? "kernel" : "lowered";
    const PatternMatcher* rules = pass.rules(target);
    page += "| " + std::string(pass.name) + " | " + runs + " | " + stage + " | " +
            (rules ? std::to_string(rules->rules().size()) : "-") + " | " + std::string(pass.about) + " |\n";
  }
  const std::string path = UOPSCOPE_SOURCE_DIR "/docs/design/passes.md";
  if (std::getenv("UPDATE_GOLDEN")) std::ofstream(path) << page;
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  CHECK_MESSAGE(text.str() == page, "run the test with UPDATE_GOLDEN=1");
}

TEST_CASE("a user's own matcher runs right before the kernel is finalised") {
  Pool pool;
  PoolScope scope(pool);
  using namespace pat;
  static constexpr PatVar x{"x"};
  static constexpr RuleDef table[] = {RULE("test-relu-twice", max(x, 0), x * 2)};
  PatternMatcher mine({table});
  Target target = plainTarget();
  target.preMatcher = &mine;
  PassTexts passes;
  ObserverScope watch(&passes);
  LoweredKernel k = lowerKernel(elementwise(4, [](UOp v) { return v.maximum(v.constLike(0)); }), target);
  CHECK(std::find(passes.names.begin(), passes.names.end(), "pre_matcher") != passes.names.end());
  for (UOp u : k.uops) CHECK_FALSE(u.is(Op::MAX));
}

TEST_CASE("a user's rules run after the pass they name, while they live") {
  Pool pool;
  PoolScope scope(pool);
  using namespace pat;
  static constexpr PatVar x{"x"};
  static constexpr RuleDef table[] = {RULE("test-relu-to-double", max(x, 0), x * 2)};
  // Three elements do not become lanes, since the rule is about scalars.
  UOp relu = elementwise(3, [](UOp v) { return v.maximum(v.constLike(0)); });
  auto hasMax = [&] {
    for (UOp u : lowerKernel(relu, plainTarget()).uops)
      if (u.is(Op::MAX)) return true;
    return false;
  };
  CHECK(hasMax());
  CHECK(userRulesVersion() == 0);
  uint64_t first = 0;
  for (std::string_view name : kernelPassNames()) {
    CAPTURE(name);
    UserRules mine(name, kernelPassNames(), PatternMatcher({table}));
    CHECK(userRulesVersion() != first);
    first = userRulesVersion();
    PassTexts passes;
    ObserverScope watch(&passes);
    CHECK_FALSE(hasMax());
    CHECK(std::count(passes.names.begin(), passes.names.end(), "after " + std::string(name)) == 1);
  }
  CHECK(userRulesVersion() == 0);
  CHECK(hasMax());
  std::string message;
  try {
    UserRules mine("devectorise", kernelPassNames(), PatternMatcher({table}));
  } catch (const Error& e) {
    message = e.what();
  }
  CHECK(message.find("no pass is called \"devectorise\"") != std::string::npos);
  CHECK(message.find("remove_reduce, add gpudims") != std::string::npos);
}
