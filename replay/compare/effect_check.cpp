// Compares effects: the writes of both sides and their places. A graph of effects is split into stores, each
// with the loops around it. The assignment fixes loops that surround all stores of both sides. The check runs
// through the remaining loops: both sides must write the same elements, and values are compared at some of
// them.
#include "engine/base/error.h"
#include "engine/uop/sint.h"
#include "replay/compare/graph_comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace uopscope {
namespace {

/// Whether another source of an AFTER waits for this effect already: then the AFTER waits for it either way.
bool isDone(UOp after, UOp effect) {
  return std::ranges::any_of(after.src().subspan(1),
                             [&](UOp s) { return s != effect && s.dependsOn(effect); });
}

using Verdict = ValueCheck::Verdict;
constexpr size_t kComparedValues = 24;

bool isRegister(UOp store) {
  const UOp base = memoryBase(store.src(0));
  return base && base.in(OpSet{Op::DEFINE_REG, Op::DEFINE_LOCAL});
}
/// Whether the store reads what earlier iterations of its loops left in its memory.
bool addsToItsMemory(UOp store, const VariableList& loops) {
  const UOp base = memoryBase(store.src(0));
  auto isLoop = [&](UOp s) {
    return std::ranges::any_of(loops, [&](const Variable& v) { return v.node == s; });
  };
  return base && std::ranges::any_of(store.src(1).toposort(), [&](UOp u) {
           return u.is(Op::AFTER) && memoryBase(u) == base && std::ranges::any_of(u.src().subspan(1), isLoop);
         });
}
/// Whether the launch, not the graph, runs through the variable.
bool isLaunched(const Variable& v) {
  if (!v.node) return true; // lanes of an UNROLL
  if (v.node.is(Op::SPECIAL)) return true;
  return v.node.is(Op::DEFINE_VAR) && v.node.arg().as<VarArg>().name == "core_id";
}
std::vector<uint32_t> keysOf(const VariableList& loops) {
  std::vector<uint32_t> out;
  for (const Variable& v : loops) out.push_back(v.key);
  std::sort(out.begin(), out.end());
  return out;
}
/// Whether the graph is a schedule: results that are in memory once the effects before them are done.
bool isSchedule(UOp root) {
  return root.is(Op::SINK) && std::ranges::all_of(root.src(), [](UOp s) {
           return s.in(OpSet{Op::AFTER, Op::BUFFER, Op::BUFFER_VIEW}) && !s.dtype().isVoid();
         });
}
/// Whether `a` is `b` but for the names of loops closed around it or inside it.
bool alikeButForLoops(UOp a, const VariableList& around, UOp b, const VariableList& others) {
  if (around.size() != others.size()) return false;
  std::vector<UOp> left, right;
  for (size_t k = 0; k < around.size(); ++k) {
    const UOp from = around[k].node, to = others[k].node;
    if (!from || !to || !from.is(Op::RANGE) || !to.is(Op::RANGE)) return false;
    left.push_back(from), right.push_back(to);
  }
  for (UOp open : a.ranges()) // a loop that stays open is itself
    if (std::find(left.begin(), left.end(), open) == left.end()) left.push_back(open), right.push_back(open);
  return sameStructure(a.end(left), b.end(right));
}
/// The loops of one effect by those of another, in order; nothing if their extents differ.
std::optional<std::map<uint32_t, uint32_t>> pairsOf(const VariableList& loops, VariableList others) {
  auto last = [](const Variable& v) { return v.node ? v.node.vmax() : v.size - 1; };
  std::map<uint32_t, uint32_t> out;
  for (const Variable& v : loops) {
    const auto it =
        std::find_if(others.begin(), others.end(), [&](const Variable& w) { return last(v) == last(w); });
    if (it == others.end()) return {};
    out[v.key] = it->key;
    others.erase(it);
  }
  return others.empty() ? std::optional(out) : std::nullopt;
}
UOp withoutMovement(UOp u) {
  while (u.in(group::kMovement)) u = u.src(0);
  return u;
}

} // namespace

