// Finds and opens wgpu-native, lists its adapters, and keeps the errors it reports.
#include "engine/runtime/webgpu_api.h"

#include "engine/runtime/python_packages.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

namespace uopscope::webgpu {

namespace {

constexpr const char* kInstall =
    "install the Python package wgpu (pip install wgpu; it carries the library), or put libwgpu_native.so "
    "where the loader finds it, or name it with WEBGPU_LIB=path";

template <typename F>
void take(void* library, F*& function, const char* name) {
  function = reinterpret_cast<F*>(dlsym(library, name));
  if (!function)
    throw Error(ErrorKind::Device, fmt::format("the WebGPU library lacks {}: it is no wgpu-native {}; {}",
                                               name, kVersion, kInstall));
}

Api functionsOf(void* library) {
  Api a{};
  take(library, a.getVersion, "wgpuGetVersion");
  uint32_t version = a.getVersion();
  if (version >> 24 != kVersion)
    throw Error(ErrorKind::Device,
                fmt::format("wgpu-native here is version {}.{}.{}, whose structures may differ: version {} "
                            "is needed, which the Python package wgpu 0.32 has; {}",
                            version >> 24, version >> 16 & 255, version >> 8 & 255, kVersion, kInstall));
  take(library, a.createInstance, "wgpuCreateInstance");
  take(library, a.enumerateAdapters, "wgpuInstanceEnumerateAdapters");
  take(library, a.adapterGetInfo, "wgpuAdapterGetInfo");
  take(library, a.adapterGetLimits, "wgpuAdapterGetLimits");
  take(library, a.adapterHasFeature, "wgpuAdapterHasFeature");
  take(library, a.adapterRequestDevice, "wgpuAdapterRequestDevice");
  take(library, a.deviceGetQueue, "wgpuDeviceGetQueue");
  take(library, a.devicePoll, "wgpuDevicePoll");
  take(library, a.createBuffer, "wgpuDeviceCreateBuffer");
  take(library, a.createShader, "wgpuDeviceCreateShaderModuleTrusted");
  take(library, a.createLayout, "wgpuDeviceCreateBindGroupLayout");
  take(library, a.createPipelineLayout, "wgpuDeviceCreatePipelineLayout");
  take(library, a.createPipeline, "wgpuDeviceCreateComputePipeline");
  take(library, a.createGroup, "wgpuDeviceCreateBindGroup");
  take(library, a.createQuerySet, "wgpuDeviceCreateQuerySet");
  take(library, a.createEncoder, "wgpuDeviceCreateCommandEncoder");
  take(library, a.beginPass, "wgpuCommandEncoderBeginComputePass");
  take(library, a.passSetPipeline, "wgpuComputePassEncoderSetPipeline");
  take(library, a.passSetGroup, "wgpuComputePassEncoderSetBindGroup");
  take(library, a.passSetImmediates, "wgpuComputePassEncoderSetImmediates");
  take(library, a.passDispatch, "wgpuComputePassEncoderDispatchWorkgroups");
  take(library, a.passEnd, "wgpuComputePassEncoderEnd");
  take(library, a.copyBuffer, "wgpuCommandEncoderCopyBufferToBuffer");
  take(library, a.resolveQueries, "wgpuCommandEncoderResolveQuerySet");
  take(library, a.encoderFinish, "wgpuCommandEncoderFinish");
  take(library, a.queueSubmit, "wgpuQueueSubmit");
  take(library, a.queueWriteBuffer, "wgpuQueueWriteBuffer");
  take(library, a.queueTick, "wgpuQueueGetTimestampPeriod");
  take(library, a.bufferMap, "wgpuBufferMapAsync");
  take(library, a.bufferMapped, "wgpuBufferGetConstMappedRange");
  take(library, a.bufferUnmap, "wgpuBufferUnmap");
  take(library, a.releaseBuffer, "wgpuBufferRelease");
  take(library, a.releaseShader, "wgpuShaderModuleRelease");
  take(library, a.releaseLayout, "wgpuBindGroupLayoutRelease");
  take(library, a.releasePipelineLayout, "wgpuPipelineLayoutRelease");
  take(library, a.releasePipeline, "wgpuComputePipelineRelease");
  take(library, a.releaseGroup, "wgpuBindGroupRelease");
  take(library, a.releaseEncoder, "wgpuCommandEncoderRelease");
  take(library, a.releasePass, "wgpuComputePassEncoderRelease");
  take(library, a.releaseCommands, "wgpuCommandBufferRelease");
  return a;
}

Api open() {
  void* library = nullptr;
  if (const char* path = std::getenv("WEBGPU_LIB"); path && *path) {
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
      throw Error(ErrorKind::Device, fmt::format("WEBGPU_LIB={} cannot be opened: {}", path, dlerror()));
    return functionsOf(library);
  }
  for (const char* name : {"libwgpu_native.so", "libwgpu_native.dylib"})
    if ((library = dlopen(name, RTLD_NOW | RTLD_LOCAL))) return functionsOf(library);
  for (const std::filesystem::path& packages : pythonPackageFolders())
    for (const char* name : {"libwgpu_native-release.so", "libwgpu_native-release.dylib"})
      if ((library = dlopen((packages / "wgpu/resources" / name).c_str(), RTLD_NOW | RTLD_LOCAL)))
        return functionsOf(library);
  throw Error(ErrorKind::Device,
              fmt::format("there is no WebGPU on this machine: wgpu-native is missing; {}. DEV=NULL:WGSL "
                          "renders kernels of WebGPU and runs nothing, DEV=REF:WGSL interprets them",
                          kInstall));
}

std::string& errorOfThread() {
  thread_local std::string message;
  return message;
}

/// GPUs before drivers that use the CPU.
int rank(Object adapter) {
  AdapterInfo info;
  api().adapterGetInfo(adapter, &info);
  return info.kind == kDiscreteGpu ? 0 : info.kind == kIntegratedGpu ? 1 : info.kind == kCpuAdapter ? 3 : 2;
}

} // namespace

std::string Text::str() const {
  if (!data) return {};
  return length == SIZE_MAX ? std::string(data) : std::string(data, length);
}

const Api& api() {
  static const Api a = open();
  return a;
}

const std::vector<Object>& adapters() {
  static const std::vector<Object> found = [] {
    InstanceExtras extras;
    extras.chain.kind = kInstanceExtras;
    extras.backends = kPrimaryBackends;
    extras.flags = kDefaultFlags;
    InstanceDescriptor descriptor;
    descriptor.next = &extras.chain;
    Object instance = api().createInstance(&descriptor);
    EnumerateOptions options;
    options.backends = kPrimaryBackends;
    std::vector<Object> all(instance ? api().enumerateAdapters(instance, &options, nullptr) : 0);
    if (!all.empty()) all.resize(api().enumerateAdapters(instance, &options, all.data()));
    if (all.empty())
      throw Error(ErrorKind::Device,
                  "WebGPU finds no adapter on this machine: it needs a driver of Vulkan (Debian: "
                  "mesa-vulkan-drivers, which runs on GPUs and, as lavapipe, on the CPU)");
    std::stable_sort(all.begin(), all.end(), [](Object a, Object b) { return rank(a) < rank(b); });
    return all;
  }();
  return found;
}

void noteError(const Object*, uint32_t, Text message, void*, void*) {
  std::string& all = errorOfThread();
  if (all.empty()) all = message.str(); // errors that follow from the first one explain nothing
}

std::string takeError() {
  return std::exchange(errorOfThread(), {});
}

void check(ErrorKind kind, const std::string& where) {
  if (std::string message = takeError(); !message.empty())
    throw Error(kind, fmt::format("{}: {}", where, message));
}

} // namespace uopscope::webgpu
