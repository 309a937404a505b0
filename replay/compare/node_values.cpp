// One graph: its loops, its memory, and the number of each node in words.
#include "replay/compare/node_values.h"

#include "engine/base/error.h"
#include "engine/uop/eval.h"
#include "engine/uop/sint.h"
#include "replay/compare/graph_variables.h"
#include "replay/read/readable.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

namespace uopscope {
namespace {

/// Nodes computed for one number: a reduction of a million elements with some operations each.
constexpr int64_t kPerNode = 20'000'000;
constexpr size_t kShownLanes = 4, kMostTried = 1u << 16;
constexpr OpSet kNames{Op::BUFFER, Op::BUFFER_VIEW, Op::DEVICE, Op::UNIQUE, Op::LUNIQUE};

[[noreturn]] void wrong(const std::string& text, const std::string& why) {
  throw Error(ErrorKind::Value, fmt::format("\"{}\": {}", text, why));
}
std::optional<int64_t> wholeNumber(std::string_view text) {
  int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(n) : std::nullopt;
}
std::vector<std::string> parts(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) {
    std::erase(part, ' ');
    if (!part.empty()) out.push_back(part);
  }
  return out;
}

/// Small numbers of both signs whose sums are exact for a while, so that they can be followed by eye.
ConstValue madeUp(DType type, uint64_t hash) {
  constexpr int kSteps = 32;
  constexpr double kStep = 0.125;
  const auto k = static_cast<int64_t>((hash >> 17) % kSteps);
  if (type.isBool()) return ConstValue::ofBool(k & 1);
  constexpr int64_t kMiddle = kSteps / 2;
  if (type.isFloat())
    return convertConst(type, ConstValue::ofFloat(kStep * static_cast<double>(k - kMiddle)));
  return convertConst(type, ConstValue::ofInt(k % 8));
}

std::string shown(const Lanes& lanes) {
  const bool truth = !lanes.empty() && lanes[0].kind == ConstValue::Kind::Bool;
  if (lanes.size() == 1 && truth) return lanes[0].i ? "true" : "false";
  if (lanes.size() <= kShownLanes) return showLanes(lanes);
  std::string first = showLanes(Lanes(lanes.begin(), lanes.begin() + kShownLanes - 1));
  first.back() = ',';
  return fmt::format("{} … {})", first, showLanes({lanes.back()}));
}

std::string memoryName(UOp memory) {
  const UOp base = memoryBase(memory);
  if (base.is(Op::DEFINE_GLOBAL)) return fmt::format("data{}", base.arg().i());
  if (base.is(Op::DEFINE_REG))
    return fmt::format("acc{}", base.arg().kind() == ArgKind::Int ? base.arg().i() : 0);
  if (base.is(Op::DEFINE_LOCAL)) return "local";
  return "buffer";
}

/// "data1[37]", "data1[16 to 31]", "data1[3, 7, 11 …]"; elements behind a closed gate are left out.
std::string places(const std::vector<Pointer>& to) {
  std::vector<int64_t> at;
  for (const Pointer& p : to)
    if (p.valid)
      for (int k = 0; k < p.width; ++k) at.push_back(p.index + k);
  if (at.empty()) return {};
  bool row = at.size() > 1;
  for (size_t k = 1; k < at.size(); ++k) row = row && at[k] == at[k - 1] + 1;
  const std::string name = memoryName(to.front().memory);
  if (row) return fmt::format("{}[{} to {}]", name, at.front(), at.back());
  const size_t most = std::min(at.size(), kShownLanes);
  return fmt::format("{}[{}{}]", name,
                     fmt::join(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(most), ", "),
                     most < at.size() ? " …" : "");
}
std::string gateNote(const std::vector<Pointer>& to) {
  const auto closed = std::ranges::count_if(to, [](const Pointer& p) { return !p.valid; });
  if (closed == 0) return {};
  return static_cast<size_t>(closed) == to.size() ? "gate off"
                                                  : fmt::format("{} of {} gates off", closed, to.size());
}

} // namespace

