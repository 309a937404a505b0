// Every function notes its call and answers with the status that a test asked for, or does its work. Work on a stream is
// kept until the stream is waited for, so a caller that does not wait reads old memory.
#include "tests/devices/hip_double/hip_double.h"

#include "tests/devices/hip_double/code_object.h"

#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

namespace {

using namespace hip_double;

enum Status : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNoBinary = 209,
  kNotFound = 500,
  kLaunchFailure = 719
};

struct Function {
  Kernel kernel;
  unsigned dynamicShared = 0; ///< bytes that a launch may ask for
};
struct Module {
  CodeObject code;
  std::vector<std::unique_ptr<Function>> functions;
};
/// A launch with its arguments packed.
struct Work {
  const Kernel* kernel;
  unsigned grid[3], block[3], sharedBytes;
  std::vector<std::byte> arguments;
};
struct Stream {
  std::vector<std::function<void()>> waiting;
};
struct Event {
  bool reached = false;
};
struct Graph {
  std::vector<Work> nodes;
};

struct State {
  std::string calls, told;
  std::map<std::string, int> failures;
  std::set<Stream*> streams;
  hip_double_runner runner = nullptr;
  int failed = kSuccess; ///< a launch that failed is told by the next call that waits
};
State& state() {
  static State& s = *std::make_unique<State>().release(); // programs are unloaded after static objects die
  return s;
}

std::string environment(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value && *value ? value : otherwise;
}

/// Notes a call; its status, if a test asked for one.
int noted(const char* function, const std::string& more = {}) {
  State& s = state();
  s.calls += function + more + '\n';
  auto failure = s.failures.find(function);
  if (failure == s.failures.end()) return kSuccess;
  int status = failure->second;
  s.failures.erase(failure);
  return status;
}

int finish(Stream* stream) {
  std::vector<std::function<void()>> all;
  all.swap(stream->waiting);
  for (auto& work : all) work();
  return std::exchange(state().failed, kSuccess);
}

void run(const Work& w) {
  State& s = state();
  const Kernel& k = *w.kernel;
  hip_double_launch l{k.name.c_str(),
                      k.code,
                      k.codeBytes,
                      {w.grid[0], w.grid[1], w.grid[2]},
                      {w.block[0], w.block[1], w.block[2]},
                      w.arguments.data(),
                      w.arguments.size(),
                      k.resources2,
                      k.sharedBytes};
  if (s.runner) s.runner(&l);
}

std::vector<std::byte> packed(const Kernel& k, void** parameters) {
  std::vector<std::byte> block(k.argumentBytes);
  for (size_t i = 0; i < k.arguments.size(); ++i)
    std::memcpy(block.data() + k.arguments[i].offset, parameters[i], k.arguments[i].bytes);
  return block;
}

std::string sizes(const unsigned* n) {
  return std::to_string(n[0]) + "x" + std::to_string(n[1]) + "x" + std::to_string(n[2]);
}

std::string withShared(unsigned bytes) {
  return bytes ? " and " + std::to_string(bytes) + " bytes" : "";
}

/// hipKernelNodeParams.
struct Node {
  unsigned block[3];
  void** extra;
  Function* function;
  unsigned grid[3];
  void** parameters;
  unsigned sharedBytes;
};
Work workOf(const Node& n) {
  return {&n.function->kernel,
          {n.grid[0], n.grid[1], n.grid[2]},
          {n.block[0], n.block[1], n.block[2]},
          n.sharedBytes,
          packed(n.function->kernel, n.parameters)};
}

} // namespace

