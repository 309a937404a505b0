// Shrinks greedily, from the largest shared part down. A value becomes a kernel that stores it for every
// iteration of its loops; effects of a kernel already form a kernel.
#include "replay/compare/difference_script.h"

#include "engine/base/error.h"
#include "engine/uop/print.h"
#include "engine/uop/sint.h"
#include "replay/read/materialize.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace uopscope {
namespace {

constexpr int64_t kInputSize = 1;
constexpr int64_t kWidestVariable = 256;
constexpr OpSet kInputs = group::kIrreducible | group::kDefines | OpSet{Op::VCONST};

int64_t nextParameter(UOp a, UOp b) {
  int64_t next = 0;
  for (const UOp root : {a, b})
    for (const UOp u : root.toposort())
      if (u.is(Op::DEFINE_GLOBAL)) next = std::max(next, u.arg().i() + 1);
  return next;
}

/// A node of the type with an unknown value.
UOp inputFor(UOp u, int64_t number) {
  if (u.dtype().isInt() && u.vmax() - u.vmin() < kWidestVariable)
    return UOp::variable(fmt::format("x{}", number), u.vmin(), u.vmax(), u.dtype());
  return UOp::make(Op::DEFINE_GLOBAL, u.dtype().ptr(kInputSize), {}, Arg::of(number))
      .indexed({UOp::index(0)}, u.dtype());
}
bool canBeInput(UOp u) {
  return !u.in(kInputs) && !u.dtype().isPtr() && !u.dtype().isVoid() && u.dtype().count() == 1 &&
         u.dtype().kind() != Scalar::Index && !u.below().has(Op::UNROLL);
}

std::vector<UOp> sharedBySize(UOp before, UOp after) {
  UOpMap<bool> left;
  for (const UOp u : before.toposort()) left[u] = true;
  std::vector<UOp> out;
  for (const UOp u : after.toposort())
    if (left.contains(u) && canBeInput(u) && u != before && u != after) out.push_back(u);
  std::reverse(out.begin(), out.end()); // users first
  return out;
}

/// Turns a value into a kernel: its open loops, and symbolic integers as loops, in order of appearance.
UOp asKernel(UOp u, int64_t output, int64_t& size, const UOpMap<UOp>& variables,
             const std::vector<UOp>& loops) {
  const UOp body = u.substitute(variables);
  size = 1;
  UOp at = UOp::index(0);
  for (const UOp r : loops) {
    at = at * (r.vmax() + 1) + r;
    size *= r.vmax() + 1;
  }
  const int lanes = std::max(1, u.dtype().count());
  std::vector<UOp> stores;
  const UOp out = UOp::make(Op::DEFINE_GLOBAL, u.dtype().scalar().ptr(size * lanes), {}, Arg::of(output));
  for (int l = 0; l < lanes; ++l)
    stores.push_back(out.indexed({at * lanes + l}, out.dtype()).store(lanes > 1 ? body.gep({l}) : body));
  size *= lanes;
  return UOp::sink(std::vector<UOp>{UOp::groupOf(stores).end(loops)}, Arg::of(KernelInfo{}));
}

std::string indented(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const size_t end = std::min(text.find('\n', i), text.size());
    out += "  " + text.substr(i, end - i) + "\n";
    i = end + 1;
  }
  return out;
}

} // namespace

Difference shrinkDifference(RewriteChecker& checker, UOp before, UOp after) {
  Difference d{before, after, checker.check(before, after, {})};
  int64_t next = nextParameter(before, after);
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (const UOp part : sharedBySize(d.before, d.after)) {
      const UOpMap<UOp> replace{{part, inputFor(part, next)}};
      const UOp a = d.before.substitute(replace), b = d.after.substitute(replace);
      if (a == b) continue;
      ValueCheck c = checker.check(a, b, {});
      if (c.verdict != ValueCheck::Verdict::Differs) continue;
      d = {a, b, std::move(c)};
      ++next;
      smaller = true;
      break;
    }
  }
  return d;
}

