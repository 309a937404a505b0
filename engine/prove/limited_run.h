// Work in a copy of this process that ends after so many seconds of the processor, whatever it is doing then. Z3 counts its steps, but
// some of its steps never end: a remainder by a product of two unknowns is one.
//
//   std::optional<std::string> text = runLimited(6, [] { return answer(); });     // none: it took longer, or crashed
//
// The copy has one thread, and no change it makes is seen here but the text that it returns.
#pragma once
#include <functional>
#include <optional>
#include <string>

namespace uopscope::prove {

std::optional<std::string> runLimited(unsigned seconds, const std::function<std::string()>& work);

} // namespace uopscope::prove
