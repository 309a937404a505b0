// Sizes are computed from character counts, not from a font, so a layout needs no screen and is the same
// everywhere.
#include "viz/pictures/picture.h"

#include "replay/schema/letters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace uopscope {

OpFamily opFamily(std::string_view op) {
  using F = OpFamily;
  static const std::unordered_map<std::string_view, F> table = {{"CONST", F::Constant},
                                                                {"VCONST", F::Constant},
                                                                {"UNIQUE", F::Constant},
                                                                {"LUNIQUE", F::Constant},
                                                                {"DEVICE", F::Constant},
                                                                {"RANGE", F::Loop},
                                                                {"SPECIAL", F::Loop},
                                                                {"DEFINE_VAR", F::Loop},
                                                                {"BIND", F::Loop},
                                                                {"DEFINE_GLOBAL", F::Buffer},
                                                                {"DEFINE_LOCAL", F::Buffer},
                                                                {"DEFINE_REG", F::Buffer},
                                                                {"BUFFER", F::Buffer},
                                                                {"BUFFER_VIEW", F::Buffer},
                                                                {"BUFFERIZE", F::Buffer},
                                                                {"MSELECT", F::Buffer},
                                                                {"MSTACK", F::Buffer},
                                                                {"INDEX", F::Memory},
                                                                {"LOAD", F::Memory},
                                                                {"STORE", F::Memory},
                                                                {"COPY", F::Memory},
                                                                {"ASSIGN", F::Memory},
                                                                {"CONTIGUOUS", F::Memory},
                                                                {"CMPLT", F::Logic},
                                                                {"CMPNE", F::Logic},
                                                                {"CMPEQ", F::Logic},
                                                                {"WHERE", F::Logic},
                                                                {"AND", F::Logic},
                                                                {"OR", F::Logic},
                                                                {"XOR", F::Logic},
                                                                {"RESHAPE", F::Movement},
                                                                {"PERMUTE", F::Movement},
                                                                {"EXPAND", F::Movement},
                                                                {"PAD", F::Movement},
                                                                {"SHRINK", F::Movement},
                                                                {"FLIP", F::Movement},
                                                                {"MULTI", F::Movement},
                                                                {"REDUCE", F::Reduction},
                                                                {"REDUCE_AXIS", F::Reduction},
                                                                {"ALLREDUCE", F::Reduction},
                                                                {"WMMA", F::Reduction},
                                                                {"VECTORIZE", F::Vector},
                                                                {"GEP", F::Vector},
                                                                {"UNROLL", F::Vector},
                                                                {"CONTRACT", F::Vector},
                                                                {"CAT", F::Vector},
                                                                {"PTRCAT", F::Vector},
                                                                {"CAST", F::Convert},
                                                                {"BITCAST", F::Convert},
                                                                {"DETACH", F::Convert},
                                                                {"REWRITE_ERROR", F::Fault},
                                                                {"EXP2", F::Arithmetic},
                                                                {"LOG2", F::Arithmetic},
                                                                {"SIN", F::Arithmetic},
                                                                {"SQRT", F::Arithmetic},
                                                                {"RECIPROCAL", F::Arithmetic},
                                                                {"NEG", F::Arithmetic},
                                                                {"TRUNC", F::Arithmetic},
                                                                {"ADD", F::Arithmetic},
                                                                {"MUL", F::Arithmetic},
                                                                {"SHL", F::Arithmetic},
                                                                {"SHR", F::Arithmetic},
                                                                {"IDIV", F::Arithmetic},
                                                                {"MAX", F::Arithmetic},
                                                                {"MOD", F::Arithmetic},
                                                                {"THREEFRY", F::Arithmetic},
                                                                {"SUB", F::Arithmetic},
                                                                {"FDIV", F::Arithmetic},
                                                                {"POW", F::Arithmetic},
                                                                {"MULACC", F::Arithmetic}};
  const auto it = table.find(op);
  return it == table.end() ? F::Control : it->second;
}

