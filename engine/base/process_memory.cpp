// Segments that cannot be written hold nothing but what the file holds, so the system may drop their pages.
#include "engine/base/process_memory.h"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

// Defined where the program is linked with mimalloc.
extern "C" __attribute__((weak)) void mi_collect(bool force) noexcept;

namespace uopscope {

namespace {

/// Small libraries are not worth a call of the system.
constexpr size_t kLeastBytes = size_t{1} << 20;

bool changesCode(const dl_phdr_info& library) {
  for (int k = 0; k < library.dlpi_phnum; ++k) {
    if (library.dlpi_phdr[k].p_type != PT_DYNAMIC) continue;
    auto* entry = reinterpret_cast<const ElfW(Dyn)*>(library.dlpi_addr + library.dlpi_phdr[k].p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry)
      if (entry->d_tag == DT_TEXTREL) return true;
  }
  return false;
}

int giveBack(dl_phdr_info* library, size_t, void*) {
  if (changesCode(*library)) return 0;
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  for (int k = 0; k < library->dlpi_phnum; ++k) {
    const ElfW(Phdr)& segment = library->dlpi_phdr[k];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) || segment.p_filesz < kLeastBytes) continue;
    uintptr_t begin = (library->dlpi_addr + segment.p_vaddr + page - 1) / page * page;
    uintptr_t end = (library->dlpi_addr + segment.p_vaddr + segment.p_filesz) / page * page;
    madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
  return 0;
}

} // namespace

void giveBackStartupPages() {
  dl_iterate_phdr(giveBack, nullptr);
}

void giveBackFreedMemory() {
  if (mi_collect)
    mi_collect(true);
  else
    malloc_trim(0);
}

} // namespace uopscope
