// Widths count code points, so that names with accents and µ align.
#include "app/cli/output.h"

#include "replay/schema/letters.h"
#include "replay/schema/printable.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace uopscope::cli {

bool useColour() {
  static const bool use = [] {
    auto set = [](const char* name) {
      const char* value = std::getenv(name);
      return value && *value && std::string_view(value) != "0";
    };
    if (const char* no = std::getenv("NO_COLOR"); no && *no) return false;
    if (set("CLICOLOR_FORCE")) return true;
    const char* terminal = std::getenv("TERM");
    return isatty(STDOUT_FILENO) && !(terminal && std::string_view(terminal) == "dumb");
  }();
  return use;
}

std::string paint(Paint paint, const std::string& text) {
  if (!useColour() || paint == Paint::Plain) return text;
  const char* code = "";
  switch (paint) {
  case Paint::Bold: code = "1"; break;
  case Paint::Dim: code = "2"; break;
  case Paint::Added: code = "34"; break;
  case Paint::Removed: code = "33"; break;
  case Paint::Changed: code = "36"; break;
  case Paint::Warning: code = "1;33"; break;
  case Paint::Plain: break;
  }
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

namespace {
bool looksNumeric(const std::string& text) {
  return text.empty() || (text.find_first_not_of("0123456789.,-+% nmsµkMGB") == std::string::npos &&
                          text.find_first_of("0123456789-") != std::string::npos);
}
} // namespace

void Table::add(std::vector<std::string> row) {
  for (std::string& cell : row) cell = printable(cell);
  rows_.push_back(std::move(row));
}

void Table::print() const {
  std::vector<size_t> width(header_.size());
  std::vector<bool> right(header_.size(), true);
  for (size_t c = 0; c < header_.size(); ++c) width[c] = letterCount(header_[c]);
  for (const auto& row : rows_)
    for (size_t c = 0; c < row.size(); ++c) {
      width[c] = std::max(width[c], letterCount(row[c]));
      right[c] = right[c] && looksNumeric(row[c]);
    }
  auto line = [&](const std::vector<std::string>& row) {
    std::string out;
    for (size_t c = 0; c < row.size(); ++c) {
      std::string pad(width[c] - std::min(width[c], letterCount(row[c])), ' ');
      bool last = c + 1 == row.size();
      out += right[c] && !rows_.empty() ? pad + row[c] : last ? row[c] : row[c] + pad;
      if (!last) out += "  ";
    }
    return out;
  };
  fmt::print("{}\n", paint(Paint::Bold, line(header_)));
  for (const auto& row : rows_) fmt::print("{}\n", line(row));
}

std::string jsonLine(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void printJson(const Json& json) {
  fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

void warnAbout(const Trace& trace) {
  if (std::string warning = trace.warning(); !warning.empty())
    fmt::print(stderr, "uopscope: {}: {}\n", trace.path(), warning);
}

std::string fileLine(const FileLine& at) {
  return at.known() ? fmt::format("{}:{}", at.file, at.line) : "";
}

void printDecisions(const std::vector<Decision>& made) {
  for (const Decision& d : made) {
    fmt::print("{}  {}\n", paint(Paint::Bold, "decided"), d.reason);
    if (d.price) fmt::print("price    {}\n", priceText(d.price, d.unit));
    for (const Decision::Alternative& other : d.others) {
      const std::string more = dearer(d, other);
      fmt::print("instead  {}  {}{}\n", priceText(other.price, {}), other.what,
                 more.empty() ? "" : "  (" + more + ")");
    }
  }
}

Json decisionsJson(const std::vector<Decision>& made) {
  Json out = Json::array();
  for (const Decision& d : made) {
    Json j{{"reason", d.reason}, {"price", d.price ? Json(*d.price) : Json()}, {"unit", d.unit}};
    j["others"] = Json::array();
    for (const Decision::Alternative& other : d.others)
      j["others"].push_back(Json{{"what", other.what}, {"price", other.price}});
    out.push_back(std::move(j));
  }
  return out;
}

std::string nodeName(NodeId id) {
  return id < kFirstViewNode ? fmt::format("{}", id) : fmt::format("v{}", id - kFirstViewNode);
}

std::string csvField(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}
std::string_view kindName(ScopeKind kind) {
  switch (kind) {
  case ScopeKind::Script: return "script";
  case ScopeKind::Schedule: return "schedule";
  case ScopeKind::Kernel: return "kernel";
  default: return "other";
  }
}

} // namespace uopscope::cli
