// Virtual tables over data that the file packs into blocks: `node` (id, kind, src: JSON array of sources,
// NULL without) and `match_count` (pass, nested, rule, op, outcome, count, took_ns). A scan reads one page at
// a time.
//
//   trace.database().prepare("...")     // SELECT count(*) FROM node JOIN kind ON kind.id = node.kind WHERE
//   ...
#pragma once
#include "replay/read/trace.h"

namespace uopscope {

/// Registers the tables with the trace's connection for as long as the trace lives. Every Trace calls it.
void addSqlTables(Trace& trace);

} // namespace uopscope
