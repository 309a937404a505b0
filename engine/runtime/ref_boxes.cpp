// Boxes in the interpreter: the memory engine's copies happen at once, and count as under way until threads have waited.
#include "engine/base/error.h"
#include "engine/codegen/shared_operand.h"
#include "engine/runtime/ref_run.h"

#include <fmt/format.h>

#include <cstring>

namespace uopscope {

void RefProgram::prepareBoxes(Run& r, const Instruction& in) const {
  Run::BoxMemory& memory = r.boxes[in.memory];
  memory.boxes = in.prepares.boxes;
  memory.stages.assign(static_cast<size_t>(in.prepares.stages),
                       {}); // by every thread: nothing is copied before all met
}

void RefProgram::copyBox(Run& r, const WorkItem& item, const Instruction& in) const {
  const ConstValue* v = item.values.data();
  if (in.b.slot >= 0 && v[in.b.slot].i == 0) return;
  const Memory &to = memories_[static_cast<size_t>(in.memory)],
               &from = memories_[static_cast<size_t>(in.fromMemory)];
  const auto number = static_cast<uint32_t>(&in - code_.data());
  const int64_t place = v[in.a.slot].i, position = v[in.c.slot].i, itemsize = to.element.itemsize(),
                stage = place / in.box.stage;
  auto fail = [&](const std::string& what) {
    throw Error(ErrorKind::Runtime, fmt::format("kernel {}: a box {}", name_, what));
  };
  auto found = r.boxes.find(in.memory);
  if (found == r.boxes.end() || stage >= static_cast<int64_t>(found->second.stages.size()))
    return fail("is copied to a stage without a barrier");
  if (position % in.box.pitch + in.box.columns > in.box.pitch) fail("leaves its row of the matrix");
  const auto* source = static_cast<const std::byte*>(r.buffers[static_cast<size_t>(from.global)]);
  for (int64_t line = 0; line < in.box.lines; ++line)
    for (int64_t column = 0; column < in.box.columns; ++column) {
      const int64_t element = position + line * in.box.pitch + column;
      if (element < 0 || element >= from.size)
        throw Error(ErrorKind::Index, fmt::format("kernel {}: a box reads element {} of {}, which has {}",
                                                  name_, element, from.name, from.size));
      const auto begin = static_cast<int64_t>(to.offset);
      int64_t at = begin + place * itemsize + line * kSwizzledRow + column * itemsize;
      at ^= at / kSwizzledRow % (kSwizzledAtom / kSwizzledRow) * kDescriptorUnit;
      std::memcpy(r.shared.data() + at, source + element * itemsize, static_cast<size_t>(itemsize));
      if (watch_)
        watch_->boxCopies(number, static_cast<uint32_t>(in.fromMemory), element,
                          static_cast<uint32_t>(in.memory), (at - begin) / itemsize, stage);
    }
  Run::BoxStage& s = found->second.stages[static_cast<size_t>(stage)];
  if (++s.arrived < found->second.boxes) return;
  s.arrived = 0;
  ++s.ended;
}

void RefProgram::waitForBoxes(Run& r, const WorkItem& item, const Instruction& in) const {
  const int64_t phase = item.values[static_cast<size_t>(in.a.slot)].i;
  for (size_t i = 0; i < in.barriers.size(); i += 2) {
    const int32_t memory = in.barriers[i];
    const Memory& m = memories_[static_cast<size_t>(memory)];
    Run::BoxMemory& boxes = r.boxes[memory];
    const int64_t each = kBarrierBytes / m.element.itemsize(),
                  place = item.values[static_cast<size_t>(in.barriers[i + 1])].i,
                  first = m.size - static_cast<int64_t>(boxes.stages.size()) * each,
                  stage = (place - first) / each;
    if (stage < 0 || stage >= static_cast<int64_t>(boxes.stages.size()) ||
        (boxes.stages[static_cast<size_t>(stage)].ended & 1) == phase)
      throw Error(ErrorKind::Runtime,
                  fmt::format("kernel {}: {} waits for boxes in stage {} of {} that nobody copies", name_,
                              watch_ ? watch_->here() : "a thread", stage, m.name));
    if (watch_) watch_->boxesArrived(static_cast<uint32_t>(memory), stage);
  }
}

} // namespace uopscope
