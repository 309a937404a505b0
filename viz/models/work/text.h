// Text of the engine and of a trace, which is UTF-8, for Qt.
//
//   row["rule"] = text(index.rule(r).name);
#pragma once
#include <QString>
#include <string_view>

namespace uopscope {

inline QString text(std::string_view s) {
  return QString::fromUtf8(s.data(), static_cast<qsizetype>(s.size()));
}

} // namespace uopscope
