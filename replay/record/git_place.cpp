// git runs as a separate process with an empty input; its error output is dropped.
#include "replay/record/git_place.h"

#include "engine/base/child_process.h"
#include "engine/base/clock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

namespace uopscope {

namespace {
namespace fs = std::filesystem;
constexpr int64_t kPatienceNs = 500'000'000;

std::string firstLine(const fs::path& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

/// The output of a command that succeeds in time.
std::optional<std::string> outputOf(std::vector<std::string> command, std::vector<std::string> environment) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  auto pointers = [](std::vector<std::string>& words) {
    std::vector<char*> out;
    for (std::string& word : words) out.push_back(word.data());
    out.push_back(nullptr);
    return out;
  };
  std::vector<char*> argv = pointers(command), env = pointers(environment);
  pid_t child = 0;
  bool started = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), env.data()) == 0;
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string out;
  bool inTime = started;
  for (int64_t began = nowNs(); inTime;) {
    pollfd waiting{ends[0], POLLIN, 0};
    int64_t left = (began + kPatienceNs - nowNs()) / 1'000'000;
    inTime = left > 0 && poll(&waiting, 1, static_cast<int>(left)) > 0;
    char buffer[4096];
    ssize_t got = inTime ? read(ends[0], buffer, sizeof buffer) : 0;
    if (got <= 0) break;
    out.append(buffer, static_cast<size_t>(got));
  }
  close(ends[0]);
  if (!started) return std::nullopt;
  if (!inTime) kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  if (!inTime || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
  return out;
}
} // namespace

GitPlace gitPlaceOf(const std::string& path) {
  std::error_code ignored;
  for (fs::path at = fs::absolute(path, ignored); !at.empty() && at != at.root_path();
       at = at.parent_path()) {
    fs::path git = at / ".git";
    if (!fs::exists(git, ignored)) continue;
    if (fs::is_regular_file(git, ignored)) { // a linked work tree: "gitdir: PATH"
      std::string line = firstLine(git);
      if (line.rfind("gitdir: ", 0) != 0) return {};
      git = fs::path(line.substr(8));
      if (git.is_relative()) git = at / git;
    }
    std::string head = firstLine(git / "HEAD");
    if (head.rfind("ref: ", 0) != 0) return {head, {}, at.string()};
    std::string ref = head.substr(5), branch = ref.rfind("refs/heads/", 0) == 0 ? ref.substr(11) : ref;
    fs::path common = git;
    if (std::string shared = firstLine(git / "commondir"); !shared.empty()) common = git / shared;
    std::string commit = firstLine(common / ref);
    if (commit.empty()) {
      std::ifstream packed(common / "packed-refs");
      for (std::string line; std::getline(packed, line);)
        if (line.size() > 41 && line.substr(41) == ref) commit = line.substr(0, 40);
    }
    return {commit, branch, at.string()};
  }
  return {};
}

GitQuestion::GitQuestion(std::string root) : root_(std::move(root)), program_(findProgram("git")) {
  for (char** variable = environ; *variable; ++variable) environment_.emplace_back(*variable);
}

std::string GitQuestion::answer() const {
  if (program_.empty()) return {};
  auto text = outputOf(
      {program_, "--no-optional-locks", "-C", root_, "status", "--porcelain", "--untracked-files=no"},
      environment_);
  if (!text) return {};
  std::istringstream lines(*text);
  std::string names;
  size_t count = 0;
  for (std::string line; std::getline(lines, line);)
    if (line.size() > 3 && ++count <= 5) names += (names.empty() ? "" : ", ") + line.substr(3);
  if (!count) return "clean";
  return fmt::format("{} file{} modified: {}{}", count, count > 1 ? "s" : "", names, count > 5 ? " ..." : "");
}

} // namespace uopscope
