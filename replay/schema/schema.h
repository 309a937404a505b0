// The trace's schema: trace.sql is all of it. `user_version` counts its changes; a file of a newer version is
// refused, an older one is read as it is, by what older.sql makes for the connection.
//
//   Database db = Database::create(path);  createTables(db);  ...  createIndexes(db);
//   Database db = openTrace(path);         // Error(File): missing, empty, foreign, newer, damaged
#pragma once
#include "replay/schema/database.h"

namespace uopscope {

constexpr int64_t kTraceApplicationId = 0x554f5053; ///< "UOPS"
constexpr int64_t kTraceSchemaVersion = 6;
constexpr int64_t kPackedSchemaVersion =
    3; ///< the first one whose texts, programs, nodes and counts are packed
constexpr int64_t kPlainSchemaVersion = 5; ///< the first one whose nodes and counts are plain again
constexpr int64_t kListSchemaVersion = 6;  ///< the first one with lists of rules and sets of declines

/// The version of the program that wrote a trace.
constexpr std::string_view kProgramVersion = "0.1.0";

/// Values of meta.status.
namespace traceStatus {
constexpr std::string_view kRecording = "recording", kComplete = "complete", kFailed = "failed",
                           kInterrupted = "interrupted", kCrashed = "crashed", kFull = "disk full";
}

/// Tables of a new trace.
void createTables(const Database& db);
/// Indexes of a finished one.
void createIndexes(const Database& db);
/// Opens a trace for reading after checking that it is one.
Database openTrace(const std::string& path);

} // namespace uopscope
