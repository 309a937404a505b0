// The interpreter's loop over instructions.
#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/codegen/dot_products.h"
#include "engine/codegen/tile_cores.h"
#include "engine/runtime/ref_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace uopscope {

ConstValue readValue(DType type, const std::byte* p) {
  auto as = [&]<typename T>(T) {
    T v;
    std::memcpy(&v, p, sizeof v);
    return v;
  };
  switch (type.kind()) {
  case Scalar::Bool: return ConstValue::ofBool(as(uint8_t{}) != 0);
  case Scalar::Int8: return ConstValue::ofInt(as(int8_t{}));
  case Scalar::UInt8: return ConstValue::ofInt(as(uint8_t{}));
  case Scalar::Int16: return ConstValue::ofInt(as(int16_t{}));
  case Scalar::UInt16: return ConstValue::ofInt(as(uint16_t{}));
  case Scalar::Int32: return ConstValue::ofInt(as(int32_t{}));
  case Scalar::UInt32: return ConstValue::ofInt(as(uint32_t{}));
  case Scalar::Int64:
  case Scalar::UInt64: return ConstValue::ofInt(as(int64_t{}));
  case Scalar::Fp8E4M3:
  case Scalar::Fp8E5M2: return ConstValue::ofFloat(dtypes::fromFp8(type, as(uint8_t{})));
  case Scalar::Float16: return ConstValue::ofFloat(dtypes::fromHalf(as(uint16_t{})));
  case Scalar::BFloat16: return ConstValue::ofFloat(dtypes::fromBFloat16(as(uint16_t{})));
  case Scalar::Float32: return ConstValue::ofFloat(static_cast<double>(as(float{})));
  case Scalar::Float64: return ConstValue::ofFloat(as(double{}));
  default: throw Error(ErrorKind::Compile, fmt::format("no value of type {} is in memory", type.name()));
  }
}

namespace {

void writeValue(DType type, std::byte* p, const ConstValue& v) {
  auto put = [&](auto x) { std::memcpy(p, &x, sizeof x); };
  switch (type.kind()) {
  case Scalar::Bool: put(static_cast<uint8_t>(v.i != 0)); return;
  case Scalar::Int8:
  case Scalar::UInt8: put(static_cast<uint8_t>(v.i)); return;
  case Scalar::Int16:
  case Scalar::UInt16: put(static_cast<uint16_t>(v.i)); return;
  case Scalar::Int32:
  case Scalar::UInt32: put(static_cast<uint32_t>(v.i)); return;
  case Scalar::Int64:
  case Scalar::UInt64: put(v.i); return;
  case Scalar::Fp8E4M3:
  case Scalar::Fp8E5M2: put(dtypes::toFp8(type, v.f)); return;
  case Scalar::Float16: put(dtypes::toHalf(v.f)); return;
  case Scalar::BFloat16: put(dtypes::toBFloat16(v.f)); return;
  case Scalar::Float32: put(static_cast<float>(v.f)); return;
  case Scalar::Float64: put(v.f); return;
  default: throw Error(ErrorKind::Compile, fmt::format("no value of type {} is in memory", type.name()));
  }
}

double fastFloat(Op op, double x, double y) {
  // A double has enough bits for two float32 operands that rounding its result to float32 is exact.
  double r = op == Op::ADD ? x + y : op == Op::SUB ? x - y : op == Op::MUL ? x * y : x / y;
  return static_cast<double>(static_cast<float>(r));
}

int64_t fastInt(Op op, DType type, int64_t x, int64_t y) {
  auto a = static_cast<uint64_t>(x), b = static_cast<uint64_t>(y);
  uint64_t r = op == Op::ADD   ? a + b
               : op == Op::SUB ? a - b
               : op == Op::MUL ? a * b
               : op == Op::AND ? a & b
                               : a | b;
  if (type.kind() == Scalar::Int32) return static_cast<int32_t>(r);
  return dtypes::wrapInt(type, static_cast<int64_t>(r));
}

} // namespace

