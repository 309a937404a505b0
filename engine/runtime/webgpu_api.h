// The functions of wgpu-native that the device calls. They are looked up at run time and nothing is linked,
// so one binary runs with and without the library. Structures are those of the library's C interface of
// version 29 (webgpu.h); a library of another version is refused, since its structures may differ.
//
//   const webgpu::Api& gpu = webgpu::api();                  // throws Error(Device) that says what to install
//   gpu.queueSubmit(queue, 1, &commands);
//   webgpu::check(ErrorKind::Runtime, "kernel E_4");         // throws the error of this thread's last calls
#pragma once
#include "engine/base/error.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace uopscope::webgpu {

/// WGPUDevice, WGPUBuffer ...: pointers for the library alone.
using Object = void*;
using Bool = uint32_t;
using Flags = uint64_t;

struct Text {
  const char* data = nullptr;
  size_t length = SIZE_MAX; ///< SIZE_MAX without data: absent
  Text() = default;
  Text(const std::string& s) : data(s.data()), length(s.size()) {} // NOLINT(google-explicit-constructor)
  std::string str() const;
};
struct Chained {
  const Chained* next = nullptr;
  uint32_t kind = 0;
};
struct InstanceDescriptor {
  const Chained* next = nullptr;
  size_t featureCount = 0;
  const void *features = nullptr, *limits = nullptr;
};
struct InstanceExtras {
  Chained chain;
  Flags backends = 0, flags = 0;
  uint32_t dx12Compiler = 0, glesVersion = 0, glFence = 0;
  Text dxcPath;
  uint32_t dxcShaderModel = 0, dx12Presentation = 0;
  const void *budgetForCreation = nullptr, *budgetForLoss = nullptr;
  uint32_t displayKind = 0;
  void* display[2] = {};
};
struct EnumerateOptions {
  const Chained* next = nullptr;
  Flags backends = 0;
};
struct AdapterInfo {
  const Chained* next = nullptr;
  Text vendor, architecture, device, description;
  uint32_t backend = 0, kind = 0, vendorId = 0, deviceId = 0, subgroupMin = 0, subgroupMax = 0;
};
struct Limits {
  const Chained* next = nullptr;
  uint32_t textures[4] = {};
  uint32_t bindGroups = 0, bindGroupsPlusVertexBuffers = 0, bindingsPerGroup = 0, dynamicUniforms = 0,
           dynamicStorages = 0, sampledTextures = 0, samplers = 0, storageBuffers = 0, storageTextures = 0,
           uniformBuffers = 0;
  uint64_t uniformBindingSize = 0, storageBindingSize = 0;
  uint32_t uniformAlign = 0, storageAlign = 0, vertexBuffers = 0;
  uint64_t bufferSize = 0;
  uint32_t vertexAttributes = 0, vertexStride = 0, interStage = 0, colorAttachments = 0, colorBytes = 0;
  uint32_t sharedBytes = 0, groupThreads = 0, groupSize[3] = {}, groupsPerDimension = 0, immediateBytes = 0;
};
using ErrorCallback = void (*)(const Object*, uint32_t kind, Text message, void*, void*);
using RequestCallback = void (*)(uint32_t status, Object result, Text message, void*, void*);
using MapCallback = void (*)(uint32_t status, Text message, void*, void*);
template <typename Callback>
struct CallbackInfo {
  const Chained* next = nullptr;
  uint32_t mode = 3; ///< at any time
  Callback callback = nullptr;
  void *first = nullptr, *second = nullptr;
};
struct UncapturedErrors {
  const Chained* next = nullptr;
  ErrorCallback callback = nullptr;
  void *first = nullptr, *second = nullptr;
};
struct Labelled {
  const Chained* next = nullptr;
  Text label;
};
struct DeviceDescriptor {
  const Chained* next = nullptr;
  Text label;
  size_t featureCount = 0;
  const uint32_t* features = nullptr;
  const Limits* limits = nullptr;
  Labelled queue;
  CallbackInfo<ErrorCallback> lost;
  UncapturedErrors errors;
};
struct BufferDescriptor {
  const Chained* next = nullptr;
  Text label;
  Flags usage = 0;
  uint64_t bytes = 0;
  Bool mapped = 0;
};
struct ShaderText {
  Chained chain;
  Text code;
};
struct LayoutEntry {
  const Chained* next = nullptr;
  uint32_t binding = 0;
  Flags stages = 0;
  uint32_t arraySize = 0;
  struct {
    const Chained* next = nullptr;
    uint32_t kind = 0;
    Bool dynamicOffset = 0;
    uint64_t minBytes = 0;
  } buffer;
  struct {
    const Chained* next = nullptr;
    uint32_t kind = 0;
  } sampler;
  struct {
    const Chained* next = nullptr;
    uint32_t sample = 0, dimension = 0;
    Bool multisampled = 0;
  } texture;
  struct {
    const Chained* next = nullptr;
    uint32_t access = 0, format = 0, dimension = 0;
  } storageTexture;
};
struct LayoutDescriptor {
  const Chained* next = nullptr;
  Text label;
  size_t count = 0;
  const LayoutEntry* entries = nullptr;
};
struct PipelineLayoutDescriptor {
  const Chained* next = nullptr;
  Text label;
  size_t count = 0;
  const Object* layouts = nullptr;
  uint32_t immediateBytes = 0;
};
struct Constant {
  const Chained* next = nullptr;
  Text key;
  double value = 0;
};
struct PipelineDescriptor {
  const Chained* next = nullptr;
  Text label;
  Object layout = nullptr;
  const Chained* computeNext = nullptr;
  Object module = nullptr;
  Text entry;
  size_t constantCount = 0;
  const Constant* constants = nullptr;
};
struct GroupEntry {
  const Chained* next = nullptr;
  uint32_t binding = 0;
  Object buffer = nullptr;
  uint64_t offset = 0, bytes = 0;
  Object sampler = nullptr, texture = nullptr;
};
struct GroupDescriptor {
  const Chained* next = nullptr;
  Text label;
  Object layout = nullptr;
  size_t count = 0;
  const GroupEntry* entries = nullptr;
};
struct TimestampWrites {
  const Chained* next = nullptr;
  Object queries = nullptr;
  uint32_t begin = 0, end = 1;
};
struct PassDescriptor {
  const Chained* next = nullptr;
  Text label;
  const TimestampWrites* times = nullptr;
};
struct QuerySetDescriptor {
  const Chained* next = nullptr;
  Text label;
  uint32_t kind = 0, count = 0;
};

