// Runs a program of the interpreter as a GPU would: reports events to the watcher, and prints its report.
#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/codegen/shared_operand.h"
#include "engine/runtime/ref_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace uopscope {

void RefProgram::watchLaunch(std::span<void* const> buffers, std::span<const int64_t> globalSize,
                             std::span<const int64_t> localSize) {
  std::vector<std::pair<GpuWatch::Shadow, size_t>> shadows;
  for (const Memory& m : memories_)
    shadows.push_back(m.global >= 0 && gpu_->shadowOf ? gpu_->shadowOf(buffers[static_cast<size_t>(m.global)])
                                                      : std::pair<GpuWatch::Shadow, size_t>{});
  watch_->launchBegins(globalSize, localSize, std::move(shadows));
}

void RefProgram::watch(const Instruction& in, int64_t index, int64_t bytes, const std::byte* before,
                       const std::byte* now) const {
  int64_t width = memories_[static_cast<size_t>(in.memory)].element.itemsize();
  WatchedAccess a{static_cast<uint32_t>(&in - code_.data()),
                  static_cast<uint32_t>(in.memory),
                  index,
                  (bytes + width - 1) / width,
                  before != nullptr,
                  in.isAsync,
                  in.ofProduct};
  for (int64_t e = 0; before && e < std::min<int64_t>(a.count, 64); ++e)
    if (std::memcmp(before + e * width, now + e * width, static_cast<size_t>(width)) == 0)
      a.changed &= ~(uint64_t{1} << e);
  watch_->touched(a);
}

/// The instruction that a thread waits at; the size of the code after its end.
uint32_t RefProgram::waitsAt(const WorkItem& item) const {
  if (code_[item.at].what == Do::Wmma) return static_cast<uint32_t>(item.at);
  const bool waits = item.at > 0 && code_[item.at - 1].what == Do::Barrier;
  return static_cast<uint32_t>(waits ? item.at - 1 : code_.size());
}

void RefProgram::watchBarrier(std::span<const WorkItem> items) {
  for (size_t i = 1; i < items.size(); ++i)
    if (waitsAt(items[i]) != waitsAt(items[0]))
      return watch_->parted(0, waitsAt(items[0]), static_cast<int64_t>(i), waitsAt(items[i]));
  const size_t at = items.empty() ? code_.size() : waitsAt(items[0]);
  if (at < code_.size())
    watch_->phaseEnds(code_[at].left, code_[at].forUnits);
  else
    watch_->phaseEnds({});
}

bool RefProgram::multiplyTiles(const Run& r, std::span<WorkItem> warp, std::span<const Do> stopped,
                               size_t first) {
  auto waits = [&](size_t i) { return stopped[i] == Do::Wmma && code_[warp[i].at].what == Do::Wmma; };
  size_t leader = 0;
  while (leader < warp.size() && !waits(leader)) ++leader;
  if (leader == warp.size()) return false;
  const size_t at = warp[leader].at;
  bool together = true;
  for (size_t i = 0; i < warp.size() && together; ++i) {
    together = waits(i) && warp[i].at == at;
    if (!together)
      watch_->parted(static_cast<int64_t>(first + leader), static_cast<uint32_t>(at),
                     static_cast<int64_t>(first + i), waitsAt(warp[i]));
  }
  const Instruction& in = code_[at];
  auto tellAll = [&] {
    for (size_t i = 0; gpu_->onStep && i < warp.size(); ++i) {
      thread_ = static_cast<int64_t>(first + i);
      tell(warp[i], in);
    }
  };
  const TensorCore& core = gpu_->cores[static_cast<size_t>(in.memory)];
  if (together && warp.size() != static_cast<size_t>(core.threads))
    throw Error(ErrorKind::Runtime, fmt::format("kernel {}: {} needs {} threads, and the group has {}", name_,
                                                core.name, core.threads, warp.size()));
  if (together) {
    if (watch_) watch_->threadRuns(static_cast<int64_t>(first));
    tileProduct(r, in, warp);
  }
  if (together) tellAll();
  for (size_t i = 0; i < warp.size(); ++i)
    if (waits(i) && warp[i].at == at) ++warp[i].at;
  return true;
}