extern "C" {

void hip_double_run(hip_double_runner runner) {
  state().runner = runner;
}
void hip_double_fail(const char* function, int status) {
  state().failures[function] = status;
}
const char* hip_double_calls() {
  State& s = state();
  s.told.swap(s.calls);
  s.calls.clear();
  return s.told.c_str();
}

const char* hipGetErrorName(int status) {
  switch (status) {
  case kSuccess: return "hipSuccess";
  case kInvalidValue: return "hipErrorInvalidValue";
  case kOutOfMemory: return "hipErrorOutOfMemory";
  case kNoBinary: return "hipErrorNoBinaryForGpu";
  case kNotFound: return "hipErrorNotFound";
  case kLaunchFailure: return "hipErrorLaunchFailure";
  default: return "hipErrorUnknown";
  }
}
const char* hipGetErrorString(int status) {
  return status == kLaunchFailure ? "unspecified launch failure" : "a double's error";
}

int hipInit(unsigned) {
  return noted("hipInit");
}
int hipGetDeviceCount(int* count) {
  *count = std::atoi(environment("HIP_DOUBLE_GPUS", "2").c_str());
  return noted("hipGetDeviceCount");
}
int hipDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return noted("hipDeviceGet");
}
int hipDeviceGetName(char* name, int bytes, int) {
  std::strncpy(name, "Double", static_cast<size_t>(bytes) - 1);
  return noted("hipDeviceGetName");
}
int hipGetDeviceProperties(void* properties, int) {
  constexpr size_t kBytes = 792, kArchitecture = 396; // of ROCm 5
  std::memset(properties, 0, kBytes);
  std::strcpy(static_cast<char*>(properties), "Double gfx");
  std::strcpy(static_cast<char*>(properties) + kArchitecture,
              (environment("HIP_DOUBLE_ARCH", "gfx1100") + ":xnack-").c_str());
  return noted("hipGetDeviceProperties");
}
int hipDeviceTotalMem(size_t* bytes, int) {
  *bytes = size_t{1} << 32;
  return noted("hipDeviceTotalMem");
}
int hipSetDevice(int device) {
  return noted("hipSetDevice", " " + std::to_string(device));
}

int hipMalloc(void** memory, size_t bytes) {
  if (int status = noted("hipMalloc", " " + std::to_string(bytes))) return status;
  if (bytes > size_t{1} << 32) return kOutOfMemory;
  *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  return *memory ? kSuccess : kOutOfMemory;
}
int hipFree(void* memory) {
  std::free(memory);
  return noted("hipFree");
}
int hipMemcpyHtoDAsync(void* to, const void* from, size_t bytes, Stream* stream) {
  // The memory of the host may change as soon as this returns.
  auto kept = std::make_shared<std::string>(static_cast<const char*>(from), bytes);
  stream->waiting.emplace_back([to, kept] { std::memcpy(to, kept->data(), kept->size()); });
  return noted("hipMemcpyHtoDAsync", " " + std::to_string(bytes));
}
int hipMemcpyDtoHAsync(void* to, const void* from, size_t bytes, Stream* stream) {
  stream->waiting.emplace_back([to, from, bytes] { std::memcpy(to, from, bytes); });
  return noted("hipMemcpyDtoHAsync", " " + std::to_string(bytes));
}
int hipMemcpyPeerAsync(void* to, int there, const void* from, int here, size_t bytes, Stream* stream) {
  stream->waiting.emplace_back([to, from, bytes] { std::memcpy(to, from, bytes); });
  return noted("hipMemcpyPeerAsync", " " + std::to_string(here) + " to " + std::to_string(there));
}

int hipStreamCreateWithFlags(Stream** stream, unsigned) {
  *stream = std::make_unique<Stream>().release();
  state().streams.insert(*stream);
  return noted("hipStreamCreateWithFlags");
}
int hipStreamSynchronize(Stream* stream) {
  int status = noted("hipStreamSynchronize");
  return status ? status : finish(stream);
}
int hipEventCreateWithFlags(Event** event, unsigned) {
  *event = std::make_unique<Event>().release();
  return noted("hipEventCreateWithFlags");
}
int hipEventRecord(Event* event, Stream* stream) {
  event->reached = false;
  stream->waiting.emplace_back([event] { event->reached = true; });
  return noted("hipEventRecord");
}
int hipEventSynchronize(Event* event) {
  int status = noted("hipEventSynchronize");
  for (Stream* s : state().streams)
    if (!event->reached) finish(s);
  return status ? status : std::exchange(state().failed, kSuccess);
}
int hipEventElapsedTime(float* milliseconds, Event* begin, Event* end) {
  *milliseconds = 0.25F;
  return noted("hipEventElapsedTime")     ? kInvalidValue
         : begin->reached && end->reached ? kSuccess
                                          : kInvalidValue;
}

