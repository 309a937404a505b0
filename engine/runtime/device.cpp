// The table of kinds of devices, and the names of devices.
#include "engine/runtime/device.h"

#include "engine/base/context_var.h"
#include "engine/base/engine_session.h"
#include "engine/base/error.h"
#include "engine/render/gpu_text.h"
#include "engine/runtime/device_makers.h"
#include "engine/runtime/mapped_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <mutex>

namespace uopscope {

namespace {

struct Kind {
  const char* name;
  std::shared_ptr<Device> (*make)(const std::string&);
};
constexpr Kind kKinds[] = {{"CPU", makeCpuDevice},      {"NULL", makeNullDevice}, {"REF", makeRefDevice},
                           {"CL", makeOpenClDevice},    {"CUDA", makeCudaDevice}, {"AMD", makeAmdDevice},
                           {"WEBGPU", makeWebGpuDevice}};
/// One device serves all files; buffers know their file.
constexpr Kind kFiles{"DISK", makeFileDevice};
/// The reference's name for an interpreter of programs; here it opens REF.
constexpr Kind kPython{"PYTHON", makeRefDevice};

/// Kinds of hardware without a driver here, with advice for the user.
struct DeviceNotHere {
  const char *name, *advice;
};
constexpr DeviceNotHere kMissing[] = {
    {"METAL", "running its kernels takes macOS and a device that uses its Metal driver"},
    {"GPU", "DEV=CL runs them by OpenCL"},
    {"HIP", "DEV=AMD runs on GPUs of AMD by HIP"},
    {"NV", "DEV=CUDA runs on GPUs of NVIDIA"},
    {"QCOM", "running its kernels takes Qualcomm's driver and a device that uses it"},
    {"DSP", "running its kernels takes Qualcomm's DSP driver and a device that uses it"}};

struct Registry {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Device>, std::less<>> open;
  std::string defaultName;
};
Registry& registry() {
  return EngineSession::current().part<Registry>();
}

/// "CPU:1" -> "CPU", and whether the part behind the colon is a number.
std::pair<std::string, bool> kindOf(const std::string& canonical) {
  size_t colon = canonical.find(':');
  if (colon == std::string::npos) return {canonical, true};
  bool digits = colon + 1 < canonical.size() &&
                std::all_of(canonical.begin() + static_cast<std::ptrdiff_t>(colon) + 1, canonical.end(),
                            [](unsigned char c) { return std::isdigit(c); });
  return {canonical.substr(0, colon), digits};
}

bool isGpuLanguage(const std::string& name) {
  auto languages = gpuLanguages();
  return std::any_of(languages.begin(), languages.end(),
                     [&](const GpuLanguage& l) { return name == l.name; });
}

const Kind& kindNamed(const std::string& canonical) {
  if (canonical == kFiles.name) return kFiles;
  auto [name, wellFormed] = kindOf(canonical);
  if ((name == "NULL" || name == "REF") && !wellFormed) {
    std::string language = canonical.substr(name.size() + 1);
    wellFormed = isGpuLanguage(language) || language == "AMX" || (name == "REF" && language == "GPU");
  }
  for (const Kind& k : kKinds)
    if (wellFormed && name == k.name) return k;
  if (wellFormed && name == kPython.name) return kPython;
  for (const DeviceNotHere& m : kMissing) {
    if (name != m.name) continue;
    std::string instead =
        isGpuLanguage(name) ? fmt::format("; DEV=NULL:{} renders its kernels and runs nothing", name) : "";
    throw Error(ErrorKind::Device, fmt::format("there is no {} device: {}{}", name, m.advice, instead));
  }
  if (isGpuLanguage(name) && name != "CL" && name != "CUDA" && name != "AMD")
    throw Error(
        ErrorKind::Device,
        fmt::format("{0} kernels can be looked at, but there is no {0} device to run them: DEV=NULL:{0} "
                    "renders them and runs nothing",
                    name));
  throw Error(ErrorKind::Device,
              fmt::format("no device \"{}\"; there are {} (append :1, :2 ... for more of a kind, or a "
                          "language to NULL: NULL:CUDA, NULL:METAL, NULL:CL, NULL:WGSL, NULL:AMD, NULL:AMX)",
                          canonical, fmt::join(Device::available(), ", ")));
}

} // namespace

std::string Device::canonicalize(std::string_view name) {
  std::string s(name);
  for (char& c : s) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (s.starts_with("DISK:")) return s.substr(0, 5).append(name.substr(5)); // the rest is a path
  if (s.size() > 2 && s.ends_with(":0")) s.resize(s.size() - 2);
  return s;
}

Device& Device::get(std::string_view name) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  if (auto it = r.open.find(name); it != r.open.end()) return *it->second;
  std::string canonical = canonicalize(name);
  if (isFileDevice(canonical)) canonical = kFiles.name;
  auto it = r.open.find(canonical);
  if (it == r.open.end()) {
    it = r.open.emplace(canonical, kindNamed(canonical).make(canonical)).first;
    if (vars::debug >= 1) {
      fmt::print("opened device {} from pid:{}\n", canonical, getpid());
      std::fflush(stdout);
    }
  }
  return *it->second;
}

std::vector<std::string> Device::available() {
  std::vector<std::string> names;
  for (const Kind& k : kKinds) names.emplace_back(k.name);
  return names;
}

std::string Device::defaultName() {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  if (r.defaultName.empty()) {
    std::vector<std::string> wanted;
    auto want = [&](const std::string& name) {
      kindNamed(name);
      if (std::find(wanted.begin(), wanted.end(), name) == wanted.end()) wanted.push_back(name);
    };
    for (const char* variable : {"DEV", "DEVICE"})
      if (const char* name = std::getenv(variable); name && *name) want(canonicalize(name));
    for (const Kind& k : kKinds)
      if (envInt(k.name, 0) == 1) want(k.name);
    if (envInt(kPython.name, 0) == 1) want(kPython.name);
    for (const DeviceNotHere& m : kMissing)
      if (envInt(m.name, 0) == 1) want(m.name);
    if (wanted.size() > 1)
      throw Error(ErrorKind::Device,
                  fmt::format("multiple devices set in env: {}; one of them is used, set one",
                              fmt::join(wanted, ", ")));
    r.defaultName = wanted.empty() ? "CPU" : wanted[0];
  }
  return r.defaultName;
}

void Device::setDefaultName(std::string_view name) {
  std::string canonical = canonicalize(name);
  kindNamed(canonical);
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  r.defaultName = canonical;
}

} // namespace uopscope
