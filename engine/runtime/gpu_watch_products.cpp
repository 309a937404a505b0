// Products and copies that go on while threads do: what products read from shared memory, the registers that they add to, and
// the boxes that the memory engine copies.
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
  else if (!c.isOfEngine && c.writer.phase >= shownPhase_)
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

void GpuWatch::boxCopies(uint32_t instruction, uint32_t from, int64_t element, uint32_t to, int64_t place,
                         int64_t stage) {
  const WatchedAccess read{.instruction = instruction, .memory = from, .first = element},
      write{.instruction = instruction, .memory = to, .first = place, .isWrite = true};
  const int64_t bytes = memories_[from].elementBytes;
  loadedBytes_ += static_cast<uint64_t>(bytes);
  if (memories_[from].size > 0) {
    Cell& source = cellsOf(from)[static_cast<size_t>(element)];
    if (races(source.writer)) raced(read, element, source.writer, true);
    auto [shadow, offset] = shadows_[from];
    if (shadow && !(*shadow)[offset + static_cast<size_t>(element * bytes)]) neverWritten(read, element);
    if (source.reader.thread == 0) differentBytes_ += static_cast<uint64_t>(bytes);
    source.reader = me(instruction);
  }
  Cell& c = cellsOf(to)[static_cast<size_t>(place)];
  if (c.isUnderWay) underWay(write, place, c.writer);
  if (c.products) productStillReads(write, place);
  if (races(c.writer)) raced(write, place, c.writer, true);
  if (races(c.reader)) raced(write, place, c.reader, false);
  if (races(c.otherReader)) raced(write, place, c.otherReader, false);
  c.writer = me(instruction);
  c.isUnderWay = c.isOfEngine = true;
  boxes_.push_back({to, place, static_cast<size_t>(thread_), stage});
}

void GpuWatch::boxesArrived(uint32_t memory, int64_t stage) {
  std::erase_if(boxes_, [&](const Copy& b) {
    if (b.memory != memory || b.group != stage) return false;
    Cell& c = cells_[memory][static_cast<size_t>(b.element)];
    c.isUnderWay = false;
    c.writer.phase = static_cast<uint16_t>(phase_ - 1); // whoever waited comes after it
    return true;
  });
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
