// The program uopscope, called many times by one process: each line of input is a call, which runs in a fork
// of this process. The program is loaded and linked once, which is four fifths of a short call.
// hostile_files.py uses it.
//
//   {"arguments": ["ls", "x.uoptrace"], "output": "/tmp/out", "seconds": 10, "patience": 60, "bytes": 4294967296}
//   -> {"code": 0, "signal": 0, "seconds": 0.02, "kilobytes": 41200, "late": false}
//
// A call that takes more than `seconds` of processor time, or `patience` of wall time, is killed with every
// process it started. With arguments this program is uopscope itself, so calls may start it again.
#include "app/cli/cli.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

namespace {
using nlohmann::json;

void limit(decltype(RLIMIT_CPU) what, uint64_t most) {
  const rlimit both{most, most};
  setrlimit(what, &both);
}

[[noreturn]] void callAsChild(const json& call) {
  setpgid(0, 0);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, call.at("seconds").get<uint64_t>() + 1);
  limit(RLIMIT_DATA, call.at("bytes").get<uint64_t>());
  const int out = open(call.at("output").get<std::string>().c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(out, STDERR_FILENO);
  close(out);
  close(nothing);
  std::vector<std::string> arguments = call.at("arguments");
  arguments.insert(arguments.begin(), "uopscope");
  std::vector<char*> argv;
  for (std::string& a : arguments) argv.push_back(a.data());
  argv.push_back(nullptr);
  std::exit(uopscope::cli::run(static_cast<int>(arguments.size()), argv.data()));
}

json runCall(const json& call) {
  const auto began = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) callAsChild(call);
  setpgid(child, child);
  const auto handle = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  pollfd ended{handle, POLLIN, 0};
  const int patience = static_cast<int>(call.at("patience").get<double>() * 1000);
  const bool late = poll(&ended, 1, patience) == 0;
  if (late) kill(-child, SIGKILL);
  int status = 0;
  rusage used{};
  wait4(child, &status, 0, &used);
  kill(-child, SIGKILL); // kills its remaining processes
  close(handle);
  auto seconds = [](timeval t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return {{"code", WIFEXITED(status) ? WEXITSTATUS(status) : -1},
          {"signal", WIFSIGNALED(status) ? WTERMSIG(status) : 0},
          {"seconds", seconds(used.ru_utime) + seconds(used.ru_stime)},
          {"clock", std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count()},
          {"kilobytes", used.ru_maxrss},
          {"late", late}};
}
} // namespace

int main(int argc, char** argv) {
  if (argc > 1) return uopscope::cli::run(argc, argv);
  for (std::string line; std::getline(std::cin, line);)
    std::cout << runCall(json::parse(line)).dump() << std::endl;
  return 0;
}
