// Lists the folders of Python's packages.
#include "engine/runtime/python_packages.h"

#include <cstdlib>
#include <string>
#include <string_view>

namespace uopscope {

namespace fs = std::filesystem;

std::vector<fs::path> pythonPackageFolders() {
  std::vector<fs::path> all;
  std::error_code ignored;
  auto add = [&](const fs::path& folder) {
    if (fs::is_directory(folder, ignored)) all.push_back(folder);
  };
  auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value ? value : "");
  };
  std::string path = variable("PYTHONPATH");
  for (std::string_view rest = path; !rest.empty();) {
    size_t end = std::min(rest.find(':'), rest.size());
    if (end) add(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  std::vector<fs::path> libraries;
  if (std::string environment = variable("VIRTUAL_ENV"); !environment.empty())
    libraries.push_back(fs::path(environment) / "lib");
  if (std::string home = variable("HOME"); !home.empty()) libraries.push_back(fs::path(home) / ".local/lib");
  libraries.emplace_back("/usr/local/lib");
  libraries.emplace_back("/usr/lib");
  for (const fs::path& library : libraries)
    for (const auto& version : fs::directory_iterator(library, ignored))
      if (version.path().filename().string().starts_with("python3"))
        for (const char* packages : {"site-packages", "dist-packages"}) add(version.path() / packages);
  return all;
}

} // namespace uopscope
