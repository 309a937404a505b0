// Products that a core begins and that go on while its threads do: what they read from shared memory, and the registers that
// they add to.
#include "engine/runtime/gpu_watch.h"

#include <fmt/format.h>

namespace uopscope {

void GpuWatch::beginsProducts() {
  for (auto& [memory, held] : held_) {
    const int64_t size = memories_[memory].size;
    for (int64_t e = 0; e < size; ++e)
      if (Held& h = held[static_cast<size_t>(thread_ * size + e)]; h.by == Hand::Thread) h.by = Hand::Handed;
  }
}

void GpuWatch::productReads(uint32_t instruction, uint32_t memory, int64_t element) {
  const WatchedAccess a{.instruction = instruction, .memory = memory, .first = element};
  Cell& c = cellsOf(memory)[static_cast<size_t>(element)];
  if (c.isUnderWay)
    underWay(a, element, c.writer);
  else if (races(c.writer))
    raced(a, element, c.writer, true);
  else if (c.writer.thread == 0)
    neverWritten(a, element);
  else if (c.writer.phase >= shownPhase_)
    found(c.writer.instruction, instruction, "not shown",
          fmt::format("a product of {} reads {}[{}], and no barrier has shown it what was written there\n"
                      "      {}\n      {}",
                      here(), memories_[memory].name, element, instructions_[instruction],
                      instructions_[c.writer.instruction]));
  ++c.products;
  c.reader = me(instruction);
  productReads_.push_back(
      {memory, element, static_cast<size_t>(thread_), products_[static_cast<size_t>(thread_)]});
}

void GpuWatch::productStillReads(const WatchedAccess& a, int64_t element) {
  found(a.instruction, a.instruction, "product under way",
        fmt::format("{} writes {}[{}], which a product may still read: its threads have not waited for it\n"
                    "      {}",
                    here(), memories_[a.memory].name, element, instructions_[a.instruction]));
}

void GpuWatch::waitsForProducts(std::optional<int64_t> left) {
  const auto thread = static_cast<size_t>(thread_);
  const int64_t done = left ? ++products_[thread] - *left : products_[thread];
  std::erase_if(productReads_, [&](const Copy& r) {
    if (r.thread != thread || r.group >= done) return false;
    Cell& c = cells_[r.memory][static_cast<size_t>(r.element)];
    --c.products;
    c.reader = me(c.reader.instruction); // it was read by the time of this wait
    return true;
  });
  for (auto& [memory, held] : held_) {
    const int64_t size = memories_[memory].size;
    for (int64_t e = 0; e < size; ++e)
      if (Held& h = held[thread * static_cast<size_t>(size) + static_cast<size_t>(e)];
          h.by == Hand::Product && h.group < done)
        h.by = Hand::Handed;
  }
}

/// An access to a register that products add to.
void GpuWatch::touchedRegister(const WatchedAccess& a, int64_t element) {
  auto& held = held_[a.memory];
  const int64_t size = memories_[a.memory].size;
  if (held.empty()) held.resize(static_cast<size_t>(size * threadsPerGroup_));
  Held& h = held[static_cast<size_t>(thread_ * size + element)];
  auto tell = [&](const char* kind, const char* words) {
    found(a.instruction, a.instruction, kind,
          fmt::format("{} {} {}[{}], {}\n      {}", here(), a.isWrite ? "writes" : "reads",
                      memories_[a.memory].name, element, words, instructions_[a.instruction]));
  };
  if (a.ofProduct) {
    if (h.by == Hand::Thread)
      tell("not handed over", "to add to it, and the thread has not handed it to products since it wrote it");
    if (a.isWrite) h = {Hand::Product, products_[static_cast<size_t>(thread_)]};
    return;
  }
  if (h.by == Hand::Product)
    tell("product under way", "to which a product may still add: the thread has not waited for it");
  if (a.isWrite) h = {Hand::Thread, 0};
}

} // namespace uopscope
