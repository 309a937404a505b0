// Spans in the categories of our own export become scopes, passes and phases again; all other spans are rows
// of the timeline, one track for each thread. Times count from the first span.
#include "app/cli/cli.h"
#include "app/cli/import_rows.h"
#include "replay/record/trace_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace uopscope::cli {

namespace {

struct Span {
  std::string name, category, track;
  double begin = 0, took = 0; ///< microseconds
  Json arguments;
};

std::string text(const Json& j, const char* key) {
  auto it = j.find(key);
  if (it == j.end()) return {};
  return it->is_string() ? it->get<std::string>() : it->dump();
}
double number(const Json& j, const char* key) {
  auto it = j.find(key);
  double value = it != j.end() && it->is_number() ? it->get<double>() : 0;
  return std::isfinite(value) && std::abs(value) < 9e12 ? value : 0;
}
class ChromeReader {
public:
  explicit ChromeReader(const Json& events) {
    for (const Json& e : events)
      if (e.is_object() && text(e, "ph") == "M" && e.contains("args") && e["args"].is_object()) {
        std::string name = text(e["args"], "name");
        if (text(e, "name") == "thread_name") threads_[text(e, "pid") + "/" + text(e, "tid")] = name;
        if (text(e, "name") == "process_name") processes_[text(e, "pid")] = name;
      }
    for (const Json& e : events)
      if (e.is_object()) add(e);
    // Of two spans with one begin, the enclosing one comes first.
    std::ranges::stable_sort(spans_, [](const Span& a, const Span& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.took > b.took;
    });
  }

  std::string write(const std::string& path) {
    if (spans_.empty())
      throw Error(ErrorKind::Value, "there is no span in it (events of phase X, or B and E)");
    TraceRows rows(path);
    double zero = spans_.front().begin;
    for (const Span& s : spans_) zero = std::min(zero, s.begin);
    auto ns = [](double microseconds) { return static_cast<int64_t>(std::llround(microseconds * 1000)); };
    std::vector<std::pair<double, int64_t>> open; ///< open scopes, by their ends
    int64_t scopes = 0, passes = 0, launches = 0, phases = 0;
    for (const Span& s : spans_) {
      const int64_t begin = ns(s.begin - zero), took = ns(s.took);
      const std::string& c = s.category;
      while (!open.empty() && open.back().first < s.begin + s.took) open.pop_back();
      Json scope = open.empty() ? Json() : Json(open.back().second);
      if (c == "script" || c == "schedule" || c == "kernel" || c == "other") {
        auto [file, line] = scriptPlace(text(s.arguments, "script"));
        Json row{
            {"id", ++scopes}, {"parent", scope}, {"kind", c}, {"name", rows.string(s.name)}, {"line", line}};
        if (!file.empty()) row["file"] = rows.file(file);
        row["begin_ns"] = begin;
        row["end_ns"] = begin + took;
        rows.insert("scope", row);
        open.emplace_back(s.begin + s.took, scopes);
      } else if (c == "pass") {
        auto [file, line] = scriptPlace(text(s.arguments, "at"));
        rows.insert("pass", Json{{"id", ++passes},
                                 {"scope", scope},
                                 {"parent_steps", 0},
                                 {"name", rows.string(s.name)},
                                 {"file", rows.file(file.empty() ? "?" : file)},
                                 {"line", line},
                                 {"first_step", 1},
                                 {"last_step", 0},
                                 {"step_count", static_cast<int64_t>(number(s.arguments, "steps"))},
                                 {"outcome", "done"},
                                 {"begin_ns", begin},
                                 {"end_ns", begin + took}});
      } else if (c == "phase") {
        rows.insert("phase", Json{{"id", ++phases},
                                  {"scope", scope},
                                  {"name", rows.string(s.name)},
                                  {"begin_ns", begin},
                                  {"took_ns", took}});
      } else {
        auto work = [&](const char* key) {
          return static_cast<int64_t>(number(s.arguments, key) * static_cast<double>(took));
        };
        rows.insert("launch", Json{{"id", ++launches},
                                   {"scope", scope},
                                   {"kernel", rows.string(s.name)},
                                   {"device", rows.string(s.track)},
                                   {"flops", work("gflops")},
                                   {"bytes", work("gb_per_s")},
                                   {"begin_ns", begin},
                                   {"took_ns", took}});
      }
    }
    for (const auto& [at, text] : instants_)
      rows.insert(
          "output",
          Json{{"stream", text.first}, {"text", text.second}, {"at_ns", ns(std::max(at - zero, 0.0))}});
    rows.finish(
        {{"foreign", "a timeline imported from Chrome's trace format: no graphs, no rewrites, no texts"}});
    return fmt::format("{} scopes, {} passes, {} phases, {} rows of the timeline", scopes, passes, phases,
                       launches);
  }

private:
  std::string track(const Json& e) const {
    std::string process = text(e, "pid"), thread = text(e, "tid");
    auto t = threads_.find(process + "/" + thread);
    if (t != threads_.end()) return t->second;
    auto p = processes_.find(process);
    return fmt::format("{}{}", p == processes_.end() ? "process " + process : p->second,
                       thread.empty() ? "" : ", thread " + thread);
  }

  void add(const Json& e) {
    std::string phase = text(e, "ph");
    Span s{text(e, "name"),  text(e, "cat"),
           track(e),         number(e, "ts"),
           number(e, "dur"), e.contains("args") && e["args"].is_object() ? e["args"] : Json::object()};
    std::vector<Span>& begun = begun_[text(e, "pid") + "/" + text(e, "tid")];
    if (phase == "X") {
      spans_.push_back(std::move(s));
    } else if (phase == "B") {
      begun.push_back(std::move(s));
    } else if (phase == "E" && !begun.empty()) {
      begun.back().took = std::max(s.begin - begun.back().begin, 0.0);
      spans_.push_back(std::move(begun.back()));
      begun.pop_back();
    } else if (phase == "i" || phase == "I") {
      instants_.push_back({s.begin, {s.category == "stderr" ? "stderr" : "stdout", s.name}});
    }
  }

  std::map<std::string, std::string> threads_, processes_;
  std::map<std::string, std::vector<Span>> begun_;
  std::vector<Span> spans_;
  std::vector<std::pair<double, std::pair<std::string, std::string>>> instants_;
};

} // namespace

std::pair<std::string, int64_t> scriptPlace(const std::string& at) {
  size_t colon = at.rfind(':');
  if (colon == std::string::npos || colon + 1 == at.size() || at.size() - colon > 9) return {at, 0};
  int64_t line = 0;
  for (size_t k = colon + 1; k < at.size(); ++k) {
    if (at[k] < '0' || at[k] > '9') return {at, 0};
    line = line * 10 + (at[k] - '0');
  }
  return {at.substr(0, colon), line};
}

std::string importChromeTrace(const std::string& text, const std::string& path) {
  Json j = Json::parse(text, nullptr, false);
  const Json* events = j.is_object() && j.contains("traceEvents") ? &j["traceEvents"] : &j;
  if (j.is_discarded() || !events->is_array())
    throw Error(ErrorKind::Value,
                "not Chrome's trace format: an array of events, or an object with traceEvents, is "
                "expected (Perfetto writes it with \"Convert to JSON\")");
  return ChromeReader(*events).write(path);
}

} // namespace uopscope::cli
