// Rules written in Python. A UPat becomes the same pattern nodes as in C++ rules, and a function the function
// of a rule. A Python rule is therefore matched, counted, recorded and switched off like any rule.
//
// The function of a rule always receives nodes of the tensor pool. In a pass over a different pool (a
// kernel's), its arguments are imported to the tensor pool first, and its result is imported back.
#include "engine/python/bindings.h"
#include "engine/rewrite/driver.h"
#include "engine/rewrite/match_program.h"
#include "engine/tensor/tensor_memory.h"

#include <fmt/format.h>

namespace uopscope {

namespace {

struct Flattened {
  std::vector<PatNode> nodes;
  std::vector<std::string> vars;

  int8_t var(py::handle name) {
    if (name.is_none()) return -1;
    auto text = name.cast<std::string>();
    for (size_t i = 0; i < vars.size(); ++i)
      if (vars[i] == text) return static_cast<int8_t>(i);
    vars.push_back(text);
    return static_cast<int8_t>(vars.size() - 1);
  }
};

void setDtype(PatNode& n, py::handle dtype) {
  if (dtype.is_none()) return;
  std::vector<DType> types;
  if (py::isinstance<py::tuple>(dtype) || py::isinstance<py::list>(dtype))
    for (py::handle h : dtype) types.push_back(toDType(h));
  else
    types.push_back(toDType(dtype));
  bool scalars = true;
  for (DType d : types) scalars = scalars && d == d.scalar();
  if (scalars) {
    for (DType d : types) n.dtypes |= maskOf(d);
  } else if (types.size() == 1) {
    n.exactDtype = types[0].bits();
  } else {
    throw Error(ErrorKind::Unsupported, "a UPat takes several scalar dtypes, or one vector or pointer dtype");
  }
}

void setArg(PatNode& n, py::handle arg, py::handle dtype) {
  if (arg.is_none()) return;
  if (isNumber(arg) && !py::isinstance<py::str>(arg)) {
    n.argTest = PatNode::ArgTest::Number;
    n.number = toConst(arg).asDouble();
    return;
  }
  Op only = Op::NOOP;
  n.ops.forEach([&](Op o) { only = o; });
  Arg a = toArg(arg, only, dtype.is_none() || py::isinstance<py::tuple>(dtype) ? DType() : toDType(dtype));
  n.argTest = PatNode::ArgTest::Equal;
  n.argKind = a.kind();
  n.argBits = a.bits();
}

/// Appends a UPat, children first; returns the index of its node.
uint8_t flatten(Flattened& out, py::handle pat) {
  PatNode n;
  py::object ops = pat.attr("op"), src = pat.attr("src");
  if (!ops.is_none())
    for (py::handle o : ops) n.ops.add(o.cast<Op>());
  setDtype(n, pat.attr("dtype"));
  setArg(n, pat.attr("arg"), pat.attr("dtype"));
  bool isAny = pat.attr("is_any").cast<bool>(), more = pat.attr("allow_any_len").cast<bool>();
  std::vector<py::object> children;
  if (py::isinstance<py::tuple>(src) || py::isinstance<py::list>(src)) {
    for (py::handle child : src) children.push_back(py::reinterpret_borrow<py::object>(child));
    n.mode = isAny                                                  ? SrcMode::Any
             : more                                                 ? SrcMode::Prefix
             : py::isinstance<py::list>(src) && children.size() > 1 ? SrcMode::AnyOrder
                                                                    : SrcMode::Exact;
  } else if (!src.is_none()) {
    children.push_back(src);
    n.mode = SrcMode::Repeat;
  }
  if (children.size() > PatNode::kMaxChildren)
    throw Error(ErrorKind::Unsupported, fmt::format("a UPat has at most {} sources, this one {}",
                                                    PatNode::kMaxChildren, children.size()));
  n.oneOf = isAny;
  for (const py::object& child : children) n.children[n.childCount++] = flatten(out, child);
  n.var = out.var(pat.attr("name"));
  out.nodes.push_back(n);
  if (out.nodes.size() > 250) throw Error(ErrorKind::Unsupported, "a UPat has at most 250 nodes");
  return static_cast<uint8_t>(out.nodes.size() - 1);
}

/// The result of a Python function that is no node. PatternMatcher.rewrite() returns it; a pass cannot use
/// it.
thread_local py::object* otherAnswer = nullptr;

/// The context of a pass that Python started. A pass of the engine has a context that Python cannot use.
py::object contextOf(Match& m) {
  if (!m.hasCtx()) return py::none();
  try {
    return m.ctx<py::object>();
  } catch (const Error&) {
    return py::none();
  }
}

Rule::Function makeFunction(py::object fn, bool wantsContext, const std::vector<std::string>& vars,
                            py::object gateType) {
  auto held = share(fn), gate = share(gateType);
  return [held, gate, wantsContext, vars](Match& m) -> UOp {
    bool foreign = &Pool::current() != &tensorPool();
    Pool& here = Pool::current();
    PoolScope scope(tensorPool());
    NodesHeld nodes;
    auto visible = [&](UOp u) { return foreign ? tensorPool().import(u) : u; };
    py::dict kwargs;
    for (size_t i = 0; i < vars.size(); ++i)
      if (UOp u = m.bind(i)) kwargs[py::str(vars[i])] = py::cast(visible(u));
    if (wantsContext) kwargs["ctx"] = contextOf(m);
    py::object answer;
    try {
      answer = py::reinterpret_borrow<py::object>(held.get())(**kwargs);
    } catch (py::error_already_set& e) {
      if (e.matches(gate.get())) return gateHere();
      throw;
    }
    if (answer.is_none()) return {};
    py::detail::make_caster<UOp> node;
    if (!node.load(answer, false)) {
      if (!otherAnswer)
        throw Error(ErrorKind::Type, fmt::format("a rule of graph_rewrite must answer a UOp or None, got {}",
                                                 std::string(py::repr(answer))));
      *otherAnswer = std::move(answer);
      return UOp::make(Op::REWRITE_ERROR, dtypes::void_, {}, Arg::of("not a node"));
    }
    UOpRef result = py::detail::cast_op<UOp&>(node);
    return foreign ? here.import(result) : result.get();
  };
}

std::shared_ptr<const Rule> makeRuleFromPython(py::object pat, py::object fn, bool wantsContext,
                                               const std::string& name, const std::string& file, int line,
                                               const std::string& text, py::object gateType) {
  Flattened flat;
  flatten(flat, pat);
  if (flat.nodes.back().ops.empty() && !flat.nodes.back().oneOf)
    throw Error(ErrorKind::Shape, "a rule's pattern needs an operation at its root");
  auto function = makeFunction(fn, wantsContext, flat.vars, gateType);
  return std::make_shared<Rule>(name, file, line, text, flat.nodes, flat.vars, function);
}

/// All matches of a UPat on a node: a dictionary of the named nodes for each match.
py::list matchPattern(py::object pat, UOp u) {
  Flattened flat;
  flatten(flat, pat);
  const Rule rule("UPat.match", "", 0, "", flat.nodes, flat.vars, [](Match&) { return UOp(); });
  py::list out;
  for (const std::vector<UOp>& nodes : matchesOf(rule, u)) {
    py::dict named;
    for (size_t i = 0; i < nodes.size(); ++i)
      if (nodes[i]) named[py::str(flat.vars[i])] = py::cast(nodes[i]);
    out.append(named);
  }
  return out;
}

UOp rewriteGraph(UOp root, const PatternMatcher& pm, py::object ctx, bool bottomUp, py::object name,
                 py::object bpm, bool keepMap, UOpMap<UOp>& map) {
  PoolScope scope(tensorPool());
  NodesHeld held;
  std::string passName = name.is_none() ? "graph_rewrite" : py::str(name).cast<std::string>();
  const PatternMatcher* down = bpm.is_none() ? nullptr : &bpm.cast<const PatternMatcher&>();
  RewriteOptions options{passName, ctx, down, keepMap ? &map : nullptr};
  SourceLocation at = pythonLocation();
  const char* file = internText(at.file); // interned, so it ends with a zero byte
  return bottomUp ? graphRewriteBottomUp(root, pm, options, file, at.line)
                  : graphRewrite(root, pm, options, file, at.line);
}

} // namespace

void bindRules(py::module_& m) {
  py::class_<Rule, std::shared_ptr<Rule>>(m, "Rule")
      .def_property_readonly("name", &Rule::name)
      .def_property_readonly("location", [](const Rule& r) { return py::make_tuple(r.file(), r.line()); })
      .def("printable", &Rule::text)
      .def_property_readonly("text", &Rule::text)
      .def_property_readonly("pattern_text", &Rule::patternText);
  m.def("make_rule", [](py::object pat, py::object fn, bool wantsContext, const std::string& name,
                        const std::string& file, int line, const std::string& text, py::object gateType) {
    return std::const_pointer_cast<Rule>(
        makeRuleFromPython(pat, fn, wantsContext, name, file, line, text, gateType));
  });
  m.def("match_pattern", &matchPattern);
  py::class_<PatternMatcher>(m, "Matcher")
      .def(py::init([](const std::vector<std::shared_ptr<Rule>>& rules) {
        return PatternMatcher(std::vector<std::shared_ptr<const Rule>>(rules.begin(), rules.end()));
      }))
      .def("__reduce__",
           [](const PatternMatcher& p) {
             py::module_ m = py::module_::import("_uopscope");
             return py::make_tuple(py::module_::import("tinygrad.uop.ops").attr("engine_rules"),
                                   py::make_tuple(m.attr("name_of_matcher")(p)));
           })
      .def("joined", [](const PatternMatcher& a, const PatternMatcher& b) { return a + b; })
      .def("__add__",
           [](py::object a, py::object b) {
             return py::module_::import("tinygrad.uop.ops").attr("_joined")(a, b);
           })
      .def("__len__", [](const PatternMatcher& p) { return p.rules().size(); })
      // A rule of the engine is both the pattern and the result.
      .def_property_readonly("patterns",
                             [](const PatternMatcher& p) {
                               py::list out;
                               for (const auto& r : p.rules()) {
                                 py::object rule = py::cast(std::const_pointer_cast<Rule>(r));
                                 out.append(py::make_tuple(rule, rule));
                               }
                               return out;
                             })
      .def_property_readonly("rules",
                             [](const PatternMatcher& p) {
                               py::list out;
                               for (const auto& r : p.rules()) out.append(std::const_pointer_cast<Rule>(r));
                               return out;
                             })
      .def(
          "rewrite",
          [](const PatternMatcher& p, UOp u, py::object ctx) -> py::object {
            PoolScope scope(tensorPool());
            NodesHeld held;
            py::object other, *before = otherAnswer;
            otherAnswer = &other;
            UOp result;
            try {
              result = p.rewrite(u, ctx);
            } catch (...) {
              otherAnswer = before;
              throw;
            }
            otherAnswer = before;
            if (other) return other;
            return py::cast(result);
          },
          py::arg("uop"), py::arg("ctx") = py::none())
      .def("explain", [](const PatternMatcher& p, const Rule& r, UOp u) { return p.explain(r, u); });
  m.def(
      "graph_rewrite",
      [](UOp sink, const PatternMatcher& pm, py::object ctx, bool bottomUp, py::object name, py::object bpm) {
        UOpMap<UOp> map;
        return rewriteGraph(sink, pm, ctx, bottomUp, name, bpm, false, map);
      },
      py::arg("sink"), py::arg("pm"), py::arg("ctx") = py::none(), py::arg("bottom_up") = false,
      py::arg("name") = py::none(), py::arg("bpm") = py::none());
  m.def(
      "graph_rewrite_map",
      [](UOp sink, const PatternMatcher& pm, py::object ctx, bool bottomUp, py::object name, py::object bpm,
         py::object inputMap) {
        UOpMap<UOp> map;
        rewriteGraph(sink, pm, ctx, bottomUp, name, bpm, true, map);
        py::dict out;
        for (auto& [old, now] : map) out[py::cast(old)] = py::cast(now);
        // What lay below a replaced node was not reached. It has a place in the answer like any other node.
        for (UOp u : sink.toposort())
          if (!out.contains(py::cast(u))) {
            UOpMap<UOp> ignored;
            out[py::cast(u)] = py::cast(rewriteGraph(u, pm, ctx, bottomUp, name, bpm, true, ignored));
          }
        if (!inputMap.is_none())
          for (auto [k, v] : inputMap.cast<py::dict>())
            out[k] = out.contains(v) ? py::object(out[v]) : py::reinterpret_borrow<py::object>(v);
        return out;
      },
      py::arg("sink"), py::arg("pm"), py::arg("ctx") = py::none(), py::arg("bottom_up") = false,
      py::arg("name") = py::none(), py::arg("bpm") = py::none(), py::arg("input_map") = py::none());
}

} // namespace uopscope
