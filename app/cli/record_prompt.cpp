// Orders are read only while the script waits, so a file of orders on standard input is followed one stop at
// a time. At the end of the input the recording goes on without breakpoints.
#include "app/cli/record_prompt.h"

#include "app/cli/output.h"
#include "replay/record/debug_gate.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

namespace uopscope::cli {
namespace {

constexpr const char* kHelp =
    "  step (s)      make this rewrite, stop before the next one\n"
    "  next (n)      stop before the next one of this pass\n"
    "  finish (f)    stop when this pass has ended\n"
    "  skip (k)      leave this rewrite out, stop before the next one\n"
    "  continue (c)  to the next breakpoint\n"
    "  break FIELD=PATTERN ...   one more breakpoint: rule= op= into= pass= kernel=\n"
    "  clear         forget all breakpoints\n"
    "  quit (q)      end the recording here; the trace holds everything until now\n";

bool ready(int file) {
  pollfd p{file, POLLIN, 0};
  return file >= 0 && poll(&p, 1, 0) > 0;
}

} // namespace

RecordPrompt::RecordPrompt(std::vector<std::string> breakpoints) : breakpoints_(std::move(breakpoints)) {
  for (const std::string& b : breakpoints_) Breakpoint::parse(b);
  std::string folder = (std::filesystem::temp_directory_path() / "uopscope-XXXXXX").string();
  if (!mkdtemp(folder.data()))
    throw Error(ErrorKind::File, fmt::format("{}: no folder can be made there: {}", folder, strerror(errno)));
  folder_ = folder;
  path_ = folder + "/gate";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const bool fits = path_.size() < sizeof address.sun_path;
  if (fits) std::memcpy(address.sun_path, path_.c_str(), path_.size() + 1);
  if (!fits || listener_ < 0 ||
      bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener_, 1) != 0) {
    const std::string why = fits ? strerror(errno) : "its name is too long";
    if (listener_ >= 0) close(listener_);
    std::filesystem::remove_all(folder_);
    throw Error(ErrorKind::File, fmt::format("{}: no socket can be made there: {}", path_, why));
  }
}

RecordPrompt::~RecordPrompt() {
  hangUp();
  close(listener_);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void RecordPrompt::hangUp() {
  if (peer_ >= 0) close(peer_);
  peer_ = -1;
  paused_ = false;
}

void RecordPrompt::serve() {
  if (peer_ < 0 && ready(listener_)) greet();
  if (ready(peer_)) hear();
  while (paused_ && !ended_) {
    if (const size_t end = typed_.find('\n'); end != std::string::npos) {
      const std::string line = typed_.substr(0, end);
      typed_.erase(0, end + 1);
      obey(line);
      continue;
    }
    if (!ready(STDIN_FILENO)) return;
    char buffer[4096];
    const ssize_t got = read(STDIN_FILENO, buffer, sizeof buffer);
    if (got > 0) {
      typed_.append(buffer, static_cast<size_t>(got));
    } else {
      ended_ = true;
      hangUp(); // the gate stays open from now on
    }
  }
}

void RecordPrompt::greet() {
  peer_ = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  for (const std::string& b : breakpoints_) tell("break " + b);
  tell(breakpoints_.empty() ? "pause" : "continue");
}

void RecordPrompt::tell(const std::string& line) {
  const std::string bytes = line + "\n";
  if (peer_ >= 0 && send(peer_, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) hangUp();
}

void RecordPrompt::hear() {
  char buffer[4096];
  const ssize_t got = recv(peer_, buffer, sizeof buffer, 0);
  if (got <= 0) return hangUp();
  heard_.append(buffer, static_cast<size_t>(got));
  for (size_t end; (end = heard_.find('\n')) != std::string::npos; heard_.erase(0, end + 1)) {
    std::vector<std::string> f;
    for (size_t from = 0, to; from <= end; from = to + 1) {
      to = std::min(heard_.find('\t', from), end);
      f.push_back(heard_.substr(from, to - from));
    }
    f.resize(std::max<size_t>(f.size(), 8));
    if (f[0] == "problem") fmt::print(stderr, "uopscope: {}\n", f[1]);
    if (f[0] == "running") paused_ = false;
    if (f[0] != "paused") continue;
    paused_ = true;
    fmt::print("{}\n  {} {}\n  {} {}\n",
               paint(Paint::Bold, fmt::format("{} > {}, step {}: about to apply {}", f[1], f[2],
                                              f[3].empty() ? 1 : std::stoll(f[3]) + 1, f[5])),
               paint(Paint::Removed, "-"), f[6], paint(Paint::Added, "+"), f[7].empty() ? "?" : f[7]);
    ask();
  }
}

void RecordPrompt::ask() {
  if (isatty(STDIN_FILENO)) fmt::print("{} ", paint(Paint::Dim, "step, next, finish, skip, continue, help:"));
  std::fflush(stdout);
}

void RecordPrompt::obey(const std::string& typed) {
  const std::string word = typed.substr(0, typed.find(' '));
  for (const char* order : {"step", "next", "finish", "continue", "skip"})
    if (word == order || (word.size() == 1 && word[0] == (order == std::string("skip") ? 'k' : order[0]))) {
      paused_ = false; // until the gate reports the next stop
      return tell(order);
    }
  if (word == "break" || word == "clear") {
    try {
      if (word == "break")
        Breakpoint::parse(std::string_view(typed).substr(std::min<size_t>(6, typed.size())));
      tell(typed);
    } catch (const Error& e) {
      fmt::print(stderr, "uopscope: {}\n", e.what());
    }
  } else if (word == "quit" || word == "q") {
    quit_ = true;
    return hangUp();
  } else {
    fmt::print("{}", kHelp);
  }
  ask();
}

} // namespace uopscope::cli
