// Reads three kinds of tables, told apart by their header: steps and match statistics as `export` writes
// them, and spans (any rows with a name, a begin and a duration).
#include "app/cli/cli.h"
#include "app/cli/import_rows.h"
#include "engine/uop/arg.h"
#include "replay/record/trace_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>

namespace uopscope::cli {

namespace {

using CsvRow = std::vector<std::string>;

/// Reads a record of comma-separated values, whose quoted fields may contain commas and line ends; false at
/// the end.
bool readRecord(std::istream& in, CsvRow& row) {
  row.assign(1, {});
  bool quoted = false, any = false;
  for (int c = in.get(); c != EOF; c = in.get()) {
    any = true;
    if (quoted) {
      if (c != '"')
        row.back() += static_cast<char>(c);
      else if (in.peek() == '"')
        row.back() += static_cast<char>(in.get());
      else
        quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      row.emplace_back();
    } else if (c == '\n') {
      break;
    } else if (c != '\r') {
      row.back() += static_cast<char>(c);
    }
  }
  if (quoted) throw Error(ErrorKind::Value, "a quotation without end");
  return any;
}

class CsvTable {
public:
  explicit CsvTable(std::istream& in) : in_(in) { readRecord(in_, header_); }
  bool has(const char* column) const { return std::ranges::find(header_, column) != header_.end(); }
  const CsvRow& header() const { return header_; }
  bool next() {
    while (readRecord(in_, row_)) {
      ++number_;
      if (row_.size() == 1 && row_[0].empty()) continue;
      if (row_.size() != header_.size())
        throw Error(ErrorKind::Value, fmt::format("record {} has {} fields, the header {}", number_,
                                                  row_.size(), header_.size()));
      return true;
    }
    return false;
  }
  std::string text(const char* column) const {
    auto at = std::ranges::find(header_, column);
    return at == header_.end() ? std::string() : row_[static_cast<size_t>(at - header_.begin())];
  }
  double real(const char* column) const {
    std::string value = text(column);
    double out = 0;
    auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), out);
    if (error != std::errc() || end != value.data() + value.size() || out > 9e18 || out < -9e18)
      throw Error(ErrorKind::Value,
                  fmt::format("record {}: \"{}\" in column {} is not a number", number_, value, column));
    return out;
  }
  int64_t integer(const char* column) const { return static_cast<int64_t>(real(column)); }

private:
  std::istream& in_;
  CsvRow header_, row_;
  size_t number_ = 1;
};

/// Makes one pass. Every expression becomes a node with its text. Nodes that no step made form the initial
/// graph.
std::string importSteps(CsvTable& csv, TraceRows& rows, const std::string& name) {
  std::map<int64_t, int64_t> nodes,
      became; ///< `nodes`: number in the table -> our node; `became`: our node before a step -> after it
  std::vector<int64_t> first; ///< our nodes that no step made
  auto node = [&](int64_t number, const std::string& text, bool made) {
    auto [it, fresh] = nodes.try_emplace(number, 0);
    if (!fresh) return it->second;
    it->second = rows.node({"CUSTOM", "dtypes.void", Arg::of(text).encode(), Arg::of(number).encode()}, {});
    if (!made) first.push_back(it->second);
    return it->second;
  };
  std::vector<Json> steps;
  std::vector<std::pair<int64_t, std::string>> errors;
  while (csv.next()) {
    auto [file, line] = scriptPlace(csv.text("at"));
    std::string way = csv.text("way");
    int64_t before = node(csv.integer("before"), csv.text("before_text"), false),
            id = static_cast<int64_t>(steps.size()) + 1;
    Json step{{"id", id}, {"pass", 1}, {"rule", rows.rule(csv.text("rule"), file, line)}, {"before", before}};
    if (way != "error") {
      int64_t after = node(csv.integer("after"), csv.text("after_text"), true);
      step["after"] = after;
      if (after != before) became[before] = after;
    } else {
      errors.emplace_back(id, "the table does not say why");
    }
    step["kind"] = way == "up" ? 0 : way == "down" ? 1 : 2;
    step["took_ns"] = csv.integer("took_ns");
    steps.push_back(std::move(step));
  }
  std::vector<int64_t> last;
  for (int64_t n : first) {
    size_t moves = 0;
    for (auto it = became.find(n); it != became.end() && moves <= became.size(); it = became.find(n), ++moves)
      n = it->second;
    last.push_back(n);
  }
  int64_t root = rows.node({"SINK", "dtypes.void", "", ""}, first),
          end = rows.node({"SINK", "dtypes.void", "", ""}, last);
  auto count = static_cast<int64_t>(steps.size());
  rows.insert("scope", Json{{"id", 1},
                            {"kind", "kernel"},
                            {"name", rows.string(name)},
                            {"line", 0},
                            {"root", root},
                            {"begin_ns", 0},
                            {"end_ns", 0}});
  rows.insert("pass", Json{{"id", 1},
                           {"scope", 1},
                           {"parent_steps", 0},
                           {"name", rows.string(name)},
                           {"file", rows.file("?")},
                           {"line", 0},
                           {"root", root},
                           {"end_root", end},
                           {"first_step", 1},
                           {"last_step", count},
                           {"step_count", count},
                           {"outcome", "done"},
                           {"begin_ns", 0},
                           {"end_ns", 0}});
  for (const Json& step : steps) rows.insert("step", step);
  for (const auto& [step, message] : errors)
    rows.insert("step_error", Json{{"step", step}, {"message", message}});
  rows.finish({{"foreign", "steps of one pass imported from CSV: a node is the text of its expression"}});
  return fmt::format("{} steps", count);
}

