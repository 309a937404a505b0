// uopscope record SCRIPT: the script runs in a child process that records. This process watches it and shows
// progress. However the child ends, this process closes the trace and stores how it ended.
//
// Ctrl-C reaches both processes. The child is asked to stop through shared memory (the next rewrite ends with
// "interrupted") and, in Python, by its own KeyboardInterrupt. A child that does not end within a second, or
// is interrupted twice, is killed with every process it started. If this process is killed, the child ends
// the same way (orphan_guard.h).
#include "app/cli/orphan_guard.h"
#include "app/cli/output.h"
#include "app/cli/record_flip.h"
#include "app/cli/record_prompt.h"
#include "app/cli/safe_output.h"
#include "engine/base/clock.h"
#include "engine/base/context_var.h"
#include "replay/experiment/run_meter.h"
#include "replay/record/session.h"
#include "replay/record/trace_writer.h"
#ifdef UOPSCOPE_HAVE_PYTHON
#include "engine/python/interpreter/interpreter.h"
#include "replay/schema/quantity_text.h"
#endif

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

namespace uopscope::cli {

namespace {
namespace fs = std::filesystem;

std::atomic<RecordingProgress*> watched{nullptr};
std::atomic<int> interrupts{0};
std::atomic<pid_t> childPid{0};

/// A window that dies sends one signal for each of its threads; signals this close together are one request.
constexpr int64_t kSameRequestNs = 200'000'000;
std::atomic<int64_t> lastInterruptNs{0};

void onInterrupt(int, siginfo_t* info, void*) {
  const int64_t now = nowNs(), last = lastInterruptNs.exchange(now);
  if (interrupts > 0 && now - last < kSameRequestNs) return;
  ++interrupts;
  if (RecordingProgress* p = watched.load()) p->stop = true;
  // A terminal signals the whole group; a signal from a process reached only this process.
  if (info->si_code <= 0 && childPid > 0) kill(childPid, SIGINT);
}

/// Progress in memory that parent and child share.
class SharedProgress {
public:
  SharedProgress() {
    void* memory =
        mmap(nullptr, sizeof(RecordingProgress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw Error(ErrorKind::Runtime, "no shared memory for the recording");
    progress_ = std::construct_at(static_cast<RecordingProgress*>(memory));
  }
  ~SharedProgress() {
    watched = nullptr;
    munmap(progress_, sizeof(RecordingProgress));
  }
  SharedProgress(const SharedProgress&) = delete;
  SharedProgress& operator=(const SharedProgress&) = delete;
  RecordingProgress* operator->() { return progress_; }
  RecordingProgress* get() { return progress_; }

private:
  RecordingProgress* progress_;
};

enum class ScriptKind { Python, Program };
ScriptKind kindOf(const std::string& script) {
  std::error_code ignored;
  if (!fs::exists(script, ignored)) throw Error(ErrorKind::File, fmt::format("{}: no such file", script));
  if (fs::is_directory(script, ignored))
    throw Error(ErrorKind::File, fmt::format("{}: a folder; give a script", script));
  std::ifstream in(script, std::ios::binary);
  char magic[4] = {};
  if ((!in || !in.read(magic, 4)) && !in.eof())
    throw Error(ErrorKind::File, fmt::format("{}: cannot be read: {}", script, strerror(errno)));
  if (std::memcmp(magic,
                  "\x7f"
                  "ELF",
                  4) == 0) {
    if (access(script.c_str(), X_OK) != 0)
      throw Error(ErrorKind::File, fmt::format("{}: a program that may not be executed", script));
    return ScriptKind::Program;
  }
  if (isDatabaseFile(script))
    throw Error(ErrorKind::File,
                fmt::format("{}: a trace, not a script; open it with: uopscope open {}", script, script));
  return ScriptKind::Python;
}

[[noreturn]] void execProgram(const std::string& script, const std::vector<std::string>& arguments) {
  std::string path = script.find('/') == std::string::npos ? "./" + script : script;
  std::vector<char*> argv{const_cast<char*>(path.c_str())};
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  execv(path.c_str(), argv.data());
  fmt::print(stderr, "uopscope: {}: cannot be started: {}\n", script, strerror(errno));
  _exit(kUsage);
}

int runPythonScript(const std::string& script, const std::vector<std::string>& arguments,
                    const std::vector<std::string>& interpreter = {},
                    const std::vector<std::string>& rules = {}, const std::string& rulesAfter = {}) {
#ifdef UOPSCOPE_HAVE_PYTHON
  if (!interpreter.empty()) return runPython(interpreter);
  std::vector<std::string> argv{script};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  std::vector<RuleFile> files;
  for (const std::string& path : rules) files.push_back({path, rulesAfter});
  return runScriptWith(files, script, argv);
#else
  (void)arguments, (void)interpreter, (void)rules, (void)rulesAfter;
  throw Error(
      ErrorKind::Unsupported,
      fmt::format(
          "{}: this uopscope was built without Python; build with python3-dev and pybind11-dev installed",
          script));
#endif
}

/// Why a script ended with this code: its exception, or its argument of sys.exit.
std::string reasonOf(int code) {
#ifdef UOPSCOPE_HAVE_PYTHON
  if (!scriptFailure().empty()) return scriptFailure();
#endif
  return fmt::format("the script ended with exit code {}", code);
}

/// Where the process writes: in a folder each process has a file of its own.
std::string tracePathOf(const RecordOptions& o, pid_t process) {
  if (!isTraceFolder(o.output)) return o.output;
  return (fs::path(o.output) / fmt::format("{}-{}.uoptrace", fs::path(o.script).stem().string(), process))
      .string();
}

/// The child's work. Never returns.
[[noreturn]] void childMain(const RecordOptions& o, ScriptKind kind, RecordingProgress* progress) {
  const pid_t watcher = getppid();
  const bool folder = isTraceFolder(o.output);
  const std::string path = tracePathOf(o, getpid());
  std::signal(SIGINT, SIG_DFL); // a shell's background job ignores it, and so would Python
  setenv("UOPSCOPE_TRACE", folder ? fs::absolute(o.output).c_str() : path.c_str(), 1);
  setenv("UOPSCOPE_TIER", o.tier.c_str(), 1);
  if (kind == ScriptKind::Program) {
    prctl(PR_SET_PDEATHSIG, SIGTERM); // the program dies with a killed watcher
    execProgram(o.script, o.arguments);
  }
  int code = kFailed;
  try {
    SessionOptions s = RecordingSession::optionsFromEnvironment(o.script, o.arguments);
    s.path = path;
    s.tier = tierFromName(o.tier);
    s.openWindow = false;
    s.handleInterrupt = false; // Python handles it
    s.progress = progress;
    if (!folder) unsetenv("UOPSCOPE_TRACE"); // child processes must not record into this file
    RecordingSession session(std::move(s));
    OrphanGuard guard(
        watcher, [progress] { progress->stop = true; },
        [&] {
          if (session.recorder()) session.recorder()->flush();
        });
    code = runPythonScript(o.script, o.arguments, o.interpreter, o.rules, o.rulesAfter);
    const bool stopped = code == 130 || progress->stop;
    if (stopped) killDescendants(getpid()); // in case no watcher is left to do it
    if (stopped)
      session.finish(traceStatus::kInterrupted, "stopped by the user");
    else if (code != 0)
      session.finish(traceStatus::kFailed, reasonOf(code));
    else
      session.finish();
  } catch (const Error& e) {
    fmt::print(stderr, "uopscope: {}\n", e.what());
    code = e.kind() == ErrorKind::File || e.kind() == ErrorKind::Value || e.kind() == ErrorKind::Unsupported
               ? kUsage
               : kFailed;
  } catch (const std::exception& e) {
    fmt::print(stderr, "uopscope: {}\n", e.what());
  }
  std::fflush(nullptr);
  _exit(code);
}

std::string progressLine(RecordingProgress& p, const std::string& output, int64_t sinceNs) {
  std::error_code ignored;
  uint64_t bytes = 0;
  for (const char* suffix : {"", "-wal"})
    if (auto size = fs::file_size(output + suffix, ignored); !ignored) bytes += size;
  return fmt::format("recording  {}  {}  {}  {:.0f} s{}", countedText(p.steps.load(), "step"),
                     countedText(p.kernels.load(), "kernel"), sizeText(static_cast<int64_t>(bytes)),
                     static_cast<double>(nowNs() - sinceNs) / 1e9, p.stop ? "  stopping ..." : "");
}

/// Waits for the end of a child, at most for some milliseconds.
class ChildEnd {
public:
  explicit ChildEnd(pid_t child) : file_(static_cast<int>(syscall(SYS_pidfd_open, child, 0))) {}
  ~ChildEnd() {
    if (file_ >= 0) close(file_);
  }
  ChildEnd(const ChildEnd&) = delete;
  ChildEnd& operator=(const ChildEnd&) = delete;
  void wait(int milliseconds) const {
    pollfd ended{file_, POLLIN, 0}; // where the system has no pidfd, -1: poll() waits for the time alone
    poll(&ended, 1, milliseconds);
  }

private:
  int file_;
};

int waitFor(pid_t child, RecordingProgress& progress, const RecordOptions& o, bool& killed,
            RecordPrompt* prompt) {
  bool show = isatty(STDERR_FILENO) && !o.json && !o.quiet && !prompt, shown = false;
  int64_t began = nowNs(), quietSince = 0;
  uint64_t rows = 0;
  int status = 0;
  const ChildEnd ended(child);
  for (int64_t round = 0;; ++round) {
    pid_t done = waitpid(child, &status, WNOHANG);
    if (done == child || (done < 0 && errno == ECHILD)) break;
    if (prompt) prompt->serve();
    if (prompt && prompt->quits()) {
      ++interrupts;
      progress.stop = true;
      kill(child, SIGINT);
    }
    // While queued events are still being written, the child is on its way to its end.
    if (interrupts > 0 && (!quietSince || progress.rowsWritten != rows)) {
      quietSince = nowNs();
      rows = progress.rowsWritten;
    }
    if (!killed && quietSince && (interrupts > 1 || nowNs() - quietSince > 1'000'000'000)) {
      killed = true;
      killDescendants(child);
      kill(child, SIGKILL);
    }
    if (show && round % 10 == 5) {
      fmt::print(stderr, "\r\x1b[K{}", progressLine(progress, o.output, began));
      shown = true;
    }
    ended.wait(round < 100 ? 5 : 20);
  }
  if (shown) fmt::print(stderr, "\r\x1b[K");
  return status;
}

void summarize(Trace& trace, const RecordOptions& o, int code) {
  if (o.quiet && !o.json) return;
  std::error_code ignored;
  auto bytes = static_cast<int64_t>(fs::file_size(o.output, ignored));
  int64_t steps = 0, kernels = 0;
  for (const ScopeInfo& s : trace.scopes()) {
    steps += s.steps;
    kernels += s.kind == ScopeKind::Kernel;
  }
  for (const PassInfo& p : trace.passes(0)) steps += p.steps;
  if (o.json) {
    printJson(Json{{"trace", o.output},
                   {"status", trace.status()},
                   {"message", trace.meta("message")},
                   {"exit_code", code},
                   {"steps", steps},
                   {"kernels", kernels},
                   {"bytes", bytes}});
    return;
  }
  std::string warning = trace.warning();
  fmt::print(stderr, "uopscope: {}: {}, {}, {}{}\n", o.output, countedText(steps, "step"),
             countedText(kernels, "kernel"), sizeText(bytes), warning.empty() ? "" : "; " + warning);
}

/// Fills in options that follow from the given ones: a script's name for -m and -c, a name for the trace.
RecordOptions completed(RecordOptions o) {
  tierFromName(o.tier);
  if (!o.interpreter.empty()) {
    if (!o.script.empty() || o.interpreter.size() < 2)
      throw Error(ErrorKind::Value,
                  fmt::format("record takes one of SCRIPT, -m MODULE and -c CODE{}",
                              o.script.empty() ? "; " + o.interpreter[0] + " needs an argument"
                                               : ", not two of them"));
    o.script = o.interpreter[0] == "-m" ? o.interpreter[1] : "code";
  }
  if (!o.rules.empty() && (!o.interpreter.empty() || !o.script.ends_with(".py")))
    throw Error(ErrorKind::Value, "--rules takes part in a Python script: give a SCRIPT that ends in .py");
  for (const std::string& path : o.rules)
    if (std::error_code ignored; !fs::is_regular_file(path, ignored))
      throw Error(ErrorKind::File,
                  fmt::format("{}: no such file; --rules takes a Python file of rules", path));
  if (o.script.empty())
    throw Error(ErrorKind::Value, "record needs a SCRIPT, -m MODULE or -c CODE; uopscope record --help");
  if (o.output.empty()) o.output = fs::path(o.script).stem().string() + ".uoptrace";
  return o;
}

/// Removes an older trace of that name. Throws Error(File) where the place is not writable.
void clearPlace(const RecordOptions& o) {
  std::error_code ignored;
  const bool folder = isTraceFolder(o.output);
  if (folder) fs::create_directories(o.output, ignored);
  const std::string tried = folder ? tracePathOf(o, getpid()) : o.output;
  if (FILE* probe = std::fopen(tried.c_str(), "ab"))
    std::fclose(probe);
  else
    throw Error(ErrorKind::File, fmt::format("{}: cannot be written: {}; choose another place with -o", tried,
                                             strerror(errno)));
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) fs::remove(tried + suffix, ignored);
}

/// The prompt of --pause and --break, null without them. The script's process finds its socket in the
/// environment.
std::unique_ptr<RecordPrompt> promptFor(const RecordOptions& o) {
  if (!o.pause && o.breakpoints.empty()) return {};
  if (o.tier != "full")
    throw Error(ErrorKind::Value, "--break and --pause stop at rewrites: they need --tier full");
  auto prompt = std::make_unique<RecordPrompt>(o.pause ? std::vector<std::string>{} : o.breakpoints);
  setenv("UOPSCOPE_GATE", prompt->socketPath().c_str(), 1);
  return prompt;
}

/// The end of the script's process: the exit code, and a status and a message for a trace that it could not
/// close.
struct Ending {
  int code = kFine;
  std::string status, message;
};

/// Waits for the script and passes SIGINT and SIGTERM on to it; then ends the processes that it left behind.
Ending watchScript(pid_t child, const RecordOptions& o, RecordingProgress& progress, RecordPrompt* prompt) {
  childPid = child;
  interrupts = 0;
  lastInterruptNs = 0;
  watched = &progress;
  struct sigaction action{}, oldInt{}, oldTerm{};
  action.sa_sigaction = onInterrupt;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &oldInt);
  sigaction(SIGTERM, &action, &oldTerm);
  bool killed = false;
  const int status = waitFor(child, progress, o, killed, prompt);
  sigaction(SIGINT, &oldInt, nullptr);
  sigaction(SIGTERM, &oldTerm, nullptr);
  childPid = 0;
  if (interrupts > 0) killDescendants(getpid());

  Ending end;
  end.code = WIFEXITED(status) ? WEXITSTATUS(status) : kFailed;
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    const bool ours = killed || interrupts > 0;
    end.status = ours ? traceStatus::kInterrupted : traceStatus::kCrashed;
    end.message = ours
                      ? std::string("stopped by the user")
                      : fmt::format("the script died of SIG{} ({})", sigabbrev_np(number), strsignal(number));
    if (!ours)
      fmt::print(stderr, "uopscope: {}: {}; the trace up to then is in {}\n", o.script, end.message,
                 o.output);
    end.code = ours ? kInterrupted : kFailed;
  }
  if (interrupts > 0) end.code = kInterrupted;
  return end;
}

/// Closes a trace that its process left open, prints a summary, and checks it on request. Returns the exit
/// code.
int closeTrace(const RecordOptions& o, Ending end, const RecordingProgress& progress) {
  const bool asksNothing = o.quiet && !o.json && !o.check && !o.flip;
  if (asksNothing && end.status.empty() && progress.closed) return end.code;
  try {
    std::optional<Trace> trace(o.output);
    const bool open = !trace->finished();
    if (open && end.status.empty()) {
      end.status = traceStatus::kFailed;
      end.message =
          fmt::format("the process ended with exit code {} without closing the recording", end.code);
    }
    if (open || !end.status.empty()) {
      trace.reset();
      sealTrace(o.output, end.status, end.message);
      trace.emplace(o.output);
    }
    summarize(*trace, o, end.code);
    if (o.tier == "full") lookForFlip(*trace, o.flip);
    if (!o.check) return end.code;
    LookOptions look;
    look.trace = o.output, look.json = o.json;
    const int wrong = checkValues(look);
    return end.code == kFine ? wrong : end.code;
  } catch (const Error& e) {
    fmt::print(stderr, "uopscope: {}\n", e.what());
    return end.code == kFine ? kFailed : end.code;
  }
}

} // namespace

int record(const RecordOptions& given) {
  RecordOptions o = completed(given);
  const ScriptKind kind = o.interpreter.empty() ? kindOf(o.script) : ScriptKind::Python;
  clearPlace(o);
  if (!o.device.empty()) setenv("DEV", o.device.c_str(), 1);
  if (o.flip) {
    setenv("FLIP", std::to_string(o.flip).c_str(), 1); // of processes that the script starts
    vars::flip.set(o.flip);
  }
  const std::unique_ptr<RecordPrompt> prompt = promptFor(o);
  SharedProgress progress;
  prctl(PR_SET_CHILD_SUBREAPER, 1); // processes that the script leaves behind stay below this one
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0)
    throw Error(ErrorKind::Runtime, fmt::format("no process for the script: {}", strerror(errno)));
  if (child == 0) {
    if (prompt) // the prompt reads the terminal
      if (const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC); nothing >= 0)
        dup2(nothing, STDIN_FILENO);
    childMain(o, kind, progress.get());
  }

  o.output = tracePathOf(o, child);
  Ending end = watchScript(child, o, *progress.get(), prompt.get());
  std::error_code ignored;
  if (fs::exists(o.output, ignored)) {
    end.code = closeTrace(o, end, *progress.get());
  } else if (kind == ScriptKind::Program && end.status.empty()) {
    fmt::print(stderr,
               "uopscope: {}: recorded nothing; a program records when it makes a RecordingSession "
               "(replay/record/session.h)\n",
               o.script);
    if (end.code == kFine) return kFailed;
    return end.code;
  }
  return end.code == kFine || end.code == kUsage || end.code == kInterrupted ? end.code : kFailed;
}

