// A finished schedule that knows buffers by number only. The cache keeps it, and every call is made
// from.
#pragma once
#include "engine/schedule/passes.h"
#include "engine/schedule/schedule.h"
#include "engine/schedule/signature.h"

#include <memory>

namespace uopscope::sched {

/// Memory that a schedule makes.
struct FreshBuffer {
  std::string device;
  DType dtype;
  int64_t size = 0;
  int64_t arenaOffset = -1; ///< into the arena of its device; -1: memory of its own
};

struct ScheduleTemplate {
  struct Item {
    UOp ast;
    std::vector<size_t> slots; ///< below the number of inputs: an input; else fresh[slot - inputs]
    std::vector<std::string> metadata;
    SourceLocation script;
  };
  std::shared_ptr<Pool> pool; ///< owns the kernels and `becomes`
  std::vector<Item> items;
  size_t inputs = 0;
  std::vector<FreshBuffer> fresh;
  std::map<std::string, int64_t> arenaBytes;
  std::vector<UOp> leaves;                     ///< BUFFER nodes of `becomes`, by slot; null where not needed
  std::vector<std::pair<size_t, UOp>> becomes; ///< node position in the signature -> view of a leaf
  std::map<std::string, UOp> variables;        ///< DEFINE_VARs of `becomes` that calls bind
  std::map<size_t, UOp> uniques;               ///< LUNIQUEs of constants of `becomes`, by number
};

/// Schedules a graph: all passes, in a pool of their own.
std::shared_ptr<const ScheduleTemplate> makeTemplate(UOp sink, const Signature& signature);
/// The schedule for this call's buffers and variables, in the current pool.
Schedule instantiate(const ScheduleTemplate& form, const Signature& signature);

} // namespace uopscope::sched
