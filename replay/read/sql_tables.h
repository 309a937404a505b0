// Tables that SQL sees but the file holds in blocks: `node` (id, kind, src: JSON array of sources, NULL
// without) and `match_count` (pass, nested, rule, op, outcome, count, took_ns). They read as they are asked,
// a page at a time.
//
//   trace.database().prepare("...")     // SELECT count(*) FROM node JOIN kind ON kind.id = node.kind WHERE
//   ...
#pragma once
#include "replay/read/trace.h"

namespace uopscope {

/// Registers the tables with the trace's connection, for as long as the trace lives: every Trace does it.
void addSqlTables(Trace& trace);

} // namespace uopscope