void GraphComparison::leavesOf(UOp u, VariableList& loops, std::vector<Leaf>& out, bool launched) {
  const size_t outer = loops.size();
  auto add = [&](const VariableList& more) {
    for (const Variable& v : more)
      if (!hasKey(loops, v.key)) loops.push_back(v);
  };
  auto leaf = [&](UOp effect, bool token) {
    for (const Variable& v : ctx_.variables.of(effect))
      if (isLaunched(v) && (launched || !v.node)) add({v});
    out.push_back({effect, loops, token});
  };
  if (ctx_.opaque.contains(u.slot()) && !u.is(Op::AFTER)) {
    leaf(u, true);
    return;
  }
  switch (u.op()) {
  case Op::SINK:
  case Op::GROUP:
  case Op::NOOP:
  case Op::BARRIER:
    for (const UOp s : u.src())
      if (s.dtype().isVoid() || s.is(Op::AFTER)) leavesOf(s, loops, out, launched);
    break;
  case Op::END:
  case Op::CONTRACT:
    add(ctx_.variables.closedBy(u));
    leavesOf(u.src(0), loops, out, launched);
    break;
  case Op::STORE:
    add(ctx_.variables.closedBy(u));
    leaf(u, false);
    break;
  case Op::AFTER:
    for (const UOp s : u.src().subspan(1))
      if (s.dtype().isVoid() && !isDone(u, s)) leavesOf(s, loops, out, launched);
    if (u.src(0).dtype().isVoid()) leavesOf(u.src(0), loops, out, launched);
    break;
  case Op::KERNEL: leavesOf(ctx_.launchedWith(u), loops, out, true); break;
  case Op::ENDIF: break; // its stores are leaves of the kernel themselves
  case Op::LINEAR: cannotEvaluate("a linear program is compared as a kernel");
  default: cannotEvaluate(fmt::format("{} is not evaluated", opName(u.op())));
  }
  loops.resize(outer);
}

ValueCheck GraphComparison::compareEffects(UOp before, UOp after) {
  if (sameStructure(before, after)) return same(1);
  for (const UOp root : {before, after})
    if (root.is(Op::SINK))
      for (const UOp s : root.src())
        if (const Form f = formOf(s); f == Form::Tensor || f == Form::Value)
          return compareOutputs(before, after);
  if (before.is(Op::KERNEL) && after.is(Op::KERNEL)) {
    if (before.srcCount() != after.srcCount() || before.src(0) != after.src(0))
      cannotEvaluate("a kernel became a different kernel");
    for (size_t k = 1; k < before.srcCount(); ++k)
      if (ValueCheck c = compareMemory(before.src(k), after.src(k)); c.verdict != Verdict::Same) return c;
    return same(1);
  }
  if (before.is(Op::CUSTOM_KERNEL) && after.is(Op::KERNEL) && before.arg().kind() == ArgKind::Int)
    return compareGivenByHand(before, after);
  std::vector<Leaf> left, right;
  VariableList loops;
  const bool launched = before.is(Op::SINK);
  leavesOf(before, loops, left, launched);
  leavesOf(after, loops, right, launched);
  if (isSchedule(before) && isSchedule(after)) // what a value waits for happens too
    for (auto& [root, leaves] : {std::pair{before, &left}, std::pair{after, &right}})
      for (const UOp u : root.toposort())
        if (u.is(Op::AFTER)) leavesOf(u, loops, *leaves, launched);
  VariableList open;
  for (const UOp root : {before, after})
    for (const Variable& v : ctx_.variables.of(root)) open.push_back(v);
  return compareLeaves(std::move(left), std::move(right), open);
}

