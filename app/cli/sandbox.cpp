// The sandbox has no network and sees the file system read-only. It may write only to a temporary folder and
// to the report. It dies with the program that started it.
#include "app/cli/sandbox.h"

#include "app/cli/replay_command.h"
#include "engine/base/error.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <utility>

namespace uopscope::cli {

namespace fs = std::filesystem;

namespace {
struct PrivateFolder {
  PrivateFolder() {
    std::error_code ignored;
    path = (fs::temp_directory_path(ignored) / "uopscope-sandbox-XXXXXX").string();
    if (!mkdtemp(path.data())) throw Error(ErrorKind::File, path + ": the sandbox's folder cannot be made");
  }
  ~PrivateFolder() { remove(); }
  void remove() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  std::string path;
};

std::vector<std::string> ownArguments() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  std::string all{std::istreambuf_iterator<char>(in), {}}, one;
  std::vector<std::string> out;
  for (char c : all) {
    if (c) {
      one += c;
    } else {
      out.push_back(std::exchange(one, {}));
    }
  }
  if (!out.empty()) out.erase(out.begin());
  return out;
}

std::vector<std::string> sandbox(const std::string& folder) {
  return {"bwrap",
          "--ro-bind",
          "/",
          "/",
          "--dev",
          "/dev",
          "--proc",
          "/proc",
          "--bind",
          folder,
          folder,
          "--setenv",
          "TMPDIR",
          folder,
          "--unshare-net",
          "--unshare-pid",
          "--unshare-ipc",
          "--die-with-parent"};
}

bool works(const std::string& folder) {
  std::vector<std::string> command = sandbox(folder);
  command.push_back("/bin/true");
  try {
    return runProgram(command, "", "/dev/null") == 0;
  } catch (const Error&) {
    return false;
  }
}

bool agreed(const std::string& what, const std::string& from) {
  if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) return true;
  fmt::print(stderr, "Run {} from {} in a sandbox (no network, no writing)? [y/N] ", what, from);
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}
} // namespace

void continueInSandbox(const std::string& option, const std::vector<std::string>& files,
                       const std::string& what, const std::string& output) {
  std::string from = fmt::format("{}", fmt::join(files, " and "));
  PrivateFolder folder;
  if (!works(folder.path))
    throw Error(ErrorKind::Value,
                fmt::format("{} would run {} from {}, and there is no sandbox for it: install bubblewrap "
                            "(bwrap), or say --trust if you trust who made the file",
                            option, what, from));
  if (!agreed(what, from)) throw Error(ErrorKind::Value, fmt::format("{}: nothing was run", option));
  fmt::print(stderr, "uopscope: running {} from {} in a sandbox: no network, no writing\n", what, from);
  std::fflush(nullptr);
  std::vector<std::string> command = sandbox(folder.path);
  if (!output.empty()) {
    std::ofstream made(output, std::ios::app); // must exist, since it is bound by name
    if (!made) throw Error(ErrorKind::File, output + ": cannot be written");
    std::string path = fs::absolute(output).string();
    command.insert(command.end(), {"--bind", path, path});
  }
  command.insert(command.end(), {"--", selfPath()});
  for (std::string& argument : ownArguments()) command.push_back(std::move(argument));
  command.push_back("--trust");
  // bwrap ends without waiting for the first process of its sandbox. That comes to us then, and so does the processor
  // time below it, which whoever started us adds up (a campaign).
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  int code = runProgram(command, "", "");
  while (waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
  }
  folder.remove();
  std::exit(code);
}

} // namespace uopscope::cli
