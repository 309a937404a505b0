// Every change of a graph is in the trace. For each sample and a training step: in every scope a pass begins
// with the end graph of the pass before it; the steps of each pass alone turn its first graph into its last;
// and the last graph of a kernel holds the rendered linear program, node for node.
#ifdef UOPSCOPE_HAVE_PYTHON
#include "replay/read/cursor.h"
#include "tests/app/cli/support.h"

#include <set>

using namespace uopscope;
using namespace uopscope::test;

namespace {

std::vector<PassInfo> outermost(Trace& trace, ScopeId scope) {
  std::vector<PassInfo> list;
  for (const PassInfo& pass : trace.passes(scope))
    if (!pass.parent) list.push_back(pass);
  return list;
}

void checkSteps(Trace& trace, const PassInfo& pass) {
  CAPTURE(pass.name);
  Cursor cursor(trace, pass.id);
  CHECK(cursor.rootAt(0) == pass.root);
  CHECK(cursor.rootAt(cursor.steps()) == pass.endRoot);
}

void checkProgram(Trace& trace, const ScopeInfo& scope, const PassInfo& last) {
  std::vector<NodeId> program = trace.program(scope.id);
  if (program.empty()) return;
  Cursor cursor(trace, last.id);
  const std::vector<NodeId>& graph = cursor.graphAt(cursor.steps());
  std::set<NodeId> left(program.begin(), program.end());
  for (NodeId node : graph) left.erase(node);
  CHECK_MESSAGE(left.empty(), left.size(), " instructions are no nodes of the last graph");
}

/// Checks a trace; returns the number of transitions between passes of one scope.
size_t checkTrace(const std::string& path) {
  Trace trace(path);
  size_t transitions = 0;
  for (const ScopeInfo& scope : trace.scopes()) {
    CAPTURE(scope.name);
    std::vector<PassInfo> passes = outermost(trace, scope.id);
    if (scope.kind == ScopeKind::Script) continue; // a script's own passes have separate graphs
    for (size_t k = 0; k < passes.size(); ++k) {
      checkSteps(trace, passes[k]);
      if (k == 0) continue;
      CAPTURE(passes[k].name);
      CHECK(passes[k].root == passes[k - 1].endRoot);
      ++transitions;
    }
    if (!passes.empty()) checkProgram(trace, scope, passes.back());
  }
  return transitions;
}

size_t recordAndCheck(const std::string& script, const std::string& arguments = {},
                      const std::string& environment = {}) {
  CAPTURE(script);
  Folder folder;
  std::string path = folder.file("run.uoptrace");
  std::vector<std::string> command{"record", script, "-o", path};
  if (!arguments.empty()) command.insert(command.end(), {"--", arguments});
  Result r = call(folder, command, environment);
  INFO(r.err);
  CHECK(r.code == 0);
  return checkTrace(path);
}

} // namespace

TEST_CASE("every change of a graph is a step: samples") {
  size_t transitions = 0;
  for (const char* sample : {"matmul", "softmax", "transformer_block", "two_outputs", "loop_splitting",
                             "custom_kernel", "custom_rule", "quick_start"})
    transitions += recordAndCheck(std::string(UOPSCOPE_SOURCE_DIR "/samples/") + sample + ".py");
  CHECK(transitions > 2000);
}

TEST_CASE("every change of a graph is a step: training, several devices, search") {
  Folder folder;
  std::string training = folder.file("training.py", R"(
from tinygrad import Tensor, nn
class Net:
  def __init__(self): self.conv, self.norm, self.out = nn.Conv2d(1, 4, 3), nn.BatchNorm(4), nn.Linear(4 * 36, 10)
  def __call__(self, x): return self.out(self.norm(self.conv(x)).relu().flatten(1))
net = Net(); opt = nn.optim.Adam(nn.state.get_parameters(net), lr=0.01)
x, y = Tensor.rand(4, 1, 8, 8), Tensor([1, 2, 3, 4])
with Tensor.train():
  for _ in range(2):
    opt.zero_grad(); loss = net(x).sparse_categorical_crossentropy(y).backward(); opt.step(); loss.item()
a = Tensor.arange(8).float().contiguous().realize(); b = a * 2; a.assign(a.flip(0) + b); a.realize(); print(b.tolist())
)");
  CHECK(recordAndCheck(training) > 100);
  std::string devices = folder.file("devices.py", R"(
from tinygrad import Tensor
x = Tensor.rand(8, 4).shard(("CPU:0", "CPU:1"), axis=0); w = Tensor.rand(4, 4).shard(("CPU:0", "CPU:1"))
print((x @ w).relu().sum().item())
)");
  CHECK(recordAndCheck(devices) > 20);
  CHECK(recordAndCheck(UOPSCOPE_SOURCE_DIR "/samples/matmul.py", {}, "BEAM=1 IGNORE_BEAM_CACHE=1") > 50);
  CHECK(recordAndCheck(UOPSCOPE_SOURCE_DIR "/samples/matmul.py", {}, "DEV=NULL:CUDA") > 50);
}
#endif