std::vector<double> RefProgram::sharedOperand(const Run& r, const Instruction& in, size_t operand,
                                              std::span<WorkItem> warp) const {
  const TensorCore& core = gpu_->cores[static_cast<size_t>(in.memory)];
  const auto slot = static_cast<size_t>(operand == 0 ? in.a.slot : in.b.slot);
  const auto descriptor = static_cast<uint64_t>(warp[0].values[slot].i);
  auto fail = [&](const std::string& what) {
    throw Error(ErrorKind::Runtime, fmt::format("kernel {}: operand {} of {} has the descriptor {:#x}, {}",
                                                name_, operand, core.name, descriptor, what));
  };
  for (const WorkItem& item : warp)
    if (item.values[slot].i != warp[0].values[slot].i) fail("and another thread of its warp has another");
  if (!hasRowsOf128(descriptor)) fail("which has no rows of 128 bytes");
  const int64_t lines = operand == 0 ? rowsOf(core) : columnsOf(core), terms = termsOf(core);
  std::vector<double> values;
  for (int64_t line = 0; line < lines; ++line)
    for (int64_t term = 0; term < terms; ++term) {
      const int64_t at = addressIn(descriptor, in.sideBySide[operand], line, term, core.in.itemsize());
      const auto memory = std::find_if(memories_.begin(), memories_.end(), [&](const Memory& m) {
        const auto begin = static_cast<int64_t>(m.offset);
        return m.shared && begin <= at && at < begin + m.size * m.element.itemsize();
      });
      if (memory == memories_.end()) {
        fail(fmt::format("which leads to byte {} of {} of shared memory", at, sharedBytes_));
        return values;
      }
      if (watch_)
        watch_->productReads(static_cast<uint32_t>(&in - code_.data()),
                             static_cast<uint32_t>(memory - memories_.begin()),
                             (at - static_cast<int64_t>(memory->offset)) / memory->element.itemsize());
      values.push_back(readValue(core.in, r.shared.data() + at).asDouble());
    }
  return values;
}

/// c + a * b of a warp. Each thread holds its fragments of the tiles from the operands' slots on, or a descriptor.
void RefProgram::tileProduct(const Run& r, const Instruction& in, std::span<WorkItem> warp) const {
  const TensorCore& core = gpu_->cores[static_cast<size_t>(in.memory)];
  const auto rows = static_cast<size_t>(rowsOf(core)), columns = static_cast<size_t>(columnsOf(core)),
             terms = static_cast<size_t>(termsOf(core));
  auto each = [&](const TensorCore::Layout& layout, size_t width, int32_t slot, auto&& use) {
    for (size_t thread = 0; thread < warp.size(); ++thread)
      for (size_t e = 0; e < size_t{1} << elementBits(layout); ++e) {
        const auto t = static_cast<int64_t>(thread), element = static_cast<int64_t>(e);
        const auto row = static_cast<size_t>(coordinateIn(layout.row, t, element));
        const auto column = static_cast<size_t>(coordinateIn(layout.column, t, element));
        use(row * width + column, warp[thread].values[static_cast<size_t>(slot) + e]);
      }
  };
  std::vector<double> left(rows * terms), right(columns * terms), sum(rows * columns); // lines by terms
  if (readsShared(core)) {
    left = sharedOperand(r, in, 0, warp);
    right = sharedOperand(r, in, 1, warp);
  } else {
    each(core.a, terms, in.a.slot, [&](size_t place, const ConstValue& v) { left[place] = v.asDouble(); });
    each(core.b, columns, in.b.slot, [&](size_t place, const ConstValue& v) {
      right[place % columns * terms + place / columns] = v.asDouble();
    });
  }
  each(core.c, columns, in.c.slot, [&](size_t place, const ConstValue& v) { sum[place] = v.asDouble(); });
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j)
      for (size_t k = 0; k < terms; ++k) sum[i * columns + j] += left[i * terms + k] * right[j * terms + k];
  each(core.c, columns, in.to.slot,
       [&](size_t place, ConstValue& v) { v = convertConst(core.out, ConstValue::ofFloat(sum[place])); });
}

