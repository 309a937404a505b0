// Two graphs side by side, and one stored element through all passes of a kernel. The first graph of the kernel says
// what an element should be: it is the kernel before any pass changed it.
#include "engine/base/error.h"
#include "replay/compare/node_values.h"
#include "replay/read/materialize.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {
namespace {

constexpr size_t kMostElements = 4, kComparedLanes = 16;

/// Whether both have numbers that may be compared, and these differ.
bool differ(const NodeNumber& was, const NodeNumber& now, const ValueContext& context) {
  if (was.lanes.empty() || was.lanes.size() != now.lanes.size() || context.guessed) return false;
  for (size_t k = 0; k < was.lanes.size(); ++k)
    if (!alike(was.lanes[k], now.lanes[k], context)) return true;
  return false;
}

/// The graph that a kernel begins with; kNoNode for other scopes.
NodeId firstGraph(Trace& trace, ScopeId scope) {
  if (trace.scope(scope).kind != ScopeKind::Kernel) return kNoNode;
  for (const PassInfo& p : trace.passes(scope))
    if (p.depth == 0 && p.root != kNoNode) return p.root;
  return kNoNode;
}

/// What the first graph of the kernel stores to elements.
class Reference {
public:
  Reference(ValueContext& context, UOp root, const ValueChoice& choice) : graph_(context, root) {
    graph_.chooseVariables(choice);
  }
  std::optional<ConstValue> at(uint64_t memory, int64_t index) {
    const auto [it, isNew] = known_.try_emplace({memory, index});
    if (!isNew) return it->second;
    try {
      it->second = graph_.valueStoredTo(memory, index);
    } catch (const Error&) {
      graph_.values().recover(); // too large, or not interpreted: nothing is claimed
    }
    return it->second;
  }

private:
  NodeValues graph_;
  std::map<std::pair<uint64_t, int64_t>, std::optional<ConstValue>> known_;
};

std::vector<ChosenInput> inputsOf(UOp root, const ValueChoice& choice) {
  std::vector<ChosenInput> out;
  for (const UOp u : root.toposort()) {
    if (!u.is(Op::DEFINE_GLOBAL)) continue;
    ChosenInput in;
    in.parameter = u.arg().i();
    in.size = u.dtype().size();
    in.name = fmt::format("data{}", in.parameter);
    in.dtype = u.dtype().base().name();
    in.dtype = in.dtype.substr(in.dtype.find('.') + 1);
    const auto given = choice.inputs.find(in.parameter);
    in.contents = given == choice.inputs.end() ? "made up"
                  : given->second.empty()      ? "count"
                                               : fmt::format("{}", fmt::join(given->second, ","));
    out.push_back(std::move(in));
  }
  std::ranges::sort(out, {}, &ChosenInput::parameter);
  return out;
}

} // namespace

StepValues valuesOfStep(Trace& trace, Cursor& cursor, int64_t from, int64_t to, const ValueChoice& asked,
                        const std::function<bool()>& stop, bool strict) {
  StepValues out;
  ValueChoice choice = asked;
  const GraphDiff diff = cursor.diff(from, to);
  Pool pool;
  PoolScope scope(pool);
  Variables variables;
  Materializer make(cursor.reader(), pool);
  ValueContext context = runContext(variables, choice, stop);
  NodeValues after(context, make(diff.afterRoot)), before(context, make(diff.beforeRoot));
  if (after.hasVariables()) choice.bound = boundVariables(trace, cursor.info().scope);
  const auto unknown = after.choose(choice);
  if (strict && !unknown.empty()) {
    std::string names;
    for (const ChosenLoop& l : after.loops()) names += (names.empty() ? "" : ", ") + l.name;
    throw Error(ErrorKind::Value, fmt::format("{}; this graph has {}", unknown.front(),
                                              names.empty() ? "no loops" : "the loops " + names));
  }
  before.choose(choice);
  std::map<NodeId, NodeId> tookOver;
  for (const GraphDiff::Change& c : diff.changed) {
    tookOver.emplace(c.after, c.before);
    // A loop that became an expression of other loops stands where that expression does.
    const UOp loop = make(c.before);
    if (!loop.in(OpSet{Op::RANGE, Op::SPECIAL, Op::DEFINE_VAR})) continue;
    const NodeNumber n = after.numberOf(make(c.after));
    if (n.lanes.size() == 1 && n.lanes[0].kind != ConstValue::Kind::Float) before.bind(loop, n.lanes[0].i);
  }
  const NodeId first = firstGraph(trace, cursor.info().scope);
  std::optional<Materializer> makeFirst;
  std::optional<Reference> reference;
  if (first != kNoNode) {
    makeFirst.emplace(trace.nodes().reader(), pool);
    reference.emplace(context, (*makeFirst)(first), choice);
  }
  std::map<UOp, std::vector<NodeValues::Stored>, bool (*)(UOp, UOp)> stored(
      [](UOp a, UOp b) { return a.slot() < b.slot(); });
  if (reference)
    for (NodeValues::Stored& s : after.stored()) stored[s.store].push_back(std::move(s));
  for (const NodeId node : diff.after) {
    if (stop && stop()) {
      out.complete = false;
      break;
    }
    StepValues::Row row;
    row.node = node;
    const UOp u = make(node);
    row.now = after.numberOf(u);
    bool guessed = context.guessed;
    if (const auto it = tookOver.find(node); it != tookOver.end()) {
      row.before = it->second;
      row.was = before.numberOf(make(it->second));
      context.guessed |= guessed;
      // A store may go to another place; its value is compared below.
      if (!u.is(Op::STORE)) row.differs = differ(row.was, row.now, context);
    }
    if (const auto s = stored.find(u); s != stored.end() && row.now.lanes.size() == s->second.size())
      for (size_t k = 0; k < std::min(kComparedLanes, s->second.size()); ++k) {
        const auto should = reference->at(s->second[k].memory, s->second[k].index);
        if (!should || alike(*should, row.now.lanes[k], context)) continue;
        row.differs = true;
        if (row.should.empty()) row.should = fmt::format("{} = {}", s->second[k].name, showLanes({*should}));
      }
    out.differ += row.differs;
    out.rows.push_back(std::move(row));
  }
  out.loops = after.loops();
  out.inputs = inputsOf(after.root(), choice);
  return out;
}