void RefProgram::outOfBounds(const Instruction& in, int64_t index) const {
  const Memory& m = memories_[static_cast<size_t>(in.memory)];
  throw Error(ErrorKind::Index,
              fmt::format("kernel {}: {} of {} element{} at index {} of {}, which has {} elements of {}",
                          name_, opName(in.op), in.lanes, in.lanes == 1 ? "" : "s", index, m.name, m.size,
                          m.element.name()) +
                  (watch_ ? fmt::format(", by {}\n      {}", watch_->here(),
                                        watch_->instruction(static_cast<uint32_t>(&in - code_.data())))
                          : std::string()));
}

void RefProgram::access(const Run& r, WorkItem& item, const Instruction& in) const {
  ConstValue* v = item.values.data();
  const Memory& m = memories_[static_cast<size_t>(in.memory)];
  bool isLoad = in.what == Do::Load;
  if (isLoad && in.isMasked()) return maskedLoad(r, item, in);
  if (in.b.slot >= 0 && v[in.b.slot].i == 0) {
    if (!isLoad) return;
    for (int32_t lane = 0; lane < in.lanes; ++lane)
      v[in.to.slot + lane] =
          in.c.slot >= 0 ? v[in.c.slot + lane * in.c.step] : convertConst(in.type, ConstValue::ofInt(0));
    return;
  }
  int64_t index = v[in.a.slot].i;
  int64_t step = in.type.itemsize(), width = m.element.itemsize();
  bool isOutside = index < 0 || index > m.size || (m.size - index) * width < step * in.lanes;
  if (isOutside && m.size != DType::kUnsized) outOfBounds(in, index);
  std::byte* p = addressOf(r, item, m) + index * width;
  int64_t bytes = step * in.lanes;
  if (isLoad) {
    if (watch_) watch(in, index, bytes, nullptr, p);
    for (int32_t lane = 0; lane < in.lanes; ++lane)
      v[in.to.slot + lane] = readValue(in.type, p + lane * step);
    return;
  }
  std::vector<std::byte> before;
  if (watch_) before.assign(p, p + bytes);
  for (int32_t lane = 0; lane < in.lanes; ++lane)
    writeValue(in.type, p + lane * step, v[in.c.slot + lane * in.c.step]);
  if (watch_) watch(in, index, bytes, before.data(), p);
}

/// Lanes whose gate does not hold read nothing.
void RefProgram::maskedLoad(const Run& r, WorkItem& item, const Instruction& in) const {
  ConstValue* v = item.values.data();
  const Memory& m = memories_[static_cast<size_t>(in.memory)];
  const std::byte* base = addressOf(r, item, m);
  for (int32_t lane = 0; lane < in.lanes; ++lane) {
    ConstValue& to = v[in.to.slot + lane];
    if (v[in.b.slot + lane].i == 0) {
      to = in.c.slot >= 0 ? v[in.c.slot + lane * in.c.step] : convertConst(in.type, ConstValue::ofInt(0));
      continue;
    }
    const int64_t index = v[in.a.slot].i + lane;
    if (m.size != DType::kUnsized && (index < 0 || index >= m.size)) outOfBounds(in, index);
    to = readValue(in.type, base + index * in.type.itemsize());
  }
}

std::byte* RefProgram::addressOf(const Run& r, WorkItem& item, const Memory& m) {
  return m.global >= 0 ? static_cast<std::byte*>(r.buffers[static_cast<size_t>(m.global)])
         : m.shared    ? const_cast<std::byte*>(r.shared.data()) + m.offset
                       : item.own.data() + m.offset;
}

void RefProgram::machineCall(ConstValue* v, const Instruction& in) {
  for (int32_t i = 0; i < in.lanes; ++i) {
    const std::array operands{v[in.a.slot + i * in.a.step],
                              in.b.slot < 0 ? ConstValue() : v[in.b.slot + i * in.b.step]};
    v[in.to.slot + i] = evalMachineFunction(in.function, in.type, operands);
  }
}

