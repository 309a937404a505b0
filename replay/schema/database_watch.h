// Finds out whether a thread that must not wait for a file asks a database: the window's thread, in tests. While a
// DatabaseWatch lives, every statement that its thread prepares or steps is noted.
//
//   { DatabaseWatch watch;  QCoreApplication::processEvents(); }
//   CHECK(DatabaseWatch::noted().empty());
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace uopscope {

class DatabaseWatch {
public:
  DatabaseWatch() { ++depth(); }
  ~DatabaseWatch() { --depth(); }
  DatabaseWatch(const DatabaseWatch&) = delete;
  DatabaseWatch& operator=(const DatabaseWatch&) = delete;

  /// The statements that this thread asked under a watch, until clear(); a few of them.
  static std::vector<std::string>& noted() {
    static thread_local std::vector<std::string> list;
    return list;
  }
  /// The database announces its next statement.
  static void note(std::string_view statement) {
    constexpr size_t kMost = 20;
    if (depth() > 0 && noted().size() < kMost) noted().emplace_back(statement);
  }

private:
  static int& depth() {
    static thread_local int count = 0;
    return count;
  }
};

} // namespace uopscope
