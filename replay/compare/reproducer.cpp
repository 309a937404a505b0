// Writes the texts of reproducers. pyrender writes the graph, in a form that both Python and parseUOp read.
#include "replay/compare/reproducer.h"

#include "engine/base/error.h"
#include "engine/uop/print.h"
#include "replay/compare/recompile.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {
struct Parameter {
  int position;
  std::string dtype;
  int64_t size;
  bool isOutput;
};
struct Parts {
  std::string code;
  std::vector<Parameter> parameters;
  std::string settings; ///< "NOOPT=0, BEAM=0"
};

Parts partsOf(const Compilation& kernel) {
  if (kernel.kind != ScopeKind::Kernel)
    throw Error(ErrorKind::Value,
                fmt::format("{} is a schedule; a reproducer is made of a kernel", kernel.name));
  Pool pool;
  PoolScope scope(pool);
  Parts p;
  UOp root = inputGraph(kernel);
  p.code = pyrender(root);
  std::vector<int> outputs;
  auto nodes = root.toposort();
  for (UOp u : nodes)
    if (u.is(Op::STORE))
      if (UOp b = u.src(0).bufferOf(); b && b.is(Op::DEFINE_GLOBAL))
        outputs.push_back(static_cast<int>(b.arg().i()));
  for (UOp u : nodes)
    if (u.is(Op::DEFINE_GLOBAL)) {
      int at = static_cast<int>(u.arg().i());
      p.parameters.push_back({at, std::string(u.dtype().base().name()), u.dtype().size(),
                              std::find(outputs.begin(), outputs.end(), at) != outputs.end()});
    }
  std::sort(p.parameters.begin(), p.parameters.end(),
            [](const Parameter& a, const Parameter& b) { return a.position < b.position; });
  for (const auto& [name, value] : settingsOf(kernel))
    p.settings += fmt::format("{}{}={}", p.settings.empty() ? "" : ", ", name, value);
  return p;
}

std::string indented(const std::string& text, const char* by) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    size_t end = std::min(text.find('\n', i), text.size());
    out += fmt::format("{}{}\n", by, text.substr(i, end - i));
    i = end + 1;
  }
  return out;
}
} // namespace

std::string reproducerPython(const Compilation& kernel, const std::string& from) {
  Parts p = partsOf(kernel);
  std::string out = fmt::format(
      "# {} ({}), alone, on made-up data: {} against the reference interpreter.\n"
      "# uopscope run THIS_FILE; DEBUG=4 shows the source, uopscope open THIS_FILE every rewrite.\n",
      kernel.name, from, kernel.device);
  out += "import numpy as np\nfrom tinygrad import Tensor, Context, dtypes\n"
         "from tinygrad.uop.ops import UOp, Ops, KernelInfo, AxisType\nfrom tinygrad.codegen.opt import Opt, "
         "OptOps\n\n";
  out += "def kernel(*buffers):\n" + indented(p.code, "  ") + "  return ast\n\n";
  out += "PARAMETERS = [ # size, type, written\n";
  for (const Parameter& q : p.parameters)
    out += fmt::format("  ({}, {}, {}),\n", q.size, q.dtype, q.isOutput ? "True" : "False");
  out += "]\n\n";
  out += R"(def made_up(size, dtype, seed):
  random = np.random.default_rng(seed)
  values = random.uniform(-1, 1, size) if dtypes.is_float(dtype) else random.integers(0, 2 if dtype == dtypes.bool else 8, size)
  return values.astype(np.float32 if dtypes.is_float(dtype) else np.int32)

def run(device):
  tensors = [Tensor(made_up(size, dtype, i), device=device).cast(dtype).contiguous().realize() for i, (size, dtype, _) in enumerate(PARAMETERS)]
  results = Tensor.custom_kernel(*tensors, fxn=kernel)
  return [r.cast(dtypes.float64 if dtypes.is_float(t) else dtypes.int64).numpy() for r, (_, t, written) in zip(results, PARAMETERS) if written]

)";
  out += fmt::format(
      "with Context({}):\n  got = run(\"{}\")\nwith Context(NOOPT=1):\n  expected = run(\"REF\")\n",
      p.settings, kernel.device);
  out += "for g, e in zip(got, expected):\n  np.testing.assert_allclose(g, e, rtol=2e-3, atol=1e-4, "
         "equal_nan=True)\n"
         "print(\"same results\", [g.ravel()[:4] for g in got])\n";
  return out;
}

std::string reproducerCpp(const Compilation& kernel, const std::string& from) {
  Parts p = partsOf(kernel);
  std::string settings;
  for (const auto& [name, value] : settingsOf(kernel))
    settings += fmt::format("{{\"{}\", {}}}, ", name, value);
  return fmt::format(R"(// {0} ({1}), alone, on made-up data: {2} against the reference interpreter.
#include "engine/base/context_var.h"
#include "engine/uop/print.h"
#include "replay/compare/kernel_run.h"

#include <doctest/doctest.h>

using namespace uopscope;

TEST_CASE("{0} computes what the reference interpreter computes") {{
  Compilation kernel;
  kernel.name = "{0}";
  kernel.device = "{2}";
  kernel.settings = R"json({3})json";
  {{
    Pool pool;
    PoolScope scope(pool);
    kernel.graph = graphToText(parseUOp(R"graph(
{4})graph"));
  }}
  KernelOutcome got = KernelRunner(kernel, {{}}).run();
  KernelOutcome expected = KernelRunner(kernel, {{.device = "REF", .noopt = true}}).run();
  CHECK_FALSE(isWrong(expected, got));
}}
)",
                     kernel.name, from, kernel.device, kernel.settings,
                     p.code + (p.code.ends_with('\n') ? "" : "\n"));
}

} // namespace uopscope