int hipModuleLoadData(Module** module, const void* image) {
  try {
    *module =
        std::make_unique<Module>(Module{CodeObject(image, environment("HIP_DOUBLE_ARCH", "gfx1100")), {}})
            .release();
    return noted("hipModuleLoadData");
  } catch (const std::exception& e) {
    noted("hipModuleLoadData", std::string(" refuses: ") + e.what());
    return kNoBinary;
  }
}
int hipModuleUnload(Module* module) {
  const std::unique_ptr<Module> owner(module);
  return noted("hipModuleUnload");
}
int hipModuleGetFunction(Function** function, Module* module, const char* name) {
  try {
    module->functions.push_back(std::make_unique<Function>(Function{module->code.kernel(name)}));
    *function = module->functions.back().get();
    return noted("hipModuleGetFunction", std::string(" ") + name);
  } catch (const std::exception& e) {
    noted("hipModuleGetFunction", std::string(" refuses: ") + e.what());
    return kNotFound;
  }
}
int hipFuncGetAttribute(int* value, int, Function* function) {
  *value = static_cast<int>(function->kernel.maxThreads);
  return noted("hipFuncGetAttribute");
}
int hipFuncSetAttribute(Function* function, int attribute, int value) {
  constexpr int kDynamicShared = 8;
  if (attribute == kDynamicShared) function->dynamicShared = static_cast<unsigned>(value);
  return noted("hipFuncSetAttribute", " " + std::to_string(attribute) + " " + std::to_string(value));
}
int hipModuleLaunchKernel(Function* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                          unsigned bz, unsigned shared, Stream* stream, void** parameters, void**) {
  Work w{&f->kernel, {gx, gy, gz}, {bx, by, bz}, shared, packed(f->kernel, parameters)};
  int status = noted("hipModuleLaunchKernel", " " + f->kernel.name + " " + sizes(w.grid) + " of " +
                                                  sizes(w.block) + withShared(shared));
  if (status == kLaunchFailure) { // found when the kernel runs, not when it is launched
    stream->waiting.emplace_back([] { state().failed = kLaunchFailure; });
    return kSuccess;
  }
  if (status) return status;
  if (uint64_t{bx} * by * bz > f->kernel.maxThreads || shared > f->dynamicShared) return kInvalidValue;
  stream->waiting.emplace_back([w] { run(w); });
  return kSuccess;
}

int hipGraphCreate(Graph** graph, unsigned) {
  *graph = std::make_unique<Graph>().release();
  return noted("hipGraphCreate");
}
int hipGraphDestroy(Graph* graph) {
  const std::unique_ptr<Graph> owner(graph);
  return noted("hipGraphDestroy");
}
int hipGraphAddKernelNode(void** node, Graph* graph, void* const*, size_t, const Node* wanted) {
  graph->nodes.push_back(workOf(*wanted));
  *node = reinterpret_cast<void*>(graph->nodes.size()); // from 1: null means that there is none
  if (wanted->sharedBytes > wanted->function->dynamicShared) return kInvalidValue;
  return noted("hipGraphAddKernelNode", withShared(wanted->sharedBytes));
}
int hipGraphInstantiateWithFlags(Graph** runnable, const Graph* graph, unsigned long long) {
  *runnable = std::make_unique<Graph>(*graph).release();
  return noted("hipGraphInstantiateWithFlags");
}
int hipGraphExecKernelNodeSetParams(Graph* runnable, void* node, const Node* wanted) {
  runnable->nodes.at(reinterpret_cast<size_t>(node) - 1) = workOf(*wanted);
  return noted("hipGraphExecKernelNodeSetParams", withShared(wanted->sharedBytes));
}
int hipGraphLaunch(Graph* runnable, Stream* stream) {
  for (const Work& w : runnable->nodes) stream->waiting.emplace_back([w] { run(w); });
  return noted("hipGraphLaunch");
}
int hipGraphExecDestroy(Graph* runnable) {
  const std::unique_ptr<Graph> owner(runnable);
  return noted("hipGraphExecDestroy");
}
}
