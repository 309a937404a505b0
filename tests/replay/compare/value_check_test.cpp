// Rewrites that are right are found right, wrong ones wrong with an assignment that shows it, and where
// nothing can be computed nothing is claimed.
#include "engine/base/context_var.h"
#include "engine/base/engine_session.h"
#include "engine/codegen/dot_products.h"
#include "engine/codegen/machine_functions.h"
#include "engine/codegen/opt.h"
#include "engine/render/gpu_text.h"
#include "engine/tensor/graph.h"
#include "engine/uop/unique.h"
#include "replay/compare/step_checker.h"
#include "replay/compare/transform_check.h"
#include "replay/compare/value_check.h"
#include "tests/replay/support.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::test;

namespace {

/// Both sides as nodes of a separate reader, without a file.
ValueCheck check(const UOp& before, const UOp& after) {
  std::unordered_map<uint32_t, std::vector<NodeId>> sources;
  std::map<NodeId, UOp> nodes;
  std::function<NodeId(const UOp&)> add = [&](const UOp& u) -> NodeId {
    const NodeId id = u.id() + 1;
    if (nodes.contains(id)) return id;
    std::vector<NodeId> from;
    for (size_t i = 0; i < u.srcCount(); ++i) from.push_back(add(u.src(i)));
    nodes.emplace(id, u);
    sources[id] = from;
    return id;
  };
  const NodeId a = add(before), b = add(after);
  return checkRewrite(
      [&](NodeId id) {
        const UOp& u = nodes.at(id);
        return NodeFields{id, u.op(), u.dtype(), u.arg(), u.tag(), sources[id]};
      },
      a, b);
}

} // namespace

TEST_CASE("value check: right and wrong rewrites of index arithmetic") {
  Pool pool;
  PoolScope scope(pool);
  const UOp r = UOp::range(8, 0), s = UOp::range(5, 1);
  using V = ValueCheck::Verdict;
  CHECK(check(r + 0, r).verdict == V::Same);
  CHECK(check((r * 4 + s) / 4, r + s / 4).verdict == V::Same);
  CHECK(check(r * 2 + r * 3, r * 5).verdict == V::Same);
  const ValueCheck wrong = check((r + 3) / 4, r / 4);
  CHECK(wrong.verdict == V::Differs);
  CHECK(wrong.where.find('=') != std::string::npos);
  CHECK(wrong.before != wrong.after);
  // Wrong only at one end of the bounds.
  CHECK(check(r % 7, r).verdict == V::Differs);
  CHECK(check(s % 5, s).verdict == V::Same);
  // Two variables replaced by one.
  CHECK(check(r + s, r + r).verdict == V::Differs);
}

TEST_CASE("value check: a store of what lies there is no store") {
  Pool pool;
  PoolScope scope(pool);
  const DType memory = dtypes::float32.ptr(8);
  const UOp data = UOp::make(Op::DEFINE_GLOBAL, memory, {}, Arg::of(int64_t{0})), r = UOp::range(8, 0);
  const UOp inside = r < 5, one = UOp::constant(dtypes::float32, 1.0);
  const UOp at = UOp::make(Op::INDEX, memory, {data, r}),
            gated = UOp::make(Op::INDEX, memory, {data, r, inside}),
            outside = UOp::make(Op::INDEX, memory, {data, r, inside.logicalNot()});
  const UOp before = at.store(inside.where(one, at.load())).end({r});
  using V = ValueCheck::Verdict;
  CHECK(check(before, gated.store(one).end({r})).verdict == V::Same);
  CHECK(check(before, outside.store(one).end({r})).verdict == V::Differs);
  CHECK(check(before, gated.store(one + one).end({r})).verdict == V::Differs);
}

TEST_CASE("value check: an AFTER that also waits for an effect below its own is the same") {
  Pool pool;
  PoolScope scope(pool);
  const DType memory = dtypes::float32.ptr(8);
  const UOp a = UOp::make(Op::DEFINE_GLOBAL, memory, {}, Arg::of(int64_t{0})),
            b = UOp::make(Op::DEFINE_GLOBAL, memory, {}, Arg::of(int64_t{1})), r = UOp::range(8, 0),
            s = UOp::range(8, 1);
  auto at = [&](UOp data, UOp index) { return UOp::make(Op::INDEX, memory, {data, index}); };
  const UOp first = at(a, r).store(UOp::constant(dtypes::float32, 1.0)).end({r});
  const UOp then = at(b, s).store(at(a.after(std::vector<UOp>{first}), s).load()).end({s});
  const UOp other = at(b, s).store(UOp::constant(dtypes::float32, 2.0)).end({s});
  using V = ValueCheck::Verdict;
  CHECK(check(b.after(std::vector<UOp>{then}), b.after(std::vector<UOp>{then, first})).verdict == V::Same);
  CHECK(check(b.after(std::vector<UOp>{then}), b.after(std::vector<UOp>{then, other})).verdict != V::Same);
}

