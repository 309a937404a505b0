// Most tables need no conversion except for columns that hold numbers of names and files. One list of these
// columns serves both reading and writing.
#include "app/cli/json_lines.h"

#include "app/cli/output.h"
#include "replay/record/trace_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace uopscope::cli {

namespace {
/// The instructions of each line, from lists of positions by line.
std::vector<TextLine> linesOf(const Json& lists) {
  std::vector<TextLine> out;
  uint32_t line = 0;
  for (const Json& list : lists) {
    ++line;
    for (const Json& position : list) {
      if (!position.is_number_integer() || position.get<int64_t>() < 0 ||
          position.get<int64_t>() > UINT32_MAX)
        throw Error(ErrorKind::Value, "\"lines\" holds something else than positions of instructions");
      out.push_back({line, position.get<uint32_t>()});
    }
  }
  return out;
}

struct Names {
  const char* table;
  std::vector<std::string> strings; ///< columns that hold string.id
  bool hasFile;                     ///< whether the column "file" holds a file.id
};
/// The tables in the order they are written; each row is a line.
const std::vector<Names>& plainTables() {
  static const std::vector<Names> tables = {{"rule", {}, true},
                                            {"matcher_rule", {}, false},
                                            {"scope", {"name"}, true},
                                            {"pass", {"name", "message"}, true},
                                            {"step", {}, false},
                                            {"step_error", {}, false},
                                            {"decision", {}, false},
                                            {"decline", {"reason"}, false},
                                            {"gate", {}, false},
                                            {"unchanged", {}, false},
                                            {"kernel", {}, false},
                                            {"phase", {"name"}, false},
                                            {"buffer", {"device", "dtype"}, false},
                                            {"launch", {"kernel", "device"}, false},
                                            {"candidate", {}, false},
                                            {"output", {}, false},
                                            {"origin", {"operation"}, true}};
  return tables;
}

/// Texts by number: those of string.value or file.path.
class Texts {
public:
  Texts(const Database& db, const char* sql) : select_(db.prepare(sql)) {}
  const std::string& of(int64_t id) {
    auto [it, fresh] = known_.try_emplace(id);
    if (fresh && select_.bind(1, id).step()) it->second = select_.text(0);
    select_.reset();
    return it->second;
  }

private:
  Statement select_;
  std::map<int64_t, std::string> known_;
};
struct Spelled {
  explicit Spelled(const Database& db)
      : strings(db, "SELECT value FROM string WHERE id = ?"),
        files(db, "SELECT path FROM file WHERE id = ?") {}
  Texts strings, files;
};

void writeTable(Trace& trace, Spelled& spelled, const Names& names, std::ostream& out) {
  // The order of the columns of a step differs between versions of the schema.
  const bool isStep = std::string_view(names.table) == "step";
  const char* columns = isStep ? "id, pass, rule, before, after, kind, took_ns" : "*";
  // Numbers of texts differ between recorders, so rows are ordered by the texts.
  const char* order = std::string_view(names.table) == "decline"
                          ? " ORDER BY pass, rule, (SELECT value FROM string WHERE id = reason)"
                          : "";
  for (Statement s =
           trace.database().prepare(fmt::format("SELECT {} FROM {}{}", columns, names.table, order));
       s.step();) {
    Json j{{"type", names.table}};
    for (int c = 0; c < s.columns(); ++c) {
      std::string name = s.columnName(c);
      if (s.isNull(c)) continue;
      if (std::ranges::find(names.strings, name) != names.strings.end())
        j[name] = spelled.strings.of(s.integer(c));
      else if (names.hasFile && name == "file")
        j[name] = spelled.files.of(s.integer(c));
      else if (s.type(c) == Statement::Type::Integer)
        j[name] = s.integer(c);
      else if (s.type(c) == Statement::Type::Real)
        j[name] = s.real(c);
      else
        j[name] = s.text(c);
    }
    out << jsonLine(j) << "\n";
  }
}

void writeCounts(Trace& trace, Spelled& spelled, std::ostream& out) {
  std::map<uint32_t, std::string> ops;
  for (Statement o = trace.database().prepare("SELECT id, name FROM op"); o.step();)
    ops[static_cast<uint32_t>(o.integer(0))] = o.text(1);
  // Counts of a pass are ordered by the name of the nested pass, since numbers of names differ between
  // recorders.
  int64_t pass = 0;
  std::map<std::string, std::string> ofPass;
  auto write = [&] {
    for (const auto& [nested, lines] : ofPass) out << lines;
    ofPass.clear();
  };
  for (MatchBlockReader in(trace.database(), 1, INT64_MAX); in.next();) {
    if (in.pass() != pass) write();
    pass = in.pass();
    const std::string nested = in.nested() ? std::string(spelled.strings.of(in.nested())) : std::string();
    std::string& lines = ofPass[nested];
    std::map<std::pair<std::string, uint32_t>, MatchCell>
        cells; // keyed by the operation's name, since numbers differ between recorders
    in.decode([&](uint32_t rule, uint32_t op, const MatchCell& cell) { cells[{ops[op], rule}] = cell; });
    for (const auto& [of, cell] : cells) {
      Json j{{"type", "match_count"},
             {"pass", in.pass()},
             {"rule", of.second},
             {"op", of.first},
             {"count", cell.count}};
      if (in.nested()) j["nested"] = nested;
      if (std::ranges::any_of(cell.ns, [](int64_t ns) { return ns != 0; })) j["took_ns"] = cell.ns;
      lines += jsonLine(j) + "\n";
    }
  }
  write();
}

void writeTexts(Trace& trace, Spelled& spelled, std::ostream& out) {
  for (Statement s = trace.database().prepare("SELECT id, scope, kind, text FROM artifact ORDER BY id");
       s.step();) {
    Json j{{"type", "text"}, {"id", s.integer(0)}};
    if (!s.isNull(1)) j["scope"] = s.integer(1);
    j["kind"] = spelled.strings.of(s.integer(2));
    j["text"] = s.text(3);
    Json lines = Json::array();
    for (const TextLineInfo& l : trace.textLines(s.integer(0))) {
      if (l.line < 1 || l.line > 1 << 24) continue;
      while (static_cast<int64_t>(lines.size()) < l.line) lines.push_back(Json::array());
      lines.back().push_back(l.instruction);
    }
    if (!lines.empty()) j["lines"] = lines;
    out << jsonLine(j) << "\n";
  }
}

/// Writes each line's row into the trace.
class LineReader {
public:
  explicit LineReader(TraceRows& rows) : rows_(rows) {}

