// uopscope values TRACE KERNEL: the number of every node of a graph, before and after a rewrite or a pass, and of
// every stored element through the whole kernel.
#include "app/cli/output.h"
#include "app/cli/teach_command.h"
#include "replay/compare/node_values.h"
#include "replay/read/print.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope::cli {

namespace {

constexpr int kDepth = 3;
constexpr size_t kWidth = 46;

Json lanesJson(const Lanes& lanes) {
  Json out = Json::array();
  for (const ConstValue& v : lanes)
    if (v.isInvalid())
      out.push_back(nullptr);
    else if (v.kind == ConstValue::Kind::Float)
      out.push_back(v.f);
    else if (v.kind == ConstValue::Kind::Bool)
      out.push_back(v.i != 0);
    else
      out.push_back(v.i);
  return out;
}
Json numberJson(const NodeNumber& n) {
  return {{"text", n.text}, {"lanes", lanesJson(n.lanes)}, {"note", n.note}};
}
Json placeJson(const StepValues& v) {
  Json loops = Json::array(), inputs = Json::array();
  for (const ChosenLoop& l : v.loops)
    loops.push_back(
        Json{{"name", l.name}, {"kind", l.kind}, {"first", l.first}, {"last", l.last}, {"at", l.at}});
  for (const ChosenInput& i : v.inputs)
    inputs.push_back(Json{{"name", i.name}, {"dtype", i.dtype}, {"size", i.size}, {"contents", i.contents}});
  return {{"loops", loops}, {"inputs", inputs}};
}

/// One line of a table: a KernelInfo or the lanes of a vector would make it as wide as a page.
std::string cut(const std::string& text) {
  return text.size() <= kWidth ? text : fmt::format("{}...", text.substr(0, kWidth - 3));
}
std::string inWords(const NodeNumber& n) {
  return n.text.empty()   ? n.note.empty() ? "-" : "- " + n.note
         : n.note.empty() ? n.text
                          : n.text + "  " + n.note;
}

void printPlace(const StepValues& v) {
  std::string loops, inputs;
  for (const ChosenLoop& l : v.loops)
    loops += fmt::format("{}{}={} ({} to {}, {})", loops.empty() ? "" : "  ", l.name, l.at, l.first, l.last,
                         l.kind);
  for (const ChosenInput& i : v.inputs)
    inputs += fmt::format("{}{} {}[{}] {}", inputs.empty() ? "" : "  ", i.name, i.dtype, i.size, i.contents);
  if (!loops.empty()) fmt::print("loops:  {}\n", loops);
  if (!inputs.empty()) fmt::print("inputs: {}\n", inputs);
}

/// The rows of a node and of its sources.
void keepNear(StepValues& v, Cursor& cursor, NodeId node) {
  std::vector<NodeId> near{node};
  if (std::ranges::none_of(v.rows, [&](const auto& r) { return r.node == node; }))
    throw Error(ErrorKind::Key,
                fmt::format("node {} is not in this graph; without --node every node is listed", node));
  for (const NodeId s : cursor.fields(node).src) near.push_back(s);
  std::erase_if(v.rows, [&](const auto& r) { return std::ranges::find(near, r.node) == near.end(); });
}

int stepValues(Trace& trace, ScopeId scope, const ValuesArguments& o, const ValueChoice& choice) {
  Cursor cursor(trace, trace.findPass(scope, o.pass));
  if (o.step > cursor.steps())
    throw Error(ErrorKind::Index, fmt::format("pass \"{}\" has {} steps, there is no step {}",
                                              cursor.info().name, cursor.steps(), o.step));
  const int64_t to = o.step < 0 ? cursor.steps() : o.step,
                from = o.step < 0 ? 0 : std::max<int64_t>(0, to - 1);
  StepValues v = valuesOfStep(trace, cursor, from, to, choice, {}, true);
  if (o.node) keepNear(v, cursor, static_cast<NodeId>(o.node));
  if (o.json) {
    Json rows = Json::array();
    for (const StepValues::Row& r : v.rows) {
      const NodeFields n = cursor.fields(r.node);
      rows.push_back(Json{{"node", r.node},
                          {"op", opName(n.op)},
                          {"dtype", n.dtype.name()},
                          {"expression", expression(cursor.reader(), r.node, kDepth, kWidth)},
                          {"before", r.before ? numberJson(r.was) : Json()},
                          {"after", numberJson(r.now)},
                          {"should", r.should},
                          {"differs", r.differs}});
    }
    Json out = placeJson(v);
    out["kernel"] = trace.scope(scope).name, out["pass"] = cursor.info().name, out["from"] = from,
    out["to"] = to;
    out["nodes"] = rows, out["differ"] = v.differ;
    printJson(out);
    return v.differ ? kFailed : kFine;
  }
  fmt::print("{}, pass {}, ", trace.scope(scope).name, cursor.info().name);
  if (o.step > 0)
    fmt::print("step {} of {}: {}\n", to, cursor.steps(), trace.rule(cursor.step(to).rule).name);
  else
    fmt::print("{}\n", to == 0 ? "as it begins" : fmt::format("its {} steps", to));
  printPlace(v);
  Table table({"node", "operation", "before", "after", ""});
  size_t shown = 0;
  for (const StepValues::Row& r : v.rows) {
    if (cursor.fields(r.node).op == Op::CONST && !o.node) continue;
    if (o.limit > 0 && shown++ >= static_cast<size_t>(o.limit)) continue;
    table.add({nodeName(r.node), cut(nodeLabel(cursor.fields(r.node))), r.before ? inWords(r.was) : "",
               inWords(r.now),
               !r.differs         ? ""
               : r.should.empty() ? "differs"
                                  : "differs: the kernel's first graph gives " + r.should});
  }
  table.print();
  if (o.limit > 0 && shown > static_cast<size_t>(o.limit))
    fmt::print("{} more; --limit 0 shows all\n", shown - static_cast<size_t>(o.limit));
  if (v.differ)
    fmt::print("{} number{}\n", v.differ, v.differ == 1 ? " differs" : "s differ");
  else if (from != to)
    fmt::print("no number differs here\n");
  return v.differ ? kFailed : kFine;
}

int kernelValues(Trace& trace, ScopeId scope, const ValuesArguments& o, const ValueChoice& choice) {
  const std::vector<ValueWay> ways = valueWays(trace, scope, choice, {});
  bool wrong = false;
  Json all = Json::array();
  for (const ValueWay& way : ways) {
    wrong |= way.wrongPass != 0;
    Json rows = Json::array();
    Table table({"pass", way.element, ""});
    for (const ValueWay::Row& r : way.rows) {
      rows.push_back(Json{{"pass", r.name}, {"text", r.text}, {"note", r.note}, {"differs", r.differs}});
      table.add({r.pass ? r.name : "(as the kernel begins)", r.text.empty() ? "-" : r.text,
                 r.differs ? "differs" : r.note});
    }
    const std::string pass = way.wrongPass ? trace.pass(way.wrongPass).name : "";
    all.push_back(Json{
        {"element", way.element}, {"passes", rows}, {"wrong_pass", pass}, {"wrong_step", way.wrongStep}});
    if (o.json) continue;
    table.print();
    if (way.wrongPass)
      fmt::print("{} changes in step {} of {}: uopscope values {} {} --pass \"{}\" --step {}\n", way.element,
                 way.wrongStep, pass, o.trace, o.kernel, pass, way.wrongStep);
  }
  if (o.json) printJson(Json{{"kernel", trace.scope(scope).name}, {"elements", all}});
  if (ways.empty() && !o.json) fmt::print("at these iterations the kernel stores nothing\n");
  return wrong ? kFailed : kFine;
}

} // namespace

int showValues(const ValuesArguments& o) {
  ValueChoice choice;
  choice.seed = static_cast<uint64_t>(o.seed);
  for (const std::string& text : o.at) chooseLoops(choice, text);
  for (const std::string& text : o.inputs) chooseInput(choice, text);
  Trace trace(o.trace);
  warnAbout(trace);
  const ScopeId scope = trace.findScope(o.kernel);
  if (!o.pass.empty()) return stepValues(trace, scope, o, choice);
  if (o.step >= 0 || o.node)
    throw Error(ErrorKind::Value, "--step and --node need --pass: they name a graph of that pass");
  return kernelValues(trace, scope, o, choice);
}

} // namespace uopscope::cli
