// Two read-only virtual tables on SQLite's C interface; an exception becomes an error of the query.
#include "replay/read/sql_tables.h"

#include "replay/schema/match_blocks.h"

#include <fmt/format.h>
#include <sqlite3.h>

namespace uopscope {

namespace {

struct Table : sqlite3_vtab {
  Trace* trace = nullptr;
};

template <typename F>
int guarded(sqlite3_vtab* table, F work) {
  try {
    work();
    return SQLITE_OK;
  } catch (const std::exception& e) {
    sqlite3_free(table->zErrMsg);
    table->zErrMsg = sqlite3_mprintf("%s", e.what());
    return SQLITE_ERROR;
  }
}

/// The rows of one scan, from first() on.
class Cursor : public sqlite3_vtab_cursor {
public:
  virtual ~Cursor() = default;
  /// `low` and `high` bound the searchable column.
  virtual void first(Trace& trace, int64_t low, int64_t high) = 0;
  virtual void next(Trace& trace) = 0;
  virtual bool atEnd() const = 0;
  virtual void column(Trace& trace, sqlite3_context* context, int column) = 0;
  virtual int64_t rowId() const = 0;
};

class NodeCursor final : public Cursor {
public:
  void first(Trace& trace, int64_t low, int64_t high) override {
    id_ = std::max<int64_t>(low, 1);
    last_ = std::min<int64_t>(high, trace.nodes().count());
  }
  void next(Trace&) override { ++id_; }
  bool atEnd() const override { return id_ > last_; }
  int64_t rowId() const override { return id_; }
  void column(Trace& trace, sqlite3_context* context, int column) override {
    if (column == 0) {
      sqlite3_result_int64(context, id_);
    } else if (column == 1) {
      sqlite3_result_int64(context, trace.nodes().kindOf(static_cast<NodeId>(id_)));
    } else {
      auto src = trace.nodes().raw(static_cast<NodeId>(id_)).src;
      if (src.empty()) return;
      std::string text = fmt::format("[{}]", fmt::join(src, ","));
      sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    }
  }

private:
  int64_t id_ = 1, last_ = 0;
};

class CountCursor final : public Cursor {
public:
  void first(Trace& trace, int64_t low, int64_t high) override {
    blocks_ = MatchBlockReader(trace.database(), low, high);
    more_ = true;
    rows_.clear();
    at_ = 0;
    load();
  }
  void next(Trace&) override {
    ++rowId_;
    if (++at_ == rows_.size()) load();
  }
  bool atEnd() const override { return at_ == rows_.size() && !more_; }
  int64_t rowId() const override { return rowId_; }
  void column(Trace&, sqlite3_context* context, int column) override {
    const Row& r = rows_[at_];
    const int64_t values[] = {blocks_.pass(), blocks_.nested(), r.rule, r.op, r.outcome, r.count, r.ns};
    sqlite3_result_int64(context, values[column]);
  }

private:
  struct Row {
    int64_t rule, op, outcome, count, ns;
  };
  void load() {
    while (more_ && at_ == rows_.size()) {
      more_ = blocks_.next();
      if (!more_) return;
      rows_.clear();
      at_ = 0;
      blocks_.decode([&](uint32_t rule, uint32_t op, const MatchCell& cell) {
        for (size_t k = 0; k < kMatchOutcomes; ++k)
          if (cell.count[k])
            rows_.push_back(
                {rule, op, static_cast<int64_t>(k), static_cast<int64_t>(cell.count[k]), cell.ns[k]});
      });
    }
  }
  MatchBlockReader blocks_;
  bool more_ = false;
  std::vector<Row> rows_;
  size_t at_ = 0;
  int64_t rowId_ = 0;
};

template <typename C>
int openCursor(sqlite3_vtab*, sqlite3_vtab_cursor** out) {
  *out = new (std::nothrow) C();
  return *out ? SQLITE_OK : SQLITE_NOMEM;
}
int closeCursor(sqlite3_vtab_cursor* cursor) {
  std::unique_ptr<Cursor>(static_cast<Cursor*>(cursor)).reset();
  return SQLITE_OK;
}
Trace& traceOf(sqlite3_vtab_cursor* cursor) {
  return *static_cast<Table*>(cursor->pVtab)->trace;
}

int connect(sqlite3* db, void* trace, const char* columns, sqlite3_vtab** out) {
  if (int code = sqlite3_declare_vtab(db, columns)) return code;
  sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
  auto table = std::make_unique<Table>();
  static_cast<sqlite3_vtab&>(*table) = {};
  table->trace = static_cast<Trace*>(trace);
  *out = table.release();
  return SQLITE_OK;
}
int connectNode(sqlite3* db, void* trace, int, const char* const*, sqlite3_vtab** out, char**) {
  return connect(db, trace, "CREATE TABLE t (id INTEGER, kind INTEGER, src TEXT)", out);
}
int connectCount(sqlite3* db, void* trace, int, const char* const*, sqlite3_vtab** out, char**) {
  return connect(
      db, trace,
      "CREATE TABLE t (pass INTEGER, nested INTEGER, rule INTEGER, op INTEGER, outcome INTEGER, count "
      "INTEGER, took_ns INTEGER)",
      out);
}
int disconnect(sqlite3_vtab* table) {
  std::unique_ptr<Table>(static_cast<Table*>(table)).reset();
  return SQLITE_OK;
}

/// Bounds on column 0 narrow a scan. idxNum says which bounds the arguments contain, in this order: equal,
/// low, high.
int bestIndex(sqlite3_vtab*, sqlite3_index_info* info) {
  int found[3] = {-1, -1, -1};
  for (int k = 0; k < info->nConstraint; ++k) {
    const auto& c = info->aConstraint[k];
    if (!c.usable || c.iColumn != 0) continue;
    if (c.op == SQLITE_INDEX_CONSTRAINT_EQ) found[0] = k;
    if (c.op == SQLITE_INDEX_CONSTRAINT_GE || c.op == SQLITE_INDEX_CONSTRAINT_GT) found[1] = k;
    if (c.op == SQLITE_INDEX_CONSTRAINT_LE || c.op == SQLITE_INDEX_CONSTRAINT_LT) found[2] = k;
  }
  int argument = 0;
  info->idxNum = 0;
  for (int k = 0; k < 3; ++k)
    if (found[k] >= 0) {
      info->aConstraintUsage[found[k]].argvIndex = ++argument;
      info->idxNum |= 1 << k;
    }
  info->estimatedCost = info->idxNum & 1 ? 1 : info->idxNum ? 1e4 : 1e6;
  info->estimatedRows = info->idxNum & 1 ? 1 : info->idxNum ? 10000 : 1000000;
  if (info->nOrderBy == 1 && info->aOrderBy[0].iColumn == 0 && !info->aOrderBy[0].desc)
    info->orderByConsumed = 1;
  return SQLITE_OK;
}

int filter(sqlite3_vtab_cursor* cursor, int number, const char*, int, sqlite3_value** values) {
  return guarded(cursor->pVtab, [&] {
    int64_t low = INT64_MIN, high = INT64_MAX;
    int at = 0;
    auto bound = [&] { return sqlite3_value_int64(values[at++]); };
    if (number & 1) low = high = bound();
    if (number & 2) low = std::max<int64_t>(low, bound()); // SQLite tests a strict bound again
    if (number & 4) high = std::min<int64_t>(high, bound());
    static_cast<Cursor*>(cursor)->first(traceOf(cursor), low, high);
  });
}
int next(sqlite3_vtab_cursor* cursor) {
  return guarded(cursor->pVtab, [&] { static_cast<Cursor*>(cursor)->next(traceOf(cursor)); });
}
int atEnd(sqlite3_vtab_cursor* cursor) {
  return static_cast<Cursor*>(cursor)->atEnd();
}
int column(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int number) {
  return guarded(cursor->pVtab,
                 [&] { static_cast<Cursor*>(cursor)->column(traceOf(cursor), context, number); });
}
int rowId(sqlite3_vtab_cursor* cursor, sqlite3_int64* out) {
  *out = static_cast<Cursor*>(cursor)->rowId();
  return SQLITE_OK;
}

template <typename C>
const sqlite3_module* moduleOf(int (*connector)(sqlite3*, void*, int, const char* const*, sqlite3_vtab**,
                                                char**)) {
  static sqlite3_module module = [&] {
    sqlite3_module m{};
    m.iVersion = 1;
    m.xConnect = connector;
    m.xBestIndex = bestIndex;
    m.xDisconnect = disconnect;
    m.xOpen = openCursor<C>;
    m.xClose = closeCursor;
    m.xFilter = filter;
    m.xNext = next;
    m.xEof = atEnd;
    m.xColumn = column;
    m.xRowid = rowId;
    return m;
  }();
  return &module;
}

} // namespace

void addSqlTables(Trace& trace) {
  sqlite3* db = trace.database().handle();
  sqlite3_create_module(db, "node", moduleOf<NodeCursor>(connectNode), &trace);
  sqlite3_create_module(db, "match_count", moduleOf<CountCursor>(connectCount), &trace);
  // Connected here, since the authorizer of a query would forbid it.
  for (const char* table : {"node", "match_count", "dbstat"}) {
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(db, fmt::format("SELECT 1 FROM {}", table).c_str(), -1, &statement, nullptr);
    sqlite3_finalize(statement);
  }
}

} // namespace uopscope
