// The parts of ELF, of kernel descriptors and of MessagePack that a code object uses, from AMD's description of code
// objects in LLVM's "User Guide for AMDGPU Backend".
#include "tests/devices/hip_double/code_object.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>

namespace hip_double {

namespace {

constexpr int kMachine = 224, kOs = 64,
              kVersion4 = 2;           // EM_AMDGPU, ELFOSABI_AMDGPU_HSA, ELFABIVERSION_AMDGPU_HSA_V4
constexpr uint32_t kMetadataNote = 32; // NT_AMDGPU_METADATA

void require(bool ok, const char* what) {
  if (!ok) throw std::runtime_error(what);
}

uint32_t machineNumber(const std::string& architecture) {
  static const std::map<std::string, uint32_t> numbers{{"gfx90a", 0x3f}, {"gfx942", 0x4c}, {"gfx1100", 0x41}};
  auto found = numbers.find(architecture);
  require(found != numbers.end(), "the double knows no such architecture");
  return found->second;
}

/// Walks MessagePack: integers, texts, lists and maps.
class Pack {
public:
  explicit Pack(const std::string& text) : text_(text) {}
  struct Head {
    enum class Kind { Number, Text, List, Map, Other } kind;
    uint64_t value = 0; ///< the number, or how many follow
    std::string text;
  };
  Head next() {
    uint8_t b = byte();
    if (b < 0x80) return {Head::Kind::Number, b, {}};
    if (b < 0x90) return {Head::Kind::Map, b & 15U, {}};
    if (b < 0xa0) return {Head::Kind::List, b & 15U, {}};
    if (b < 0xc0) return text(b & 31U);
    switch (b) {
    case 0xc2:
    case 0xc3: return {Head::Kind::Number, b & 1U, {}};
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf: return {Head::Kind::Number, number(size_t{1} << (b - 0xcc)), {}};
    case 0xd9:
    case 0xda:
    case 0xdb: return text(number(size_t{1} << (b - 0xd9)));
    case 0xdc:
    case 0xdd: return {Head::Kind::List, number(b == 0xdc ? 2 : 4), {}};
    case 0xde:
    case 0xdf: return {Head::Kind::Map, number(b == 0xde ? 2 : 4), {}};
    default: throw std::runtime_error("the metadata holds something unknown");
    }
  }
  void skip() {
    Head h = next();
    uint64_t inside = h.kind == Head::Kind::Map ? 2 * h.value : h.kind == Head::Kind::List ? h.value : 0;
    for (uint64_t i = 0; i < inside; ++i) skip();
  }
  /// Calls `entry` with the key of each entry of a map; it must read the value.
  template <typename F>
  void map(F entry) {
    Head h = next();
    require(h.kind == Head::Kind::Map, "the metadata is no map");
    for (uint64_t i = 0; i < h.value; ++i) entry(next().text);
  }
  template <typename F>
  void list(F element) {
    Head h = next();
    require(h.kind == Head::Kind::List, "the metadata is no list");
    for (uint64_t i = 0; i < h.value; ++i) element();
  }

private:
  uint8_t byte() {
    require(at_ < text_.size(), "the metadata ends early");
    return static_cast<uint8_t>(text_[at_++]);
  }
  uint64_t number(size_t bytes) {
    uint64_t n = 0;
    for (size_t i = 0; i < bytes; ++i) n = n << 8 | byte();
    return n;
  }
  Head text(uint64_t bytes) {
    require(bytes <= text_.size() - at_, "the metadata ends early");
    Head h{Head::Kind::Text, 0, text_.substr(at_, bytes)};
    at_ += bytes;
    return h;
  }