/// Compares a kernel given by hand with the KERNEL made of it: it has the same memory in the same order, and writes what
/// its graph stores to. The graph itself is what the number stands for.
ValueCheck GraphComparison::compareGivenByHand(UOp before, UOp after) {
  if (before.srcCount() + 1 != after.srcCount())
    return differs("", fmt::format("{} buffers", before.srcCount()),
                   fmt::format("{} buffers", after.srcCount() - 1));
  for (size_t k = 0; k < before.srcCount(); ++k)
    if (ValueCheck c = compareMemory(before.src(k), after.src(k + 1)); c.verdict != Verdict::Same) return c;
  std::vector<int64_t> stored;
  for (const UOp u : after.src(0).toposort())
    if (u.is(Op::STORE))
      if (const UOp b = u.src(0).bufferOf(); b.is(Op::DEFINE_GLOBAL)) stored.push_back(b.arg().i());
  std::sort(stored.begin(), stored.end());
  stored.erase(std::unique(stored.begin(), stored.end()), stored.end());
  if (stored != after.arg().ints())
    return differs("", fmt::format("parameters {} are written", fmt::join(stored, ", ")),
                   fmt::format("parameters {}", fmt::join(after.arg().ints(), ", ")));
  return same(1);
}

/// Compares the results of a schedule: none is missing, and each has its value.
ValueCheck GraphComparison::compareOutputs(UOp before, UOp after) {
  if (before.srcCount() == after.srcCount()) {
    bool comparable = true;
    for (size_t k = 0; k < before.srcCount(); ++k) {
      const UOp a = before.src(k), b = after.src(k);
      if (a == b) continue;
      const Form f = formOf(a), g = formOf(b);
      if (a.is(Op::BUFFERIZE) && g == Form::Memory) continue;
      if (f == Form::Effect || g == Form::Effect || (f == Form::Tensor) != (g == Form::Tensor) ||
          (f == Form::Tensor && a.shape() != b.shape()))
        comparable = false;
    }
    for (size_t k = 0; comparable && k < before.srcCount(); ++k) {
      const UOp a = before.src(k), b = after.src(k);
      if (a == b) continue;
      const bool isStored = a.is(Op::BUFFERIZE) && formOf(b) == Form::Memory;
      const ValueCheck c = isStored                     ? compareStored(a, b)
                           : formOf(a) == Form::Tensor  ? compareTensors(a, b)
                           : formOf(a) == Form::Memory  ? compareMemory(a, b)
                           : formOf(a) == Form::Address ? compareAddresses(a, b)
                                                        : compareValues(a, b);
      if (c.verdict != Verdict::Same) return c;
    }
    if (comparable) return same(1);
  }
  std::vector<UOp> wanted;
  for (const UOp s : before.src()) wanted.push_back(withoutMovement(s));
  for (const UOp stored : after.src()) {
    const UOp value = stored.is(Op::BUFFERIZE) ? stored.src(0) : stored;
    if (!stored.is(Op::BUFFERIZE)) {
      if (stored.is(Op::AFTER)) continue; // a kernel given by hand is not computed here
      cannotEvaluate("an output that is not stored");
    }
    const ValueCheck c = compareTensors(value, stored);
    if (c.verdict != Verdict::Same) return c;
    std::erase(wanted, value);
  }
  for (const UOp missing : wanted)
    if (!missing.in(OpSet{Op::BUFFER, Op::BUFFER_VIEW, Op::CONST, Op::AFTER, Op::BIND, Op::DEFINE_VAR}))
      return differs("", fmt::format("{} is an output", opName(missing.op())), "it is none");
  return same(1);
}

