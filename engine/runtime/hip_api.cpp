// Opens HIP (libamdhip64.so) and gives its functions the form of the table where it differs.
#include "engine/runtime/hip_api.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

namespace uopscope::hip {

namespace {

using namespace driver;

/// hipKernelNodeParams.
struct HipNode {
  unsigned block[3];
  void** extra;
  Object function;
  unsigned grid[3];
  void** parameters;
  unsigned sharedBytes;
};

/// Functions whose form differs from the table's.
struct Further {
  Call<unsigned> init;
  Call<int> setDevice;
  Call<void*, int> getProperties;
  Call<Address, int, Address, int, size_t, Object> memcpyPeer;
  Call<Object*, Object, const Object*, size_t, const HipNode*> graphAddKernelNode;
  Call<Object, Object, const HipNode*> graphSetKernelNode;
  const char* (*getErrorName)(Status) = nullptr;
  const char* (*getErrorString)(Status) = nullptr;
};

struct Driver {
  Api api;
  Further further;
};
const Driver& opened();

template <typename... P>
void need(void* library, Call<P...>& call, const char* name) {
  if (!take(library, call, name))
    throw Error(ErrorKind::Device,
                fmt::format("HIP lacks {}: it is older than ROCm 5; install a newer ROCm", name));
}

std::string nameOf(const Further& f, Status status) {
  const char *name = f.getErrorName(status), *meaning = f.getErrorString(status);
  return fmt::format("{}: {}", name ? name : "unknown status", meaning ? meaning : "");
}

int numberOf(Object context) {
  return static_cast<int>(reinterpret_cast<intptr_t>(context));
}
HipNode nodeOf(const KernelNode& n) {
  return {{n.block[0], n.block[1], n.block[2]}, n.extra,      n.function,
          {n.grid[0], n.grid[1], n.grid[2]},    n.parameters, n.sharedBytes};
}

Further furtherOf(void* library) {
  Further f;
  need(library, f.init, "hipInit");
  need(library, f.setDevice, "hipSetDevice");
  need(library, f.getProperties, "hipGetDeviceProperties");
  need(library, f.memcpyPeer, "hipMemcpyPeerAsync");
  need(library, f.graphAddKernelNode, "hipGraphAddKernelNode");
  need(library, f.graphSetKernelNode, "hipGraphExecKernelNodeSetParams");
  f.getErrorName = reinterpret_cast<const char* (*)(Status)>(symbol(library, "hipGetErrorName"));
  f.getErrorString = reinterpret_cast<const char* (*)(Status)>(symbol(library, "hipGetErrorString"));
  if (!f.getErrorName || !f.getErrorString) throw Error(ErrorKind::Device, "HIP has no names of errors");
  return f;
}

Api functionsOf(void* library) {
  Api a;
  a.kind = "AMD";
  a.statusName = [](Status status) { return nameOf(opened().further, status); };
  need(library, a.deviceGetCount, "hipGetDeviceCount");
  need(library, a.deviceGet, "hipDeviceGet");
  need(library, a.deviceGetName, "hipDeviceGetName");
  need(library, a.deviceTotalMem, "hipDeviceTotalMem");
  a.contextOf = {[](Object* context, int device) {
                   *context = reinterpret_cast<Object>(static_cast<intptr_t>(device));
                   return Status{0};
                 },
                 "hipSetDevice"};
  a.contextSetCurrent = {[](Object context) { return opened().further.setDevice(numberOf(context)); },
                         "hipSetDevice"};
  need(library, a.memAlloc, "hipMalloc");
  need(library, a.memFree, "hipFree");
  need(library, a.memcpyToDevice, "hipMemcpyHtoDAsync");
  need(library, a.memcpyToHost, "hipMemcpyDtoHAsync");
  a.memcpyPeer = {[](Address to, Object there, Address from, Object here, size_t bytes, Object stream) {
                    return opened().further.memcpyPeer(to, numberOf(there), from, numberOf(here), bytes,
                                                       stream);
                  },
                  "hipMemcpyPeerAsync"};
  need(library, a.streamCreate, "hipStreamCreateWithFlags");
  need(library, a.streamSynchronize, "hipStreamSynchronize");
  need(library, a.eventCreate, "hipEventCreateWithFlags");
  need(library, a.eventRecord, "hipEventRecord");
  need(library, a.eventSynchronize, "hipEventSynchronize");
  need(library, a.eventElapsedTime, "hipEventElapsedTime");
  need(library, a.moduleLoadData, "hipModuleLoadData");
  need(library, a.moduleUnload, "hipModuleUnload");
  need(library, a.moduleGetFunction, "hipModuleGetFunction");
  need(library, a.functionGetAttribute, "hipFuncGetAttribute");
  need(library, a.functionSetAttribute, "hipFuncSetAttribute");
  need(library, a.launchKernel, "hipModuleLaunchKernel");
  need(library, a.graphCreate, "hipGraphCreate");
  need(library, a.graphDestroy, "hipGraphDestroy");
  a.graphAddKernelNode = {
      [](Object* added, Object graph, const Object* before, size_t count, const KernelNode* node) {
        const HipNode n = nodeOf(*node);
        return opened().further.graphAddKernelNode(added, graph, before, count, &n);
      },
      "hipGraphAddKernelNode"};
  need(library, a.graphInstantiate, "hipGraphInstantiateWithFlags");
  a.graphSetKernelNode = {[](Object graph, Object node, const KernelNode* wanted) {
                            const HipNode n = nodeOf(*wanted);
                            return opened().further.graphSetKernelNode(graph, node, &n);
                          },
                          "hipGraphExecKernelNodeSetParams"};
  need(library, a.graphLaunch, "hipGraphLaunch");
  need(library, a.graphExecDestroy, "hipGraphExecDestroy");
  return a;
}

void* library() {
  std::vector<std::string> places;
  const char* rocm = std::getenv("ROCM_PATH");
  const std::string inRocm = rocm && *rocm ? std::string(rocm) + "/lib/" : "";
  for (const char* name : {"libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"}) {
    if (!inRocm.empty()) places.insert(places.begin(), inRocm + name);
    places.emplace_back(name);
  }
  places.emplace_back("/opt/rocm/lib/libamdhip64.so");
  for (const std::string& place : places)
    if (void* found = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)) return found;
  throw Error(
      ErrorKind::Device,
      "there is no AMD device on this machine: HIP (libamdhip64.so: ROCm, or the Debian package "
      "libamdhip64-5) "
      "is missing; DEV=NULL:AMD renders kernels for AMD and runs nothing, with AMD_ARCH=gfx942 it compiles "
      "them, DEV=REF:AMD interprets them");
}

Driver openHip() {
  void* hip = library();
  Driver d{functionsOf(hip), furtherOf(hip)};
  int count = 0;
  Status status = d.further.init(0);
  if (status == 0) status = d.api.deviceGetCount(&count);
  if (status != 0 || count == 0)
    throw Error(
        ErrorKind::Device,
        fmt::format(
            "HIP finds no GPU of AMD{}{}: is the kernel's driver amdgpu loaded, may this user open "
            "/dev/kfd, and does rocminfo list a GPU? DEV=NULL:AMD with AMD_ARCH=gfx942 compiles kernels "
            "without one",
            status != 0 ? ": " : "", status != 0 ? nameOf(d.further, status) : ""));
  return d;
}

const Driver& opened() {
  static const Driver d = openHip();
  return d;
}

} // namespace

const Api& api() {
  return opened().api;
}

std::string architectureOf(int device) {
  // The name stands in hipDeviceProp_t, at a place that differs between releases of HIP; it is the only text behind
  // the device's own name that begins with gfx.
  constexpr size_t kNameBytes = 256, kMostBytes = 16384;
  std::vector<char> properties(kMostBytes);
  api().must("AMD", opened().further.getProperties, static_cast<void*>(properties.data()), device);
  const std::string_view text(properties.data(), properties.size());
  const size_t at = text.find("gfx", kNameBytes);
  std::string name;
  for (size_t i = at; at != std::string_view::npos && i < text.size(); ++i) {
    if (!std::isalnum(static_cast<unsigned char>(text[i]))) break; // "gfx90a:sramecc+:xnack-"
    name += text[i];
  }
  if (name.size() < 5)
    throw Error(ErrorKind::Device, fmt::format("HIP does not name the architecture of GPU {}", device));
  return name;
}

} // namespace uopscope::hip
