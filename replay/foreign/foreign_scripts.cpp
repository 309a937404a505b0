// The build copies the texts into a header when they change.
#include "replay/foreign/foreign_scripts.h"

#include "engine/base/error.h"
#include "replay_foreign_embedded.h"

#include <fmt/format.h>

namespace uopscope {

const std::string& foreignScript(std::string_view name) {
  for (const auto& [file, text] : replay_foreignEmbedded())
    if (file == name) return text;
  throw Error(ErrorKind::Value, fmt::format("there is no script {} in this build", name));
}

} // namespace uopscope