void chooseLoops(ValueChoice& choice, const std::string& text) {
  TensorIndex element;
  for (const std::string& part : parts(text)) {
    const size_t equals = part.find('=');
    const auto n = wholeNumber(std::string_view(part).substr(equals == std::string::npos ? 0 : equals + 1));
    if (!n || equals == 0 || *n < 0)
      wrong(text, "write r0=3,gidx0=1 for iterations of loops, or 2,5 for an element of a tensor");
    if (equals == std::string::npos)
      element.push_back(*n);
    else
      choice.at[part.substr(0, equals)] = *n;
  }
  if (!element.empty()) choice.element = std::move(element);
}

void chooseInput(ValueChoice& choice, const std::string& text) {
  const size_t equals = text.find('=');
  std::string name = text.substr(0, equals);
  if (name.starts_with("data")) name = name.substr(4);
  const auto parameter = wholeNumber(name);
  if (!parameter || equals == std::string::npos)
    wrong(text, "write data1=0.5 for every element, data1=1,2,3 to repeat them, or data1=count");
  std::vector<double> numbers;
  for (const std::string& part : parts(text.substr(equals + 1))) {
    if (part == "count") {
      numbers.clear();
      break;
    }
    double n = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), n);
    if (error != std::errc() || end != part.data() + part.size())
      wrong(text, fmt::format("{} is no number", part));
    numbers.push_back(n);
  }
  choice.inputs[*parameter] = std::move(numbers); // none: they count
}

std::map<std::string, int64_t> boundVariables(Trace& trace, ScopeId scope) {
  std::map<std::string, int64_t> out;
  const auto& scopes = trace.scopes();
  for (auto s = scopes.rbegin(); s != scopes.rend() && out.empty(); ++s) {
    if (s->id > scope || s->kind != ScopeKind::Schedule || s->root == kNoNode) continue;
    for (const NodeId id : trace.nodes().toposort(s->root)) {
      const NodeFields n = trace.nodes().fields(id);
      if (n.op != Op::BIND || n.src.size() != 2) continue;
      const NodeFields variable = trace.nodes().fields(n.src[0]), value = trace.nodes().fields(n.src[1]);
      if (variable.op == Op::DEFINE_VAR && value.op == Op::CONST &&
          value.arg.constant().kind == ConstValue::Kind::Int)
        out.emplace(variable.arg.as<VarArg>().name, value.arg.constant().i);
    }
  }
  return out;
}

ValueContext runContext(Variables& variables, const ValueChoice& choice, const std::function<bool()>& stop) {
  ValueContext c(variables);
  c.stop = stop;
  c.seed = choice.seed;
  c.contents = [choice](UOp memory, int64_t at, DType type) {
    if (memory.in(OpSet{Op::DEFINE_REG, Op::DEFINE_LOCAL}))
      throw Error(ErrorKind::Unsupported,
                  fmt::format("nothing was written to {}[{}] before", memoryName(memory), at));
    const DType own = memory.dtype().isPtr() ? memory.dtype().base().scalar() : memory.dtype().scalar();
    const bool isParameter = memory.is(Op::DEFINE_GLOBAL);
    if (isParameter && memory.dtype().size() > 0 && (at < 0 || at >= memory.dtype().size()))
      throw Error(ErrorKind::Unsupported, fmt::format("{}[{}] is outside of its {} elements",
                                                      memoryName(memory), at, memory.dtype().size()));
    const auto given = isParameter ? choice.inputs.find(memory.arg().i()) : choice.inputs.end();
    ConstValue v;
    if (given == choice.inputs.end())
      v = madeUp(own, mixHash(mixHash(choice.seed, isParameter ? static_cast<uint64_t>(memory.arg().i())
                                                               : mixHash(1, memory.slot())),
                              static_cast<uint64_t>(at)));
    else if (given->second.empty())
      v = convertConst(own, ConstValue::ofInt(at));
    else
      v = convertConst(own,
                       ConstValue::ofFloat(given->second[static_cast<size_t>(at) % given->second.size()]));
    return readAs(v, own, type);
  };
  return c;
}

NodeValues::NodeValues(ValueContext& context, UOp root)
    : context_(context), root_(root), values_(std::make_unique<GraphValues>(context)) {
  order_ = root.toposort();
  findLoops();
  values_->setProgram(root);
}

