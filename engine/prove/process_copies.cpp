// fork, pipes, and a limit of processor time.
#include "engine/prove/process_copies.h"

#include "engine/base/error.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <vector>

namespace uopscope::prove {

namespace {

bool writeAll(int to, std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const ssize_t n = write(to, text.data() + at, text.size() - at);
    if (n < 0 && errno != EINTR) return false;
    at += static_cast<size_t>(std::max<ssize_t>(n, 0));
  }
  return true;
}

[[noreturn]] void workWithin(int to, unsigned seconds, const std::function<std::string()>& text) {
  const rlimit limit{seconds, seconds}, none{0, 0};
  setrlimit(RLIMIT_CPU, &limit);
  setrlimit(RLIMIT_CORE, &none);
  std::string all;
  try {
    all = text() + '\n'; // an end, by which a text that was cut is known
  } catch (...) {
    _exit(1);
  }
  _exit(writeAll(to, all) ? 0 : 1);
}

void waitFor(pid_t child, int* status) {
  while (waitpid(child, status, 0) < 0 && errno == EINTR) {
  }
}

/// What stands before each text that a copy hands over.
struct Heading {
  size_t piece, bytes;
};

/// The number of the next piece, in memory that all copies share.
class SharedCounter {
public:
  SharedCounter()
      : at_(mmap(nullptr, sizeof(Number), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (at_ != MAP_FAILED) ::new (at_) Number(0);
  }
  ~SharedCounter() {
    if (at_ != MAP_FAILED) munmap(at_, sizeof(Number));
  }
  SharedCounter(const SharedCounter&) = delete;
  SharedCounter& operator=(const SharedCounter&) = delete;
  explicit operator bool() const { return at_ != MAP_FAILED; }
  size_t next() { return static_cast<Number*>(at_)->fetch_add(1); }

private:
  using Number = std::atomic<size_t>;
  static_assert(Number::is_always_lock_free);
  void* at_;
};

struct Copy {
  pid_t process;
  int from;
  std::string read; ///< bytes that are no whole text yet
};

[[noreturn]] void workOnPieces(int to, size_t count, SharedCounter& pieces,
                               const std::function<std::string(size_t)>& work) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    for (size_t i; (i = pieces.next()) < count;) {
      const std::string text = work(i);
      const Heading heading{i, text.size()};
      const std::string_view bytes(reinterpret_cast<const char*>(&heading), sizeof heading);
      if (!writeAll(to, bytes) || !writeAll(to, text)) break;
    }
  } catch (...) { // the piece is done by whoever shared the work, which sees the error
  }
  _exit(0);
}

std::vector<Copy> copiesAtWork(size_t copies, size_t count, SharedCounter& pieces,
                               const std::function<std::string(size_t)>& work) {
  std::vector<Copy> made;
  std::array<int, 2> ends{};
  while (made.size() < copies && pipe(ends.data()) == 0) {
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      workOnPieces(ends[1], count, pieces, work);
    }
    close(ends[1]);
    if (child < 0) {
      close(ends[0]);
      break;
    }
    made.push_back({child, ends[0], {}});
  }
  return made;
}

/// Reads what a copy has to say; false at its end.
bool hear(Copy& copy, std::vector<std::optional<std::string>>& texts) {
  std::array<char, 4096> part{};
  const ssize_t n = read(copy.from, part.data(), part.size());
  if (n <= 0) return n < 0 && errno == EINTR;
  copy.read.append(part.data(), static_cast<size_t>(n));
  for (Heading heading{}; copy.read.size() >= sizeof heading;) {
    std::memcpy(&heading, copy.read.data(), sizeof heading);
    if (copy.read.size() < sizeof heading + heading.bytes) break;
    texts[heading.piece] = copy.read.substr(sizeof heading, heading.bytes);
    copy.read.erase(0, sizeof heading + heading.bytes);
  }
  return true;
}

} // namespace

void runShared(size_t count, size_t copies, const std::function<std::string(size_t)>& work,
               const std::function<void(std::string)>& take) {
  std::vector<std::optional<std::string>> texts(count);
  size_t taken = 0;
  auto takeReady = [&] {
    for (; taken < count && texts[taken]; ++taken) take(std::move(*texts[taken]));
  };
  if (SharedCounter pieces; pieces && copies > 1) {
    std::vector<Copy> made = copiesAtWork(std::min(copies, count), count, pieces, work);
    while (!made.empty()) {
      std::vector<pollfd> watched;
      for (const Copy& copy : made) watched.push_back({copy.from, POLLIN, 0});
      if (poll(watched.data(), watched.size(), -1) < 0) continue;
      for (size_t i = made.size(); i-- > 0;) {
        if (!watched[i].revents || hear(made[i], texts)) continue;
        close(made[i].from);
        waitFor(made[i].process, nullptr);
        made.erase(made.begin() + static_cast<ptrdiff_t>(i));
      }
      takeReady();
    }
  }
  while (taken < count) {
    if (!texts[taken]) texts[taken] = work(taken);
    takeReady();
  }
}

std::optional<std::string> runLimited(unsigned seconds, const std::function<std::string()>& text) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw Error(ErrorKind::Runtime, std::string("no pipe: ") + strerror(errno));
  const pid_t child = fork();
  if (child < 0) {
    close(ends[0]);
    close(ends[1]);
    throw Error(ErrorKind::Runtime, std::string("no process: ") + strerror(errno));
  }
  if (child == 0) {
    close(ends[0]);
    workWithin(ends[1], seconds, text);
  }
  close(ends[1]);
  std::string all;
  std::array<char, 4096> part{};
  for (ssize_t n = 0; (n = read(ends[0], part.data(), part.size())) != 0;) {
    if (n < 0 && errno != EINTR) break;
    all.append(part.data(), static_cast<size_t>(std::max<ssize_t>(n, 0)));
  }
  close(ends[0]);
  int status = 0;
  waitFor(child, &status);
  if (all.empty() || all.back() != '\n' || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return {};
  all.pop_back();
  return all;
}

} // namespace uopscope::prove