TEST_CASE("value check: a part of a range that was split is not the range of its last id") {
  Pool pool;
  PoolScope scope(pool);
  auto part = [](int64_t size, std::vector<int64_t> ids) {
    return UOp::make(Op::RANGE, dtypes::index, {UOp::constant(dtypes::index, size)},
                     Arg::of(RangeArg{std::move(ids), AxisType::Loop}));
  };
  const UOp whole = part(20, {0, 1}), rest = part(5, {0, 1}), lane = part(4, {1});
  CHECK(check(whole, rest * 4 + lane).verdict == ValueCheck::Verdict::Same);
  CHECK(check(whole, rest * 3 + lane).verdict != ValueCheck::Verdict::Same);
}

TEST_CASE("value check: a loop that waits for effects is the same loop") {
  Pool pool;
  PoolScope scope(pool);
  const UOp r = UOp::range(8, 0), i = UOp::range(3, 1);
  const UOp memory = UOp::make(Op::DEFINE_GLOBAL, dtypes::float32.ptr(3), {}, Arg::of(int64_t{0}));
  const UOp written =
      memory.indexed({i}, dtypes::float32.ptr(3)).store(UOp::constant(dtypes::float32, int64_t{1})).end({i});
  CHECK(check(r, r.withSrc({r.src(0), written})).verdict == ValueCheck::Verdict::Same);
  const UOp longer = UOp::range(9, 0);
  CHECK(check(r, longer.withSrc({longer.src(0), written})).verdict != ValueCheck::Verdict::Same);
}

TEST_CASE("value check: overlapping tiles of results are right, of a sum they are not") {
  Pool pool;
  PoolScope scope(pool);
  using V = ValueCheck::Verdict;
  // Three tiles of four over ten: the last one begins at 6, or at 5, where the iteration 9 is lost.
  const UOp tile = UOp::range(3, 1), lane = UOp::range(4, 2, AxisType::Upcast);
  auto tiled = [&](int64_t last) { return (tile < 2).where(tile * 4, tile.constLike(last)) + lane; };
  CHECK(check(UOp::range(10, 0), tiled(6)).verdict == V::Same);
  CHECK(check(UOp::range(10, 0), tiled(5)).verdict == V::Differs);
  CHECK(check(UOp::range(10, 0, AxisType::Reduce), tiled(6)).verdict == V::Differs);
}

TEST_CASE("value check: a sum that goes to the results that indices name, whole or in parts") {
  Pool pool;
  PoolScope scope(pool);
  using V = ValueCheck::Verdict;
  constexpr int64_t kResults = 12, kTerms = 3;
  auto memory = [](int64_t n, int64_t size) {
    return UOp::make(Op::DEFINE_GLOBAL, dtypes::int32.ptr(size), {}, Arg::of(n));
  };
  const UOp out = memory(0, kResults), zero = UOp::constant(dtypes::int32, int64_t{0});
  auto read = [&](int64_t n, UOp at) { return memory(n, kTerms).indexed({at}, dtypes::int32); };
  const UOp v = UOp::range(kResults, 0), j = UOp::range(kTerms, 1, AxisType::Reduce);
  const UOp is = read(1, j).alu(Op::CMPNE, {v.cast(dtypes::int32)}).logicalNot();
  const UOp sum = is.where(read(2, j), zero).reduce(Op::ADD, std::vector<UOp>{j});
  const UOp before = UOp::sink(std::vector<UOp>{out.indexed({v}, out.dtype()).store(sum).end({v})});
  // Each of `parts` clears its results, then takes the terms that are its own; `first` terms are lost, or clearing is.
  auto scattered = [&](int64_t parts, int64_t first, bool clears) {
    const UOp part = UOp::range(parts, 2), cleared = UOp::range(kResults / parts, 4),
              term = UOp::range(kTerms, 3, AxisType::Reduce);
    const UOp start = part * (kResults / parts), index = read(1, term).cast(dtypes::index);
    const UOp place =
        index.validWhere((index >= start) & (index < start + kResults / parts) & (term >= first));
    std::vector<UOp> waits{
        out.after(std::vector<UOp>{part}).indexed({start + cleared}, out.dtype()).store(zero).end({cleared}),
        term};
    if (!clears) waits.erase(waits.begin());
    const UOp old = out.after(waits).indexed({place}, dtypes::int32);
    return UOp::sink(
        std::vector<UOp>{out.indexed({place}, out.dtype()).store(old + read(2, term)).end({part, term})});
  };
  for (const int64_t parts : {1, 3}) {
    CAPTURE(parts);
    CHECK(check(before, scattered(parts, 0, true)).verdict == V::Same);
    CHECK(check(before, scattered(parts, 1, true)).verdict == V::Differs);
    CHECK(check(before, scattered(parts, 0, false)).verdict == V::Differs);
  }
}