/// Compares AFTERs of one buffer: the earlier writes to it, and the loops it belongs to.
ValueCheck GraphComparison::compareMemory(UOp before, UOp after) {
  if (before == after) return same(1);
  const UOp from = memoryBase(before), to = memoryBase(after);
  if (!from || !to) cannotEvaluate("a node that is no memory");
  GraphValues names(ctx_);
  if (names.memoryKey(before) != names.memoryKey(after)) return differs("", "one buffer", "another buffer");
  const uint64_t key = names.memoryKey(before);
  ValueCheck unknown;
  auto leaves = [&](UOp root) {
    std::vector<Leaf> all, out;
    VariableList loops;
    for (UOp u = root; u.is(Op::AFTER) && !ctx_.opaque.contains(u.slot()); u = u.src(0))
      for (const UOp s : u.src().subspan(1))
        if (!isDone(u, s) && (s.is(Op::KERNEL) || s.is(Op::CUSTOM_KERNEL))) {
          for (const int64_t k : s.arg().kind() == ArgKind::Ints ? s.arg().ints() : std::vector<int64_t>{})
            if (const auto at = static_cast<size_t>(k) + 1;
                at < s.srcCount() && memoryBase(s.src(at)) == from)
              out.push_back({s, {}, true});
        } else if (s.dtype().isVoid() && !isDone(u, s)) {
          leavesOf(s, loops, all, false);
        }
    for (Leaf& l : all) {
      if (!l.token && names.memoryKey(l.effect.src(0)) != key) continue;
      out.push_back(std::move(l));
    }
    return out;
  };
  auto left = leaves(before), right = leaves(after);
  for (auto* side : {&left, &right})
    std::erase_if(*side, [&](const Leaf& l) { // drops shared effects on other memory
      if (!l.token || l.effect.in(OpSet{Op::KERNEL, Op::CUSTOM_KERNEL})) return false;
      for (const UOp u : l.effect.toposort())
        if (u.is(Op::STORE) && memoryBase(u.src(0)) == from) return false;
      return true;
    });
  auto loopsOf = [&](UOp u) {
    std::vector<uint32_t> keys;
    for (; u.is(Op::AFTER); u = u.src(0))
      for (const UOp s : u.src().subspan(1))
        if (!s.dtype().isVoid() && !s.is(Op::UNROLL))
          for (const Variable& v : ctx_.variables.of(s)) keys.push_back(v.key);
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    return keys;
  };
  if (loopsOf(before) != loopsOf(after)) cannotEvaluate("memory that belongs to other loops");
  VariableList open;
  for (const auto* side : {&left, &right})
    for (const Leaf& l : *side)
      for (const Variable& v : ctx_.variables.of(l.effect))
        if (!hasKey(l.loops, v.key)) open.push_back(v);
  return compareLeaves(std::move(left), std::move(right), open);
}

