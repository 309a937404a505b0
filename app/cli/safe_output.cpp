// stdout and stderr become streams whose bytes pass printable() on their way to the descriptors. The end of a
// write may cut an escape sequence or a character of two bytes; the beginning then waits for the next write.
// A guard has no destructor, since streams are flushed after all other objects are gone.
#include "app/cli/safe_output.h"

#include "app/cli/output.h"
#include "replay/schema/printable.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>

namespace uopscope::cli {

namespace {
using namespace std::string_view_literals;

/// All sequences that paint() and reports write.
constexpr std::array kColours = {"\x1b[0m"sv,  "\x1b[1m"sv,  "\x1b[2m"sv,  "\x1b[31m"sv,  "\x1b[32m"sv,
                                 "\x1b[33m"sv, "\x1b[34m"sv, "\x1b[36m"sv, "\x1b[1;33m"sv};
/// Restarts a line of progress.
constexpr std::string_view kAnew = "\r\x1b[K";
constexpr size_t kLongest = 7;

/// The streams from before the guard; null without one.
struct Plain {
  FILE *out = nullptr, *err = nullptr;
} plain;

class Guard {
public:
  explicit Guard(int descriptor)
      : descriptor_(descriptor), colours_(useColour()), progress_(isatty(descriptor) != 0) {}
  bool take(std::string_view bytes) {
    const std::string all = std::string(waiting_.data(), waits_) + std::string(bytes);
    const size_t whole = all.size() - unfinished(all);
    std::string out;
    for (size_t at = 0; at < whole;) {
      const size_t next = std::min(all.find_first_of("\x1b\r", at), whole);
      const std::string_view rest = std::string_view(all).substr(next, whole - next);
      size_t ours = oursAt(rest);
      out += printable(std::string_view(all).substr(at, next - at));
      out += ours ? std::string(rest.substr(0, ours)) : printable(rest.substr(0, 1));
      at = next + std::max<size_t>(ours, 1);
    }
    waits_ = all.size() - whole;
    std::copy(all.begin() + static_cast<long>(whole), all.end(), waiting_.begin());
    return write(out);
  }

private:
  /// The length of one of our own sequences at the beginning of the text, or 0.
  size_t oursAt(std::string_view text) const {
    if (progress_ && text.starts_with(kAnew)) return kAnew.size();
    const auto* colour = std::ranges::find_if(kColours, [&](auto c) { return text.starts_with(c); });
    return colours_ && colour != kColours.end() ? colour->size() : 0;
  }
  /// Number of bytes at the end that may begin a sequence or a control character of two bytes.
  static size_t unfinished(std::string_view all) {
    for (size_t n = std::min(all.size(), kLongest - 1); n > 0; --n) {
      const std::string_view end = all.substr(all.size() - n);
      auto begins = [&](std::string_view c) { return c.size() > n && c.starts_with(end); };
      if (begins(kAnew) || std::ranges::any_of(kColours, begins)) return n;
    }
    return all.ends_with('\xc2') ? 1 : 0;
  }
  bool write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t n = ::write(descriptor_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }
  int descriptor_;
  bool colours_, progress_;
  std::array<char, kLongest> waiting_{};
  size_t waits_ = 0;
};

ssize_t onWrite(void* guard, const char* bytes, size_t size) {
  return static_cast<Guard*>(guard)->take({bytes, size}) ? static_cast<ssize_t>(size) : 0;
}

/// Makes a stream that writes through the guard.
FILE* guarded(Guard& guard, int buffering) {
  FILE* stream = fopencookie(&guard, "w", {nullptr, onWrite, nullptr, nullptr});
  if (stream) setvbuf(stream, nullptr, buffering, BUFSIZ);
  return stream;
}
} // namespace

void guardOutput() {
  if (plain.out) return;
  static Guard out(STDOUT_FILENO), err(STDERR_FILENO);
  std::fflush(nullptr);
  plain = {stdout, stderr};
  if (FILE* stream = guarded(out, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF)) stdout = stream;
  if (FILE* stream = guarded(err, _IONBF)) stderr = stream;
}

void leaveOutput() {
  if (!plain.out) return;
  std::fflush(nullptr);
  stdout = plain.out;
  stderr = plain.err;
}

} // namespace uopscope::cli
