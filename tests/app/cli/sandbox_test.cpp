// `replay diff --run` runs code that a file holds. A kernel whose C was changed to write a file and to connect to a port does
// both with --trust, which shows that the test can tell; without it, in the sandbox, it does neither; without bubblewrap nothing
// is run.
#include "replay/record/corpus.h"
#include "tests/app/cli/support.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace uopscope;
using namespace uopscope::test;

namespace {
/// A port of this machine that waits for connections.
struct Listening {
  Listening() : handle(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(bind(handle, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
    REQUIRE(listen(handle, 100) == 0);
    socklen_t size = sizeof at;
    getsockname(handle, reinterpret_cast<sockaddr*>(&at), &size);
    port = at.sin_port;
  }
  ~Listening() { close(handle); }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;
  /// Whether anything connected since the last call.
  bool wasReached() const {
    bool any = false;
    for (pollfd p{handle, POLLIN, 0}; poll(&p, 1, 0) > 0; any = true) close(accept(handle, nullptr, nullptr));
    return any;
  }
  int handle;
  uint16_t port = 0; ///< in network order
};

/// Of the programs that this process started and that have ended.
double processorSeconds() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/// The C of a kernel that makes a file and connects to a port before it computes.
std::string hostile(std::string source, const std::string& path, uint16_t port) {
  const std::string address = fmt::format("{{2, 0, {}, {}, 127, 0, 0, 1}}", port & 255, port >> 8);
  const std::string calls = fmt::format("  static const unsigned char evil_port[16] = {};\n"
                                        "  evil_call({}, (long)\"{}\", {}, 420);\n"
                                        "  evil_call({}, evil_call({}, 2, 1, 0), (long)evil_port, 16);\n",
                                        address, SYS_open, path, O_WRONLY | O_CREAT, SYS_connect, SYS_socket);
  const size_t at = source.find(") {\n");
  REQUIRE(at != std::string::npos);
  source.insert(at + 4, calls);
  return "static long evil_call(long n, long a, long b, long c) {\n  long r;\n"
         "  __asm__ volatile(\"syscall\" : \"=a\"(r) : \"a\"(n), \"D\"(a), \"S\"(b), \"d\"(c) : \"rcx\", "
         "\"r11\", "
         "\"memory\");\n  return r;\n}\n" +
         source;
}
} // namespace

TEST_CASE("code of a file runs in a sandbox, with --trust outside, and not at all where there is none") {
  if (std::system("bwrap --ro-bind / / --unshare-net true 2>/dev/null") != 0) {
    MESSAGE("bubblewrap makes no sandbox here: only the refusal is tested");
  }
  Folder f;
  f.file("model.py",
         "from tinygrad import Tensor\nprint((Tensor([1.0, 2.0]).contiguous().realize() + 1).tolist())\n");
  REQUIRE(call(f, {"replay", "capture", "-q", "model.py", "-o", "good.uopcorpus"}, "CPU_LLVM=0").code == 0);
  Listening listening;
  const std::string evil = (f.path / "made-by-a-kernel").string();
  {
    Corpus in = Corpus::open(f.file("good.uopcorpus")), out = Corpus::create(f.file("evil.uopcorpus"));
    for (const CorpusEntry& e : in.entries()) {
      Compilation c = in.load(e);
      if (e.isKernel()) c.source = hostile(c.source, evil, listening.port);
      out.add(c);
    }
    out.finish();
  }
  const std::vector<std::string> run = {"replay", "diff", "good.uopcorpus", "evil.uopcorpus", "--run"};
  auto trusting = run;
  trusting.emplace_back("--trust");
  double before = processorSeconds();
  Result r = call(f, trusting);
  const double outside = processorSeconds() - before;
  CHECK_MESSAGE(contains(r.out, "same results"), r.out);
  CHECK(std::filesystem::exists(evil));
  CHECK(listening.wasReached());
  std::filesystem::remove(evil);

  // No program of that name can be found: the PATH holds nothing.
  r = call(f, run, "PATH=" + shell(f.path));
  CHECK(r.code == 2);
  CHECK(contains(r.err, "install bubblewrap"));
  CHECK_FALSE(std::filesystem::exists(evil));
  CHECK_FALSE(listening.wasReached());

  if (std::system("bwrap --ro-bind / / --unshare-net true 2>/dev/null") != 0) return;
  before = processorSeconds();
  r = call(f, run);
  // Whoever starts us sees the processor time of the sandbox too; starting it took a tenth of a second.
  CHECK(processorSeconds() - before > outside * 0.7);
  CHECK_MESSAGE(contains(r.out, "same results"), (r.out + r.err));
  CHECK(contains(r.err, "in a sandbox: no network, no writing"));
  CHECK_FALSE(std::filesystem::exists(evil));
  CHECK_FALSE(listening.wasReached());
}