TEST_CASE("value check: the zero of a gradient may be a source of the operation") {
  Pool pool;
  PoolScope scope(pool);
  auto buffer = [](DType type) { return newBuffer("CPU", type, 4); };
  const UOp cond = buffer(dtypes::int32).alu(Op::CMPLT, {buffer(dtypes::int32)}), x = buffer(dtypes::float32);
  const UOp zero = graph::broadcastTo(graph::reshape(UOp::constant(dtypes::float32, 0.0), {1}), {4});
  const UOp none = UOp::make(Op::NOOP, dtypes::void_), g = buffer(dtypes::float32);
  auto gradients = [&](UOp ofX, UOp ofZero) { return UOp::groupOf(std::vector<UOp>{none, ofX, ofZero}); };
  using V = ValueCheck::Verdict;
  const UOp chosen = cond.where(x, zero);
  CHECK(check(chosen, gradients(cond.where(g, zero), cond.where(zero, g))).verdict == V::Same);
  CHECK(check(chosen, gradients(cond.where(zero, g), cond.where(g, zero))).verdict == V::Differs);
}

TEST_CASE("value check: effects are alike but for the names of loops") {
  Pool pool;
  PoolScope scope(pool);
  const UOp out = UOp::make(Op::DEFINE_GLOBAL, dtypes::float32.ptr(4096), {}, Arg::of(int64_t{0}));
  const UOp in = UOp::make(Op::DEFINE_GLOBAL, dtypes::float32.ptr(4096), {}, Arg::of(int64_t{1}));
  auto copy = [&](int64_t first, int64_t second, bool turned) {
    const UOp r = UOp::range(64, first), s = UOp::range(64, second);
    const UOp value = in.indexed({turned ? s * 64 + r : r * 64 + s}, dtypes::float32);
    return out.indexed({r * 64 + s}, out.dtype()).store(value).end(std::vector<UOp>{r, s});
  };
  using V = ValueCheck::Verdict;
  CHECK(check(copy(0, 1, false), copy(5, 7, false)).verdict == V::Same);
  CHECK(check(copy(0, 1, false), copy(1, 0, false)).verdict == V::Same);
  CHECK(check(copy(0, 1, false), copy(5, 7, true)).verdict == V::Differs);
}

TEST_CASE("value check: a kernel given by hand keeps its memory, and what it writes") {
  Pool pool;
  PoolScope scope(pool);
  auto parameter = [](int64_t k) {
    return UOp::make(Op::DEFINE_GLOBAL, dtypes::float32.ptr(4), {}, Arg::of(k));
  };
  const UOp r = UOp::range(4, 0);
  const UOp read = parameter(1).indexed({r}, dtypes::float32),
            at = parameter(0).indexed({r}, parameter(0).dtype());
  const UOp graph = UOp::sink(std::vector<UOp>{at.store(read).end(std::vector<UOp>{r})});
  const UOp a = newBuffer("CPU", dtypes::float32, 4), b = newBuffer("CPU", dtypes::float32, 4);
  const UOp custom = UOp::make(Op::CUSTOM_KERNEL, dtypes::void_, {a, b}, Arg::of(int64_t{0}));
  auto kernel = [&](UOp first, UOp second, std::vector<int64_t> written) {
    return UOp::make(Op::KERNEL, dtypes::void_, {graph, first, second}, Arg::of(written));
  };
  using V = ValueCheck::Verdict;
  CHECK(check(custom, kernel(a, b, {0})).verdict == V::Same);
  CHECK(check(custom, kernel(b, a, {0})).verdict == V::Differs);
  CHECK(check(custom, kernel(a, b, {1})).verdict == V::Differs);
}

TEST_CASE("value check: bits taken as another type are computed") {
  Pool pool;
  PoolScope scope(pool);
  const UOp e = UOp::range(8, 0).cast(dtypes::int32), power = e.cast(dtypes::float32).alu(Op::EXP2, {});
  auto byBits = [&](int64_t bias) {
    return ((e + e.constLike(bias)) * e.constLike(int64_t{1} << 23)).bitcast(dtypes::float32);
  };
  CHECK(check(power, byBits(127)).verdict == ValueCheck::Verdict::Same);
  CHECK(check(power, byBits(126)).verdict == ValueCheck::Verdict::Differs);
}