  const std::string& text_;
  size_t at_ = 0;
};

} // namespace

CodeObject::CodeObject(const void* image, const std::string& architecture) {
  const auto* bytes = static_cast<const std::byte*>(image);
  Elf64_Ehdr head;
  std::memcpy(&head, image, sizeof head);
  require(std::memcmp(head.e_ident, ELFMAG, SELFMAG) == 0, "the image is no ELF file");
  require(head.e_machine == kMachine && head.e_ident[EI_OSABI] == kOs, "the image is not for GPUs of AMD");
  require(head.e_type == ET_DYN, "the image is not linked");
  require(head.e_ident[EI_ABIVERSION] == kVersion4, "the image is no code object of version 4");
  require((head.e_flags & 0xff) == machineNumber(architecture), "the image is for a different GPU");
  std::vector<Elf64_Phdr> segments(head.e_phnum);
  for (size_t i = 0; i < segments.size(); ++i)
    std::memcpy(&segments[i], bytes + head.e_phoff + i * head.e_phentsize, sizeof segments[i]);
  for (const Elf64_Phdr& s : segments) {
    if (s.p_type != PT_LOAD) continue;
    memory_.resize(std::max<size_t>(memory_.size(), s.p_vaddr + s.p_memsz));
    std::memcpy(memory_.data() + s.p_vaddr, bytes + s.p_offset, s.p_filesz);
    if (s.p_flags & PF_X) codeEnd_ = s.p_vaddr + s.p_memsz;
  }
  for (const Elf64_Phdr& s : segments) {
    if (s.p_type == PT_DYNAMIC) readSymbols(s.p_vaddr, s.p_memsz);
    if (s.p_type != PT_NOTE) continue;
    for (uint64_t at = s.p_vaddr; at + 12 <= s.p_vaddr + s.p_memsz;) {
      uint64_t name = word(at, 4), size = word(at + 4, 4), content = at + 12 + (name + 3) / 4 * 4;
      if (word(at + 8, 4) == kMetadataNote)
        metadata_.assign(reinterpret_cast<const char*>(memory_.data()) + content, size);
      at = content + (size + 3) / 4 * 4;
    }
  }
  require(!metadata_.empty(), "the image has no metadata");
  require(!symbols_.empty(), "the image has no symbols");
}

uint64_t CodeObject::word(uint64_t address, size_t bytes) const {
  require(address + bytes <= memory_.size(), "an address lies outside of the image");
  uint64_t value = 0;
  std::memcpy(&value, memory_.data() + address, bytes);
  return value;
}

void CodeObject::readSymbols(uint64_t dynamic, uint64_t bytes) {
  std::map<uint64_t, uint64_t> entries;
  for (uint64_t at = dynamic; at + 16 <= dynamic + bytes; at += 16) entries[word(at, 8)] = word(at + 8, 8);
  require(entries.contains(DT_SYMTAB) && entries.contains(DT_STRTAB) && entries.contains(DT_HASH),
          "the image has no table of symbols");
  uint64_t count = word(entries[DT_HASH] + 4, 4);
  for (uint64_t i = 1; i < count; ++i) {
    uint64_t at = entries[DT_SYMTAB] + i * sizeof(Elf64_Sym), name = entries[DT_STRTAB] + word(at, 4);
    require(name < memory_.size(), "a name lies outside of the image");
    symbols_.push_back(
        {reinterpret_cast<const char*>(memory_.data()) + name, word(at + 8, 8), word(at + 16, 8)});
  }
}

Kernel CodeObject::kernel(const std::string& name) const {
  auto found =
      std::find_if(symbols_.begin(), symbols_.end(), [&](const Symbol& s) { return s.name == name + ".kd"; });
  if (found == symbols_.end()) throw std::runtime_error("the image has no kernel " + name);
  uint64_t at = found->address;
  require(at % 64 == 0 && found->bytes == 64, "a kernel descriptor has 64 bytes at a multiple of 64");
  Kernel k;
  k.name = name;
  k.sharedBytes = static_cast<uint32_t>(word(at, 4));
  k.argumentBytes = static_cast<uint32_t>(word(at + 8, 4));
  k.resources2 = static_cast<uint32_t>(word(at + 52, 4));
  uint64_t entry = at + word(at + 16, 8);
  require(entry % 256 == 0 && entry < codeEnd_, "a kernel begins at a multiple of 256");
  k.code = memory_.data() + entry;
  k.codeBytes = codeEnd_ - entry;
  readMetadata(metadata_, k);
  return k;
}

void readMetadata(const std::string& messagePack, Kernel& kernel) {
  Pack pack(messagePack);
  bool found = false;
  auto argument = [&](std::vector<Kernel::Argument>& list) {
    Kernel::Argument a{0, 0};
    pack.map([&](const std::string& key) {
      if (key == ".offset")
        a.offset = pack.next().value;
      else if (key == ".size")
        a.bytes = pack.next().value;
      else
        pack.skip();
    });
    list.push_back(a);
  };
  auto description = [&] {
    Kernel k;
    uint64_t bytes = 0;
    pack.map([&](const std::string& key) {
      if (key == ".symbol")
        k.name = pack.next().text;
      else if (key == ".kernarg_segment_size")
        bytes = pack.next().value;
      else if (key == ".max_flat_workgroup_size")
        k.maxThreads = pack.next().value;
      else if (key == ".args")
        pack.list([&] { argument(k.arguments); });
      else
        pack.skip();
    });
    if (k.name != kernel.name + ".kd") return;
    found = true;
    require(bytes == kernel.argumentBytes, "descriptor and metadata disagree about the arguments");
    kernel.arguments = k.arguments;
    kernel.maxThreads = k.maxThreads;
  };
  pack.map([&](const std::string& key) {
    if (key == "amdhsa.kernels")
      pack.list(description);
    else
      pack.skip();
  });
  require(found, "the metadata does not describe the kernel");
}

} // namespace hip_double
