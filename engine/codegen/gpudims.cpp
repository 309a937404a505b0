// Ranges that run in parallel become hardware indices.
#include "engine/codegen/gpudims.h"

#include "engine/base/error.h"
#include "engine/codegen/loop_tree.h"
#include "engine/codegen/memory.h"
#include "engine/uop/sint.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

bool isGlobalAxis(AxisType type) {
  return type == AxisType::Global || type == AxisType::Thread;
}
bool isLocalAxis(AxisType type) {
  return type == AxisType::Local || type == AxisType::Warp || type == AxisType::GroupReduce;
}

namespace {

using namespace pat;

/// Hardware sizes for these sizes: their number and each size are within the limits, their product is
/// unchanged.
std::vector<Sint> fitSizes(std::vector<Sint> sizes, std::span<const int64_t> limits) {
  if (!allInt(sizes)) {
    if (sizes.size() > limits.size())
      throw Error(ErrorKind::Compile, "a symbolic launch size has more dimensions than the target");
    return sizes;
  }
  // Neighbouring sizes are joined first, which costs one division per joined pair.
  auto fits = [&](size_t n) { return n <= limits.size(); };
  while (!fits(sizes.size())) {
    size_t best = sizes.size();
    for (size_t i = 0; i + 1 < sizes.size() && best == sizes.size(); ++i)
      if (sizes[i].i() * sizes[i + 1].i() <= limits[std::min(i, limits.size() - 1)]) best = i;
    if (best == sizes.size())
      throw Error(ErrorKind::Compile,
                  fmt::format("cannot fit launch dimensions {} into the target's", shapeStr(sizes)));
    sizes[best] = sizes[best] * sizes[best + 1];
    sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    while (sizes[i].i() > limits[i]) {
      int64_t by = 0, n = sizes[i].i();
      for (int64_t d = 2; d * d <= n && !by; ++d)
        if (n % d == 0) by = d;
      size_t to = sizes.size();
      for (size_t k = 0; k < limits.size() && by; ++k) {
        if (k == i) continue;
        int64_t now = k < sizes.size() ? sizes[k].i() : 1;
        if (now * by <= limits[k]) {
          to = k;
          break;
        }
      }
      if (!by || to >= limits.size())
        throw Error(ErrorKind::Compile,
                    fmt::format("launch dimension {} cannot be split to fit {}", n, limits[i]));
      while (sizes.size() <= to) sizes.emplace_back(1);
      sizes[i] = Sint(n / by);
      sizes[to] = sizes[to] * Sint(by);
    }
  }
  return sizes;
}

/// Index expressions for `ranges`. The last range varies fastest and belongs to hardware index 0.
std::vector<UOp> hardwareIndices(const std::string& prefix, const std::vector<UOp>& ranges,
                                 std::span<const int64_t> limits) {
  std::vector<Sint> wanted;
  for (auto it = ranges.rbegin(); it != ranges.rend(); ++it) wanted.emplace_back((*it).src(0));
  std::vector<Sint> sizes = fitSizes(wanted, limits);
  std::vector<UOp> special;
  for (size_t i = 0; i < sizes.size(); ++i)
    special.push_back(UOp::special(sizes[i].uop(), fmt::format("{}{}", prefix, i)));
  if (sizes.size() == wanted.size() && std::equal(sizes.begin(), sizes.end(), wanted.begin())) {
    std::reverse(special.begin(), special.end());
    return special;
  }
  UOp flat;
  for (size_t i = special.size(); i-- > 0;) flat = flat ? flat * sizes[i].uop() + special[i] : special[i];
  std::vector<UOp> index;
  for (size_t i = 0; i < wanted.size(); ++i) {
    index.push_back(i + 1 == wanted.size() ? flat : flat % wanted[i].uop());
    flat = flat / wanted[i].uop();
  }
  std::reverse(index.begin(), index.end());
  return index;
}

UOp addGpuDims(Match& m) {
  UOp sink = m.root();
  const Target& target = m.ctx<TargetContext>().target;
  std::vector<UOp> nodes = sink.toposort(), globals, locals;
  for (UOp u : nodes) {
    if (!u.is(Op::RANGE)) continue;
    if (isGlobalAxis(u.axisType())) globals.push_back(u);
    if (isLocalAxis(u.axisType())) locals.push_back(u);
  }
  if (globals.empty() && locals.empty()) return {};
  if (!target.hasLocal && !target.hasThreads) {
    throw Error(ErrorKind::Compile,
                fmt::format("kernel '{}' has range {} of type {}, which {} does not run", kernelName(sink),
                            (globals.empty() ? locals : globals)[0].render(),
                            axisTypeName((globals.empty() ? locals : globals)[0].axisType()), target.device));
  }
  auto byId = [](UOp a, UOp b) { return a.arg().as<RangeArg>().ids < b.arg().as<RangeArg>().ids; };
  std::sort(globals.begin(), globals.end(), byId);
  // A warp is made of neighbouring threads, so the WARP range must vary fastest.
  std::sort(locals.begin(), locals.end(), [&](UOp a, UOp b) {
    bool warpA = a.axisType() == AxisType::Warp, warpB = b.axisType() == AxisType::Warp;
    return warpA != warpB ? warpB : byId(a, b);
  });
  UOpMap<UOp> replace;
  if (target.hasThreads && !target.hasLocal) {
    if (globals.size() > 1 || !locals.empty())
      throw Error(ErrorKind::Compile, fmt::format("kernel '{}': threads run one range, this has {}",
                                                  kernelName(sink), globals.size() + locals.size()));
    replace[globals[0]] = UOp::variable("core_id", 0, globals[0].vmax());
    return sink.substitute(replace);
  }
  bool noLocals = sink.arg().kind() == ArgKind::Kernel && sink.arg().as<KernelInfo>().dontUseLocals;
  std::vector<UOp> index = hardwareIndices(noLocals ? "idx" : "gidx", globals, target.globalMax);
  for (size_t i = 0; i < globals.size(); ++i) replace[globals[i]] = index[i];
  std::vector<UOp> within = hardwareIndices("lidx", locals, target.localMax);
  for (size_t i = 0; i < locals.size(); ++i) replace[locals[i]] = within[i];
  // All threads of a group would store the same value: a gate lets one thread store it.
  UOpMap<UOp> gated;
  for (UOp u : nodes) {
    if (!u.is(Op::STORE) || !u.src(0).is(Op::INDEX) ||
        u.src(0).src(0).bufferOf().dtype().addrspace() != AddrSpace::Global)
      continue;
    UOp address = u.src(0), mask;
    for (UOp l : locals)
      if (!address.dependsOn(l)) {
        UOp first = eq(l, UOp::index(0));
        mask = mask ? mask & first : first;
      }
    if (!mask) continue;
    int n = address.src(1).dtype().count();
    std::vector<UOp> src(address.src().begin(), address.src().end());
    src[1] = src[1].validWhere(mask.broadcast(n));
    gated[address] = address.withSrc(src);
  }
  if (!gated.empty()) sink = sink.substitute(gated);
  return sink.substitute(replace);
}

constexpr RuleDef kGpuDims[] = {RULE("add-gpu-dims", any(Op::SINK), addGpuDims)};
const KnownRules kGpuDimsKnown(kGpuDims);

} // namespace

std::span<const RuleDef> gpuDimRules() {
  return kGpuDims;
}

} // namespace uopscope
