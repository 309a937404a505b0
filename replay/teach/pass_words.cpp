// Sentences for passes that the table of kernel passes does not list: passes of schedules, Opts, and code
// between the passes.
#include "replay/teach/pass_words.h"

#include "engine/codegen/kernel_passes.h"

#include <utility>

namespace uopscope {

namespace {

constexpr std::pair<std::string_view, std::string_view> kOpts[] = {
    {"UPCAST",
     "an Opt: part of a loop becomes lanes of a vector, so that one instruction does several steps"},
    {"UNROLL", "an Opt: part of a summing loop is written out, so that its steps need no loop"},
    {"THREAD", "an Opt: a loop is shared out among the processor's cores"},
    {"SWAP", "an Opt: two loops change places"},
    {"LOCAL", "an Opt: a loop is shared out among the threads of a group"},
    {"GROUP", "an Opt: threads sum parts and add them up in shared memory"},
    {"GROUPTOP", "an Opt: threads sum parts and add them up in shared memory"},
    {"PADTO", "an Opt: a loop is made longer so that it divides"},
    {"NOLOCALS", "an Opt: the kernel does without groups of threads"},
    {"TC", "an Opt: products are given to tensor cores, or to dot products or tiles of a processor"},
};

constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
    {"rewrite for sched cache",
     "values that change from call to call are taken out, so that a schedule is made once"},
    {"View Input Graph", "the tensors as the script asked for them"},
    {"earliest rewrites", "operations on tensors take the forms that the scheduler knows"},
    {"get realize", "which values are stored in memory is decided"},
    {"assign ranges", "each dimension of each value gets the loop that runs over it"},
    {"reshape", "an index is written in the dimensions of another shape"},
    {"pad", "an index outside of what was padded is marked as invalid"},
    {"apply rangeify", "movement operations become index expressions over the loops"},
    {"symbolic+reduce_collapse+debuf", "indices are simplified, and values that need no memory lose it"},
    {"limit buffers", "kernels that would read more buffers than the device allows are cut"},
    {"bufferize to store", "values that are kept become stores to a buffer"},
    {"group outputs", "values that one loop can make together go into one kernel"},
    {"split kernels", "each store becomes a kernel of its own"},
    {"kernel split", "the graph of one kernel is cut out, its buffers numbered as parameters"},
    {"fix_assign", "assignments are put in the order in which memory may be written"},
    {"remove all tags", "notes that the scheduler made on nodes go"},
    {"View Kernel Graph", "kernels and the buffers between them"},
    {"simplify range", "two loops that one index needs together are tried as one"},
    {"flatten range", "what loops a store or a reduction ends is listed anew"},
    {"describe kernel", "the kernel gets its name and the list of its Opts"},
    {"panels", "what the lanes of a product read again and again is copied side by side once"},
    {"epilogues",
     "what follows the sums of a tile is computed in a loop over the rows, so its code stands once"},
    {"order of blocks", "groups that run at the same time get blocks that share operands"},
    {"shared operands", "the threads of a group copy what several of them read to their shared memory"},
    {"linearize/render", "the graph is put in a line, instruction after instruction, and written as code"},
    {"compute gradient", "derivatives are made, operation by operation, from the result back"},
    {"reduce_collapse", "a sum whose terms do not need its loop becomes a product"},
    {"minimum_valid", "the condition of a load keeps only what its index does not say already"},
};

} // namespace

bool isOpt(std::string_view name) {
  for (const auto& [known, about] : kOpts)
    if (known == name) return true;
  return false;
}

std::string_view aboutPass(std::string_view name) {
  for (const KernelPass& pass : kernelPasses())
    if (pass.name == name) return pass.about;
  for (const auto& [known, about] : kOpts)
    if (known == name) return about;
  for (const auto& [known, about] : kOthers)
    if (known == name) return about;
  return {};
}

} // namespace uopscope
