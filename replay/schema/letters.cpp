// Counts the bytes that begin a letter. A file may hold any bytes: of those that begin no letter, the fourth in a row and
// all after it count as letters, so that no text without a letter is endless.
#include "replay/schema/letters.h"

#include <algorithm>

namespace uopscope {

namespace {

/// Calls `at` with the place of each letter until it returns false.
template <typename F>
void eachLetter(std::string_view text, F at) {
  for (size_t i = 0, more = 0; i < text.size(); ++i) {
    more = continuesLetter(text[i]) ? more + 1 : 0;
    if ((more == 0 || more > 3) && !at(i)) return;
  }
}

} // namespace

size_t letterCount(std::string_view text) {
  size_t count = 0;
  eachLetter(text, [&](size_t) { return ++count > 0; });
  return count;
}

std::string clipped(std::string text, size_t most) {
  if (text.size() <= most || letterCount(text) <= most) return text;
  size_t letters = 0, end = 0;
  eachLetter(text, [&](size_t at) {
    end = at;
    return ++letters < std::max<size_t>(most, 1);
  });
  text.resize(end);
  return text + "…";
}

} // namespace uopscope