/// Adds products to each lane; the operands have in.left terms for each.
void RefProgram::dot(ConstValue* v, const Instruction& in) {
  const auto terms = static_cast<int32_t>(*in.left);
  for (int32_t i = 0; i < in.lanes; ++i) {
    std::array<ConstValue, 4> a, b;
    for (int32_t k = 0; k < terms; ++k) {
      a[static_cast<size_t>(k)] = v[in.a.slot + (i * terms + k) * in.a.step];
      b[static_cast<size_t>(k)] = v[in.b.slot + (i * terms + k) * in.b.step];
    }
    const auto n = static_cast<size_t>(terms);
    v[in.to.slot + i] =
        dotProduct(in.type, std::span(a).first(n), std::span(b).first(n), v[in.c.slot + i * in.c.step]);
  }
}

void RefProgram::tiles(ConstValue* v, const Instruction& in) {
  auto lanesOf = [&](Operand o, size_t count) {
    std::vector<ConstValue> lanes(count);
    for (size_t i = 0; i < count; ++i) lanes[i] = v[o.slot + static_cast<int32_t>(i) * o.step];
    return lanes;
  };
  const auto elements = static_cast<size_t>(kTileLines * *in.left), results = static_cast<size_t>(in.lanes);
  std::ranges::copy(uopscope::tileProduct(in.type, *in.left, lanesOf(in.a, elements), lanesOf(in.b, elements),
                                          lanesOf(in.c, results)),
                    v + in.to.slot);
}

/// Runs a work item to its next BARRIER, to a WMMA, where it stays, or to its end; tells which.
RefProgram::Do RefProgram::run(Run& r, WorkItem& item) const {
  ConstValue* v = item.values.data();
  for (size_t at = item.at;;) {
    const Instruction& in = code_[at++];
    switch (in.what) {
    case Do::FastFloat:
      for (int32_t i = 0; i < in.lanes; ++i)
        v[in.to.slot + i] = ConstValue::ofFloat(
            fastFloat(in.op, v[in.a.slot + i * in.a.step].f, v[in.b.slot + i * in.b.step].f));
      break;
    case Do::FastInt:
      for (int32_t i = 0; i < in.lanes; ++i)
        v[in.to.slot + i] = ConstValue::ofInt(
            fastInt(in.op, in.type, v[in.a.slot + i * in.a.step].i, v[in.b.slot + i * in.b.step].i));
      break;
    case Do::Alu:
      for (int32_t i = 0; i < in.lanes; ++i) {
        ConstValue operands[3];
        size_t n = 0;
        for (const Operand* o : {&in.a, &in.b, &in.c})
          if (o->slot >= 0) operands[n++] = v[o->slot + i * o->step];
        v[in.to.slot + i] = evalAlu(in.op, in.type, in.operandType, std::span<const ConstValue>(operands, n));
      }
      break;
    case Do::Copy:
      for (size_t i = 0; i < in.from.size(); ++i) v[static_cast<size_t>(in.to.slot) + i] = v[in.from[i]];
      break;
    case Do::Function: machineCall(v, in); break;
    case Do::Dot: dot(v, in); break;
    case Do::Tiles: tiles(v, in); break;
    case Do::Load:
    case Do::Store: access(r, item, in); break;
    case Do::Range:
      v[in.to.slot] = ConstValue::ofInt(0);
      if (v[in.a.slot].i < 1) at = static_cast<size_t>(in.jump);
      break;
    case Do::End: {
      const Instruction& range = code_[static_cast<size_t>(in.jump)];
      if (++v[range.to.slot].i < v[range.a.slot].i) at = static_cast<size_t>(in.jump) + 1;
      break;
    }
    case Do::If:
      if (v[in.a.slot].i == 0) at = static_cast<size_t>(in.jump);
      break;
    case Do::CloseCopies:
      if (watch_) watch_->closesCopies();
      break;
    case Do::CopyBox: copyBox(r, item, in); break;
    case Do::WaitForBoxes: waitForBoxes(r, item, in); break;
    case Do::BeginProducts:
      if (watch_) watch_->beginsProducts();
      break;
    case Do::WaitForProducts:
      if (watch_) watch_->waitsForProducts(in.left);
      break;
    case Do::Barrier:
      if (in.prepares.stages) prepareBoxes(r, in);
      item.at = at;
      return in.what;
    case Do::Wmma:
    case Do::Done: item.at = at - 1; return in.what;
    }
    if (gpu_ && gpu_->onStep) tell(item, in);
  }
}

