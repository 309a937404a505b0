// What a person made of a pass's graph: parts hidden, folded into groups, or put somewhere by hand. Named by
// slots, so that it holds at every step of the pass; but for a step that is laid out alone.
//
//   Arrangement a;  a.hidden.insert(picture.nodes[3].slot);  view.arrange(a);
#pragma once
#include "viz/layout/layered.h"

#include <cstdint>
#include <map>
#include <set>
#include <string_view>

namespace uopscope {

enum class GroupBy : uint8_t { Nothing, Kernel, Loop, Reduce, TensorOp };
constexpr std::string_view kGroupNames[] = {"nothing", "kernel", "loop", "reduce", "tensor"};

struct Arrangement {
  GroupBy groupBy = GroupBy::Nothing;
  bool only = false;                ///< nothing but `shown` is drawn
  std::set<uint32_t> shown, hidden; ///< slots
  std::set<uint32_t> opened;        ///< groups drawn node by node
  std::map<uint32_t, LayoutPoint> pinned;
  /// What these steps show is laid out by itself, without room for the rest of the pass; -1: the whole pass.
  int64_t firstStep = -1, lastStep = -1;
  bool operator==(const Arrangement&) const = default;
  bool plain() const { return *this == Arrangement(); }
};

/// Ids from here on are groups of a picture, not nodes.
constexpr int64_t kFirstGroupId = 0xF0000000;

} // namespace uopscope
