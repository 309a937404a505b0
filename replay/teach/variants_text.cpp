// Writes variants as a table and as JSON.
#include "replay/read/text_diff.h"
#include "replay/schema/letters.h"
#include "replay/schema/quantity_text.h"
#include "replay/teach/variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace uopscope {

namespace {

std::string timeText(double seconds) {
  return seconds <= 0 ? "-" : durationText(std::llround(seconds * 1e9));
}

std::string ratioText(const VariantResult& r) {
  if (r.seconds <= 0) return "-";
  const bool sure = r.low > 1 || r.high < 1;
  return fmt::format("{:.2f} ({:.2f} to {:.2f}{})", r.ratio, r.low, r.high, sure ? "" : ": noise");
}

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> width;
  for (const auto& row : rows)
    for (size_t c = 0; c < row.size(); ++c) {
      if (width.size() <= c) width.push_back(0);
      width[c] = std::max(width[c], letterCount(row[c]));
    }
  std::string out;
  for (const auto& row : rows) {
    for (size_t c = 0; c < row.size(); ++c) {
      const std::string pad(width[c] - letterCount(row[c]), ' ');
      const bool number = c > 0 && c < 6;
      out += (c ? "  " : "") + (number ? pad + row[c] : c + 1 == row.size() ? row[c] : row[c] + pad);
    }
    out += '\n';
  }
  return out;
}

std::string verdict(const VariantResult& r) {
  if (!r.problem.empty()) return "does not compile";
  if (r.wrong) return "other results";
  if (!r.unmeasured.empty()) return "not run";
  return r.sameCode ? "the same code" : r.seconds > 0 ? "the same results" : "";
}

} // namespace

std::string whatIfText(const WhatIf& w, size_t diffLines) {
  std::string out = fmt::format("{}{}\n", w.kernel, w.place.empty() ? "" : "  " + w.place);
  std::vector<std::vector<std::string>> rows = {
      {"variant", "rewrites", "lines of C", "instructions", "registers", "spills", "time", "of before", ""}};
  auto add = [&](const VariantResult& r, bool base) {
    rows.push_back({r.name, fmt::format("{}", r.rewrites), fmt::format("{}", r.lines),
                    r.instructions ? fmt::format("{}", r.instructions) : "-",
                    r.instructions ? fmt::format("{}", r.registers) : "-",
                    r.instructions ? fmt::format("{}", r.spills) : "-", timeText(r.seconds),
                    base ? "" : ratioText(r), base ? "" : verdict(r)});
  };
  add(w.base, true);
  for (const VariantResult& v : w.variants) add(v, false);
  out += table(rows);
  for (const VariantResult& v : w.variants) {
    if (!v.problem.empty()) out += fmt::format("\n{}: {}\n", v.name, v.problem);
    if (!v.unmeasured.empty()) out += fmt::format("\n{} was not run: {}\n", v.name, v.unmeasured);
    if (v.difference.empty() && v.sameCode) out += fmt::format("\n{}: nothing changes\n", v.name);
    if (!v.difference.empty()) out += fmt::format("\n{}: {}\n", v.name, v.difference);
    if (v.sameCode || v.source.empty()) continue;
    const std::string diff = unifiedDiff(w.base.source, v.source, "as it is", v.name);
    size_t at = 0, n = 0;
    for (; at < diff.size() && (diffLines == 0 || n < diffLines); ++n)
      at = std::min(diff.find('\n', at), diff.size() - 1) + 1;
    out += diff.substr(0, at);
    if (at < diff.size())
      out += fmt::format("... {} more lines; --diffs shows all\n",
                         std::count(diff.begin() + static_cast<long>(at), diff.end(), '\n'));
  }
  return out;
}

nlohmann::ordered_json whatIfJson(const WhatIf& w) {
  auto one = [](const VariantResult& r) {
    return nlohmann::ordered_json{{"name", r.name},
                                  {"problem", r.problem},
                                  {"unmeasured", r.unmeasured},
                                  {"difference", r.difference},
                                  {"pass", r.pass},
                                  {"same_code", r.sameCode},
                                  {"rewrites", r.rewrites},
                                  {"lines", r.lines},
                                  {"instructions", r.instructions},
                                  {"registers", r.registers},
                                  {"spills", r.spills},
                                  {"opts", r.opts},
                                  {"seconds", r.seconds},
                                  {"ratio", r.ratio},
                                  {"low", r.low},
                                  {"high", r.high},
                                  {"wrong", r.wrong},
                                  {"source", r.source}};
  };
  nlohmann::ordered_json out{{"kernel", w.kernel}, {"place", w.place}, {"base", one(w.base)}};
  out["variants"] = nlohmann::ordered_json::array();
  for (const VariantResult& v : w.variants) out["variants"].push_back(one(v));
  return out;
}

} // namespace uopscope
