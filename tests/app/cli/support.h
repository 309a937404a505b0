// Shared by the tests of the built program: a folder, calls of the program, and a small trace.
//
//   Folder f;  Result r = call(f, {"ls", sampleTrace(f)});  CHECK(r.code == 0);
#pragma once
#include "replay/read/trace.h"
#include "tests/replay/support.h"

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

namespace uopscope::test {

using Json = nlohmann::json;

inline const std::string kProgram = std::string(UOPSCOPE_BINARY_DIR) + "/bin/uopscope";

struct Folder {
  Folder() {
    static int number = 0;
    path = std::filesystem::temp_directory_path() /
           ("uopscope-cli-" + std::to_string(getpid()) + "-" + std::to_string(++number));
    std::filesystem::create_directories(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file(const std::string& name, const std::string& text = {}) const {
    std::string full = path / name;
    if (!text.empty()) std::ofstream(full) << text;
    return full;
  }
  std::filesystem::path path;
};

struct Result {
  int code = -1;
  std::string out, err;
};

inline std::string textOf(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::string shell(const std::string& text) {
  std::string out = "'";
  for (char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

inline Result call(const Folder& folder, const std::vector<std::string>& arguments,
                   const std::string& environment = {}) {
  std::string out = folder.file("out"), err = folder.file("err");
  std::string command = "cd " + shell(folder.path) + " && " + environment + " " + shell(kProgram);
  for (const std::string& a : arguments) command += " " + shell(a);
  command += " >" + shell(out) + " 2>" + shell(err) + " </dev/null";
  int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), textOf(out), textOf(err)};
}

/// The JSON that a call printed.
inline Json json(const Result& r) {
  CAPTURE(r.err);
  CAPTURE(r.out);
  Json out = Json::parse(r.out, nullptr, false);
  REQUIRE(!out.is_discarded());
  return out;
}
/// A member of it, by value: a loop over a member of a temporary would outlive it.
inline Json partOf(const Result& r, const char* name) {
  return json(r)[name];
}

/// A kernel after its schedule, with counts, texts and a launch.
inline std::string sampleTrace(const Folder& folder) {
  std::string path = folder.file("sample.uoptrace");
  recordTo(path, [] {
    Pool pool;
    PoolScope scope(pool);
    Observer* o = Observer::current();
    UOp root = randomGraph(4, 60);
    {
      ObservedScope schedule({ScopeKind::Schedule, "schedule 1", {"model.py", 2}, root});
      graphRewriteBottomUp(root, lowering(), {.name = "lower"});
    }
    ObservedScope kernel({ScopeKind::Kernel, "r_4", {"model.py", 3}, root});
    graphRewrite(root, shrinking() + nesting(), {.name = "initial symbolic"});
    o->onArtifact({"source", "void r_4(float* data0) {}\n"});
    o->onLaunch({"r_4", "CPU", 10, 20, 30, 40});
  });
  return path;
}

inline bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

} // namespace uopscope::test
