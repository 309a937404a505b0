// Starts the script with fork and exec, collects the end of its output, and reads the meter's numbers.
#include "replay/experiment/run_script.h"

#include "engine/base/clock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace uopscope {

namespace {

namespace fs = std::filesystem;
constexpr size_t kOutputKept = 4000; ///< characters kept from the end of stdout and stderr

struct TemporaryFolder {
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "uopbench-XXXXXX").string();
    if (!mkdtemp(name.data()))
      throw Error(ErrorKind::File, fmt::format("{}: no folder can be made there: {}", name, strerror(errno)));
    path = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  fs::path path;
};

std::string endOf(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  in.seekg(0, std::ios::end);
  const auto size = static_cast<size_t>(std::max<std::streamoff>(in.tellg(), 0));
  const size_t from = size > kOutputKept ? size - kOutputKept : 0;
  in.seekg(static_cast<std::streamoff>(from));
  std::string text(size - from, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  return text;
}

/// Whether the program is a Python interpreter, which takes the script itself; uopscope needs the verb `run`.
bool isPython(const std::string& program) {
  return fs::path(program).filename().string().starts_with("python");
}

[[noreturn]] void child(const ScriptRun& run, const fs::path& output, const fs::path& meter, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  setpgid(0, 0);
  const int out = ::open(output.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const int in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (in >= 0) dup2(in, STDIN_FILENO);
  if (out >= 0) dup2(out, STDOUT_FILENO), dup2(out, STDERR_FILENO);
  if (run.corpus.empty()) {
    setenv("UOPSCOPE_METER", meter.c_str(), 1);
  } else if (!isPython(run.program)) { // the reference would capture to a database of its own
    setenv("CAPTURE_PROCESS_REPLAY", "1", 1);
    setenv("UOPSCOPE_CORPUS", run.corpus.c_str(), 1);
  }
  for (const auto& [name, value] : run.settings)
    if (name != "program") setenv(name.c_str(), value.c_str(), 1);
  std::vector<std::string> words{run.program};
  if (!isPython(run.program)) words.emplace_back("run");
  words.push_back(run.script);
  words.insert(words.end(), run.arguments.begin(), run.arguments.end());
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  fmt::print(stderr, "{}: cannot be started: {}\n", run.program, strerror(errno));
  std::fflush(stderr);
  _exit(127);
}

/// Waits for the child; kills its process group after `timeout` seconds.
int waitFor(pid_t pid, double timeout, rusage& used) {
  const int64_t until = timeout > 0 ? nowNs() + static_cast<int64_t>(timeout * 1e9) : 0;
  int status = 0;
  for (;;) {
    const pid_t ended = wait4(pid, &status, until ? WNOHANG : 0, &used);
    if (ended == pid) return status;
    if (ended < 0 && errno != EINTR) return status;
    if (until && nowNs() > until) {
      kill(-pid, SIGKILL);
      kill(pid, SIGKILL);
      while (wait4(pid, &status, 0, &used) < 0 && errno == EINTR) {
      }
      return status;
    }
    if (until) usleep(1000);
  }
}

} // namespace

BenchRun runScriptOnce(const ScriptRun& run) {
  TemporaryFolder folder;
  const fs::path output = folder.path / "output", meter = folder.path / "meter.json";
  const pid_t parent = getpid();
  std::fflush(nullptr);
  BenchRun result;
  const int64_t start = nowNs();
  const pid_t pid = fork();
  if (pid < 0) throw Error(ErrorKind::Runtime, fmt::format("no process for the script: {}", strerror(errno)));
  if (pid == 0) child(run, output, meter, parent);
  rusage used{};
  const int status = waitFor(pid, run.timeout, used);
  result.wallNs = nowNs() - start;
  auto nanoseconds = [](timeval t) { return int64_t{t.tv_sec} * 1'000'000'000 + int64_t{t.tv_usec} * 1000; };
  result.cpuNs = nanoseconds(used.ru_utime) + nanoseconds(used.ru_stime);
  result.peakBytes = int64_t{used.ru_maxrss} * 1024;
  result.exitCode = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  result.output = endOf(output);
  if (std::ifstream in(meter); in) {
    auto measured = nlohmann::json::parse(in, nullptr, false);
    if (measured.is_object()) result.measured = std::move(measured);
  }
  return result;
}

} // namespace uopscope
