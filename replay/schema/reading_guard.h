// Guards the reading of an untrusted trace or corpus: no part of it runs as code, no value is larger than
// plausible, and a statement can only read.
//
//   guardReading(db);        // once, after opening
//   allowReading(db);        // again, after one query with a stricter authorizer
#pragma once

struct sqlite3;

namespace uopscope {

/// Size of the largest text or blob that is read, packed or not.
constexpr long long kMostValueBytes = 256ll << 20;

/// Sets limits, switches off triggers and the views of the file, which may be endless, and sets the authorizer. Temporary
/// views of the connection work.
void guardReading(sqlite3* db);
/// Sets the authorizer alone: it allows reading, and temporary tables and views of this connection.
void allowReading(sqlite3* db);

} // namespace uopscope
