// The table of passes, and the loop that runs them.
#include "engine/schedule/schedule_passes.h"

#include "engine/base/context_var.h"
#include "engine/rules/user_rules.h"
#include "engine/schedule/rangeify.h"
#include "engine/schedule/tensor_spec.h"

#include <fmt/format.h>

namespace uopscope::sched {

namespace {

using Part = SchedulePass::Part;

const PatternMatcher* none() {
  return nullptr;
}
template <const PatternMatcher& (*matcher)()>
const PatternMatcher* of() {
  return &matcher();
}

UOp view(UOp sink, std::string_view name) {
  static const PatternMatcher noRules;
  return graphRewrite(sink, noRules, {.name = name});
}
UOp viewInput(UOp sink, ScheduleWork&) {
  return view(sink, "View Input Graph");
}
UOp copies(UOp sink, ScheduleWork& work) {
  return work.copied.empty() ? sink : readFromCopies(sink, work.copied, &work.moves.emplace_back());
}
UOp early(UOp sink, ScheduleWork& work) {
  return earliestRewrites(sink, &work.moves.emplace_back());
}
UOp ranges(UOp sink, ScheduleWork& work) {
  sink = rangeify(sink, work.state);
  for (StoredValue& value : work.state.stored)
    value.exactShape = value.exactShape || work.state.held.contains(value.node);
  return sink;
}
template <UOp (*pass)(UOp, ScheduleState&)>
UOp with(UOp sink, ScheduleWork& work) {
  return pass(sink, work.state);
}
UOp orderKernels(UOp sink, ScheduleWork& work) {
  return fixAssign(sink, work.state, work.order);
}
UOp viewKernels(UOp sink, ScheduleWork&) {
  return view(removeTags(sink), "View Kernel Graph");
}

constexpr SchedulePass kPasses[] = {
    {"View Input Graph", Part::TensorGraph, true, none, viewInput,
     "the tensor graph with numbered buffers, as the cache of schedules knows it"},
    {"read from copies", Part::TensorGraph, true, of<copyRules>, copies,
     "where a buffer is read after an assignment to it, the reads get a copy of the old contents"},
    {"earliest rewrites", Part::TensorGraph, true, of<earliestMatcher>, early,
     "movements and copies merge, long sums split in two, small updates wait for one another"},
    {"apply rangeify", Part::Ranges, false, of<applyRangesMatcher>, ranges,
     "values that need memory get it (\"get realize\"), every axis becomes a range (\"assign ranges\")"},
    {"symbolic+reduce_collapse+debuf", Part::Ranges, false, of<inlineMatcher>, with<removeCheapBuffers>,
     "values that are cheaper to compute again than to store are inlined, sums with a closed form collapse"},
    {"stream softmax", Part::Ranges, false, of<streamMatcher>, with<streamSoftmaxes>,
     "a sum that a softmax weights, as in attention, goes once over the keys: scores are not stored"},
    {"recompute from stored", Part::Ranges, false, of<recomputeMatcher>, with<recomputeValues>,
     "of the values that one kernel stores, readers compute those again that are cheap to make of the "
     "others"},
    {"limit buffers", Part::Ranges, false, of<limitMatcher>, with<limitBuffers>,
     "a kernel that would read more buffers than the device takes stores a part first"},
    {"bufferize to store", Part::Ranges, false, of<storeMatcher>, with<bufferizeToStore>,
     "a value with memory becomes a buffer, a STORE to it and a load of it"},
    {"group outputs", Part::Ranges, false, of<groupMatcher>, with<groupStores>,
     "stores over the same loops become one kernel"},
    {"split kernels", Part::Ranges, false, of<splitMatcher>, with<splitKernels>,
     "every store becomes a KERNEL with its own numbers for buffers and ranges (\"kernel split\")"},
    {"fix_assign", Part::Ranges, false, of<fixAssignMatcher>, orderKernels,
     "every reader of old contents runs before the kernel that overwrites them"},
    {"View Kernel Graph", Part::Ranges, false, none, viewKernels,
     "the kernels in the order in which they run"},
};

} // namespace

std::span<const SchedulePass> schedulePasses() {
  return kPasses;
}

UOp runSchedulePasses(Part part, UOp sink, ScheduleWork& work) {
  for (const SchedulePass& pass : kPasses) {
    if (pass.part != part) continue;
    sink = pass.run(sink, work);
    if (!work.state.needCopies.empty()) return sink;
    for (const auto& added : userRulesAfter(pass.name))
      sink = graphRewrite(sink, *added,
                          {.name = fmt::format("after {}", pass.name),
                           .map = part == Part::TensorGraph ? &work.moves.emplace_back() : nullptr});
    if (vars::spec >= 1 && pass.verified) verifyTensorGraph(sink, pass.name);
  }
  return sink;
}

} // namespace uopscope::sched
