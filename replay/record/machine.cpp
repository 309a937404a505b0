// Collects the facts from uname, /proc/cpuinfo and sysconf.
#include "replay/record/machine.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <thread>

namespace uopscope {

std::string machineText() {
  utsname system{};
  uname(&system);
  std::string processor;
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; processor.empty() && std::getline(info, line);)
    if (line.starts_with("model name") && line.find(": ") != std::string::npos)
      processor = line.substr(line.find(": ") + 2) + ", ";
  auto memory = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  return fmt::format("{} {} {}; {}{} cores; {:.0f} GB", system.sysname, system.release, system.machine,
                     processor, std::thread::hardware_concurrency(), memory / 1e9);
}

} // namespace uopscope