  void read(const Json& j) {
    if (!j.is_object() || !j.contains("type") || !j["type"].is_string())
      throw Error(ErrorKind::Value, "not an object with a \"type\"");
    const std::string type = j["type"];
    if (type == "trace") {
      for (const auto& [key, value] : j.items())
        if (key != "type" && value.is_string()) meta_[key] = value;
    } else if (type == "file") {
      std::string text = textOf(j, "text");
      rows_.file(textOf(j, "path"), j.contains("text") ? &text : nullptr);
    } else if (type == "node") {
      uint32_t id = rows_.node({textOf(j, "op"), textOf(j, "dtype"), textOf(j, "arg"), textOf(j, "tag")},
                               numbersOf(j, "src"));
      if (j.contains("id") && numberOf(j, "id") != id)
        throw Error(ErrorKind::Value,
                    fmt::format("this is node {}: nodes are numbered from 1, without gaps", id));
    } else if (type == "text") {
      rows_.text(numberOf(j, "id"), numberOf(j, "scope"), rows_.string(textOf(j, "kind")), textOf(j, "text"),
                 j.contains("lines") ? linesOf(j["lines"]) : std::vector<TextLine>());
    } else if (type == "program") {
      rows_.program(numberOf(j, "kernel"), numbersOf(j, "nodes"));
    } else if (type == "match_count") {
      MatchCell cell;
      auto counts = numbersOf(j, "count"), times = numbersOf(j, "took_ns");
      for (size_t k = 0; k < kMatchOutcomes; ++k) {
        if (k < counts.size()) cell.count[k] = static_cast<uint64_t>(std::max<int64_t>(counts[k], 0));
        if (k < times.size()) cell.ns[k] = times[k];
      }
      std::string nested = textOf(j, "nested");
      rows_.count(numberOf(j, "pass"), nested.empty() ? 0 : rows_.string(nested), numberOf(j, "rule"),
                  textOf(j, "op"), cell);
    } else {
      plain(type, j);
    }
  }
  const std::map<std::string, std::string>& meta() const { return meta_; }

private:
  static std::string textOf(const Json& j, const char* key) {
    if (!j.contains(key)) return {};
    if (!j[key].is_string()) throw Error(ErrorKind::Value, fmt::format("\"{}\" is not a text", key));
    return j[key];
  }
  static int64_t numberOf(const Json& j, const char* key) {
    if (!j.contains(key)) return 0;
    if (!j[key].is_number_integer())
      throw Error(ErrorKind::Value, fmt::format("\"{}\" is not a whole number", key));
    return j[key];
  }
  static std::vector<int64_t> numbersOf(const Json& j, const char* key) {
    std::vector<int64_t> out;
    if (!j.contains(key)) return out;
    if (!j[key].is_array())
      throw Error(ErrorKind::Value, fmt::format("\"{}\" is not a list of numbers", key));
    for (const Json& item : j[key]) {
      if (!item.is_number_integer())
        throw Error(ErrorKind::Value, fmt::format("\"{}\" holds {}, not a number", key, item.dump()));
      out.push_back(item);
    }
    return out;
  }

