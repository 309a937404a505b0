// The memory that a kernel reads and writes, loop by loop: which lines its accesses touch, and how many of them come from
// behind a cache of a given size.
//
//   AccessTraffic traffic;  for (UOp u : program) traffic.follow(u);  traffic.finish();
//   traffic.linesFrom(group, 48 << 10)     // lines that the 48 kB did not hold
//
// Take the outermost loop whose whole run fits in the cache. What is read inside it is fetched once a run, and once in all
// runs of the next loop outside that the address does not depend on. Accesses whose addresses differ by constants are
// one group. An address that was itself loaded is taken for a new line each time.
#pragma once
#include "engine/uop/uop.h"

#include <optional>

namespace uopscope {

constexpr double kLineBytes = 64;

struct AccessGroup {
  UOp buffer, base;             ///< `base`: the index without its constant
  std::vector<int> loops;       ///< loops around it, innermost first (numbers given by open())
  std::vector<int64_t> offsets; ///< constants, in bytes
  std::vector<UOp> accesses;    ///< one for each offset
  int64_t width = 0;            ///< bytes of one access
  bool isStore = false;
  bool isStreamed = false; ///< stored past the caches (streamed_stores.h)
  int block = 0;           ///< the innermost loop, 0: none
  /// Per loop in `loops`: bytes between neighbouring iterations, or the number of lines of all iterations where they do
  /// not lie in equal distances.
  struct Step {
    int64_t bytes = 0;
    double lines = 0; ///< 0: `bytes` says it
  };
  std::vector<Step> steps;
  bool isAligned = true; ///< every access begins at a multiple of its width
};

class AccessTraffic {
public:
  /// `share`: of the most turns of loops whose number is a variable.
  explicit AccessTraffic(double share = 1) : share_(share) {}
  /// The next instruction of a linear program. Loops have numbers from 1.
  void follow(UOp u);
  void finish(); ///< after the last instruction

  const std::vector<AccessGroup>& groups() const { return groups_; }
  double trips(int loop) const { return loops_[static_cast<size_t>(loop)].trips; }
  int parent(int loop) const { return loops_[static_cast<size_t>(loop)].parent; }
  int current() const { return current_; }
  /// How often the body of a loop runs in all; 1 for loop 0, the kernel.
  double executions(int loop) const;
  /// Lines of a group touched while its `inner` innermost loops run.
  double lines(const AccessGroup& group, size_t inner) const;
  /// How many places of a cache a line takes: more than one where lines are so far apart that they share few sets.
  double crowding(const AccessGroup& group, size_t inner) const;
  /// Lines of the group that a cache of this size does not hold when they are asked for, in the whole kernel. `since`: bytes
  /// that passed through the cache since the group's buffer was used last.
  double linesFrom(const AccessGroup& group, double cacheBytes, double since) const;
  /// Bytes of all memory that one run of the loop touches; 0: of the kernel.
  double footprint(int loop) const { return footprints_[static_cast<size_t>(loop)]; }
  /// Bytes between consecutive lines that lie together: short ones cost more a line.
  double runBytes(const AccessGroup& group) const;

private:
  struct Loop {
    UOp range;
    double trips = 1;
    int parent = 0;
  };
  void add(UOp access, UOp index);
  std::vector<AccessGroup::Step> stepsOf(UOp base, const std::vector<int>& loops, int64_t itemBytes) const;
  double turnsOf(UOp extent) const;
  double share_;
  std::vector<Loop> loops_{Loop{}};
  int current_ = 0;
  std::vector<AccessGroup> groups_;
  std::vector<double> footprints_;
};

/// The INDEX of a LOAD or STORE, which may lie below a CAST; another node where there is none.
UOp accessIndex(UOp access);
/// Whether memory is on the way to the address.
bool isIndirect(UOp index);

} // namespace uopscope