struct Api {
  uint32_t (*getVersion)();
  Object (*createInstance)(const InstanceDescriptor*);
  size_t (*enumerateAdapters)(Object, const EnumerateOptions*, Object*);
  uint32_t (*adapterGetInfo)(Object, AdapterInfo*);
  uint32_t (*adapterGetLimits)(Object, Limits*);
  Bool (*adapterHasFeature)(Object, uint32_t);
  uint64_t (*adapterRequestDevice)(Object, const DeviceDescriptor*, CallbackInfo<RequestCallback>);
  Object (*deviceGetQueue)(Object);
  Bool (*devicePoll)(Object, Bool wait, const uint64_t*);
  Object (*createBuffer)(Object, const BufferDescriptor*);
  Object (*createShader)(Object, const Labelled*, Flags checks);
  Object (*createLayout)(Object, const LayoutDescriptor*);
  Object (*createPipelineLayout)(Object, const PipelineLayoutDescriptor*);
  Object (*createPipeline)(Object, const PipelineDescriptor*);
  Object (*createGroup)(Object, const GroupDescriptor*);
  Object (*createQuerySet)(Object, const QuerySetDescriptor*);
  Object (*createEncoder)(Object, const Labelled*);
  Object (*beginPass)(Object, const PassDescriptor*);
  void (*passSetPipeline)(Object, Object);
  void (*passSetGroup)(Object, uint32_t, Object, size_t, const uint32_t*);
  void (*passSetImmediates)(Object, uint32_t offset, const void*, size_t);
  void (*passDispatch)(Object, uint32_t, uint32_t, uint32_t);
  void (*passEnd)(Object);
  void (*copyBuffer)(Object, Object from, uint64_t, Object to, uint64_t, uint64_t bytes);
  void (*resolveQueries)(Object, Object, uint32_t first, uint32_t count, Object to, uint64_t);
  Object (*encoderFinish)(Object, const Labelled*);
  void (*queueSubmit)(Object, size_t, const Object*);
  void (*queueWriteBuffer)(Object, Object, uint64_t, const void*, size_t);
  float (*queueTick)(Object);
  uint64_t (*bufferMap)(Object, Flags, size_t offset, size_t bytes, CallbackInfo<MapCallback>);
  const void* (*bufferMapped)(Object, size_t offset, size_t bytes);
  void (*bufferUnmap)(Object);
  void (*releaseBuffer)(Object), (*releaseShader)(Object), (*releaseLayout)(Object),
      (*releasePipelineLayout)(Object), (*releasePipeline)(Object), (*releaseGroup)(Object),
      (*releaseEncoder)(Object), (*releasePass)(Object), (*releaseCommands)(Object);
};

constexpr uint32_t kVersion = 29;
constexpr Flags kPrimaryBackends = 0x2D, kDefaultFlags = 1 << 24, kMapRead = 1, kCopyFrom = 4, kCopyTo = 8,
                kStorage = 0x80, kQueryResolve = 0x200, kComputeStage = 4, kCheckBounds = 1;
constexpr uint32_t kInstanceExtras = 0x30004, kShaderWgsl = 2, kStorageBinding = 3, kTimestampQuery = 2,
                   kDiscreteGpu = 1, kIntegratedGpu = 2, kCpuAdapter = 3;
constexpr uint32_t kHasTimestamps = 9, kHasHalf = 0xB, kHasImmediates = 0x30001, kHasDouble = 0x3001D,
                   kHasInt64 = 0x30026;

/// The library, opened at first use. Throws Error(Device) if there is none, or one of another version.
const Api& api();
/// The adapters (GPUs, or drivers that use the CPU) that the library finds, GPUs first. Throws Error(Device)
/// if there is none.
const std::vector<Object>& adapters();

/// Remembers an error for check(). The library reports errors during the call that makes them, on its thread.
void noteError(const Object*, uint32_t kind, Text message, void*, void*);
/// The error of this thread's calls since the last call of this function; empty if there was none.
std::string takeError();
/// Throws Error(kind), "<where>: <message>", if there was one.
void check(ErrorKind kind, const std::string& where);

/// An object with the function that releases it.
using Handle = std::unique_ptr<void, void (*)(Object)>;
inline Handle noHandle() {
  return {nullptr, nullptr};
}

} // namespace uopscope::webgpu