  void plain(const std::string& type, const Json& j) {
    auto names = std::ranges::find(plainTables(), type, &Names::table);
    if (names == plainTables().end())
      throw Error(ErrorKind::Value, fmt::format("there is no type \"{}\"", type));
    Json row = j;
    row.erase("type");
    for (const std::string& column : names->strings)
      if (row.contains(column)) row[column] = rows_.string(textOf(row, column.c_str()));
    if (names->hasFile && row.contains("file")) row["file"] = rows_.file(textOf(row, "file"));
    if (type == "rule" && row.value("file", 0) == 0) row["file"] = rows_.file("?");
    rows_.insert(type, row);
  }

  TraceRows& rows_;
  std::map<std::string, std::string> meta_;
};

} // namespace

void writeJsonLines(Trace& trace, std::ostream& out) {
  Json meta{{"type", "trace"}};
  for (const auto& [key, value] : trace.meta()) meta[key] = value;
  out << jsonLine(meta) << "\n";
  for (Statement s = trace.database().prepare("SELECT path, text FROM file ORDER BY id"); s.step();) {
    Json j{{"type", "file"}, {"path", s.text(0)}};
    if (!s.isNull(1)) j["text"] = s.text(1);
    out << jsonLine(j) << "\n";
  }
  for (NodeId id = 1, last = trace.nodes().count(); id <= last; ++id) {
    NodeFields n = trace.nodes().fields(id);
    Json j{{"type", "node"}, {"id", id}, {"op", opName(n.op)}, {"dtype", n.dtype.name()}};
    if (n.arg) j["arg"] = n.arg.encode();
    if (n.tag) j["tag"] = n.tag.encode();
    if (!n.src.empty()) j["src"] = std::vector<NodeId>(n.src.begin(), n.src.end());
    out << jsonLine(j) << "\n";
  }
  Spelled spelled(trace.database());
  for (const Names& table : plainTables()) writeTable(trace, spelled, table, out);
  writeTexts(trace, spelled, out);
  for (const ScopeInfo& s : trace.scopes())
    if (auto program = trace.program(s.id); !program.empty())
      out << jsonLine(Json{{"type", "program"}, {"kernel", s.id}, {"nodes", program}}) << "\n";
  writeCounts(trace, spelled, out);
}

void readJsonLines(std::istream& in, const std::string& path) {
  TraceRows rows(path);
  LineReader reader(rows);
  size_t number = 0;
  for (std::string text; std::getline(in, text);) {
    ++number;
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      Json j = Json::parse(text, nullptr, false);
      if (j.is_discarded()) throw Error(ErrorKind::Value, "not JSON");
      reader.read(j);
    } catch (const Error& e) {
      throw Error(ErrorKind::Value, fmt::format("line {}: {}", number, e.what()));
    }
  }
  if (number == 0) throw Error(ErrorKind::Value, "there is nothing in it");
  rows.finish(reader.meta());
}

} // namespace uopscope::cli
