// A trace or corpus that is read is untrusted: nothing of it is code, nothing it holds is larger than what
// can be true, and a statement can only read it.
//
//   guardReading(db);        // once, when it is opened
//   allowReading(db);        // again, where a stricter authorizer was set for one query
#pragma once

struct sqlite3;

namespace uopscope {

/// Largest text or blob that is read, packed or not.
constexpr long long kMostValueBytes = 256ll << 20;

/// Limits, no triggers, no functions with effects in views, and the authorizer.
void guardReading(sqlite3* db);
/// The authorizer alone: reading, and temporary tables and views of this connection.
void allowReading(sqlite3* db);

} // namespace uopscope
