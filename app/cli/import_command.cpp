// uopscope import FILE -o TRACE: turns a file from `export` or from other programs into a trace, so that all
// tools for traces apply. A graph in DOT becomes one pass without steps: a node is a CUSTOM with its label;
// an edge a -> b makes a a source of b.
#include "app/cli/import_rows.h"
#include "app/cli/json_lines.h"
#include "app/cli/output.h"
#include "engine/rewrite/driver.h"
#include "replay/record/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace uopscope::cli {

namespace {

struct DotGraph {
  std::vector<std::string> names; ///< in order of first appearance
  std::map<std::string, size_t> index;
  std::vector<std::string> labels;
  std::vector<std::vector<size_t>> sources;

  size_t node(const std::string& name) {
    auto [it, fresh] = index.try_emplace(name, names.size());
    if (fresh) {
      names.push_back(name);
      labels.push_back(name);
      sources.emplace_back();
    }
    return it->second;
  }
};

/// Reads the part of DOT that describes graphs: node and edge statements with attributes. Subgraphs only act
/// as brackets.
class DotReader {
public:
  explicit DotReader(std::string text) : text_(std::move(text)) { next(); }

  DotGraph read() {
    while (token_ == "strict") next();
    if (quoted_ || (token_ != "digraph" && token_ != "graph"))
      fail(fmt::format("not a graph in DOT: digraph or graph expected, found \"{}\"", token_.substr(0, 40)));
    next();
    if (token_ != "{") next(); // a name
    expect("{");
    int depth = 1;
    while (depth > 0) {
      if (ended_) fail("the end came before the last }");
      if (token_ == "{")
        ++depth, next();
      else if (token_ == "}")
        --depth, next();
      else if (token_ == ";" || token_ == ",")
        next();
      else
        statement();
    }
    return std::move(graph_);
  }

private:
  [[noreturn]] void fail(std::string_view what) const {
    throw Error(
        ErrorKind::Value,
        fmt::format("line {}: {}",
                    std::count(text_.begin(),
                               text_.begin() + static_cast<std::ptrdiff_t>(std::min(at_, text_.size())),
                               '\n') +
                        1,
                    what));
  }
  void expect(std::string_view wanted) {
    if (token_ != wanted || quoted_)
      fail(fmt::format("{} expected, found \"{}\"", wanted, token_.substr(0, 40)));
    next();
  }

  void next() {
    token_.clear();
    quoted_ = false;
    while (at_ < text_.size()) {
      std::string_view rest = std::string_view(text_).substr(at_);
      if (std::isspace(static_cast<unsigned char>(rest[0]))) {
        ++at_;
      } else if (rest.starts_with("//") || rest[0] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (rest.starts_with("/*")) {
        at_ = std::min(text_.find("*/", at_), text_.size() - 2) + 2;
      } else {
        break;
      }
    }
    ended_ = at_ >= text_.size();
    if (ended_) return;
    char c = text_[at_];
    if (c == '"') {
      quoted_ = true;
      for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
        if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
          char escaped = text_[++at_];
          token_ += escaped == 'n' || escaped == 'l' || escaped == 'r' ? ' ' : escaped;
        } else {
          token_ += text_[at_];
        }
      }
      if (at_ >= text_.size()) fail("a quotation without end");
      ++at_;
      return;
    }
    if (text_.compare(at_, 2, "->") == 0 || text_.compare(at_, 2, "--") == 0) {
      token_ = "->";
      at_ += 2;
      return;
    }
    if (std::string_view("{}[]=;,:").find(c) != std::string_view::npos) {
      token_ = c;
      ++at_;
      return;
    }
    while (at_ < text_.size() &&
           std::string_view("{}[]=;,:\" \t\r\n").find(text_[at_]) == std::string_view::npos &&
           text_.compare(at_, 2, "->") != 0 && text_.compare(at_, 2, "--") != 0)
      token_ += text_[at_++];
  }

  std::string name() {
    std::string out = token_;
    next();
    while (token_ == ":" && !quoted_) { // skips a port
      next();
      next();
    }
    return out;
  }

