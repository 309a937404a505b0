// Opens a device, encodes launches, and moves bytes between host and device.
#include "engine/runtime/webgpu_queue.h"

#include "engine/base/clock.h"
#include "engine/base/context_var.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace uopscope::webgpu {

namespace {

constexpr size_t kRoundsOfLlvmpipe = 65535; ///< LP_MAX_TGSI_LOOP_ITERATIONS of Mesa
constexpr size_t kWord = 4, kReadbackMost = size_t{64} << 20;

size_t down(size_t offset) {
  return offset / kWord * kWord;
}
size_t up(size_t offset) {
  return (offset + kWord - 1) / kWord * kWord;
}

struct Opened {
  Object device = nullptr;
  std::string message;
};
void noteDevice(uint32_t, Object device, Text message, void* opened, void*) {
  *static_cast<Opened*>(opened) = {device, message.str()};
}
void noteMapped(uint32_t status, Text message, void* result, void*) {
  if (status != 1) *static_cast<std::string*>(result) = fmt::format("{} (status {})", message.str(), status);
}

} // namespace

Gpu::Gpu(const std::string& name, Object adapter) {
  const Api& a = api();
  AdapterInfo info;
  a.adapterGetInfo(adapter, &info);
  label = fmt::format("{} ({})", name, info.device.str());
  version = fmt::format("{} {}", info.device.str(), info.description.str());
  if (info.device.str().starts_with("llvmpipe")) mostRounds = kRoundsOfLlvmpipe;
  a.adapterGetLimits(adapter, &limits);
  limits.next = nullptr;
  auto has = [&](uint32_t feature) { return a.adapterHasFeature(adapter, feature) != 0; };
  std::vector<uint32_t> features;
  auto want = [&](uint32_t feature) {
    if (has(feature)) features.push_back(feature);
    return has(feature);
  };
  hasHalf = want(kHasHalf);
  if (envInt("WEBGPU_STANDARD", 0) == 0) { // the standard has no such types
    hasInt64 = want(kHasInt64);
    hasDouble = want(kHasDouble);
  }
  hasTimes = want(kHasTimestamps);
  if (!want(kHasImmediates))
    throw Error(
        ErrorKind::Device,
        fmt::format("{} has no immediates, which pass variables to kernels; update its driver", label));
  DeviceDescriptor descriptor;
  descriptor.featureCount = features.size();
  descriptor.features = features.data();
  descriptor.limits = &limits;
  descriptor.lost.callback = noteLost;
  descriptor.lost.first = this;
  descriptor.errors.callback = noteError;
  Opened opened;
  CallbackInfo<RequestCallback> request;
  request.callback = noteDevice;
  request.first = &opened;
  a.adapterRequestDevice(adapter, &descriptor, request);
  if (!opened.device)
    throw Error(ErrorKind::Device, fmt::format("{} cannot be opened: {}", label, opened.message));
  device = opened.device;
  queue_ = a.deviceGetQueue(device);
  if (hasTimes) {
    QuerySetDescriptor queries;
    queries.kind = kTimestampQuery;
    queries.count = 2;
    times_ = a.createQuerySet(device, &queries);
    timeWords_ = createBuffer(2 * sizeof(uint64_t), kQueryResolve | kCopyFrom);
    tick_ = static_cast<double>(a.queueTick(queue_)) * 1e-9;
  }
  check(label);
}

void Gpu::noteLost(const Object*, uint32_t, Text message, void* gpu, void*) {
  auto* self = static_cast<Gpu*>(gpu);
  std::lock_guard lock(self->lostMutex_);
  self->lost_ = message.str();
}

Handle Gpu::createBuffer(size_t bytes, Flags usage) const {
  BufferDescriptor descriptor;
  descriptor.usage = usage;
  descriptor.bytes = up(bytes);
  Handle made(api().createBuffer(device, &descriptor), api().releaseBuffer);
  return takeError().empty() ? std::move(made) : noHandle();
}

std::string Gpu::where() const {
  return names_.empty() ? label : fmt::format("{}, after the kernels {}", label, fmt::join(names_, ", "));
}

void Gpu::check(const std::string& where) {
  {
    std::lock_guard lock(lostMutex_);
    if (!lost_.empty())
      throw Error(ErrorKind::Runtime, fmt::format("{}: the device was lost: {}", where, lost_));
  }
  webgpu::check(ErrorKind::Runtime, where);
}

Object Gpu::encoder() {
  if (!encoder_) encoder_ = Handle(api().createEncoder(device, nullptr), api().releaseEncoder);
  return encoder_.get();
}

void Gpu::encode(const Dispatch& d) {
  const Api& a = api();
  a.passSetPipeline(pass_.get(), d.pipeline);
  a.passSetGroup(pass_.get(), 0, d.group, 0, nullptr);
  if (!d.values.empty()) a.passSetImmediates(pass_.get(), 0, d.values.data(), d.values.size());
  a.passDispatch(pass_.get(), d.groups[0], d.groups[1], d.groups[2]);
  if (d.kernel && (names_.empty() || names_.back() != *d.kernel)) {
    if (names_.size() == kNamesKept) names_.erase(names_.begin());
    names_.push_back(*d.kernel);
  }
}

