// A finished schedule that refers to buffers by number. The cache keeps it, and each call instantiates it
// with its own buffers and variables.
//
//   Schedule s = instantiate(*makeTemplate(sink, signature), signature);
#pragma once
#include "engine/schedule/passes.h"
#include "engine/schedule/schedule.h"
#include "engine/schedule/signature.h"

#include <memory>

namespace uopscope::sched {

/// Memory that a schedule allocates.
struct FreshBuffer {
  std::string device;
  DType dtype;
  int64_t size = 0;
  int64_t arenaOffset = -1; ///< offset in the arena of its device; -1: memory of its own
};

struct ScheduleTemplate {
  struct Item {
    UOp ast;
    std::vector<size_t> slots; ///< slot < inputs: an input; else fresh[slot - inputs]
    std::vector<std::string> metadata;
    SourceLocation script;
  };
  std::shared_ptr<Pool> pool; ///< owns the kernels and `becomes`
  std::vector<Item> items;
  size_t inputs = 0;
  std::vector<FreshBuffer> fresh;
  std::map<std::string, int64_t> arenaBytes;
  std::vector<UOp> leaves;                     ///< BUFFER nodes in `becomes`, by slot; null if not used there
  std::vector<std::pair<size_t, UOp>> becomes; ///< position of a node in the signature -> view of a leaf
  std::map<std::string, UOp> variables;        ///< DEFINE_VARs in `becomes` that calls bind
  std::map<size_t, UOp> uniques;               ///< LUNIQUEs of constants in `becomes`, by number
};

/// Schedules a graph: runs all passes in a pool of their own.
std::shared_ptr<const ScheduleTemplate> makeTemplate(UOp sink, const Signature& signature);
/// The schedule with the buffers and variables of this call, in the current pool.
Schedule instantiate(const ScheduleTemplate& form, const Signature& signature);

} // namespace uopscope::sched