TEST_CASE("value check: what memory holds need not fit a narrower type") {
  Pool pool;
  PoolScope scope(pool);
  const UOp memory = UOp::make(Op::DEFINE_GLOBAL, dtypes::int32.ptr(64), {}, Arg::of(int64_t{0}));
  const UOp v = memory.indexed({UOp::range(8, 0)}, memory.dtype()).load();
  for (const DType narrow : {dtypes::int8, dtypes::int16, dtypes::uint16})
    CHECK(check(v.cast(narrow).cast(dtypes::int32), v).verdict == ValueCheck::Verdict::Differs);
  CHECK(check(v.cast(dtypes::int64).cast(dtypes::int32), v).verdict == ValueCheck::Verdict::Same);
}

TEST_CASE("value check: a whole trace of right rules has no fault, and is counted") {
  TempTrace file;
  recordTo(file.path, [] {
    Pool pool;
    PoolScope scope(pool);
    ObservedScope kernel({.kind = ScopeKind::Kernel, .name = "r_4", .script = {}, .root = {}});
    const UOp r = UOp::range(4, 0);
    graphRewrite(UOp::sink(std::vector<UOp>{(r + 0) * 1 + (r + 2 + 3)}), shrinking(), {.name = "shrink"});
    Observer::current()->poolRetired(pool);
  });
  Trace trace(file.path);
  const ValueSurvey all = checkTrace(trace, {});
  CHECK(all.complete);
  CHECK(all.checked > 2);
  CHECK(all.faults.empty());
  CHECK(all.same + all.unknown + all.unchanged == all.checked);
}

TEST_CASE("value check: dot products are computed, and nodes of tensor cores made again") {
  auto surveyOf = [](const Target& target, DType type) {
    TempTrace file;
    recordTo(file.path, [&] {
      Pool pool;
      PoolScope scope(pool);
      ObservedScope kernel({.kind = ScopeKind::Kernel, .name = "r", .script = {}, .root = {}});
      const DType sum = type.isFloat() ? dtypes::float32 : dtypes::int32;
      auto memory = [](int64_t number, DType d) {
        return UOp::make(Op::DEFINE_GLOBAL, d.ptr(1024), {}, Arg::of(number));
      };
      const UOp i = UOp::range(16, 0), j = UOp::range(32, 1), k = UOp::range(32, 2, AxisType::Reduce);
      const UOp a = memory(1, type).indexed({i * int64_t{32} + k}, type),
                b = memory(2, type).indexed({k * int64_t{32} + j}, type);
      const UOp value = (a.cast(sum) * b.cast(sum)).reduce(Op::ADD, std::vector<UOp>{k});
      const UOp store = memory(0, sum).indexed({i * int64_t{32} + j}).store(value).end({i, j});
      KernelOptimizer s(UOp::sink(std::vector<UOp>{store}, Arg::of(KernelInfo{})), target);
      s.apply({OptOp::TC, 0, {-1, 0, 1}});
      Observer::current()->poolRetired(pool);
    });
    Trace trace(file.path);
    return checkTrace(trace, {});
  };
  Target dots;
  dots.device = "CPU";
  dots.tensorCores = dotProducts(true, true);
  for (const DType type : {dtypes::bfloat16, dtypes::int8}) {
    const ValueSurvey s = surveyOf(dots, type);
    CHECK(s.checked > 0);
    CHECK(s.same == s.checked);
    CHECK(s.faults.empty());
  }
  const ValueSurvey cores = surveyOf(makeGpuRenderer("CUDA")->target(), dtypes::bfloat16);
  CHECK(cores.checked > 0);
  for (const auto& b : cores.blind) CHECK(b.why.find("damaged") == std::string::npos);
}