int runScriptPlain(const std::string& script, const std::vector<std::string>& arguments) {
  if (kindOf(script) == ScriptKind::Program) {
    std::fflush(nullptr);
    execProgram(script, arguments);
  }
  if (const char* report = std::getenv("UOPSCOPE_METER")) { // `bench` measures this run
    RunMeter meter;
    ObserverScope measured(&meter);
    const int code = runPythonScript(script, arguments);
    meter.write(report);
    return code;
  }
  SessionOptions s = RecordingSession::optionsFromEnvironment(script, arguments);
  s.handleInterrupt = false;
  RecordingSession session(std::move(s));
  int code = runPythonScript(script, arguments);
  if (code == 130)
    session.finish(traceStatus::kInterrupted, "stopped by the user");
  else if (code != 0)
    session.finish(traceStatus::kFailed, reasonOf(code));
  else
    session.finish();
  return code;
}

int runPython(const std::vector<std::string>& arguments) {
#ifdef UOPSCOPE_HAVE_PYTHON
  leaveOutput();
  std::vector<std::string> argv{"uopscope python"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  if (Observer::current()) return runInteractive(argv); // `record -m` has a session of its own
  SessionOptions s = RecordingSession::optionsFromEnvironment("python", arguments);
  s.handleInterrupt = false;
  RecordingSession session(std::move(s));
  const int code = runInteractive(argv);
  if (code != 0) session.finish(traceStatus::kFailed, reasonOf(code));
  return code;
#else
  (void)arguments;
  throw Error(ErrorKind::Unsupported,
              "this uopscope was built without Python; build with python3-dev and pybind11-dev installed");
#endif
}

} // namespace uopscope::cli