  void statement() {
    std::string first = name();
    bool general = first == "graph" || first == "node" || first == "edge";
    if (first == "subgraph") {
      if (token_ != "{") next();
      return;
    }
    if (token_ == "=") { // skips an attribute of the graph
      next();
      next();
      return;
    }
    if (token_ == "[" && general) {
      attributes();
      return;
    }
    size_t last = graph_.node(first);
    bool edge = false;
    while (token_ == "->" && !quoted_) {
      next();
      if (ended_ || token_ == "{") fail("a node expected after ->");
      size_t to = graph_.node(name());
      graph_.sources[to].push_back(last);
      last = to;
      edge = true;
    }
    if (token_ != "[") return;
    auto found = attributes();
    if (!edge && found.contains("label")) graph_.labels[last] = found["label"];
  }

  std::map<std::string, std::string> attributes() {
    std::map<std::string, std::string> out;
    expect("[");
    while (token_ != "]" || quoted_) {
      if (ended_) fail("the end came before ]");
      if ((token_ == "," || token_ == ";") && !quoted_) {
        next();
        continue;
      }
      std::string key = name();
      if (token_ == "=") {
        next();
        out[key] = token_;
        next();
      }
    }
    next();
    return out;
  }

  std::string text_, token_;
  size_t at_ = 0;
  bool quoted_ = false, ended_ = false;
  DotGraph graph_;
};

/// Makes nodes in the current pool, sources first. The root has all nodes without users as its sources.
UOp build(const DotGraph& graph) {
  std::vector<UOp> made(graph.names.size());
  std::vector<uint8_t> state(graph.names.size());
  std::vector<bool> used(graph.names.size());
  for (const auto& sources : graph.sources)
    for (size_t s : sources) used[s] = true;
  std::vector<size_t> stack;
  for (size_t start = 0; start < graph.names.size(); ++start) {
    stack.push_back(start);
    while (!stack.empty()) {
      size_t at = stack.back();
      if (state[at] == 2) {
        stack.pop_back();
        continue;
      }
      if (state[at] == 0) {
        state[at] = 1;
        for (size_t s : graph.sources[at]) {
          if (state[s] == 1)
            throw Error(
                ErrorKind::Value,
                fmt::format("\"{}\" is below itself: a graph with a circle cannot be shown", graph.names[s]));
          if (state[s] == 0) stack.push_back(s);
        }
        continue;
      }
      std::vector<UOp> sources;
      for (size_t s : graph.sources[at]) sources.push_back(made[s]);
      made[at] =
          UOp::make(Op::CUSTOM, dtypes::void_, sources, Arg::of(graph.labels[at]), Arg::of(graph.names[at]));
      state[at] = 2;
      stack.pop_back();
    }
  }
  std::vector<UOp> roots;
  for (size_t k = 0; k < made.size(); ++k)
    if (!used[k]) roots.push_back(made[k]);
  if (roots.empty()) throw Error(ErrorKind::Value, "there is no node in it");
  return UOp::sink(roots);
}

std::string importDot(const std::string& text, const std::string& file, const std::string& output) {
  Pool pool;
  PoolScope scope(pool);
  DotGraph graph = DotReader(text).read();
  UOp root = build(graph);
  RecorderOptions options;
  options.path = output;
  options.meta = {{"script", file}, {"foreign", "a graph imported from DOT"}};
  Recorder recorder(std::move(options));
  {
    ObserverScope observed(&recorder);
    ObservedScope kernel({ScopeKind::Kernel, std::filesystem::path(file).stem().string(), {}, root});
    graphRewrite(root, PatternMatcher(), {.name = "imported graph"});
    recorder.poolRetired(pool);
  }
  recorder.finish();
  return fmt::format("{} nodes", graph.names.size());
}

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
    } else {
      throw Error(
          ErrorKind::Value,
          "the ending of its name is unknown; use .dot or .gv (a graph), .jsonl (a whole trace), .json "
          "(a timeline of Chrome or Perfetto) or .csv");
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
