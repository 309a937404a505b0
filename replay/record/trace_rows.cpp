// STRICT tables check the type of each column. Rows that would confuse a reader are refused here as well,
// while the message can still name their origin.
#include "replay/record/trace_rows.h"

#include "engine/uop/arg.h"
#include "engine/uop/dtype.h"
#include "engine/uop/ops.h"
#include "replay/record/trace_writer.h"
#include "replay/schema/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <ranges>
#include <utility>

namespace uopscope {

namespace {
[[noreturn]] void wrong(const std::string& what) {
  throw Error(ErrorKind::Value, what);
}

Database newTrace(const std::string& path) {
  Database db = Database::create(path);
  db.execute("PRAGMA page_size = 2048");
  db.execute("PRAGMA synchronous = OFF");
  db.execute("PRAGMA journal_mode = MEMORY");
  createTables(db);
  db.execute("BEGIN");
  return db;
}

/// Tables that are filled by plain rows; every other table has a function of its own.
bool isPlain(const std::string& table) {
  static constexpr const char* names[] = {"string",    "file",       "rule",        "scope",       "pass",
                                          "step",      "gate",       "kernel",      "phase",       "buffer",
                                          "launch",    "candidate",  "output",      "origin",      "decision",
                                          "unchanged", "step_error", "match_total", "origin_calls"};
  return std::ranges::find(names, table) != std::end(names);
}
} // namespace

TraceRows::TraceRows(const std::string& path, std::string_view tier)
    : db_(newTrace(path)), nodes_(db_), matches_(db_), texts_(db_), declined_(db_) {
  insertString_ = db_.prepare("INSERT INTO string (id, value) VALUES (?, ?)");
  insertFile_ = db_.prepare("INSERT INTO file (id, path, text) VALUES (?, ?, ?)");
  insertRule_ =
      db_.prepare("INSERT INTO rule (id, name, file, line, text, pattern) VALUES (?, ?, ?, ?, '', '')");
  insertKind_ = db_.prepare("INSERT INTO kind (id, op, dtype, arg, tag) VALUES (?, ?, ?, ?, ?)");
  insertDtype_ = db_.prepare("INSERT INTO dtype (id, name) VALUES (?, ?)");
  insertArg_ = db_.prepare("INSERT INTO arg (id, value) VALUES (?, ?)");
  Statement op = db_.prepare("INSERT INTO op (id, name) VALUES (?, ?)");
  for (int k = 0; k < kOpCount; ++k) {
    std::string name(opName(static_cast<Op>(k)));
    op.bind(1, int64_t{k}).bind(2, name).run();
    ops_.emplace(name, k);
  }
  Statement meta = db_.prepare("INSERT INTO meta (key, value) VALUES ('tier', ?)");
  meta.bind(1, tier).run();
}

TraceRows::~TraceRows() {
  if (finished_) return;
  std::string path = db_.path();
  inserts_.clear();
  std::remove(path.c_str());
}

int64_t TraceRows::op(const std::string& name) const {
  auto it = ops_.find(name);
  if (it == ops_.end()) wrong(fmt::format("there is no operation \"{}\"", name));
  return it->second;
}

int64_t TraceRows::string(std::string_view text) {
  auto [it, fresh] = strings_.try_emplace(std::string(text), static_cast<int64_t>(strings_.size()) + 1);
  if (fresh) insertString_.bind(1, it->second).bind(2, text).run();
  return it->second;
}

int64_t TraceRows::file(std::string_view path, const std::string* text) {
  if (path.empty()) return 0;
  auto [it, fresh] = files_.try_emplace(std::string(path), static_cast<int64_t>(files_.size()) + 1);
  if (fresh) {
    insertFile_.bind(1, it->second).bind(2, path).bindNull(3);
    if (text) insertFile_.bind(3, std::string_view(*text));
    insertFile_.run();
  }
  return it->second;
}

int64_t TraceRows::rule(const std::string& name, const std::string& path, int64_t line) {
  auto [it, fresh] = rules_.try_emplace({name, path, line}, static_cast<int64_t>(rules_.size()) + 1);
  if (fresh)
    insertRule_.bind(1, it->second)
        .bind(2, name)
        .bind(3, file(path.empty() ? "?" : path))
        .bind(4, line)
        .run();
  return it->second;
}

uint32_t TraceRows::node(const NodeText& text, const std::vector<int64_t>& sources) {
  auto known = [](auto& ids, const std::string& value, Statement& insert, auto check) -> int64_t {
    if (auto it = ids.find(value); it != ids.end()) return it->second;
    check();
    auto id = static_cast<int64_t>(ids.size()) + 1;
    ids.emplace(value, id);
    insert.bind(1, id).bind(2, value).run();
    return id;
  };
  auto arg = [&](const std::string& value) -> int64_t {
    if (value.empty()) return 0;
    return known(args_, value, insertArg_, [&] { Arg::decode(value); });
  };
  int64_t dtype = known(dtypes_, text.dtype, insertDtype_, [&] {
    if (!dtypes::parse(text.dtype)) wrong(fmt::format("there is no data type \"{}\"", text.dtype));
  });
  int64_t first = arg(text.arg), second = arg(text.tag);
  auto [it, fresh] =
      kinds_.try_emplace({op(text.op), dtype, first, second}, static_cast<uint32_t>(kinds_.size()) + 1);
  if (fresh)
    insertKind_.bind(1, int64_t{it->second})
        .bind(2, op(text.op))
        .bind(3, dtype)
        .bindId(4, first)
        .bindId(5, second)
        .run();
  std::vector<uint32_t> ids;
  for (int64_t s : sources) {
    if (s < 1 || s > int64_t{nodes_.count()})
      wrong(fmt::format("a source is {}, which is no node before it", s));
    ids.push_back(static_cast<uint32_t>(s));
  }
  return nodes_.add(it->second, ids);
}

namespace {
/// A row of `step` names the node that the step made; the table stores its distance from the node that the
/// step took.
nlohmann::ordered_json stepRow(nlohmann::ordered_json row) {
  auto before = row.find("before"), after = row.find("after");
  if (after == row.end()) return row;
  bool made = before != row.end() && before->is_number_integer() && after->is_number_integer();
  if (!made && !after->is_null())
    wrong("column \"after\" of table step is neither the number of a node nor null");
  // A new column moves the others.
  nlohmann::ordered_json gain;
  if (made) gain = after->get<int64_t>() - before->get<int64_t>();
  row["gain"] = std::move(gain);
  row.erase("after");
  return row;
}
} // namespace

void TraceRows::insert(const std::string& table, const nlohmann::ordered_json& given) {
  if (table == "matcher_rule" || table == "decline") return insertList(table, given);
  const nlohmann::ordered_json& row = table == "step" ? stepRow(given) : given;
  if (!isPlain(table)) wrong(fmt::format("there is no table \"{}\" to put a row in", table));
  Insert& in = inserts_[table];
  if (!in.statement) {
    std::string names, marks;
    for (Statement c = db_.prepare("SELECT name FROM pragma_table_info('" + table + "') ORDER BY cid");
         c.step();) {
      std::string name(c.text(0));
      in.places[name] = static_cast<int>(in.places.size()) + 1;
      names += (names.empty() ? "" : ", ") + fmt::format("\"{}\"", name);
      marks += marks.empty() ? "?" : ", ?";
    }
    in.statement = db_.prepare(fmt::format("INSERT INTO {} ({}) VALUES ({})", table, names, marks));
  }
  for (const auto& [name, place] : in.places) in.statement.bindNull(place);
  for (const auto& [name, value] : row.items()) {
    auto it = in.places.find(name);
    if (it == in.places.end()) wrong(fmt::format("table {} has no column \"{}\"", table, name));
    if (value.is_number_integer() || value.is_boolean())
      in.statement.bind(it->second, value.is_boolean() ? int64_t{value.get<bool>()} : value.get<int64_t>());
    else if (value.is_string())
      in.statement.bind(it->second, std::string_view(value.get_ref<const std::string&>()));
    else if (value.is_number_float())
      in.statement.bind(it->second, value.get<double>());
    else if (!value.is_null())
      wrong(fmt::format("column \"{}\" of table {} holds neither a number nor a text", name, table));
  }
  try {
    in.statement.run();
  } catch (const Error& e) {
    wrong(fmt::format("not a row of table {}: {}", table, e.what()));
  }
}

void TraceRows::insertList(const std::string& view, const nlohmann::ordered_json& row) {
  auto number = [&](const char* column) {
    auto it = row.find(column);
    if (it == row.end() || !it->is_number_integer() || it->get<int64_t>() < 1)
      wrong(fmt::format("column \"{}\" of {} holds no whole number above 0", column, view));
    return it->get<int64_t>();
  };
  if (view == "decline")
    declines_[number("pass")][{number("rule"), number("reason")}] += static_cast<uint64_t>(number("count"));
  else
    matchers_[number("matcher")][number("position")] = number("rule");
}

void TraceRows::finishLists() {
  for (const auto& [pass, declines] : declines_) declined_.add(pass, declines);
  Statement insert = db_.prepare("INSERT INTO matcher (id, rules) VALUES (?, ?)");
  for (const auto& [matcher, rules] : matchers_) {
    const std::string list = fmt::format("[{}]", fmt::join(rules | std::views::values, ","));
    insert.bind(1, matcher).bind(2, std::string_view(list)).run();
  }
}

void TraceRows::text(int64_t id, int64_t scope, int64_t kind, std::string_view text,
                     std::vector<TextLine> lines) {
  texts_.add(id, scope, kind, text, std::move(lines));
}

void TraceRows::program(int64_t kernel, const std::vector<int64_t>& nodes) {
  texts_.addProgram(kernel, nodes);
}

void TraceRows::flushCounts() {
  for (const auto& [nested, counts] : counts_) matches_.add(countedPass_, nested, counts);
  counts_.clear();
}

void TraceRows::count(int64_t pass, int64_t nested, int64_t rule, const std::string& opName,
                      const MatchCell& cell) {
  if (pass < countedPass_) wrong("counts come in order of passes");
  if (rule < 1 || rule > UINT32_MAX) wrong(fmt::format("{} is not the number of a rule", rule));
  if (pass != countedPass_) flushCounts();
  countedPass_ = pass;
  auto number = static_cast<uint32_t>(op(opName));
  counts_[nested].add(static_cast<uint32_t>(rule), number, cell);
  totals_.add(static_cast<uint32_t>(rule), number, cell);
}

void TraceRows::finish(const std::map<std::string, std::string>& meta) {
  flushCounts();
  nodes_.flush();
  matches_.flush();
  finishLists();
  writeTotals(db_, totals_);
  Statement set = db_.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)");
  set.bind(1, "status").bind(2, traceStatus::kComplete).run();
  for (const auto& [key, value] : meta) set.bind(1, std::string_view(key)).bind(2, value).run();
  createIndexes(db_);
  db_.execute("COMMIT");
  finished_ = true;
}

} // namespace uopscope
