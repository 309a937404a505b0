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
}
#endif