namespace {

/// The number of one element after each pass; and, where it changes, the step that changes it.
class WayFinder {
public:
  WayFinder(Trace& trace, const ValueChoice& choice, const std::function<bool()>& stop)
      : trace_(trace), choice_(choice), stop_(stop) {}

  /// `value` is empty where the graph has none; the note then says why.
  ValueWay::Row at(PassId pass, std::string name, NodeId root, const NodeReader& read,
                   const NodeValues::Stored& element, std::optional<ConstValue>& value) {
    ValueWay::Row row;
    row.pass = pass, row.name = std::move(name);
    Pool pool;
    PoolScope scope(pool);
    Variables variables;
    ValueContext context = runContext(variables, choice_, stop_);
    try {
      Materializer make(read, pool);
      NodeValues graph(context, make(root));
      graph.chooseVariables(choice_);
      value = graph.valueStoredTo(element.memory, element.index);
      if (value)
        row.text = showLanes({*value});
      else
        row.note = "no store writes it in this graph";
    } catch (const Error& e) {
      value.reset();
      row.note = e.what();
    }
    if (context.coarsest) coarsest_ = std::max(coarsest_, context.coarsest);
    roundoff_ = std::max(roundoff_, context.roundoff);
    return row;
  }
  bool differs(const ConstValue& should, const ConstValue& value) {
    Variables none;
    ValueContext context(none);
    context.coarsest = coarsest_, context.roundoff = roundoff_;
    return !alike(should, value, context);
  }
  /// The first step of the pass after which the number differs.
  int64_t firstWrong(PassId pass, const NodeValues::Stored& element, const ConstValue& should) {
    Cursor cursor(trace_, pass);
    int64_t good = 0, bad = cursor.steps();
    while (bad - good > 1) {
      const int64_t middle = (good + bad) / 2;
      std::optional<ConstValue> value;
      at(pass, "", cursor.rootAt(middle), cursor.reader(), element, value);
      // Between two steps a graph may have no value; the wrong number then shows later.
      (value && differs(should, *value) ? bad : good) = middle;
    }
    return bad;
  }

private:
  Trace& trace_;
  const ValueChoice& choice_;
  const std::function<bool()>& stop_;
  int coarsest_ = 0;
  double roundoff_ = 0;
};

} // namespace

std::vector<ValueWay> valueWays(Trace& trace, ScopeId kernel, const ValueChoice& asked,
                                const std::function<bool()>& stop) {
  ValueChoice choice = asked;
  const NodeId first = firstGraph(trace, kernel);
  if (first == kNoNode)
    throw Error(
        ErrorKind::Value,
        fmt::format("{} is no kernel: a number is followed from the first graph of a kernel to the last",
                    trace.scope(kernel).name));
  std::vector<NodeValues::Stored> elements;
  {
    Pool pool;
    PoolScope scope(pool);
    Variables variables;
    ValueContext context = runContext(variables, choice, stop);
    Materializer make(trace.nodes().reader(), pool);
    NodeValues graph(context, make(first));
    if (graph.hasVariables()) choice.bound = boundVariables(trace, kernel);
    graph.choose(choice);
    for (NodeValues::Stored& s : graph.stored()) {
      s.store = {}; // its pool ends here
      if (elements.size() < kMostElements) elements.push_back(std::move(s));
    }
  }
  std::vector<ValueWay> out;
  WayFinder finder(trace, choice, stop);
  const NodeReader read = trace.nodes().reader();
  for (const NodeValues::Stored& element : elements) {
    ValueWay way;
    way.element = element.name;
    std::optional<ConstValue> should, value;
    way.rows.push_back(finder.at(0, "", first, read, element, should));
    for (const PassInfo& pass : trace.passes(kernel)) {
      if (stop && stop()) return out;
      if (pass.depth > 0 || pass.steps + pass.nestedSteps == 0 || pass.endRoot == kNoNode) continue;
      ValueWay::Row row = finder.at(pass.id, pass.name, pass.endRoot, read, element, value);
      row.differs = should && value && finder.differs(*should, *value);
      if (row.differs && !way.wrongPass) {
        way.wrongPass = pass.id;
        way.wrongStep = finder.firstWrong(pass.id, element, *should);
      }
      way.rows.push_back(std::move(row));
    }
    out.push_back(std::move(way));
  }
  return out;
}

} // namespace uopscope
