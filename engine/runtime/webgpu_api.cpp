// Finds and opens wgpu-native, lists its adapters, and keeps the errors it reports.
#include "engine/runtime/webgpu_api.h"

#include "engine/runtime/loaded_library.h"
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

Api functionsOf(void* library) {
  const LibraryFunctions wgpu{library, "the WebGPU library",
                              fmt::format("it is no wgpu-native {}; {}", kVersion, kInstall)};
  Api a{};
  wgpu.take(a.getVersion, "wgpuGetVersion");
  uint32_t version = a.getVersion();
  if (version >> 24 != kVersion)
    throw Error(ErrorKind::Device,
                fmt::format("wgpu-native here is version {}.{}.{}, whose structures may differ: version {} "
                            "is needed, which the Python package wgpu 0.32 has; {}",
                            version >> 24, version >> 16 & 255, version >> 8 & 255, kVersion, kInstall));
  wgpu.take(a.createInstance, "wgpuCreateInstance");
  wgpu.take(a.enumerateAdapters, "wgpuInstanceEnumerateAdapters");
  wgpu.take(a.adapterGetInfo, "wgpuAdapterGetInfo");
  wgpu.take(a.adapterGetLimits, "wgpuAdapterGetLimits");
  wgpu.take(a.adapterHasFeature, "wgpuAdapterHasFeature");
  wgpu.take(a.adapterRequestDevice, "wgpuAdapterRequestDevice");
  wgpu.take(a.deviceGetQueue, "wgpuDeviceGetQueue");
  wgpu.take(a.devicePoll, "wgpuDevicePoll");
  wgpu.take(a.createBuffer, "wgpuDeviceCreateBuffer");
  wgpu.take(a.createShader, "wgpuDeviceCreateShaderModuleTrusted");
  wgpu.take(a.createLayout, "wgpuDeviceCreateBindGroupLayout");
  wgpu.take(a.createPipelineLayout, "wgpuDeviceCreatePipelineLayout");
  wgpu.take(a.createPipeline, "wgpuDeviceCreateComputePipeline");
  wgpu.take(a.createGroup, "wgpuDeviceCreateBindGroup");
  wgpu.take(a.createQuerySet, "wgpuDeviceCreateQuerySet");
  wgpu.take(a.createEncoder, "wgpuDeviceCreateCommandEncoder");
  wgpu.take(a.beginPass, "wgpuCommandEncoderBeginComputePass");
  wgpu.take(a.passSetPipeline, "wgpuComputePassEncoderSetPipeline");
  wgpu.take(a.passSetGroup, "wgpuComputePassEncoderSetBindGroup");
  wgpu.take(a.passSetImmediates, "wgpuComputePassEncoderSetImmediates");
  wgpu.take(a.passDispatch, "wgpuComputePassEncoderDispatchWorkgroups");
  wgpu.take(a.passEnd, "wgpuComputePassEncoderEnd");
  wgpu.take(a.copyBuffer, "wgpuCommandEncoderCopyBufferToBuffer");
  wgpu.take(a.resolveQueries, "wgpuCommandEncoderResolveQuerySet");
  wgpu.take(a.encoderFinish, "wgpuCommandEncoderFinish");
  wgpu.take(a.queueSubmit, "wgpuQueueSubmit");
  wgpu.take(a.queueWriteBuffer, "wgpuQueueWriteBuffer");
  wgpu.take(a.queueTick, "wgpuQueueGetTimestampPeriod");
  wgpu.take(a.bufferMap, "wgpuBufferMapAsync");
  wgpu.take(a.bufferMapped, "wgpuBufferGetConstMappedRange");
  wgpu.take(a.bufferUnmap, "wgpuBufferUnmap");
  wgpu.take(a.releaseBuffer, "wgpuBufferRelease");
  wgpu.take(a.releaseShader, "wgpuShaderModuleRelease");
  wgpu.take(a.releaseLayout, "wgpuBindGroupLayoutRelease");
  wgpu.take(a.releasePipelineLayout, "wgpuPipelineLayoutRelease");
  wgpu.take(a.releasePipeline, "wgpuComputePipelineRelease");
  wgpu.take(a.releaseGroup, "wgpuBindGroupRelease");
  wgpu.take(a.releaseEncoder, "wgpuCommandEncoderRelease");
  wgpu.take(a.releasePass, "wgpuComputePassEncoderRelease");
  wgpu.take(a.releaseCommands, "wgpuCommandBufferRelease");
  return a;
}

Api openWebGpu() {
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
  static const Api a = openWebGpu();
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
