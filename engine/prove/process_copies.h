// Work in copies of this process. runLimited: one copy that ends after so many seconds of the processor, whatever it is doing then. Z3 counts its steps, but
// some of its steps never end: a remainder by a product of two unknowns is one.
//
//   std::optional<std::string> text = runLimited(6, [] { return answer(); });     // none: it took longer, or crashed
//
// runShared: many pieces, each taken by the next copy that has nothing to do.
//
//   runShared(rules.size(), cpuCount(), [&](size_t i) { return proofOf(rules[i]); }, [&](std::string text) { print(text); });
//
// A copy has one thread, and no change it makes is seen here but the text that it returns.
#pragma once
#include <functional>
#include <optional>
#include <string>

namespace uopscope::prove {

std::optional<std::string> runLimited(unsigned seconds, const std::function<std::string()>& work);

/// Hands over the text of each piece, in order, as soon as it and those before it are there. A piece that no copy finished, since it
/// crashed, threw or could not be made, is done here.
void runShared(size_t count, size_t copies, const std::function<std::string(size_t)>& work,
               const std::function<void(std::string)>& take);

} // namespace uopscope::prove
