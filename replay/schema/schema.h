// The schema of traces: trace.sql contains all of it. `user_version` counts its changes. A file of a newer
// version is refused. An older file is read unchanged, with the tables and views that older.sql defines for
// the connection.
//
//   Database db = Database::create(path);  createTables(db);  ...  createIndexes(db);
//   Database db = openTrace(path);         // Error(File): missing, empty, foreign, newer, damaged
#pragma once
#include "replay/schema/database.h"

namespace uopscope {

constexpr int64_t kTraceApplicationId = 0x554f5053; ///< "UOPS"
constexpr int64_t kTraceSchemaVersion = 8;
constexpr int64_t kPackedSchemaVersion = 3; ///< first version with packed texts, programs, nodes and counts
constexpr int64_t kPlainSchemaVersion = 5;  ///< first version with plain nodes and counts again
constexpr int64_t kListSchemaVersion = 6;   ///< first version with lists of rules and sets of declines
constexpr int64_t kLineSchemaVersion = 7; ///< first version with texts of lines, whose views need no function

/// The version of this program, as it writes it to a trace.
constexpr std::string_view kProgramVersion = "0.1.0";

/// The values of meta.status.
namespace traceStatus {
constexpr std::string_view kRecording = "recording", kComplete = "complete", kFailed = "failed",
                           kInterrupted = "interrupted", kCrashed = "crashed", kFull = "disk full";
}

/// Creates the tables of a new trace.
void createTables(const Database& db);
/// Creates the indexes of a finished trace.
void createIndexes(const Database& db);
/// Checks that the file is a trace and opens it for reading.
Database openTrace(const std::string& path);

} // namespace uopscope