void NodeValues::findLoops() {
  auto add = [&](uint32_t key, ChosenLoop loop, UOp node) {
    if (std::ranges::find(keys_, key) != keys_.end()) return;
    keys_.push_back(key);
    nodes_.push_back(node);
    loop.at = loop.first;
    if (loop.shown.empty()) loop.shown = loop.name;
    loops_.push_back(std::move(loop));
  };
  Variables& names = context_.variables;
  for (const UOp u : order_) {
    if (u.is(Op::RANGE))
      add(names.keyOfRange(u),
          {u.render(), std::string(axisTypeName(u.axisType())), 0, u.vmax(), 0, readableExpression(u, 1, 40)},
          u);
    if (u.is(Op::SPECIAL) && u.arg().kind() == ArgKind::String)
      add(names.keyOfName("s" + u.arg().str()), {u.arg().str(), "SPECIAL", 0, u.vmax(), 0}, u);
    if (u.is(Op::DEFINE_VAR)) {
      const auto& var = u.arg().as<VarArg>();
      add(names.keyOfName("v" + var.name), {var.name, "DEFINE_VAR", u.vmin(), u.vmax(), 0}, u);
    }
  }
  for (const UOp u : order_) // lanes of loops that are gone already
    if (u.is(Op::UNROLL))
      for (const auto& [id, size] : laneAxes(u))
        add(names.keyOfAxis(id), {fmt::format("r{}", id), "UNROLL", 0, size - 1, 0}, {});
  for (size_t k = 0; k < keys_.size(); ++k) values_->choose(keys_[k], loops_[k].at);
}

/// "r0", "L0" as boxes say it, and "ridx0" or "Lidx0", as in the C of a kernel; null: there is none.
ChosenLoop* NodeValues::loopNamed(const std::string& given) {
  const size_t idx = given.find("idx");
  for (const std::string& name : {given, idx == std::string::npos ? given : "r" + given.substr(idx + 3)})
    if (const auto found = std::ranges::find(loops_, name, &ChosenLoop::name); found != loops_.end())
      return &*found;
  const auto found = std::ranges::find(loops_, given, &ChosenLoop::shown);
  return found != loops_.end() ? &*found : nullptr;
}

void NodeValues::take(const ChosenLoop& loop, int64_t at) {
  const auto k = static_cast<size_t>(&loop - loops_.data());
  loops_[k].at = at;
  values_->choose(keys_[k], at);
}

std::vector<std::string> NodeValues::chooseVariables(const ValueChoice& choice) {
  std::vector<std::string> unknown;
  for (ChosenLoop& l : loops_) {
    if (l.kind != "DEFINE_VAR") continue;
    if (const auto asked = choice.at.find(l.name); asked != choice.at.end()) {
      if (asked->second >= l.first && asked->second <= l.last)
        take(l, asked->second);
      else
        unknown.push_back(
            fmt::format("{} goes from {} to {}, not to {}", l.name, l.first, l.last, asked->second));
    } else if (const auto bound = choice.bound.find(l.name); bound != choice.bound.end()) {
      take(l, std::clamp(bound->second, l.first, l.last));
    }
  }
  for (size_t k = 0; k < loops_.size(); ++k) {
    if (!nodes_[k] || !nodes_[k].in(OpSet{Op::RANGE, Op::SPECIAL})) continue;
    try {
      context_.budget = kPerNode;
      loops_[k].last = std::max<int64_t>(0, values_->extentOf({keys_[k], nodes_[k], 0}) - 1);
    } catch (const Error&) {
      values_->recover(); // an extent without a number: the bound of its type stays
    }
    if (loops_[k].at > loops_[k].last) take(loops_[k], loops_[k].last);
  }
  return unknown;
}

std::vector<std::string> NodeValues::choose(const ValueChoice& choice) {
  std::vector<std::string> unknown = chooseVariables(choice);
  for (const auto& [given, at] : choice.at) {
    const ChosenLoop* found = loopNamed(given);
    if (!found)
      unknown.push_back(fmt::format("there is no loop {}", given));
    else if (found->kind == "DEFINE_VAR")
      continue;
    else if (at < found->first || at > found->last)
      unknown.push_back(
          fmt::format("{} goes from {} to {}, not to {}", found->name, found->first, found->last, at));
    else
      take(*found, at);
  }
  placeElements(choice.element);
  return unknown;
}