void RefProgram::finishWatch() {
  if (vars::debug >= 3) {
    fmt::print("{}", report());
    std::fflush(stdout);
  }
  std::string all;
  for (const std::string& f : watch_->findings()) all += "\n  " + f;
  size_t count = watch_->findings().size();
  watch_->forgetFindings();
  if (count)
    throw Error(ErrorKind::Runtime, fmt::format("kernel {}: {} thing{} found that no GPU may be given:{}",
                                                name_, count, count == 1 ? " was" : "s were", all));
}

std::vector<RefProgram::MemoryName> RefProgram::memoryNames() const {
  std::vector<MemoryName> names;
  for (const Memory& m : memories_) names.push_back({m.name, m.element.itemsize(), m.shared});
  return names;
}

/// Tells about an instruction that the thread has executed.
void RefProgram::tell(const WorkItem& item, const Instruction& in) const {
  RefStep step{static_cast<size_t>(in.node), thread_, {}};
  const ConstValue* v = item.values.data();
  auto lanes = [&](Operand o, int32_t count) {
    return o.slot < 0 ? std::span<const ConstValue>()
                      : std::span(v + o.slot, static_cast<size_t>(o.step ? count : 1));
  };
  step.value = lanes(in.what == Do::Store ? in.c : in.to, in.lanes);
  if (in.what == Do::End) step.value = lanes(code_[static_cast<size_t>(in.jump)].to, 1);
  if (in.what == Do::Load || in.what == Do::Store) {
    const Memory& m = memories_[static_cast<size_t>(in.memory)];
    step.memory = in.memory;
    const std::span<const ConstValue> gates = lanes(in.b, in.lanes);
    const bool open =
        gates.empty() || std::ranges::any_of(gates, [](const ConstValue& g) { return g.i != 0; });
    if (open) step.element = v[in.a.slot].i;
    if (open) step.count = std::max<int64_t>(1, in.type.itemsize() * in.lanes / m.element.itemsize());
  }
  gpu_->onStep(step);
}

std::string RefProgram::report() const {
  if (!watch_) return {};
  std::string out = fmt::format("{}: {} groups of {} threads, {} bytes of shared memory a group, at least {} "
                                "registers a thread\n",
                                name_, groups_, threads_, sharedBytes_, registers_);
  auto ratio = [](uint64_t a, uint64_t b) {
    return b ? static_cast<double>(a) / static_cast<double>(b) : 0.0;
  };
  for (const auto& [number, cost] : watch_->costs()) {
    const Instruction& in = code_[number];
    const Memory& m = memories_[static_cast<size_t>(in.memory)];
    double ideal = ratio(cost.bytes, cost.requests * static_cast<uint64_t>(GpuWatch::kSector));
    std::string what = m.shared
                           ? fmt::format("{:.1f} passes over the banks a request, {:.1f} without conflicts",
                                         ratio(cost.passes, cost.requests), ratio(cost.least, cost.requests))
                           : fmt::format("{:.1f} sectors a request, {:.1f} if all lay side by side",
                                         ratio(cost.sectors, cost.requests), ideal);
    out += fmt::format("  {:5} {:16} {}: {}\n", in.what == Do::Load ? "LOAD" : "STORE", m.name, what,
                       watch_->instruction(number));
  }
  auto [bytes, different] = watch_->loaded();
  if (different)
    out += fmt::format("  each value loaded is used {:.1f} times: {} bytes loaded, {} of them different\n",
                       ratio(bytes, different), bytes, different);
  return out;
}

} // namespace uopscope