double RefProgram::launch(std::span<void* const> buffers, std::span<const int64_t> vars,
                          std::span<const int64_t> globalSize, std::span<const int64_t> localSize, bool) {
  int64_t start = nowNs();
  auto product = [](std::span<const int64_t> sizes) {
    int64_t n = 1;
    for (int64_t s : sizes) n *= s;
    return n;
  };
  int64_t groups = product(globalSize), perGroup = product(localSize);
  auto positionOf = [](std::span<const int64_t> sizes, int64_t linear, size_t axis) {
    for (size_t k = 0; k < axis && k < sizes.size(); ++k) linear /= sizes[k];
    return axis < sizes.size() ? linear % sizes[axis] : 0;
  };

  std::unique_lock<std::mutex> watching(watching_, std::defer_lock);
  if (watch_) {
    watching.lock();
    watchLaunch(buffers, globalSize, localSize);
    groups_ = groups;
    threads_ = perGroup;
  }
  Run r{buffers, std::vector<std::byte>(sharedBytes_), {}};
  std::vector<WorkItem> items(static_cast<size_t>(perGroup));
  for (WorkItem& item : items) item.values = initial_;
  for (int64_t group = 0; group < groups; ++group) {
    if (gpu_ && gpu_->group.value_or(group) != group) continue;
    std::fill(r.shared.begin(), r.shared.end(), std::byte{0xff});
    r.boxes.clear();
    for (int64_t local = 0; local < perGroup; ++local) {
      WorkItem& item = items[static_cast<size_t>(local)];
      item.at = 0;
      item.own.assign(ownBytes_, std::byte{0xff});
      for (auto [slot, position] : varSlots_)
        item.values[static_cast<size_t>(slot)] = ConstValue::ofInt(vars[static_cast<size_t>(position)]);
      for (const auto& [slot, name] : specials_) {
        auto axis = static_cast<size_t>(name.back() - '0');
        int64_t g = positionOf(globalSize, group, axis), l = positionOf(localSize, local, axis);
        int64_t value = name[0] == 'g'   ? g
                        : name[0] == 'l' ? l
                                         : g * (axis < localSize.size() ? localSize[axis] : 1) + l;
        item.values[static_cast<size_t>(slot)] = ConstValue::ofInt(value);
      }
    }
    if (watch_) watch_->groupBegins(group);
    runGroup(r, items);
  }
  if (watch_) finishWatch();
  return static_cast<double>(nowNs() - start) * 1e-9;
}

/// Runs the work items in turns from barrier to barrier until all are done.
void RefProgram::runGroup(Run& r, std::span<WorkItem> items) {
  for (bool more = true; more;) {
    more = false;
    for (size_t first = 0; first < items.size(); first += warp_)
      more |= runWarp(r, items.subspan(first, std::min(warp_, items.size() - first)), first);
    if (watch_) watchBarrier(items);
  }
}

/// Runs the threads of a warp until each waits at a barrier or is done; whether any has more to do.
bool RefProgram::runWarp(Run& r, std::span<WorkItem> warp, size_t first) {
  std::vector<Do> stopped(warp.size(), Do::Wmma);
  do {
    for (size_t i = 0; i < warp.size(); ++i) {
      if (stopped[i] != Do::Wmma || code_[warp[i].at].what == Do::Done) continue;
      thread_ = static_cast<int64_t>(first + i);
      if (watch_) watch_->threadRuns(thread_);
      stopped[i] = run(r, warp[i]);
    }
  } while (multiplyTiles(r, warp, stopped, first));
  if (watch_) watch_->warpEnds();
  return std::any_of(warp.begin(), warp.end(),
                     [&](const WorkItem& item) { return code_[item.at].what != Do::Done; });
}

} // namespace uopscope