void NodeValues::bind(UOp loop, int64_t iteration) {
  Variables& names = context_.variables;
  const uint32_t key = loop.is(Op::RANGE)     ? names.keyOfRange(loop)
                       : loop.is(Op::SPECIAL) ? names.keyOfName("s" + loop.arg().str())
                                              : names.keyOfName("v" + loop.arg().as<VarArg>().name);
  for (size_t k = 0; k < keys_.size(); ++k)
    if (keys_[k] == key) loops_[k].at = iteration;
  values_->choose(key, iteration);
}

/// Of a tensor the element that its first reader reads; of the last tensors the element that was asked for.
void NodeValues::placeElements(const TensorIndex& element) {
  places_.clear();
  auto first = [&](UOp u, const TensorIndex& like) {
    TensorIndex at = values_->shapeOf(u);
    for (size_t k = 0; k < at.size(); ++k)
      at[k] = std::clamp<int64_t>(k < like.size() ? like[k] : 0, 0, std::max<int64_t>(0, at[k] - 1));
    return at;
  };
  for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
    const UOp u = *it;
    if (!hasAxes(u)) continue;
    try {
      TensorIndex at = places_.try_emplace(u, first(u, element)).first->second;
      if (u.in(group::kMovement) && !values_->throughMovement(u, at)) continue; // a zero of a PAD
      for (const UOp s : u.src())
        if (hasAxes(s)) places_.try_emplace(s, first(s, at));
    } catch (const Error&) {
      values_->recover(); // a shape without numbers: its node says so
    }
  }
}

NodeNumber NodeValues::numberOf(UOp u) {
  context_.budget = kPerNode;
  context_.guessed = false;
  try {
    return numberOrError(u);
  } catch (const Error& e) {
    values_->recover();
    return {{}, {}, e.what()};
  }
}

NodeNumber NodeValues::numberOrError(UOp u) {
  NodeNumber out;
  if (u.is(Op::STORE)) return storeNumber(u);
  if (u.dtype().isVoid()) return out;
  if (const auto at = places_.find(u); at != places_.end()) {
    out.lanes = values_->valueAt(u, at->second);
    out.note = fmt::format("element [{}]", fmt::join(at->second, ", "));
    out.text = shown(out.lanes);
    return out;
  }
  const UOp base = u.is(Op::AFTER) || u.dtype().isPtr() ? memoryBase(u) : UOp();
  const bool isName = u.is(Op::AFTER) || (u.is(Op::CAST) && u.src(0).in(group::kDefines));
  if (u.in(group::kDefines | kNames) || (isName && base)) {
    if (base || u.in(group::kDefines)) out.note = memoryName(u);
    return out;
  }
  if (u.dtype().isPtr()) {
    const auto to = values_->pointers(u);
    out.text = places(to), out.note = gateNote(to);
    return out;
  }
  out.lanes = values_->value(u);
  out.text = shown(out.lanes);
  const bool readsIndex = u.is(Op::INDEX) && u.src(0).dtype().isPtr() && memoryBase(u.src(0));
  if (u.is(Op::LOAD) || readsIndex) {
    const auto from = values_->pointers(u.is(Op::LOAD) ? u.src(0) : u);
    const std::string gate = gateNote(from), where = places(from);
    out.note = where + (where.empty() || gate.empty() ? "" : ", ") + gate;
  }
  return out;
}

NodeNumber NodeValues::storeNumber(UOp u) {
  NodeNumber out;
  const auto to = values_->pointers(u.src(0));
  std::string where = places(to);
  out.note = gateNote(to);
  if (where.empty()) {
    out.note += out.note.empty() ? "" : ": nothing is stored";
    return out;
  }
  out.lanes = values_->value(u.src(1));
  if (to.size() == 1 && out.lanes.size() > 1 && to[0].width == 1) { // the width is that of the value
    std::vector<Pointer> wide = to;
    wide[0].width = static_cast<int>(out.lanes.size());
    where = places(wide);
  }
  out.text = fmt::format("{} = {}", where, shown(out.lanes));
  return out;
}

