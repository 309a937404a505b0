// The values that one kernel stores over the same loops, and the choice which of them its readers compute from the others instead
// (recomputed_values.cpp).
//
//   StoringKernel kernel(state);
//   kernel.members.push_back({buffer, true, true});  ...  if (kernel.hasChoice()) { fill kernel.readers;  kernel.decide(); }
//   kernel.members[1].isKept                          // false: UOp value = kernel.valueFor(1, index)
//
// Invariant: what is not kept can be computed from what is, by elementwise operations.
#pragma once
#include "engine/schedule/choice_numbers.h"
#include "engine/schedule/passes.h"

#include <map>
#include <optional>
#include <vector>

namespace uopscope::sched {

/// A value that a kernel stores, or a sum that it could store.
struct Member {
  UOp buffer; ///< its BUFFERIZE
  bool isKept = true;
  bool isCandidate = false;               ///< its readers may compute it
  bool isNew = false;                     ///< nothing stores it yet
  std::optional<StoreChoice> choice = {}; ///< prices of storing it, and of what readers compute instead
};

/// The read of a member by a kernel.
struct Reading {
  size_t member;
  UOp index;
  double times; ///< that it is computed
};

/// What a kernel reads of the members.
struct Reader {
  std::vector<Reading> readings;
  const std::vector<UOp>* all = nullptr; ///< its reads of any memory
};

/// How many steps these ranges have together.
double stepsOf(const std::vector<UOp>& ranges);
/// Whether it is a BUFFERIZE with memory.
bool isStored(UOp u);
/// The ranges that a BUFFERIZE is stored over.
std::vector<UOp> storedOver(UOp buffer);

class StoringKernel {
public:
  explicit StoringKernel(ScheduleState& state) : state_(state) {}

  std::vector<Member> members;
  std::map<int, Reader> readers; ///< by kernel

  /// Whether readers could compute a member from another one, or from a sum, which becomes a member then.
  bool hasChoice();
  /// Chooses the members that are kept: the set with the lowest price that giving up one after the other finds.
  void decide();
  /// Numbers the choices, and makes the one that FLIP asks for the other way.
  void number(ChoiceNumbers& numbers);
  /// Tells the state what is stored now.
  void finish();
  /// What a reader of a member computes instead.
  UOp valueFor(size_t member, UOp index);

private:
  UOp fromKept(size_t member) const;
  double price();
  double ownPrice(size_t member) const;
  double priceWith(Member& member, bool isKept);
  void giveUp();

  ScheduleState& state_;
};

} // namespace uopscope::sched
