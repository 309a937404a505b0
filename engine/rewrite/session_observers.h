// The observers of the other threads that work in the current session: one of them may hold nodes of a pool that the threads
// share when this thread collects it. The pool itself tells this thread's observer.
//
//   tellOtherThreadsOfRetired(tensorPool());
//   tensorPool().collect();
//
// Threads of one session take turns (Python's threads by its lock), so an observer is told by one thread at a time.
#pragma once

namespace uopscope {

class Pool;

/// Calls poolRetired() of the innermost observer of each other thread that observes the current session.
void tellOtherThreadsOfRetired(Pool& pool);

} // namespace uopscope
