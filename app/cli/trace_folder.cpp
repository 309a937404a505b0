// An unreadable trace has a line too, with the reason.
#include "app/cli/trace_folder.h"

#include "app/cli/output.h"
#include "replay/schema/quantity_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace uopscope::cli {

namespace fs = std::filesystem;

namespace {
struct Recorded {
  std::string path, began, process, script, status, command;
  int64_t kernels = 0, steps = 0;
};

Recorded look(const std::string& path) {
  Recorded r;
  r.path = path;
  try {
    Trace trace(path);
    r.began = trace.meta("time.began");
    r.process = trace.meta("time.pid");
    r.script = trace.meta("script");
    r.command = trace.meta("command");
    r.status = trace.status();
    for (const ScopeInfo& s : trace.scopes()) {
      r.kernels += s.kind == ScopeKind::Kernel;
      r.steps += s.steps;
    }
  } catch (const Error& e) {
    r.status = e.what();
  }
  return r;
}

std::vector<Recorded> recordedIn(const std::string& folder) {
  std::vector<Recorded> out;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".uoptrace" && entry.is_regular_file()) out.push_back(look(entry.path()));
  if (out.empty())
    throw Error(ErrorKind::File, fmt::format("{}: there is no .uoptrace file in this folder", folder));
  std::ranges::sort(out, {}, [](const Recorded& r) { return std::pair(r.began, r.path); });
  return out;
}
} // namespace

std::vector<std::string> tracesIn(const std::string& folder) {
  std::vector<std::string> out;
  for (const Recorded& r : recordedIn(folder)) out.push_back(r.path);
  return out;
}

int listFolder(const LookOptions& o) {
  if (!o.kernel.empty() || !o.pass.empty())
    throw Error(ErrorKind::Value,
                fmt::format("{}: a folder of traces; name one of them to see its kernels", o.trace));
  Table table({"trace", "began", "process", "status", "kernels", "steps", "script"});
  Json json = Json::array();
  for (const Recorded& r : recordedIn(o.trace)) {
    table.add({fs::path(r.path).filename(), r.began, r.process, r.status, countText(r.kernels),
               countText(r.steps), r.script});
    json.push_back(
        {{"trace", r.path},
         {"began", r.began},
         {"process", r.process},
         {"status", r.status},
         {"kernels", r.kernels},
         {"steps", r.steps},
         {"script", r.script},
         {"command", Json::parse(r.command, nullptr, false).is_array() ? Json::parse(r.command) : Json()}});
  }
  if (o.json)
    printJson(json);
  else
    table.print();
  return kFine;
}

} // namespace uopscope::cli
