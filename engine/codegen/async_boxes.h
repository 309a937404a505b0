// Boxes: the memory engine of a GPU copies parts of a matrix to shared memory by itself (TMA of sm_90), while all threads go on.
// How a program says what is copied, and where threads wait.
//
// A shared memory that boxes are copied to has a number of stages, and behind them a barrier of 8 bytes for each stage.
//
//   prepareBoxes(barriers, 4, 1)       BARRIER "prepare boxes 4 1" of the INDEX where the barriers begin: four stages, each
//                                      filled by one box; all threads meet
//   copyBox(to, from, box)             STORE of an address: 64 elements of each line, from there in global memory to here in
//                                      shared memory, in rows of 128 bytes with columns exchanged (shared_operand.h)
//   waitForBoxes(phase, at, effects)   BARRIER "boxes": each thread waits until the barriers `at` have ended this phase; the
//                                      phases of a stage are 0, 1, 0, 1 ...
//
// A STORE of a box is executed by the thread whose gate holds. What it copies may be read behind a wait for its stage.
#pragma once
#include "engine/uop/uop.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

namespace uopscope {

constexpr int64_t kBarrierBytes = 8;

struct Box {
  int64_t lines = 1, pitch = 1;  ///< pitch: elements from line to line of global memory
  int64_t stage = 1, stages = 1; ///< elements of a stage of the shared memory
  int64_t columns = 64;
  /// The element of the shared memory where the barrier of a stage lies.
  int64_t barrierAt(int64_t number, int64_t itemsize) const {
    return stages * stage + number * kBarrierBytes / itemsize;
  }
};

inline bool isBox(UOp u) {
  return u.is(Op::STORE) && u.arg().kind() == ArgKind::Ints;
}
inline Box boxOf(UOp store) {
  const auto& n = store.arg().ints();
  return {n[0], n[1], n[2], n[3], n[4]};
}
inline UOp copyBox(UOp to, UOp from, const Box& box) {
  return to.store(from).withArg(
      Arg::of(std::vector<int64_t>{box.lines, box.pitch, box.stage, box.stages, box.columns}));
}

/// Stages, and boxes that fill one.
struct BoxBarriers {
  int64_t stages = 0, boxes = 0;
};
inline BoxBarriers preparesBoxes(UOp u) {
  constexpr std::string_view kWords = "prepare boxes ";
  if (!u.is(Op::BARRIER) || u.arg().kind() != ArgKind::String || !u.arg().str().starts_with(kWords))
    return {};
  BoxBarriers b;
  const std::string& text = u.arg().str();
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data() + kWords.size(), end, b.stages);
  std::from_chars(first.ptr + 1, end, b.boxes);
  return b;
}
inline bool waitsForBoxes(UOp u) {
  return u.is(Op::BARRIER) && u.arg().kind() == ArgKind::String && u.arg().str() == "boxes";
}
inline UOp prepareBoxes(UOp barriers, int64_t stages, int64_t boxes, const std::vector<UOp>& after = {}) {
  std::vector<UOp> sources{barriers};
  sources.insert(sources.end(), after.begin(), after.end());
  return UOp::make(Op::BARRIER, dtypes::void_, sources,
                   Arg::of(fmt::format("prepare boxes {} {}", stages, boxes)));
}
inline UOp waitForBoxes(UOp phase, const std::vector<UOp>& at, const std::vector<UOp>& after) {
  std::vector<UOp> sources{phase};
  sources.insert(sources.end(), at.begin(), at.end());
  sources.insert(sources.end(), after.begin(), after.end());
  return UOp::make(Op::BARRIER, dtypes::void_, sources, Arg::of("boxes"));
}

} // namespace uopscope
