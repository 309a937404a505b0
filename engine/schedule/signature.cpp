// The walk over a tensor graph that makes its signature.
#include "engine/schedule/signature.h"

#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/base/id_map.h"
#include "engine/rules/rounding.h"
#include "engine/rules/user_rules.h"

#include <fmt/format.h>

namespace uopscope::sched {

namespace {

/// The sources that belong to the signature. A buffer and a constant with a UNIQUE are identified by their
/// number, a bound variable by its name.
std::span<const UOp> wantedSources(UOp u) {
  if (u.is(Op::BUFFER)) return u.src().subspan(1); // without the UNIQUE
  if (u.is(Op::BIND) || (u.is(Op::CONST) && u.srcCount())) return u.src().first(1);
  return u.src();
}

} // namespace

std::pair<uint64_t, uint64_t> Signature::key() const {
  uint64_t a = 0x243F6A8885A308D3ull, b = 0x13198A2E03707344ull;
  for (uint64_t w : words) {
    a = mixHash(a + 1, w);
    b = mixHash(b + a, w ^ 0xA4093822299F31D0ull);
  }
  return {a, b};
}

bool isHeld(UOp u) {
  return u.node()->pins > 0 && !u.in(group::kMovement);
}

Signature signatureOf(UOp sink) {
  Signature s;
  s.words = {static_cast<uint64_t>(vars::splitReduceop.value()),
             static_cast<uint64_t>(vars::noMemoryPlanner.value()),
             static_cast<uint64_t>(vars::strictFloat.value()),
             static_cast<uint64_t>(vars::pcontig.value()),
             static_cast<uint64_t>(vars::plain.value()),
             static_cast<uint64_t>(vars::maxKernelBuffers.value()),
             static_cast<uint64_t>(vars::flip.value()),
             userRulesVersion()};
  IdMap<uint32_t> position, uniqueNumber;
  struct Frame {
    UOp u;
    uint32_t next;
  };
  std::vector<Frame> stack{{sink, 0}};
  while (!stack.empty()) {
    Frame& top = stack.back();
    std::span<const UOp> sources = wantedSources(top.u);
    if (top.next < sources.size()) {
      UOp source = sources[top.next++];
      if (!position.contains(source.slot())) stack.push_back({source, 0});
      continue;
    }
    UOp u = top.u;
    stack.pop_back();
    if (position.contains(u.slot())) continue;
    position.set(u.slot(), static_cast<uint32_t>(s.nodes.size()));
    s.nodes.push_back(u);
    const bool held = isHeld(u);
    s.held.push_back(held);
    s.words.push_back(
        static_cast<uint64_t>(u.op()) | uint64_t{held} << 8 | static_cast<uint64_t>(sources.size()) << 16 |
        static_cast<uint64_t>(u.arg().kind()) << 48 | static_cast<uint64_t>(u.tag().kind()) << 56);
    s.words.push_back(u.dtype().bits());
    if (u.arg()) s.words.push_back(u.arg().bits());
    if (u.tag()) s.words.push_back(u.tag().bits());
    for (UOp source : sources) s.words.push_back(*position.find(source.slot()));
    if (u.is(Op::BUFFER)) {
      s.words.push_back(s.buffers.size());
      s.buffers.push_back(u);
    } else if (u.is(Op::CONST) && u.srcCount() > 1) {
      const uint32_t* known = uniqueNumber.find(u.src(1).slot());
      auto number = known ? *known : static_cast<uint32_t>(s.uniques.size());
      if (!known) {
        uniqueNumber.set(u.src(1).slot(), number);
        s.uniques.push_back(u.src(1));
      }
      s.words.push_back(number);
    } else if (u.is(Op::BIND) && u.srcCount() > 1) {
      const std::string& name = u.src(0).arg().as<VarArg>().name;
      int64_t value = u.src(1).arg().i();
      auto [it, isNew] = s.variables.try_emplace(name, BoundVariable{value, u});
      if (!isNew && it->second.value != value)
        throw Error(
            ErrorKind::Value,
            fmt::format(
                "variable {} is bound to {} and to {} in one schedule: realize one use before the other",
                name, it->second.value, value));
    }
  }
  return s;
}

} // namespace uopscope::sched
