// Origins flow through rewrites, and lines of a kernel lead to instructions and back.
#include "replay/read/kernel_lines.h"
#include "replay/read/provenance.h"
#include "tests/replay/support.h"

#include <doctest/doctest.h>

#include <set>

using namespace uopscope;
using namespace uopscope::test;

namespace {
std::set<int> linesOf(Provenance& p, NodeId node) {
  std::set<int> out;
  for (const OriginInfo& o : p.origins(node)) out.insert(o.script.line);
  return out;
}
} // namespace

TEST_CASE("what is rebuilt, rewritten and merged keeps the lines it came from") {
  TempTrace file;
  recordTo(file.path, [] {
    Pool pool;
    PoolScope scope(pool);
    UOp r = UOp::range(8, 0), s = UOp::range(9, 1);
    UOp max = r.alu(Op::MAX, {s}), sum = max + 0, product = sum.alu(Op::XOR, {s});
    Observer& o = *Observer::current();
    o.onOrigin({max, "maximum", {"model.py", 12}});
    o.onOrigin({sum, "add", {"model.py", 13}});
    o.onOrigin({product, "xor", {"model.py", 14}});
    UOp sinks[] = {product};
    UOp root = UOp::sink(sinks);
    ObservedScope kernel({ScopeKind::Kernel, "k", {"model.py", 20}, root});
    UOp end = graphRewrite(root, shrinking(), {.name = "p", .bottomUp = &lowering()});
    o.onProgram(end.src());
    const TextLine lines[] = {{2, 0}};
    o.onArtifact({"source", "void k() {\n  x = a ^ b;\n}\n", lines});
    o.onArtifact({"asm", "k:\n\txor\n", lines});
    o.poolRetired(pool);
  });
  Trace trace(file.path);
  Provenance p(trace, 1);
  std::vector<NodeId> program = trace.program(1);
  REQUIRE(program.size() == 1);
  // The XOR was rebuilt, since its source was rewritten twice; it still belongs to line 14.
  CHECK(trace.nodes().op(program[0]) == Op::XOR);
  CHECK(linesOf(p, program[0]) == std::set<int>{14});
  // MAX and + 0 both became its first source, so it belongs to both lines.
  NodeId merged = trace.nodes().raw(program[0]).src[0];
  CHECK(linesOf(p, merged).contains(12));
  CHECK(linesOf(p, merged).contains(13));
  auto chain = p.chain(program[0]);
  REQUIRE(chain.size() >= 2);
  CHECK(chain[0].maker == Maker::Rebuilt);
  CHECK(trace.nodes().op(chain[1].node) == Op::XOR);
  // From the script to the instructions.
  CHECK(p.instructionsOf({"model.py", 14}) == std::vector<uint32_t>{0});
  CHECK(p.instructionsOf({"model.py", 99}).empty());
  CHECK(p.instructionsOf({"other.py", 14}).empty());
  KernelLines lines(trace, 1);
  CHECK(lines.texts() == std::vector<std::string>{"source", "asm"});
  CHECK(lines.instructions("source", 2) == std::vector<uint32_t>{0});
  CHECK(lines.instructions("source", 1).empty());
  CHECK(lines.places(0) == std::vector<TextPlace>{{"source", 2}, {"asm", 2}});
  CHECK(lines.lineText("asm", 2) == "\txor");
  CHECK(lines.positionOf(program[0]) == 0u);
}

TEST_CASE("a kernel's nodes know the lines its schedule got them from") {
  TempTrace file;
  recordTo(file.path, [] {
    Pool pool;
    PoolScope scope(pool);
    UOp r = UOp::range(8, 0), twice = (r + r) + 0;
    Observer::current()->onOrigin({twice, "double", {"model.py", 7}});
    UOp sinks[] = {twice};
    UOp root = UOp::sink(sinks), end;
    {
      ObservedScope schedule({ScopeKind::Schedule, "schedule 1", {"model.py", 9}, root});
      end = graphRewrite(root, shrinking(), {.name = "schedule"});
    }
    ObservedScope kernel({ScopeKind::Kernel, "k", {"model.py", 9}, end});
    UOp low = graphRewriteBottomUp(end, lowering(), {.name = "lower"});
    Observer::current()->onProgram(low.src());
    Observer::current()->poolRetired(pool);
  });
  Trace trace(file.path);
  Provenance p(trace, 2);
  REQUIRE(trace.program(2).size() == 1);
  CHECK(linesOf(p, trace.program(2)[0]) == std::set<int>{7});
  CHECK(p.of(2)->instructionsOf({"model.py", 7}).size() == 1);
}
