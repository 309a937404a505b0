// The observers of every thread that works in the current session, for news that concern them all: the nodes of a pool that
// threads share are about to die, whichever thread collects it. A thread's own pools are announced to its own observer.
//
//   tellPoolRetired(tensorPool());
//   tensorPool().collect();
//
// Threads of one session take turns (Python's threads by its lock), so an observer is told by one thread at a time.
#pragma once

namespace uopscope {

class Pool;

/// Calls poolRetired() of the innermost observer of each thread that observes the current session.
void tellPoolRetired(Pool& pool);

} // namespace uopscope