ValueCheck GraphComparison::compareLeaves(std::vector<Leaf> left, std::vector<Leaf> right,
                                          const VariableList& open) {
  auto alikeLeaf = [](const Leaf& a, const Leaf& b) {
    return a.effect == b.effect && keysOf(a.loops) == keysOf(b.loops);
  };
  for (auto* side : {&left, &right}) { // an effect that two users wait for happens once
    std::vector<Leaf> once;
    for (Leaf& l : *side)
      if (std::none_of(once.begin(), once.end(), [&](const Leaf& o) { return alikeLeaf(o, l); }))
        once.push_back(std::move(l));
    *side = std::move(once);
  }
  for (size_t i = left.size(); i-- > 0;) { // drops effects that are literally the same on both sides
    auto it = std::find_if(right.begin(), right.end(), [&](const Leaf& r) { return alikeLeaf(r, left[i]); });
    if (it == right.end() && !left[i].token)
      it = std::find_if(right.begin(), right.end(), [&](const Leaf& r) {
        return !r.token && alikeButForLoops(left[i].effect, left[i].loops, r.effect, r.loops);
      });
    if (it == right.end()) continue;
    right.erase(it);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (left.empty() && right.empty()) return same(1);
  VariableList common;
  bool first = true;
  for (const auto* side : {&left, &right})
    for (const Leaf& l : *side) {
      if (first) common = l.loops;
      std::erase_if(common, [&](const Variable& v) {
        return std::none_of(l.loops.begin(), l.loops.end(), [&](const Variable& w) {
          return w.key == v.key &&
                 (w.node == v.node || (w.node && v.node && w.node.vmax() == v.node.vmax()) ||
                  (!w.node && !v.node && w.size == v.size) ||
                  (w.node && !v.node && w.node.vmax() + 1 == v.size) ||
                  (!w.node && v.node && v.node.vmax() + 1 == w.size));
        });
      });
      first = false;
    }
  ValueCheck out;
  std::string tooLarge;
  auto attempt = [&](const std::vector<Leaf>& l, const std::vector<Leaf>& r, const VariableList& fixed,
                     const std::map<uint32_t, uint32_t>& renamed) {
    try {
      out = comparePointwise(l, r, open, fixed, renamed);
      return out.verdict == Verdict::Same;
    } catch (const Error& e) {
      out = {};
      out.why = e.what();
      if (e.kind() != ErrorKind::Index) throw;
      tooLarge = e.what();
      return false;
    }
  };
  // Loops of the two sides pair in order, where their extents are equal.
  auto inPairs = [&] {
    if (left.size() != right.size()) return false;
    for (size_t i = 0; i < left.size(); ++i) {
      const std::optional<std::map<uint32_t, uint32_t>> renamed = pairsOf(left[i].loops, right[i].loops);
      if (!renamed || !attempt({left[i]}, {right[i]}, left[i].loops, *renamed)) return false;
    }
    return true;
  };
  // The cheaper one first: with no loop in common, all elements are written in each sample.
  const bool pairsFirst = common.empty() && !left.empty() && !left[0].loops.empty();
  if (pairsFirst && inPairs()) return out;
  if (attempt(left, right, common, {})) return out;
  if (!pairsFirst && inPairs()) return out;
  if (common.empty() && tooLarge.empty() && out.verdict == Verdict::Differs) return out;
  if (attempt(left, right, {}, {})) return out;
  if (out.verdict != Verdict::Differs && !tooLarge.empty()) throw Error(ErrorKind::Index, tooLarge);
  return out;
}

GraphComparison::Writes GraphComparison::writesOf(GraphValues& v, const std::vector<Leaf>& leaves,
                                                  const VariableList& common) {
  Writes out;
  for (const Leaf& l : leaves) {
    VariableList rest;
    for (const Variable& x : l.loops)
      if (!hasKey(common, x.key)) rest.push_back(x);
    if (!l.token) v.expectToSpend(rest, l.effect.src(0));
    v.forEach(rest, [&] {
      Write w{&l, {}, 0, {}};
      for (const Variable& x : rest) w.at.emplace_back(x.key, *v.get(x.key));
      if (l.token) {
        out[{mixHash(0x70CE, l.effect.slot()), static_cast<int64_t>(v.environment(l.effect))}] = w;
        return;
      }
      const auto to = v.pointers(l.effect.src(0));
      const int lanes = std::max(1, l.effect.src(1).dtype().count());
      for (const Pointer& p : to)
        for (int k = 0; k < (to.size() == 1 ? lanes : p.width); ++k, ++w.lane)
          if (p.valid) {
            w.memory = p.memory;
            out[{v.memoryKey(p.memory), p.index + k}] = w;
          }
      if (out.size() > limits_.writes) throw Error(ErrorKind::Index, "it writes too many elements");
    });
  }
  return out;
}

/// The value that a write leaves, in the iteration that makes it.
Lanes GraphComparison::valueOf(GraphValues& v, const Write& w) {
  std::vector<std::pair<uint32_t, std::optional<int64_t>>> before;
  for (const auto& [key, at] : w.at) {
    before.emplace_back(key, v.get(key));
    v.set(key, at);
  }
  const Lanes lanes = v.value(w.leaf->effect.src(1));
  for (const auto& [key, at] : before)
    if (at)
      v.set(key, *at);
    else
      v.unset(key);
  return Lanes{lanes[w.lane % lanes.size()]};
}

/// Whether a write leaves the number that lay there: a graph without it has the same effect.
bool GraphComparison::keepsContents(GraphValues& v, const Write& w, int64_t address) const {
  if (w.leaf->token) return false;
  const DType type = w.leaf->effect.src(1).dtype().scalar();
  ValueCheck ignored;
  return lanesAlike(valueOf(v, w), Lanes{v.read(w.memory, address, type)}, ignored);
}

std::optional<std::string> GraphComparison::writeDiffers(GraphValues& a, GraphValues& b, const Writes& left,
                                                         const Writes& right, uint64_t hash,
                                                         ValueCheck& out) {
  const size_t most = std::max(left.size(), right.size());
  size_t n = 0;
  for (auto l = left.begin(), r = right.begin(); l != left.end() || r != right.end(); ++n) {
    const bool lost = r == right.end() || (l != left.end() && l->first < r->first);
    const bool gained = !lost && (l == left.end() || r->first < l->first);
    if (lost || gained) {
      const auto& [key, write] = lost ? *l++ : *r++;
      if (keepsContents(lost ? a : b, write, key.second)) continue;
      out.before = lost ? "it is written" : "nothing is written there";
      out.after = lost ? "nothing is written there" : "it is written";
      return fmt::format("element {}", key.second);
    }
    const auto &before = *l++, &after = *r++;
    const bool corner = n == 0 || n + 1 == most || most <= kComparedValues;
    if (!corner && mixHash(hash, n) % most >= kComparedValues) continue;
    if (before.second.leaf->token || after.second.leaf->token) continue;
    if (!lanesAlike(valueOf(a, before.second), valueOf(b, after.second), out))
      return fmt::format("element {}", before.first.second);
  }
  return {};
}

ValueCheck GraphComparison::comparePointwise(const std::vector<Leaf>& left, const std::vector<Leaf>& right,
                                             const VariableList& open, const VariableList& common,
                                             const std::map<uint32_t, uint32_t>& renamed) {
  VariableList variables = open;
  for (const Variable& v : common) variables.push_back(v);
  bool inOrder = false;
  for (const auto* side : {&left, &right})
    for (const Leaf& l : *side) {
      bool loops = false;
      for (const Variable& v : l.loops) loops |= !hasKey(common, v.key);
      inOrder |= loops && !l.token && (isRegister(l.effect) || addsToItsMemory(l.effect, l.loops));
    }
  VariableList matched = common;
  for (const Variable& v : common)
    if (const auto it = renamed.find(v.key); it != renamed.end())
      for (const Leaf& l : right)
        for (const Variable& w : l.loops)
          if (w.key == it->second && !hasKey(matched, w.key)) matched.push_back(w);
  UOp before = left.empty() ? right[0].effect : left[0].effect,
      after = right.empty() ? before : right[0].effect;
  return sample(before, after, variables,
                [&](GraphValues& a, GraphValues& b, uint64_t seed, ValueCheck& out) {
                  for (const auto& [from, to] : renamed) b.set(to, *a.get(from));
                  if (inOrder) {
                    auto runAll = [&](GraphValues& v, const std::vector<Leaf>& leaves) {
                      for (const Leaf& l : leaves) {
                        if (l.token)
                          cannotEvaluate("an effect that is taken as it is among stores to registers");
                        VariableList rest;
                        for (const Variable& x : l.loops)
                          if (!hasKey(common, x.key)) rest.push_back(x);
                        v.forEach(rest, [&] { v.run(l.effect); });
                      }
                    };
                    runAll(a, left), runAll(b, right);
                    auto l = a.written().begin();
                    for (auto r = b.written().begin();; ++l, ++r) {
                      const bool ended = l == a.written().end();
                      if (ended && r == b.written().end()) return true;
                      if (ended || r == b.written().end() || l->first != r->first ||
                          !alike(l->second, r->second, ctx_)) {
                        out.before = ended ? "nothing" : showLanes({l->second});
                        out.after = r == b.written().end() ? "nothing" : showLanes({r->second});
                        return false;
                      }
                    }
                  }
                  const Writes l = writesOf(a, left, common), r = writesOf(b, right, matched);
                  if (const auto where = writeDiffers(a, b, l, r, seed, out)) {
                    out.where = *where;
                    return false;
                  }
                  return true;
                });
}

} // namespace uopscope
