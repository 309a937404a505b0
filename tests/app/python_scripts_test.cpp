// Runs the Python tests (tests/engine/python/test_*.py) and the samples through `uopscope run`, as a user
// does.
#ifdef UOPSCOPE_HAVE_PYTHON
#include "engine/base/cpu_count.h"

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Ended {
  int code;
  std::string output;
};

Ended runShell(const std::string& command) {
  Ended r{-1, ""};
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe) return r;
  std::array<char, 4096> part;
  while (size_t n = fread(part.data(), 1, part.size(), pipe)) r.output.append(part.data(), n);
  int status = pclose(pipe);
  r.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return r;
}

std::vector<std::string> scripts(const std::string& folder, const std::string& prefix) {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::string name = entry.path().filename();
    if (name.starts_with(prefix) && name.ends_with(".py")) out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// As many at a time as there are processors: most of a file's time is that of one thread.
void runAll(const std::vector<std::string>& files) {
  REQUIRE(!files.empty());
  std::vector<Ended> ended(files.size());
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t i; (i = next.fetch_add(1)) < files.size();)
      ended[i] = runShell("UOPSCOPE_PYTHON_MODULES=" UOPSCOPE_BINARY_DIR
                          "/python timeout 600 " UOPSCOPE_BINARY_DIR "/bin/uopscope run " +
                          files[i]);
  };
  std::vector<std::thread> workers;
  for (int n = 0; n < uopscope::cpuCount(); ++n) workers.emplace_back(work);
  for (std::thread& worker : workers) worker.join();
  for (size_t i = 0; i < files.size(); ++i) {
    CAPTURE(files[i]);
    INFO(ended[i].output);
    CHECK(ended[i].code == 0);
  }
}

} // namespace

TEST_CASE("Python tests") {
  runAll(scripts(UOPSCOPE_SOURCE_DIR "/tests/engine/python", "test_"));
}

/// The number of kernels in all new schedules, counted from the lines that DEBUG=1 prints.
int64_t kernelCount(const std::string& output) {
  int64_t count = 0;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    int n = 0;
    if (line.find("CACHE MISS") != std::string::npos && std::sscanf(line.c_str(), "scheduled %d", &n) == 1)
      count += n;
  }
  return count;
}

// tests/golden/kernel_counts.txt contains the number of kernels of each sample. UPDATE_GOLDEN=1 writes it
// anew.
TEST_CASE("samples run, check their numbers, and take no more kernels than they did") {
  const std::string path = UOPSCOPE_SOURCE_DIR "/tests/golden/kernel_counts.txt";
  std::map<std::string, int64_t> golden, now;
  std::ifstream file(path);
  std::string name;
  for (int64_t n = 0; file >> name >> n;) golden[name] = n;
  for (const std::string& script : scripts(UOPSCOPE_SOURCE_DIR "/samples", "")) {
    CAPTURE(script);
    Ended r = runShell("DEBUG=1 timeout 600 " UOPSCOPE_BINARY_DIR "/bin/uopscope run " + script);
    INFO(r.output);
    CHECK(r.code == 0);
    name = std::filesystem::path(script).filename();
    now[name] = kernelCount(r.output);
    if (std::getenv("UPDATE_GOLDEN")) continue;
    if (golden.contains(name))
      CHECK(now[name] <= golden[name]);
    else
      MESSAGE(name, " takes ", now[name], " kernels; UPDATE_GOLDEN=1 makes that the limit");
  }
  if (!std::getenv("UPDATE_GOLDEN")) return;
  std::ofstream out(path);
  for (const auto& [script, n] : now) out << script << " " << n << "\n";
}

TEST_CASE("uopscope python -m pytest runs a suite with its options and exit codes") {
  auto pytest = [](const std::string& options) {
    return runShell("cd /tmp && " UOPSCOPE_BINARY_DIR
                    "/bin/uopscope python -m pytest -q -p no:cacheprovider " UOPSCOPE_SOURCE_DIR
                    "/tests/app/python_suite " +
                    options);
  };
  Ended r = pytest("");
  INFO(r.output);
  CHECK(r.code == 0);
  CHECK(r.output.find("7 passed") != std::string::npos);
  CHECK(pytest("-k test_forward").output.find("3 passed, 4 deselected") != std::string::npos);
  Ended none = pytest("-k no_such_test");
  CHECK(none.code == 5); // pytest's own code: nothing was collected
}

TEST_CASE(
    "packages of a virtual environment serve the linked Python, whichever Python made the environment") {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / "uopscope_environment_test";
  fs::remove_all(folder);
  const std::string version =
      runShell("/usr/bin/python3 -c 'import sys; print(\"%d.%d\" % sys.version_info[:2])'").output;
  const std::string python = "python" + version.substr(0, version.find('\n'));
  auto file = [&](const fs::path& path, const std::string& text) {
    fs::create_directories((folder / path).parent_path());
    std::ofstream(folder / path) << text;
  };
  // Another build of the same version: its library is taken for a Python's, and would not do.
  file("other/bin/" + python, "");
  file(fs::path("other/lib") / python / "os.py", "raise SystemExit('the library of another Python')\n");
  file(fs::path("other/lib") / python / "lib-dynload/_ssl.so", "");
  file("venv/pyvenv.cfg", "home = " + (folder / "other/bin").string() + "\nversion = " + version);
  file(fs::path("venv/lib") / python / "site-packages/of_the_environment.py", "value = 42\n");
  fs::create_directories(folder / "venv/bin");
  fs::create_symlink(folder / "other/bin" / python, folder / "venv/bin/python3");
  Ended r = runShell(
      "VIRTUAL_ENV=" + (folder / "venv").string() +
      " " UOPSCOPE_BINARY_DIR
      "/bin/uopscope python -c 'import os, ssl, sys, of_the_environment as e; print(e.value, sys.prefix)'");
  CHECK(r.code == 0);
  CHECK(r.output == "42 " + (folder / "venv").string() + "\n");
  fs::remove_all(folder);
}

TEST_CASE("a script that raises gives its own traceback and 1, sys.exit its code") {
  std::string folder = std::filesystem::temp_directory_path() / "uopscope_python_test";
  std::filesystem::create_directories(folder);
  auto script = [&](const char* text) {
    std::string path = folder + "/script.py";
    FILE* f = fopen(path.c_str(), "w");
    REQUIRE(f);
    fputs(text, f);
    fclose(f);
    return runShell(UOPSCOPE_BINARY_DIR "/bin/uopscope run " + path);
  };
  Ended r = script("from tinygrad import Tensor\n\nTensor.ones(2, 3) @ Tensor.ones(4, 5)\n");
  CHECK(r.code == 1);
  CHECK(r.output.find("script.py\", line 3") != std::string::npos);
  CHECK(r.output.find("(2, 3)") != std::string::npos);
  CHECK(r.output.find("<uopscope>") == std::string::npos);
  CHECK(script("import sys; sys.exit(7)").code == 7);
  CHECK(script("raise SystemExit").code == 0);
  CHECK(script("def f(:\n").output.find("SyntaxError") != std::string::npos);
  CHECK(script("import sys\nassert __name__ == '__main__' and sys.argv[0].endswith('script.py')").code == 0);
  std::filesystem::remove_all(folder);
}

#endif
