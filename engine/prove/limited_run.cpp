// fork, a pipe, and a limit of processor time.
#include "engine/prove/limited_run.h"

#include "engine/base/error.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace uopscope::prove {

namespace {

[[noreturn]] void work(int to, unsigned seconds, const std::function<std::string()>& text) {
  const rlimit limit{seconds, seconds}, none{0, 0};
  setrlimit(RLIMIT_CPU, &limit);
  setrlimit(RLIMIT_CORE, &none);
  std::string all;
  try {
    all = text() + '\n'; // an end, by which a text that was cut is known
  } catch (...) {
    _exit(1);
  }
  for (size_t at = 0; at < all.size();) {
    const ssize_t n = write(to, all.data() + at, all.size() - at);
    if (n < 0 && errno != EINTR) _exit(1);
    at += static_cast<size_t>(std::max<ssize_t>(n, 0));
  }
  _exit(0);
}

} // namespace

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
    work(ends[1], seconds, text);
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
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (all.empty() || all.back() != '\n' || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return {};
  all.pop_back();
  return all;
}

} // namespace uopscope::prove
