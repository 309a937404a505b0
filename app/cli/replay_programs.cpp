// Processes around a replay: they run scripts to capture and build commits.
#include "app/cli/replay_command.h"
#include "engine/base/error.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace uopscope::cli {

namespace fs = std::filesystem;

int runProgram(const std::vector<std::string>& command, const std::string& folder, const std::string& log,
               const std::vector<std::pair<std::string, std::string>>& environment) {
  std::fflush(nullptr);
  pid_t pid = fork();
  if (pid < 0)
    throw Error(ErrorKind::Runtime, fmt::format("{} cannot be started: {}", command[0], strerror(errno)));
  if (pid == 0) {
    if (!folder.empty() && chdir(folder.c_str()) != 0) _exit(127);
    if (!log.empty()) {
      int fd = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
      if (fd >= 0) dup2(fd, 1), dup2(fd, 2);
    }
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> argv;
    for (const std::string& a : command) argv.push_back(const_cast<char*>(a.c_str()));
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    fmt::print(stderr, "{}: {}\n", command[0], strerror(errno));
    _exit(127);
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string selfPath() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).string();
}

StoredCompilations openStored(const std::string& path) {
  StoredCompilations stored(path);
  if (!stored.warning().empty()) fmt::print(stderr, "uopscope: {}\n", stored.warning());
  return stored;
}

namespace {
std::string readAll(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}
std::string lastLines(const std::string& text, int lines) {
  size_t at = text.size();
  for (; at > 0 && lines > 0; --at) lines -= text[at - 1] == '\n';
  return text.substr(at ? at + 1 : 0);
}
std::string trimmed(std::string s) {
  while (!s.empty() && isspace(static_cast<unsigned char>(s.back()))) s.pop_back();
  return s;
}
} // namespace

std::string lastLine(const std::string& path) {
  return lastLines(trimmed(readAll(path)), 1);
}

CommitBuilds::CommitBuilds(std::string repository, std::string buildCommand, std::string program)
    : repository_(repository.empty() ? "." : std::move(repository)), command_(std::move(buildCommand)),
      program_(program.empty() ? "build/bin/uopscope" : std::move(program)) {
  if (command_.empty())
    command_ = "cmake -G Ninja -B build -DCMAKE_BUILD_TYPE=RelWithDebInfo -DUOPSCOPE_WINDOW=OFF "
               "-DUOPSCOPE_TESTS=OFF "
               "-DUOPSCOPE_BENCH=OFF && ninja -C build uopscope";
  repository_ = trimmed(git({"rev-parse", "--show-toplevel"}));
}

std::string CommitBuilds::git(const std::vector<std::string>& arguments, bool mustSucceed) const {
  TemporaryFile log(".log");
  std::vector<std::string> command{"git", "-C", repository_};
  command.insert(command.end(), arguments.begin(), arguments.end());
  int code = runProgram(command, {}, log.path());
  std::string text = readAll(log.path());
  if (code != 0 && mustSucceed)
    throw Error(ErrorKind::Value, fmt::format("git {} in {}: {}", arguments[0], repository_, trimmed(text)));
  return code == 0 ? text : std::string();
}

std::string CommitBuilds::resolve(const std::string& commit) const {
  std::string hash = trimmed(git({"rev-parse", "--verify", "--quiet", commit + "^{commit}"}, false));
  if (hash.empty())
    throw Error(ErrorKind::Value,
                fmt::format("{}: no such commit in {}; fetch it, or check its name", commit, repository_));
  return hash;
}

std::vector<std::string> CommitBuilds::between(const std::string& from, const std::string& to) const {
  std::istringstream lines(git({"rev-list", "--first-parent", "--reverse", from + ".." + to}));
  std::vector<std::string> commits;
  for (std::string line; std::getline(lines, line);) commits.push_back(line);
  if (commits.empty())
    throw Error(ErrorKind::Value,
                fmt::format("there is no commit after {} up to {}; give the older one first", from, to));
  return commits;
}

std::string CommitBuilds::subject(const std::string& commit) const {
  return trimmed(git({"log", "-1", "--format=%h %s", commit}));
}

bool CommitBuilds::dirty() const {
  return !git({"status", "--porcelain", "--untracked-files=no"}, false).empty();
}

namespace {
/// Held by the process that builds a commit; a second one waits.
class BuildLock {
public:
  explicit BuildLock(const std::string& path)
      : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    if (file_ < 0 || flock(file_, LOCK_EX) != 0)
      throw Error(ErrorKind::File, fmt::format("{}: cannot be locked: {}", path, strerror(errno)));
  }
  ~BuildLock() { close(file_); }
  BuildLock(const BuildLock&) = delete;
  BuildLock& operator=(const BuildLock&) = delete;

private:
  int file_;
};
} // namespace

std::string CommitBuilds::build(const std::string& commit) const {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  fs::path folder = cache && *cache ? fs::path(cache)
                    : home && *home ? fs::path(home) / ".cache"
                                    : fs::temp_directory_path();
  // A different repository or build command gives the same commit a separate build.
  size_t how = std::hash<std::string>()(repository_ + "\n" + command_);
  fs::path tree = folder / "uopscope" / "builds" /
                  fmt::format("{}-{:08x}", commit.substr(0, 16), static_cast<uint32_t>(how));
  fs::path program = tree / program_, done = tree.string() + ".built";
  std::error_code ignored;
  fs::create_directories(tree.parent_path(), ignored);
  const BuildLock lock(tree.string() + ".lock");
  if (fs::exists(done, ignored) && fs::exists(program, ignored)) return program.string();
  if (!fs::exists(tree, ignored)) {
    git({"worktree", "prune"}, false);
    git({"worktree", "add", "--detach", "--force", tree.string(), commit});
  }
  std::string log = tree.string() + ".log";
  fmt::print(stderr, "building {} ...\n", subject(commit));
  int code = runProgram({"sh", "-c", command_}, tree.string(), log);
  if (code != 0 || !fs::exists(program, ignored))
    throw Error(ErrorKind::Runtime,
                fmt::format("{} does not build ({}):\n{}", subject(commit),
                            code ? fmt::format("exit code {}", code) : program.string() + " is not there",
                            lastLines(readAll(log), 15)));
  std::ofstream(done) << command_ << "\n";
  return program.string();
}

} // namespace uopscope::cli
