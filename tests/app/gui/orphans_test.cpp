// Whoever watches a script may be killed without a word: the window, or the recorder in a terminal. The script and every
// process it started end within a second, and the trace opens and says that the recording was interrupted.
#include "tests/app/cli/support.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#ifdef UOPSCOPE_HAVE_PYTHON

using namespace uopscope;
using namespace uopscope::test;
namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

template <typename Condition>
bool within(int ms, Condition condition) {
  const auto began = Clock::now();
  while (!condition()) {
    if (Clock::now() - began > std::chrono::milliseconds(ms)) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

struct Process {
  char state = 'X'; ///< a process that has ended may still wait for its parent, as 'Z'
  pid_t parent = 0;
};

Process look(pid_t pid) {
  const std::string stat = textOf("/proc/" + std::to_string(pid) + "/stat");
  Process p;
  if (const size_t name = stat.rfind(')'); name != std::string::npos)
    std::istringstream(stat.substr(name + 1)) >> p.state >> p.parent;
  return p;
}

bool runs(pid_t pid) {
  const char state = look(pid).state;
  return state != 'X' && state != 'Z';
}

/// A script that compiles, starts a process of its own, writes both numbers and goes on for ever.
constexpr const char* kEndless =
    "import os, subprocess\n"
    "from tinygrad import Tensor\n"
    "(Tensor.empty(4, 4, device='NULL') @ Tensor.empty(4, 4, device='NULL')).realize()\n"
    "child = subprocess.Popen(['sleep', '300'])\n"
    "open('pids.part', 'w').write(f'{os.getpid()} {child.pid}')\n"
    "os.rename('pids.part', 'pids')\n";

/// From here on this process and its children have no pidfds, as in many a sandbox.
void refusePidfds() {
  sock_filter rules[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                         BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{static_cast<unsigned short>(std::size(rules)), rules};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    _exit(8);
}

/// The program at work on an endless script.
struct Recording {
  Folder folder;
  pid_t program = 0, script = 0, child = 0;

  Recording(const std::vector<std::string>& arguments, const std::string& ending, bool pidfds = true) {
    folder.file("model.py", kEndless + ending);
    std::fflush(nullptr); // or what is buffered is printed twice
    program = fork();
    if (program == 0) {
      setenv("QT_QPA_PLATFORM", "offscreen", 1);
      setenv("XDG_CACHE_HOME", folder.path.c_str(), 1);
      setenv("XDG_CONFIG_HOME", folder.path.c_str(), 1);
      if (chdir(folder.path.c_str()) != 0) _exit(9);
      if (!pidfds) refusePidfds();
      (void)!freopen("out", "w", stdout);
      (void)!freopen("err", "w", stderr);
      std::vector<char*> words{const_cast<char*>("uopscope")};
      for (const std::string& a : arguments) words.push_back(const_cast<char*>(a.c_str()));
      words.push_back(nullptr);
      execv(kProgram.c_str(), words.data());
      _exit(9);
    }
    REQUIRE(within(60'000, [&] { return fs::exists(folder.path / "pids"); }));
    std::ifstream(folder.path / "pids") >> script >> child;
    REQUIRE(runs(script));
    REQUIRE(runs(child));
  }
  ~Recording() {
    for (const pid_t p : {program, script, child})
      if (p > 0) kill(p, SIGKILL);
    waitpid(program, nullptr, 0);
  }
  /// The trace, wherever the program keeps it.
  std::string trace() const {
    for (const auto& entry : fs::recursive_directory_iterator(folder.path))
      if (entry.path().extension() == ".uoptrace") return entry.path();
    return {};
  }
  void expectEnd(int ms, const std::string& status) {
    CHECK(within(ms, [&] { return !runs(script) && !runs(child); }));
    const std::string path = trace();
    REQUIRE_FALSE(path.empty());
    CHECK(within(3000, [&] { return Trace(path).status() == status; }));
    CHECK(Trace(path).scopes().size() >= 2);
    CHECK_FALSE(Trace(path).warning().empty());
  }
};

const std::string kLoop = "while True: pass\n";
/// As code that asks for no signal.
const std::string kDeaf = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass\n";
/// A second for a script that ends when it is asked; one more where it has to be killed, and some for a busy machine.
constexpr int kAsked = 1500, kKilled = 2500;

} // namespace

TEST_CASE("orphans: a recorder that is killed in a terminal leaves no process, and a trace that says so") {
  Recording asked({"record", "model.py"}, kLoop);
  kill(asked.program, SIGKILL);
  asked.expectEnd(kAsked, "interrupted");
  Recording deaf({"record", "model.py"}, kDeaf);
  kill(deaf.program, SIGKILL);
  deaf.expectEnd(kKilled, "recording");
}

TEST_CASE("orphans: where pidfds are refused a recording runs, and a killed recorder leaves no process") {
  Recording asked({"record", "model.py"}, kLoop, /*pidfds=*/false);
  std::this_thread::sleep_for(std::chrono::seconds(1));
  CHECK(runs(asked.script)); // a guard that takes a refusal for a death would have ended it
  kill(asked.program, SIGKILL);
  asked.expectEnd(kAsked, "interrupted");
}

#ifdef UOPSCOPE_HAVE_WINDOW
TEST_CASE("orphans: a window that is killed leaves no process, and a trace that says so") {
  Recording asked({"model.py"}, kLoop);
  const pid_t recorder = look(asked.script).parent;
  REQUIRE(recorder != asked.program);
  kill(asked.program, SIGKILL);
  asked.expectEnd(kAsked, "interrupted");
  CHECK(within(1000, [&] { return !runs(recorder); }));
  Recording deaf({"model.py"}, kDeaf);
  kill(deaf.program, SIGKILL);
  deaf.expectEnd(kKilled, "interrupted");
}

TEST_CASE("orphans: a recorder of the window that is killed leaves no process, and the window stays") {
  Recording asked({"model.py"}, kLoop);
  kill(look(asked.script).parent, SIGKILL);
  asked.expectEnd(kAsked, "interrupted");
  CHECK(runs(asked.program));
}
#endif
#endif