std::string_view opFamilyName(OpFamily family) {
  static constexpr std::array<std::string_view, kOpFamilyCount> names = {
      "Constant", "Loop and variable", "Buffer", "Load, store, index", "Arithmetic", "Compare and choose",
      "Movement", "Reduction",         "Vector", "Structure",          "Conversion", "Failed rule"};
  return names[static_cast<size_t>(family)];
}

void Picture::index() {
  byId.clear();
  byId.reserve(nodes.size());
  added = removed = changed = 0;
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    byId.emplace(nodes[i].id, i);
    added += nodes[i].mark == Mark::Added;
    removed += nodes[i].mark == Mark::Removed;
    changed += nodes[i].mark == Mark::Changed;
  }
}

void joinWires(Picture& p) {
  // Two wires are no bundle: their port numbers say more than a count.
  constexpr uint32_t kBundle = 3;
  struct Run {
    uint32_t count = 0;
    size_t first = SIZE_MAX;
  };
  std::unordered_map<uint64_t, Run> runs;
  auto keyOf = [](const PictureEdge& e) {
    return (static_cast<uint64_t>(e.from) << 34) ^ (static_cast<uint64_t>(e.to) << 2) ^
           static_cast<uint64_t>(e.mark);
  };
  bool any = false;
  for (const PictureEdge& e : p.edges) any |= ++runs[keyOf(e)].count >= kBundle;
  if (!any) return;
  std::vector<PictureEdge> edges;
  edges.reserve(p.edges.size());
  std::unordered_map<uint32_t, uint32_t> joinedInto; // nodes with a bundle -> wires that arrive now
  for (PictureEdge& e : p.edges) {
    Run& run = runs[keyOf(e)];
    if (run.count >= kBundle && run.first != SIZE_MAX) {
      edges[run.first].times += e.times;
      continue;
    }
    if (run.count >= kBundle) joinedInto[e.to] = 0;
    run.first = edges.size();
    edges.push_back(e);
  }
  for (PictureEdge& e : edges)
    if (const auto to = joinedInto.find(e.to); to != joinedInto.end())
      e.number = e.port, e.port = to->second++;
  for (PictureEdge& e : edges)
    if (const auto to = joinedInto.find(e.to); to != joinedInto.end()) e.ports = to->second;
  p.edges = std::move(edges);
}

std::string FoldedSource::ports() const {
  return count > 1 ? fmt::format("{}–{}", port, port + count - 1) : std::to_string(port);
}

void measure(PictureNode& n) {
  using namespace metrics;
  const auto chars = [](const std::string& s) {
    return static_cast<float>(std::min(letterCount(s), kMaxChars));
  };
  const float small = kSmall * kMonoAdvance;
  float width = chars(n.op) * kTitle * kTitleAdvance;
  float height = kTop + kTitleLine + kBottom;
  if (!n.dtype.empty()) {
    n.dtypeBelow = width + 14 + chars(n.dtype) * small > kWideTitle;
    width = n.dtypeBelow ? std::max(width, chars(n.dtype) * small) : width + 14 + chars(n.dtype) * small;
    height += n.dtypeBelow ? kSmallLine : 0;
  }
  if (!n.was.empty()) {
    width = std::max(width, std::min(chars(n.was) * small + 14, kWideTitle));
    height += kWasLine;
  }
  if (!n.detail.empty()) {
    width = std::max(width, chars(n.detail) * kSmall * kMonoAdvance);
    height += kSmallLine;
  }
  if (!n.folded.empty()) {
    float line = 0;
    for (const FoldedSource& f : n.folded)
      line += (chars(f.text) + 2 + chars(f.ports())) * kSmall * kMonoAdvance + 8;
    width = std::max(width, line);
    height += kSmallLine + 2;
  }
  n.width = std::clamp(width + 2 * kPadding + 4, kMinWidth, kMaxWidth);
  n.height = height;
}

} // namespace uopscope