std::string importStats(CsvTable& csv, TraceRows& rows) {
  rows.insert("scope", Json{{"id", 1},
                            {"kind", "script"},
                            {"name", rows.string("imported")},
                            {"line", 0},
                            {"begin_ns", 0},
                            {"end_ns", 0}});
  rows.insert("pass", Json{{"id", 1},
                           {"scope", 1},
                           {"parent_steps", 0},
                           {"name", rows.string("imported")},
                           {"file", rows.file("?")},
                           {"line", 0},
                           {"first_step", 1},
                           {"last_step", 0},
                           {"step_count", 0},
                           {"outcome", "done"},
                           {"begin_ns", 0},
                           {"end_ns", 0}});
  size_t rules = 0;
  for (; csv.next(); ++rules) {
    auto [file, line] = scriptPlace(csv.text("at"));
    MatchCell cell;
    for (size_t k = 0; k < kMatchOutcomes; ++k)
      cell.count[k] = static_cast<uint64_t>(
          std::max<int64_t>(csv.integer(std::string(kMatchOutcomeNames[k]).c_str()), 0));
    cell.ns[static_cast<size_t>(3)] = csv.integer("match_ns");
    cell.ns[static_cast<size_t>(1)] = csv.integer("total_ns") - csv.integer("match_ns");
    rows.count(1, 0, rows.rule(csv.text("rule"), file, line), "NOOP", cell);
  }
  rows.finish({{"foreign", "match statistics imported from CSV: operations and passes are not known"}});
  return fmt::format("{} rules", rules);
}

std::string importSpans(CsvTable& csv, TraceRows& rows, const char* name, const char* begin, double toNs,
                        const char* took, const char* track) {
  size_t spans = 0;
  for (; csv.next(); ++spans) {
    auto work = [&](const char* column) {
      return csv.has(column) && !csv.text(column).empty() ? csv.integer(column) : 0;
    };
    rows.insert("launch", Json{{"kernel", rows.string(csv.text(name))},
                               {"device", rows.string(track ? csv.text(track) : "imported")},
                               {"flops", work("flops")},
                               {"bytes", work("bytes")},
                               {"begin_ns", static_cast<int64_t>(csv.real(begin) * toNs)},
                               {"took_ns", static_cast<int64_t>(csv.real(took) * toNs)}});
  }
  rows.finish({{"foreign", "a timeline imported from CSV: no graphs, no rewrites, no texts"}});
  return fmt::format("{} rows of the timeline", spans);
}

} // namespace

std::string importCsv(std::istream& in, const std::string& path, const std::string& name) {
  CsvTable csv(in);
  auto find = [&](std::initializer_list<const char*> columns) -> const char* {
    for (const char* c : columns)
      if (csv.has(c)) return c;
    return nullptr;
  };
  bool steps = csv.has("step") && csv.has("before_text"),
       stats = csv.has("rejected_early") && csv.has("match_ns");
  const char *what = find({"name", "kernel"}), *track = find({"device", "thread", "track"});
  const char *begin = find({"begin_ns", "start_ns", "ts"}), *took = find({"took_ns", "duration_ns", "dur"});
  if (!steps && !stats && (!what || !begin || !took))
    throw Error(
        ErrorKind::Value,
        fmt::format(
            "its columns are {}; a table of steps or of match statistics that `uopscope export` wrote is "
            "expected, or one with the columns name, begin_ns and took_ns (or ts and dur in "
            "microseconds), and device if there are several",
            fmt::join(csv.header(), ", ")));
  TraceRows rows(path, stats ? "stats" : "full");
  if (steps) return importSteps(csv, rows, name);
  if (stats) return importStats(csv, rows);
  return importSpans(csv, rows, what, begin, std::string(begin) == "ts" ? 1000 : 1, took, track);
}

} // namespace uopscope::cli
