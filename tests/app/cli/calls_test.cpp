// The calls of a script around its tensor operations: modules by their attributes, functions by their names; a script
// behaves as it does without a recording.
#ifdef UOPSCOPE_HAVE_PYTHON
#include "tests/app/cli/support.h"

#include <algorithm>

using namespace uopscope::test;

namespace {

constexpr const char* kModel = R"(
from tinygrad import Tensor, nn
import gc, weakref

class Narrow:
  def __init__(self): self.weight, self.kinds = nn.Linear(4, 4), {"last": nn.Linear(4, 4)}
  def __call__(self, x): return self.kinds["last"](self.weight(x)).relu()

class Model:
  def __init__(self): self.blocks, self.norm = [Narrow() for _ in range(3)], nn.LayerNorm(4)
  def __call__(self, x): return self.head(self.norm(x.sequential(self.blocks)))
  def head(self, x): return x.exp2()

def forward(net, x): return net(x).sin()

class Kept: pass
def frees():
  kept = Kept()
  gone = weakref.ref(kept)
  (Tensor.ones(2) + 1).realize()
  del kept
  gc.collect()
  return gone() is None
def keeps():
  kept = Kept()
  mine = locals()
  (Tensor.ones(2) + 2).realize()
  return mine.get("kept") is kept

class Body:
  early = Tensor.ones(3).sum()
  late = 5

net = Model()
forward(net, Tensor.empty(2, 4)).realize()
print("freed", frees(), "kept", keeps(), "body", Body.late)
)";

std::vector<std::string> callsOf(const Folder& f, const std::string& operation) {
  const Result r = call(f, {"query", "m.uoptrace",
                            "SELECT DISTINCT calls FROM v_origin WHERE operation = '" + operation +
                                "' AND calls IS NOT NULL ORDER BY 1",
                            "--json"});
  REQUIRE_MESSAGE(r.code == 0, r.err);
  std::vector<std::string> out;
  for (const Json& row : Json::parse(r.out)) out.push_back(row.at("calls"));
  return out;
}

bool has(const std::vector<std::string>& all, const std::string& one) {
  return std::ranges::find(all, one) != all.end();
}

} // namespace

TEST_CASE(
    "calls: a node is placed in the model by attributes, items of lists and dictionaries, and functions") {
  Folder f;
  f.file("model.py", kModel);
  const Result r = call(f, {"record", "model.py", "-o", "m.uoptrace"}, "DEV=NULL");
  REQUIRE_MESSAGE(r.code == 0, r.err);
  CHECK(r.out.find("freed True kept True body 5") != std::string::npos);
  const std::vector<std::string> linear = callsOf(f, "linear");
  CHECK(has(linear, "forward()/net/blocks.0/weight"));
  CHECK(has(linear, "forward()/net/blocks.2/kinds.last"));
  CHECK(has(callsOf(f, "relu"), "forward()/net/blocks.1"));
  CHECK(has(callsOf(f, "exp2"), "forward()/net/head()"));
  CHECK(has(callsOf(f, "sin"), "forward()"));
  bool normed = false;
  for (const char* operation : {"layernorm", "mul", "sub", "add"})
    normed |= has(callsOf(f, operation), "forward()/net/norm");
  CHECK(normed);
}
#endif
