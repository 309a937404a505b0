// Every change of a graph is in the trace (tests/replay/completeness.h): of each sample, a training step, several devices, a
// search, and random programs of assignment.
#ifdef UOPSCOPE_HAVE_PYTHON
#include "tests/app/cli/support.h"
#include "tests/replay/completeness.h"

#include <filesystem>
#include <map>
#include <sstream>

using namespace uopscope;
using namespace uopscope::test;

namespace {

size_t recordAndCheck(const std::string& script, const std::string& arguments = {},
                      const std::string& environment = {}) {
  CAPTURE(script);
  Folder folder;
  std::string path = folder.file("run.uoptrace");
  std::vector<std::string> command{"record", script, "-o", path};
  if (!arguments.empty()) command.emplace_back("--");
  std::istringstream words(arguments);
  for (std::string word; words >> word;) command.push_back(word);
  Result r = call(folder, command, environment);
  INFO(r.err);
  CHECK(r.code == 0);
  return checkEveryChangeIsAStep(path);
}

} // namespace

TEST_CASE("every change of a graph is a step: samples") {
  // Long samples take fewer steps; a large model compiles and runs nothing. Every other sample runs as it is.
  struct Way {
    std::string arguments, environment;
  };
  const std::map<std::string, Way> ways{{"mnist_cnn", {"2", ""}},
                                        {"multistage", {"2 3", ""}},
                                        {"resnet50", {"", "DEV=NULL"}},
                                        {"tiny_gpt", {"", "STEPS=2"}}};
  size_t transitions = 0, samples = 0;
  for (const auto& file : std::filesystem::directory_iterator(UOPSCOPE_SOURCE_DIR "/samples")) {
    if (file.path().extension() != ".py") continue;
    const auto way = ways.find(file.path().stem().string());
    const Way given = way == ways.end() ? Way{} : way->second;
    transitions += recordAndCheck(file.path().string(), given.arguments, given.environment);
    ++samples;
  }
  CHECK(samples > 12);
  CHECK(transitions > 10000);
}

TEST_CASE("every change of a graph is a step: random programs of assignment") {
  const std::string program = UOPSCOPE_SOURCE_DIR "/tests/fuzz/assignment.py";
  CHECK(recordAndCheck(program, "--seed 40 --count 25") > 1000);
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
  CHECK(recordAndCheck(UOPSCOPE_SOURCE_DIR "/samples/matmul.py", {}, "DEV=NULL:AMD AMD_ARCH=gfx942") > 50);
}

namespace {
/// Rows of the trace's steps, kernels and open passes.
std::vector<int64_t> totals(const std::string& path) {
  Trace trace(path);
  size_t steps = 0, kernels = 0;
  for (const ScopeInfo& scope : trace.scopes()) {
    kernels += scope.kind == ScopeKind::Kernel;
    CHECK_MESSAGE((scope.kind != ScopeKind::Script || scope.parent == 0), "a script lies inside ",
                  scope.parent);
    for (const PassInfo& pass : trace.passes(scope.id)) steps += static_cast<size_t>(pass.steps);
  }
  return {static_cast<int64_t>(steps), static_cast<int64_t>(kernels)};
}
} // namespace

// The rule gives other threads the interpreter in the middle of a rewrite, so scopes of several threads are open at once.
TEST_CASE("every change of a graph is a step: threads of a script") {
  Folder folder;
  std::string script = folder.file("threads.py", R"(
import sys, threading, time
from concurrent.futures import ThreadPoolExecutor
from tinygrad import Tensor, dtypes
from tinygrad.uop.ops import UOp, Ops, UPat, PatternMatcher, graph_rewrite
sys.setswitchinterval(1e-5)
at_once = sys.argv[1] == "threads"
def shorter(x):
  time.sleep(0.002)
  return x.src[0] if x.arg is None else None
rules = PatternMatcher([(UPat(Ops.NEG, name="x"), shorter)])
def by_rule(n):
  u = UOp.const(dtypes.int, n)
  for _ in range(5): u = UOp(Ops.NEG, dtypes.int, (u,))
  assert graph_rewrite(u, rules, name=f"rule {n}").arg == n
def model(n):
  by_rule(n)
  assert (Tensor.arange(n).reshape(1, n) * 3 + n).sum(1).tolist() == [3 * n * (n - 1) // 2 + n * n]
def nested(n):
  if not at_once: return model(n)
  inner = threading.Thread(target=model, args=(n,)); inner.start(); inner.join()
work = [(model, 11), (model, 21), (nested, 31), (by_rule, 41), (model, 51)]
if at_once:
  threads = [threading.Thread(target=f, args=(n,)) for f, n in work[:4]]
  for t in threads: t.start()
  with ThreadPoolExecutor(1) as pool: pool.submit(*work[4]).result()
  for t in threads: t.join()
else:
  for f, n in work: f(n)
)");
  std::vector<std::vector<int64_t>> found;
  for (const std::string way : {"serial", "threads"}) {
    CAPTURE(way);
    CHECK(recordAndCheck(script, way) > 20);
    std::string path = folder.file(way + ".uoptrace");
    CHECK(call(folder, {"record", script, "-o", path, "--", way}).code == 0);
    found.push_back(totals(path));
  }
  CHECK(found[0] == found[1]);
  CHECK(found[0][0] > 250);
}

TEST_CASE("a thread that outlives its recording leaves its finished work in the trace") {
  Folder folder;
  std::string script = folder.file("daemon.py", R"(
import threading, time
from tinygrad import Tensor, dtypes
from tinygrad.uop.ops import UOp, Ops, UPat, PatternMatcher, graph_rewrite
begun = threading.Event()
def wait(x):
  begun.set()
  time.sleep(100)
def work():
  assert (Tensor.arange(7) + 5).tolist() == list(range(5, 12))
  graph_rewrite(UOp.const(dtypes.int, 3), PatternMatcher([(UPat(Ops.CONST, name="x"), wait)]), name="endless")
threading.Thread(target=work, daemon=True).start()
assert begun.wait(60)
)");
  std::string path = folder.file("daemon.uoptrace");
  Result r = call(folder, {"record", script, "-o", path});
  INFO(r.err);
  CHECK(r.code == 0);
  CHECK(totals(path)[1] == 1);
  CHECK(Trace(path).status() == "complete");
}
#endif