std::string differenceScript(UOp before, UOp after, const std::string& from) {
  constexpr OpSet kOutside =
      group::kMovement | OpSet{Op::BUFFER, Op::BUFFERIZE, Op::UNROLL, Op::CONTRACT, Op::SPECIAL};
  for (const UOp u : {before, after})
    if (u.below().intersects(kOutside) || u.in(kOutside) || u.dtype().isPtr())
      throw Error(
          ErrorKind::Unsupported,
          fmt::format("a script of a difference contains only operations of kernels, and this graph has {}; "
                      "look at the step in the window",
                      opName((u.below() & kOutside).empty() ? u.op() : (u.below() & kOutside).first())));
  UOp kernels[2] = {before, after};
  int64_t output = nextParameter(before, after), size = 0;
  const bool isValue = !before.dtype().isVoid();
  if (isValue) {
    Variables variables;
    UOpMap<UOp> loopOf;
    std::vector<UOp> loops;
    int64_t id = 1000;
    for (const UOp root : {before, after})
      for (const Variable& v : variables.of(root)) {
        if (v.node.is(Op::RANGE) && std::find(loops.begin(), loops.end(), v.node) == loops.end())
          loops.push_back(v.node);
        if (!v.node.is(Op::DEFINE_VAR) || loopOf.contains(v.node)) continue;
        const auto& arg = v.node.arg().as<VarArg>();
        const int64_t n = std::min(arg.vmax - arg.vmin + 1, kWidestVariable);
        const UOp r = UOp::range(n, id++);
        loops.push_back(r);
        loopOf[v.node] = (r + arg.vmin).cast(v.node.dtype());
      }
    kernels[0] = asKernel(before, output, size, loopOf, loops);
    kernels[1] = asKernel(after.dtype() == before.dtype() ? after : after.cast(before.dtype()), output, size,
                          loopOf, loops);
  } else {
    for (UOp& k : kernels)
      if (!k.is(Op::SINK)) k = UOp::sink(std::vector<UOp>{k}, Arg::of(KernelInfo{}));
    if (!before.ranges().empty())
      throw Error(ErrorKind::Unsupported, "the effect is inside of a loop; look at the step in the window");
  }
  std::map<int64_t, std::pair<std::string, int64_t>> parameters;
  std::map<int64_t, bool> written;
  for (const UOp k : kernels)
    for (const UOp u : k.toposort()) {
      if (u.is(Op::DEFINE_GLOBAL))
        parameters[u.arg().i()] = {std::string(u.dtype().base().name()),
                                   std::max<int64_t>(1, u.dtype().size())};
      if (u.is(Op::STORE))
        if (const UOp b = memoryBase(u.src(0)); b && b.is(Op::DEFINE_GLOBAL)) written[b.arg().i()] = true;
    }
  std::string out = fmt::format("# {}: the graph before and the graph after, as kernels of the reference\n"
                                "# interpreter on the same data. They should give the same numbers.\n"
                                "# uopscope run THIS_FILE\n",
                                from);
  out += "import numpy as np\nfrom tinygrad import Tensor, Context, dtypes\n"
         "from tinygrad.uop.ops import UOp, Ops, KernelInfo, AxisType\n\n";
  out += "def before(*buffers):\n" + indented(pyrender(kernels[0])) + "  return ast\n\n";
  out += "def after(*buffers):\n" + indented(pyrender(kernels[1])) + "  return ast\n\n";
  out += "PARAMETERS = [ # size, type, written\n";
  for (int64_t k = 0; k <= parameters.rbegin()->first; ++k) {
    const auto it = parameters.find(k);
    const auto& [type, n] =
        it == parameters.end() ? std::pair<std::string, int64_t>{"dtypes.int", 1} : it->second;
    out += fmt::format("  ({}, {}, {}),\n", n, type, written.contains(k) ? "True" : "False");
  }
  out += R"(]

def made_up(size, dtype, seed):
  random = np.random.default_rng(seed)
  values = random.uniform(-4, 4, size) if dtypes.is_float(dtype) else random.integers(0, 2 if dtype == dtypes.bool else 8, size)
  return values.astype(np.float32 if dtypes.is_float(dtype) else np.int32)

def run(kernel):
  tensors = [Tensor(made_up(size, dtype, i), device="REF").cast(dtype).contiguous().realize() for i, (size, dtype, _) in enumerate(PARAMETERS)]
  results = Tensor.custom_kernel(*tensors, fxn=kernel)
  return [r.cast(dtypes.float64 if dtypes.is_float(t) else dtypes.int64).numpy() for r, (_, t, written) in zip(results, PARAMETERS) if written]

with Context(NOOPT=1): x, y = run(before), run(after)
for a, b in zip(x, y):
  wrong = np.flatnonzero(~np.isclose(a, b, rtol=1e-3, atol=1e-4, equal_nan=True))
  if len(wrong): print(f"{len(wrong)} of {a.size} elements differ; element {wrong[0]} is {a.ravel()[wrong[0]]} before and {b.ravel()[wrong[0]]} after")
raise SystemExit(any(not np.allclose(a, b, rtol=1e-3, atol=1e-4, equal_nan=True) for a, b in zip(x, y)))
)";
  return out;
}

std::string stepScript(Trace& trace, StepId step) {
  Statement s = trace.database().prepare("SELECT before, after, rule, pass FROM step WHERE id = ?1");
  s.bind(1, step);
  if (!s.step() || !s.integer(1))
    throw Error(ErrorKind::Value, "the rule failed: there is nothing to compare");
  RewriteChecker checker;
  const NodeReader read = trace.nodes().reader();
  Materializer make(read, checker.pool());
  const UOp before = make(static_cast<NodeId>(s.integer(0))), after = make(static_cast<NodeId>(s.integer(1)));
  const Difference d = shrinkDifference(checker, before, after);
  if (d.check.verdict != ValueCheck::Verdict::Differs)
    throw Error(ErrorKind::Value, "this rewrite is not known to change a value: there is nothing to show");
  return differenceScript(d.before, d.after,
                          fmt::format("{} in \"{}\" of {}, step {}", trace.rule(s.integer(2)).name,
                                      trace.pass(s.integer(3)).name, trace.path(), step));
}

} // namespace uopscope
