// uopscope import FILE -o TRACE: turns a file from `export` or from other programs into a trace, so that all
// tools for traces apply.
#include "app/cli/import_rows.h"
#include "app/cli/json_lines.h"
#include "app/cli/output.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace uopscope::cli {

namespace {

/// A trace in the making. Only finish() moves it to its place and replaces an existing file.
class PartialTrace {
public:
  explicit PartialTrace(std::string place) : place_(std::move(place)), path_(place_ + ".importing") {
    drop();
  }
  ~PartialTrace() { drop(); }
  PartialTrace(const PartialTrace&) = delete;
  PartialTrace& operator=(const PartialTrace&) = delete;

  const std::string& path() const { return path_; }
  void finish() {
    std::error_code failed;
    std::filesystem::rename(path_, place_, failed);
    if (failed)
      throw Error(ErrorKind::File, fmt::format("{}: cannot be written: {}", place_, failed.message()));
  }

private:
  void drop() const {
    std::error_code ignored;
    for (const char* more : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + more, ignored);
  }
  std::string place_, path_;
};

} // namespace

int importFile(const ImportOptions& o) {
  namespace fs = std::filesystem;
  std::ifstream in(o.file, std::ios::binary);
  if (in) in.peek(); // a folder opens too, but peek() fails on it
  if (in.bad() || !in.is_open())
    throw Error(ErrorKind::File, fmt::format("{}: cannot be read: {}", o.file, strerror(errno)));
  std::string ending = fs::path(o.file).extension().string(), name = fs::path(o.file).stem().string();
  std::string output = o.output.empty() ? name + ".uoptrace" : o.output;
  std::error_code ignored;
  if (fs::equivalent(o.file, output, ignored))
    throw Error(ErrorKind::Value, fmt::format("-o {}: that is the file to import", output));
  auto whole = [&] {
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  };
  std::string made;
  PartialTrace partial(output);
  try {
    if (ending == ".jsonl") {
      readJsonLines(in, partial.path());
    } else if (ending == ".csv") {
      made = importCsv(in, partial.path(), name);
    } else if (ending == ".json") {
      made = importChromeTrace(whole(), partial.path());
    } else if (ending == ".dot" || ending == ".gv") {
      made = importDot(whole(), o.file, partial.path());
    } else if (ending == ".pkl" || ending == ".pickle") {
      made = importProfile(o.file, partial.path());
    } else {
      throw Error(
          ErrorKind::Value,
          "the ending of its name is unknown; use .dot or .gv (a graph), .jsonl (a whole trace), .json "
          "(a timeline of Chrome or Perfetto), .pkl (a profile of tinygrad) or .csv");
    }
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::File) throw;
    throw Error(ErrorKind::Value, fmt::format("{}: {}", o.file, e.what()));
  }
  partial.finish();
  Trace trace(output);
  if (made.empty()) made = fmt::format("{} nodes, {} scopes", trace.nodes().count(), trace.scopes().size());
  if (o.json)
    printJson(Json{{"trace", output},
                   {"nodes", trace.nodes().count()},
                   {"scopes", trace.scopes().size()},
                   {"made", made}});
  else
    fmt::print(stderr, "uopscope: {}: {}; uopscope open {}\n", output, made, output);
  return kFine;
}

} // namespace uopscope::cli
