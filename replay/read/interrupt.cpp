// Uses SQLite's progress handler, which asks a function at intervals and ends the query when it answers yes.
#include "replay/read/interrupt.h"

#include <sqlite3.h>

namespace uopscope {
namespace {

// SQLite asks for cancellation after this many steps of its virtual machine: about a tenth of a millisecond.
constexpr int kStepsBetweenLooks = 4000;

int ask(void* stop) {
  return (*static_cast<std::function<bool()>*>(stop))() ? 1 : 0;
}

} // namespace

Interrupt::Interrupt(Trace& trace, std::function<bool()> stop) : trace_(trace), stop_(std::move(stop)) {
  sqlite3_progress_handler(trace_.database().handle(), kStepsBetweenLooks, ask, &stop_);
}

Interrupt::~Interrupt() {
  sqlite3_progress_handler(trace_.database().handle(), 0, nullptr, nullptr);
}

bool wasStopped(const Database& db) {
  return sqlite3_errcode(db.handle()) == SQLITE_INTERRUPT;
}

} // namespace uopscope