TEST_CASE("value check: functions of the machine are computed") {
  Pool pool;
  PoolScope scope(pool);
  using enum MachineFunction;
  using V = ValueCheck::Verdict;
  const DType type = dtypes::float32.vec(4), memory = dtypes::float32.ptr(64);
  const UOp data = UOp::make(Op::DEFINE_GLOBAL, memory, {}, Arg::of(int64_t{0}));
  const UOp at =
      UOp::make(Op::INDEX, memory, {data, UOp::range(16, 0) * 4}).cast(dtypes::float32.vec(4).ptr(64));
  const UOp x = UOp::make(Op::LOAD, type, {at}), n = machineCall(Exponent, {{x}});
  CHECK(check(machineCall(Scaled, {{x, UOp::constant(type, 3.5)}}), x * UOp::constant(type, 8.0)).verdict ==
        V::Same);
  CHECK(check(n, n + UOp::constant(type, 0.0)).verdict == V::Same);
  CHECK(check(n, machineCall(Mantissa, {{x}})).verdict == V::Differs);
  // A file may hold such a text with other operands, or of another type: that is no function, and nothing is read that is not there.
  const auto made = [](DType d, std::vector<UOp> src) {
    return UOp::make(Op::CUSTOMI, d, src, Arg::of("scaled({0}, {1})"));
  };
  for (const UOp& other :
       {made(type, {}), made(type, {x}), made(dtypes::int32.vec(4), {x, x}), made(dtypes::float32, {x, x})})
    CHECK(check(other, x).verdict != V::Same);
}

TEST_CASE("value check: a survey says the same on one processor and on several") {
  TempTrace file;
  recordTo(file.path, [] {
    for (int k = 0; k < 24; ++k) {
      Pool pool;
      PoolScope scope(pool);
      ObservedScope kernel({.kind = ScopeKind::Kernel, .name = "r", .script = {}, .root = {}});
      std::vector<UOp> sums;
      for (int i = 0; i < 40; ++i) sums.push_back((UOp::range(4 + k, i) + 0) * 1 + (UOp::range(3, i) + i));
      graphRewrite(UOp::sink(sums), shrinking(), {.name = "shrink"});
      Observer::current()->poolRetired(pool);
    }
  });
  auto surveyWith = [&](int64_t processors) {
    EngineSession own;
    EngineSessionScope in(own);
    vars::cpuCount.set(processors);
    Trace trace(file.path);
    const ValueSurvey s = checkTrace(trace, {.whole = true});
    CHECK(s.complete);
    CHECK(s.checked > 1500); // several parts
    std::vector<int64_t> numbers{s.checked, s.same,        s.unknown,     s.unchanged,
                                 s.differ,  s.passes.same, s.kernels.same};
    for (const auto& f : s.faults) numbers.push_back(f.step);
    for (const auto& b : s.blind) numbers.insert(numbers.end(), {b.count, b.first});
    return numbers;
  };
  CHECK(surveyWith(1) == surveyWith(4));
  Trace trace(file.path);
  const ValueSurvey stopped = checkTrace(trace, {.progress = [](double) { return false; }});
  CHECK(!stopped.complete);
  CHECK(stopped.checked < surveyWith(2)[0]);
}

TEST_CASE("value check: steps of transforms are claims about what their sources became") {
  Pool pool;
  PoolScope scope(pool);
  RewriteChecker checker;
  PoolScope in(checker.pool());
  using V = ValueCheck::Verdict;
  auto buffer = [](int64_t n, int64_t id) {
    return UOp::make(Op::BUFFER, dtypes::float64,
                     {UOp::make(Op::UNIQUE, dtypes::void_, {}, Arg::of(id)), deviceNode("CPU")}, Arg::of(n));
  };
  const UOp x = buffer(3, 1), w = buffer(3, 2), dx = buffer(3, 3);
  const UOp xs = graph::reshape(buffer(12, 4), {4, 3}), ws = graph::broadcastTo(w, {4, 3});
  const UOp product = x * w, sine = x.alu(Op::SIN, {}), batched = xs * ws;
  auto is = [&](std::string_view pass, UOp before, UOp after, const TransformMemory& known) {
    return checkTransform(checker, pass, before, after, known, {}).verdict;
  };
  CHECK(is("vmap", x, xs, {}) == V::Same);
  CHECK(is("vmap", product, batched, {{x, xs}}) == V::Same);
  CHECK(is("vmap", product, xs + ws, {{x, xs}}) == V::Differs);
  CHECK(is("vmap", product, product, {{x, xs}}) == V::Differs); // no batch axis
  CHECK(is("vmap", sine, xs.alu(Op::SIN, {}), {{x, xs}}) == V::Same);
  CHECK(is("jvp", product, dx * w, {{x, dx}}) == V::Same);
  CHECK(is("jvp", product, dx * x, {{x, dx}}) == V::Differs);
  CHECK(is("jvp", product, dx, {{x, dx}}) == V::Differs);
  CHECK(is("jvp", x.alu(Op::RECIPROCAL, {}), dx, {{x, dx}}) == V::Differs);
  CHECK(is("jvp", x.alu(Op::CMPLT, {w}), UOp::make(Op::NOOP, dtypes::void_), {{x, dx}}) == V::Same);
}