void Gpu::launch(std::span<const Dispatch> all) {
  std::lock_guard lock(mutex_);
  if (!pass_) pass_ = Handle(api().beginPass(encoder(), nullptr), api().releasePass);
  for (const Dispatch& d : all) encode(d);
  waiting_ += all.size();
  if (waiting_ >= kLaunchesASubmit) submit();
}

void Gpu::submit() {
  const Api& a = api();
  if (pass_) a.passEnd(pass_.get());
  pass_ = noHandle();
  waiting_ = 0;
  if (!encoder_) return check(where());
  Handle commands(a.encoderFinish(encoder_.get(), nullptr), a.releaseCommands);
  encoder_ = noHandle();
  check(where());
  Object one = commands.get();
  a.queueSubmit(queue_, 1, &one);
  check(where());
}

void Gpu::finish() {
  std::lock_guard lock(mutex_);
  submit();
  api().devicePoll(device, 1, nullptr);
  check(where());
}

double Gpu::timed(const Dispatch& one) {
  std::lock_guard lock(mutex_);
  submit();
  api().devicePoll(device, 1, nullptr); // earlier launches are not part of the time
  TimestampWrites writes;
  writes.queries = times_;
  PassDescriptor descriptor;
  if (hasTimes) descriptor.times = &writes;
  pass_ = Handle(api().beginPass(encoder(), &descriptor), api().releasePass);
  encode(one);
  int64_t before = nowNs();
  submit();
  api().devicePoll(device, 1, nullptr);
  double seconds = static_cast<double>(nowNs() - before) * 1e-9;
  check(where());
  return hasTimes ? ticksBetween() : seconds;
}

double Gpu::ticksBetween() {
  api().resolveQueries(encoder(), times_, 0, 2, timeWords_.get(), 0);
  std::array<uint64_t, 2> ticks{};
  readWords(timeWords_.get(), 0, ticks.data(), sizeof ticks);
  return static_cast<double>(ticks[1] - ticks[0]) * tick_;
}

void Gpu::write(Object buffer, size_t offset, const void* from, size_t bytes) {
  if (bytes == 0) return;
  std::lock_guard lock(mutex_);
  submit(); // the launches that were asked for before see the old contents
  size_t begin = down(offset), end = up(offset + bytes);
  if (begin == offset && end == offset + bytes) {
    api().queueWriteBuffer(queue_, buffer, offset, from, bytes);
    return check(label);
  }
  std::vector<std::byte> words(end - begin);
  readWords(buffer, begin, words.data(), kWord);
  if (words.size() > kWord) readWords(buffer, end - kWord, words.data() + words.size() - kWord, kWord);
  std::memcpy(words.data() + (offset - begin), from, bytes);
  api().queueWriteBuffer(queue_, buffer, begin, words.data(), words.size());
  check(label);
}

void Gpu::read(Object buffer, size_t offset, void* to, size_t bytes) {
  if (bytes == 0) return;
  std::lock_guard lock(mutex_);
  size_t begin = down(offset), end = up(offset + bytes);
  if (begin == offset && end == offset + bytes) return readWords(buffer, offset, to, bytes);
  std::vector<std::byte> words(end - begin);
  readWords(buffer, begin, words.data(), words.size());
  std::memcpy(to, words.data() + (offset - begin), bytes);
}

void Gpu::readWords(Object buffer, size_t offset, void* to, size_t bytes) {
  const Api& a = api();
  for (size_t done = 0; done < bytes;) {
    size_t part = std::min(bytes - done, kReadbackMost);
    if (part > readbackBytes_) {
      readback_ = createBuffer(part, kMapRead | kCopyTo);
      readbackBytes_ = readback_ ? part : 0;
      if (!readback_)
        throw Error(ErrorKind::Runtime, fmt::format("{}: no memory for {:.1f} MB that the host reads", label,
                                                    static_cast<double>(part) * 1e-6));
    }
    if (pass_) a.passEnd(pass_.get());
    pass_ = noHandle();
    a.copyBuffer(encoder(), buffer, offset + done, readback_.get(), 0, part);
    submit();
    std::string failure;
    CallbackInfo<MapCallback> info;
    info.callback = noteMapped;
    info.first = &failure;
    a.bufferMap(readback_.get(), kMapRead, 0, part, info);
    a.devicePoll(device, 1, nullptr);
    check(where());
    const void* mapped = failure.empty() ? a.bufferMapped(readback_.get(), 0, part) : nullptr;
    if (!mapped)
      throw Error(ErrorKind::Runtime,
                  fmt::format("{}: the device's memory cannot be read: {}", where(), failure));
    std::memcpy(static_cast<std::byte*>(to) + done, mapped, part);
    a.bufferUnmap(readback_.get());
    done += part;
  }
}

} // namespace uopscope::webgpu
