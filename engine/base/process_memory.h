// Memory that the process holds and no longer needs, given back to the system. The loader reads every symbol and
// relocation of a library, and LLVM's start alone touches pages all over its 120 MB: 45 MB of a process that never
// compiles. The system would take these pages back when it is short of memory; given back at once they do not count
// as the process's. Freed memory goes back as far as the allocator can: what threads left behind may stay.
//
//   giveBackStartupPages();   // first thing in main
//   giveBackFreedMemory();    // after a hundred kernels are compiled
//
// Pages of files that are needed again come from the system's cache, at a fraction of a microsecond each.
#pragma once

namespace uopscope {

/// Gives back pages of code and constants of every loaded library. Written pages are never among them.
void giveBackStartupPages();

/// Gives back what the allocator of `new` and `malloc` keeps for later. It takes milliseconds.
void giveBackFreedMemory();

} // namespace uopscope