std::vector<NodeValues::Stored> NodeValues::stored() {
  std::vector<Stored> out;
  for (const UOp u : order_) {
    if (!u.is(Op::STORE)) continue;
    const UOp base = memoryBase(u.src(0));
    if (!base || !base.is(Op::DEFINE_GLOBAL)) continue;
    context_.budget = kPerNode;
    try {
      const auto to = values_->pointers(u.src(0));
      const size_t lanes = static_cast<size_t>(std::max(1, u.src(1).dtype().count()));
      for (const Pointer& p : to)
        for (size_t k = 0; p.valid && k < (to.size() == 1 ? lanes : static_cast<size_t>(p.width)); ++k) {
          const int64_t at = p.index + static_cast<int64_t>(k);
          out.push_back(
              {values_->memoryKey(p.memory), at, fmt::format("{}[{}]", memoryName(p.memory), at), u});
        }
    } catch (const Error&) {
      values_->recover(); // its own row says why it has no address
    }
  }
  return out;
}

/// Whether the store writes the element where the loops stand now; `lane` receives the lane of its value.
bool NodeValues::reach(UOp store, uint64_t memory, int64_t index, size_t& lane) {
  const auto to = values_->pointers(store.src(0));
  const int lanes = std::max(1, store.src(1).dtype().count());
  lane = 0;
  for (const Pointer& p : to)
    for (int k = 0; k < (to.size() == 1 ? lanes : p.width); ++k, ++lane)
      if (p.valid && p.index + k == index && values_->memoryKey(p.memory) == memory) return true;
  return false;
}

/// Addresses are sums of multiples of loops nearly always: the largest stride first gives the iterations. Where
/// that fails, they are tried in turn.
std::optional<ConstValue> NodeValues::valueStoredTo(uint64_t memory, int64_t index) {
  struct Free {
    uint32_t key;
    int64_t first, last, stride;
  };
  for (const UOp store : order_) {
    if (!store.is(Op::STORE) || !memoryBase(store.src(0)) || values_->memoryKey(store.src(0)) != memory)
      continue;
    context_.budget = kPerNode;
    std::vector<Free> free;
    size_t all = 1, lane = 0;
    for (const Variable& v : context_.variables.of(store.src(0))) {
      if (v.node && v.node.is(Op::DEFINE_VAR)) continue; // the run has its value
      const int64_t first = 0, last = values_->extentOf(v) - 1;
      if (std::ranges::none_of(free, [&](const Free& f) { return f.key == v.key; }))
        free.push_back({v.key, first, last, 0});
      all = std::min(kMostTried + 1, all * static_cast<size_t>(std::max<int64_t>(1, last - first + 1)));
    }
    auto address = [&]() -> int64_t { return values_->pointers(store.src(0)).front().index; };
    auto found = [&]() -> std::optional<ConstValue> {
      if (!reach(store, memory, index, lane)) return {};
      const Lanes v = values_->value(store.src(1));
      return v[lane % v.size()];
    };
    for (const Free& f : free) values_->choose(f.key, f.first);
    int64_t rest = index - address();
    for (Free& f : free) {
      if (f.last == f.first) continue;
      values_->choose(f.key, f.first + 1);
      f.stride = address() - (index - rest);
      values_->choose(f.key, f.first);
    }
    std::vector<Free> byStride = free;
    std::ranges::stable_sort(byStride, std::greater(), &Free::stride);
    for (const Free& f : byStride)
      if (f.stride > 0) {
        const int64_t n = std::clamp<int64_t>(rest / f.stride, 0, f.last - f.first);
        values_->choose(f.key, f.first + n);
        rest -= n * f.stride;
      }
    if (auto v = found()) return v;
    if (all > kMostTried) continue;
    for (size_t k = 0; k < all; ++k) {
      size_t left = k;
      for (const Free& f : free) {
        const auto n = static_cast<size_t>(f.last - f.first + 1);
        values_->choose(f.key, f.first + static_cast<int64_t>(left % n));
        left /= n;
      }
      context_.budget = kPerNode;
      if (auto v = found()) return v;
    }
  }
  return {};
}

} // namespace uopscope
