// A thin and safe layer over SQLite: connections and statements close themselves, and errors are Error(File)
// with the name of the file. A statement's text is a literal; values are bound.
//
//   Database db = Database::openReadOnly("run.uoptrace");
//   for (Statement s = db.prepare("SELECT id, name FROM rule WHERE line > ?").bind(1, 10); s.step();)
//   use(s.integer(0), s.text(1));
#pragma once
#include "engine/base/error.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace uopscope {

class Statement {
public:
  Statement() = default;
  Statement& bind(int parameter, int64_t value);
  Statement& bind(int parameter, double value);
  Statement& bind(int parameter, std::string_view text);
  Statement& bindBlob(int parameter, std::span<const uint8_t> bytes); ///< must live until the next step()
  Statement& bindNull(int parameter);
  /// Binds 0 as NULL, since ids begin with 1.
  Statement& bindId(int parameter, int64_t id) { return id ? bind(parameter, id) : bindNull(parameter); }
  /// Moves to the next row; false at the end (then the statement is ready to run again).
  bool step();
  /// Runs a statement that returns no rows.
  void run();
  void reset();

  int columns() const;
  std::string columnName(int column) const;
  enum class Type : uint8_t { Integer, Real, Text, Blob, Null };
  Type type(int column) const;
  bool isNull(int column) const { return type(column) == Type::Null; }
  int64_t integer(int column) const; ///< 0 for NULL
  double real(int column) const;
  std::string_view text(int column) const; ///< valid until the next step(); empty for NULL
  std::span<const uint8_t> blob(int column) const;
  bool readOnly() const;
  explicit operator bool() const { return statement_ != nullptr; }

private:
  friend class Database;
  struct Close {
    void operator()(sqlite3_stmt* statement) const;
  };
  [[noreturn]] void fail(int code) const;
  std::unique_ptr<sqlite3_stmt, Close> statement_;
  std::string path_;
};

/// Whether a file begins as every database of SQLite does: a trace or a corpus, and no script.
bool isDatabaseFile(const std::string& path);

class Database {
public:
  Database() = default;
  /// Creates a file; replaces an existing one (with its journal).
  static Database create(const std::string& path);
  static Database openReadOnly(const std::string& path);
  static Database openForWriting(const std::string& path); ///< opens an existing file

  Statement prepare(std::string_view sql) const;
  void execute(const std::string& sql) const;
  int64_t pragma(const std::string& name) const; ///< the value of an integer pragma
  const std::string& path() const { return path_; }
  sqlite3* handle() const { return db_.get(); }
  /// Writes a compact copy of the whole file to `path`, which must not exist. A read-only connection may do
  /// it too.
  void copyTo(const std::string& path) const;
  /// Ends WAL mode if no other connection has the file open: then the file contains everything.
  void makeOneFile() const;
  explicit operator bool() const { return db_ != nullptr; }
  void close() { db_.reset(); }

private:
  struct Close {
    void operator()(sqlite3* db) const;
  };
  struct TemporaryFolder;
  std::shared_ptr<TemporaryFolder> copy_; ///< a copy that is read in place of a file in a read-only folder
  std::unique_ptr<sqlite3, Close> db_;
  std::string path_;
};

/// Throws Error(File) for an SQLite result: the file, the fault, the remedy.
[[noreturn]] void throwDatabaseError(const std::string& path, int code, std::string_view detail);

} // namespace uopscope
