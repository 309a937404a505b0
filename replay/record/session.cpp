// Stores the circumstances of a run in the trace: command line, environment, versions, the repository's
// commit. It also handles every way a run can end: signals, exceptions, a window to open.
#include "replay/record/session.h"

#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/rewrite/thread_observer.h"
#include "replay/record/machine.h"
#include "replay/schema/schema.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace uopscope {

namespace {
namespace fs = std::filesystem;

std::atomic<Recorder*> recorderOfSignals{nullptr};
std::atomic<RecordingProgress*> progressOfSignals{nullptr};
constexpr int kDeadly[] = {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL};

extern "C" void uopscopeOnDeadlySignal(int number) {
  if (Recorder* recorder = recorderOfSignals.exchange(nullptr)) recorder->commitFromSignal(number, 3000);
  std::signal(number, SIG_DFL);
  std::raise(number);
}

extern "C" void uopscopeOnInterrupt(int number) {
  RecordingProgress* progress = progressOfSignals.load();
  if (!progress || progress->stop.exchange(true)) { // the second signal ends the program
    std::signal(number, SIG_DFL);
    std::raise(number);
  }
}

void setHandler(int number, void (*handler)(int), bool onlyIfDefault) {
  struct sigaction now{};
  sigaction(number, nullptr, &now);
  if (onlyIfDefault && now.sa_handler != SIG_DFL) return;
  struct sigaction action{};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_ONSTACK;
  sigaction(number, &action, nullptr);
}

std::string timeNow() {
  std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

/// Versions of the libraries in this process. Each is asked at run time, so the recorder needs no headers of
/// theirs.
std::string versionsJson() {
  nlohmann::ordered_json out = {{"uopscope", kProgramVersion}};
  if (void* llvm = dlsym(RTLD_DEFAULT, "LLVMGetVersion")) {
    unsigned major = 0, minor = 0, patch = 0;
    reinterpret_cast<void (*)(unsigned*, unsigned*, unsigned*)>(llvm)(&major, &minor, &patch);
    out["LLVM"] = fmt::format("{}.{}.{}", major, minor, patch);
  }
  if (void* python = dlsym(RTLD_DEFAULT, "Py_GetVersion")) {
    std::string text = reinterpret_cast<const char* (*)()>(python)(); // "3.11.2 (main, ...)"
    out["Python"] = text.substr(0, text.find(' '));
  }
  out["SQLite"] = sqlite3_libversion();
  return out.dump();
}

/// Environment variables that affect the compiled result.
std::string environmentJson() {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  std::vector<std::string> found;
  for (char** e = environ; *e; ++e) {
    std::string entry = *e, name = entry.substr(0, entry.find('='));
    static const std::vector<std::string> known = {
        "DEV",          "CPU",      "REF", "NULL",          "CUDA",           "CUDA_ARCH", "CUDA_LLVM",
        "AMD",          "AMD_ARCH", "CL",  "DEFAULT_FLOAT", "PYTHONHASHSEED", "SEED",      "UOPSCOPE_WITHOUT",
        "UOPSCOPE_FUEL"};
    if (ContextVar::find(name) || std::find(known.begin(), known.end(), name) != known.end())
      found.push_back(entry);
  }
  std::sort(found.begin(), found.end());
  for (const std::string& entry : found)
    out[entry.substr(0, entry.find('='))] = entry.substr(std::min(entry.size(), entry.find('=') + 1));
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace

bool isTraceFolder(const std::string& path) {
  std::error_code ignored;
  return path.ends_with('/') || fs::is_directory(path, ignored);
}

SessionOptions RecordingSession::optionsFromEnvironment(const std::string& script,
                                                        std::vector<std::string> arguments) {
  SessionOptions o;
  o.script = script;
  o.arguments = std::move(arguments);
  const char* print = std::getenv("PRINT_MATCH_STATS");
  o.matchStats = print ? std::string_view(print) != "0" : vars::trackMatchStats > 0 && vars::viz >= 0;
  o.printRewrites = vars::trackMatchStats >= 3;
  if (const char* tier = std::getenv("UOPSCOPE_TIER")) o.tier = tierFromName(tier);
  const std::string name = fmt::format("{}-{}.uoptrace", fs::path(script).stem().string(), getpid());
  if (const char* path = std::getenv("UOPSCOPE_TRACE"))
    o.path = isTraceFolder(path) ? fs::path(path) / name : path;
  if (o.path.empty() && vars::viz != 0) { // below 0 the run is recorded and no window opens
    o.path = (fs::temp_directory_path() / name).string();
    o.openWindow = vars::viz > 0;
    if (!o.openWindow) fmt::print(stderr, "uopscope: VIZ={} records to {}\n", vars::viz.value(), o.path);
    if (std::abs(vars::viz.value()) >= 2)
      fmt::print(stderr,
                 "uopscope: VIZ={} records as VIZ=1: counters of AMD's hardware, which it stands for, "
                 "are not read\n",
                 vars::viz.value());
  }
  if (o.tier == Tier::Off) o.path.clear();
  o.corpus = CaptureSession::pathFromEnvironment();
  return o;
}

RecordingSession::RecordingSession(int argc, char** argv)
    : RecordingSession(
          optionsFromEnvironment(argc > 0 ? argv[0] : "program", {argv + std::min(argc, 1), argv + argc})) {}

RecordingSession::RecordingSession(SessionOptions options) : options_(std::move(options)) {
  exceptions_ = std::uncaught_exceptions();
  process_ = getpid();
  begin();
}

void RecordingSession::begin() {
  if (options_.matchStats) stats_ = std::make_unique<MatchStats>();
  if (!options_.progress) options_.progress = &ownProgress_;
  if (!options_.path.empty() && options_.tier != Tier::Off) {
    RecorderOptions r;
    r.path = options_.path;
    r.tier = options_.tier;
    r.progress = options_.progress;
    r.alsoCounts = stats_.get();
    std::error_code ignored;
    std::string script = fs::exists(options_.script, ignored)
                             ? fs::absolute(options_.script, ignored).lexically_normal().string()
                             : options_.script;
    nlohmann::json command = nlohmann::json::array({options_.script});
    for (const std::string& a : options_.arguments) command.push_back(a);
    r.meta = {{"script", script},
              {"version", std::string(kProgramVersion)},
              {"command", command.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)},
              {"cwd", fs::current_path(ignored).string()},
              {"env", environmentJson()},
              {"versions", versionsJson()},
              {"machine", machineText()},
              {"time.began", timeNow()},
              {"time.pid", fmt::format("{}", getpid())}};
    if (GitPlace git = gitPlaceOf(script); !git.root.empty()) {
      r.meta["git.commit"] = git.commit;
      r.meta["git.branch"] = git.branch;
      r.laterMeta = [question = GitQuestion(git.root)]() -> std::map<std::string, std::string> {
        std::string state = question.answer(); // git reads the whole work tree
        if (state.empty()) return {};
        return {{"git.state", std::move(state)}};
      };
    }
    if (script.ends_with(".py")) r.files.push_back(script);
    if (const fs::path folder = fs::path(options_.path).parent_path(); !folder.empty())
      fs::create_directories(folder, ignored);
    // A file that cannot grow is an error to report; it must not kill the process.
    std::signal(SIGXFSZ, SIG_IGN);
    recorder_ = std::make_unique<Recorder>(std::move(r));
    installHandlers();
  }
  Observer* observer = recorder_ ? static_cast<Observer*>(recorder_.get()) : stats_.get();
  if (!options_.corpus.empty()) {
    capture_ = std::make_unique<CaptureSession>(options_.corpus, options_.script);
    if (observer) both_ = std::make_unique<Tee>(observer, &capture_->observer());
    observer = both_ ? static_cast<Observer*>(both_.get()) : &capture_->observer();
  }
  const RewriteLimits limits = RewriteLimits::fromEnvironment();
  if (!observer && !limits.any() && !options_.printRewrites) return;
  // A debugger wants to stop this recording at breakpoints; child processes of the script must not connect to
  // it.
  if (const char* gate = std::getenv("UOPSCOPE_GATE"); gate && recorder_) {
    gate_ = std::make_unique<DebugGate>(*recorder_, gate, [this] { recorder_->flush(); });
    unsetenv("UOPSCOPE_GATE");
    observer = gate_.get();
  }
  if (limits.any()) {
    limits_ = std::make_unique<LimitGate>(observer ? *observer : nobody_, limits);
    observer = limits_.get();
  }
  if (options_.printRewrites) {
    printer_ = std::make_unique<RewritePrinter>(observer ? *observer : nobody_);
    observer = printer_.get();
  }
  scope_.emplace(observer);
  scriptScope_.emplace(ScopeBegin{ScopeKind::Script, fs::path(options_.script).filename().string(), {}, {}});
}

void RecordingSession::installHandlers() {
  recorderOfSignals = recorder_.get();
  progressOfSignals = options_.progress;
  if (options_.handleSignals) {
    // The handler gets a stack of its own: a stack overflow may be the cause of the signal.
    signalStack_.resize(64 << 10);
    stack_t stack{};
    stack.ss_sp = signalStack_.data();
    stack.ss_size = signalStack_.size();
    sigaltstack(&stack, nullptr);
    for (int number : kDeadly) setHandler(number, uopscopeOnDeadlySignal, true);
  }
  if (options_.handleInterrupt)
    for (int number : {SIGINT, SIGTERM}) setHandler(number, uopscopeOnInterrupt, true);
}

bool RecordingSession::interrupted() const {
  return options_.progress && options_.progress->stop;
}

void RecordingSession::leaveToParent() {
  recorderOfSignals = nullptr;
  progressOfSignals = nullptr;
  finished_ = true;
  scope_.reset();
  // Their destructors would wait for threads that only the parent has.
  static_cast<void>(recorder_.release());
  static_cast<void>(capture_.release());
  static_cast<void>(gate_.release());
}

void RecordingSession::finish(std::string_view status, std::string_view message) {
  if (finished_) return;
  if (process_ != getpid()) return leaveToParent();
  finished_ = true;
  if (Observer* observer = Observer::current()) ThreadObserver::detachAll(*observer);
  scriptScope_.reset();
  scope_.reset();
  limits_.reset();
  if (recorder_) {
    recorderOfSignals = nullptr;
    progressOfSignals = nullptr;
    if (!signalStack_.empty()) {
      for (int number : kDeadly) std::signal(number, SIG_DFL);
      stack_t none{};
      none.ss_flags = SS_DISABLE;
      sigaltstack(&none, nullptr);
    }
    if (options_.handleInterrupt)
      for (int number : {SIGINT, SIGTERM}) std::signal(number, SIG_DFL);
    recorder_->finish(status, message);
  }
  if (capture_) capture_->finish(status);
  if (stats_) fmt::print("{}", stats_->table(static_cast<int>(vars::trackMatchStats)));
  if (options_.openWindow && recorder_) {
    std::error_code ignored;
    fs::path self = fs::read_symlink("/proc/self/exe", ignored);
    for (const fs::path& candidate :
         {self, self.parent_path() / "uopscope", self.parent_path().parent_path() / "bin" / "uopscope"})
      if (candidate.filename() == "uopscope" && fs::exists(candidate, ignored)) {
        std::fflush(nullptr);
        execl(candidate.c_str(), "uopscope", "open", options_.path.c_str(), nullptr);
      }
    fmt::print(stderr, "uopscope: the trace is {}; open it with: uopscope open {}\n", options_.path,
               options_.path);
  }
}

RecordingSession::~RecordingSession() {
  bool failed = std::uncaught_exceptions() > exceptions_;
  if (interrupted())
    finish(traceStatus::kInterrupted, "stopped by the user");
  else if (failed)
    finish(traceStatus::kFailed, "the program ended with an exception");
  else
    finish();
}

} // namespace uopscope
