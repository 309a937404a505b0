// Makes each node again in a pool to ask the engine for its shape and loops; provenance gives its origin and
// maker.
#include "viz/models/graph/node_facts.h"

#include "engine/uop/sint.h"
#include "replay/read/materialize.h"
#include "replay/read/provenance.h"
#include "viz/models/graph/run_times.h"

namespace uopscope {
namespace {

constexpr int64_t kMostTimes = int64_t{1} << 53; // a larger number is shown as "very often"

// Of nested loops a reduction is the most interesting one, then a parallel loop.
int weight(AxisType type) {
  switch (type) {
  case AxisType::Reduce:
  case AxisType::GroupReduce: return 9;
  case AxisType::Unroll:
  case AxisType::Upcast: return 8;
  case AxisType::Local:
  case AxisType::Warp: return 7;
  case AxisType::Global:
  case AxisType::Thread: return 6;
  default: return 1;
  }
}

} // namespace

std::shared_ptr<FactMap> lookUpFacts(Trace& trace, ScopeId scope, const std::vector<int64_t>& nodes,
                                     const std::function<bool()>& stop) {
  auto out = std::make_shared<FactMap>();
  Provenance provenance(trace, scope);
  const RunTimes runs(trace, scope, provenance, stop);
  Pool pool;
  PoolScope inPool(pool);
  Materializer make(trace.nodes().reader(), pool);
  std::unordered_map<RuleId, std::string> passNames;
  for (const int64_t id : nodes) {
    if (stop && stop()) break;
    if (id <= 0 || id >= static_cast<int64_t>(kFirstViewNode)) continue;
    const auto node = static_cast<NodeId>(id);
    NodeFact f;
    f.runNs = runs.of(node);
    try {
      const UOp u = make(node);
      try {
        if (u.hasShape()) {
          for (const auto& s : u.shape()) f.shape += (f.shape.empty() ? "" : "x") + s.str();
        }
      } catch (const Error&) { // it has no shape
      }
      int heaviest = 0;
      auto look = [&](const UOp& r) {
        if (r.arg().kind() != ArgKind::Range) return;
        const AxisType type = r.arg().as<RangeArg>().type;
        if (weight(type) > heaviest) heaviest = weight(type), f.axis = axisTypeName(type);
      };
      if (u.is(Op::RANGE)) {
        look(u);
      } else {
        int64_t times = 1;
        for (const UOp& r : u.ranges()) {
          look(r);
          times = r.vmax() < 0 || times > kMostTimes / (r.vmax() + 1) ? kMostTimes : times * (r.vmax() + 1);
        }
        f.times = times;
      }
    } catch (const Error&) { // no engine makes such a node; its remaining facts may still be known
    }
    try {
      const ProvenanceLink maker = provenance.maker(node);
      if (maker.maker == Maker::Rule || maker.maker == Maker::Rebuilt) {
        auto& name = passNames[maker.pass];
        if (name.empty() && maker.pass) name = trace.pass(maker.pass).name;
        f.pass = name;
        if (maker.maker == Maker::Rule && maker.pass) {
          const auto step = trace.steps(maker.pass, maker.k, 1);
          if (!step.empty()) f.ns = step.front().ns;
        }
      }
      if (const auto from = provenance.origins(node); !from.empty()) {
        f.operation = from.front().operation;
        f.line = from.front().script.line;
      }
    } catch (const Error&) { // the scope is still being recorded
    }
    out->emplace(id, std::move(f));
  }
  return out;
}

} // namespace uopscope
