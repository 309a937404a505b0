// A trace that is put together row by row instead of recorded: imports write this. Rows are those of
// docs/guide/trace-format.md; nodes, texts, programs and counts are packed here.
//
//   TraceRows rows("out.uoptrace", "full");
//   uint32_t two = rows.node({"CONST", "dtypes.int", "2", ""}, {});
//   rows.insert("scope", {{"id", 1}, {"kind", "kernel"}, {"name", rows.string("k")}, {"line", 0},
//   {"begin_ns", 0}}); rows.finish({{"script", "model.py"}});
//
// Error(Value) names the fault of a bad row: an unknown table or column, a value that is no number, a node
// before its sources. Without finish() the file is removed again.
#pragma once
#include "replay/record/node_blocks.h"
#include "replay/record/text_writer.h"
#include "replay/schema/decline_sets.h"
#include "replay/schema/match_blocks.h"

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace uopscope {

/// A node without its sources, as text.
struct NodeText {
  std::string op, dtype, arg, tag;
};

class TraceRows {
public:
  explicit TraceRows(const std::string& path, std::string_view tier = "full");
  ~TraceRows();
  TraceRows(const TraceRows&) = delete;
  TraceRows& operator=(const TraceRows&) = delete;

  int64_t string(std::string_view text);
  /// The id of a path, 0 for no path. The first call with a path stores `text`.
  int64_t file(std::string_view path, const std::string* text = nullptr);
  int64_t rule(const std::string& name, const std::string& file, int64_t line);
  uint32_t node(const NodeText& text, const std::vector<int64_t>& sources);
  uint32_t nodeCount() const { return nodes_.count(); }
  /// A row of a table by names of columns; values are integers, texts, reals and null. The views matcher_rule
  /// and decline take rows like tables.
  void insert(const std::string& table, const nlohmann::ordered_json& row);
  /// `lines`: the instructions of each line, empty where they are not known.
  void text(int64_t id, int64_t scope, int64_t kind, std::string_view text, std::vector<TextLine> lines);
  void program(int64_t kernel, const std::vector<int64_t>& nodes);
  /// Passes must come in rising order.
  void count(int64_t pass, int64_t nested, int64_t rule, const std::string& op, const MatchCell& cell);
  /// Writes the remaining rows and completes the trace.
  void finish(const std::map<std::string, std::string>& meta);

private:
  int64_t op(const std::string& name) const;
  void flushCounts();
  void insertList(const std::string& view, const nlohmann::ordered_json& row);
  void finishLists();
  Database db_;
  NodeBlockWriter nodes_;
  MatchBlockWriter matches_;
  TextWriter texts_;
  DeclineWriter declined_;
  Statement insertString_, insertFile_, insertRule_, insertKind_, insertDtype_, insertArg_;
  std::unordered_map<std::string, int64_t> strings_, files_, dtypes_, args_, ops_;
  std::map<std::tuple<int64_t, int64_t, int64_t, int64_t>, uint32_t> kinds_;
  std::map<std::tuple<std::string, std::string, int64_t>, int64_t> rules_;
  struct Insert {
    Statement statement;
    std::map<std::string, int> places;
  };
  std::map<std::string, Insert> inserts_;
  std::map<int64_t, MatchCounts> counts_;                  ///< counts of the open pass: nested name -> counts
  std::map<int64_t, std::map<int64_t, int64_t>> matchers_; ///< position -> rule
  std::map<int64_t, DeclineWriter::Declines> declines_;    ///< by pass
  int64_t countedPass_ = 0;
  MatchCounts totals_;
  bool finished_ = false;
};

} // namespace uopscope
