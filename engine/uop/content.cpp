// Writes the words of a graph: nodes in topological order, each source as the position of its node.
#include "engine/uop/content.h"

#include "engine/base/id_map.h"

namespace uopscope {

std::vector<uint64_t> contentOf(UOp root) {
  std::vector<uint64_t> words;
  IdMap<uint32_t> position;
  uint32_t count = 0;
  for (UOp u : root.toposort()) {
    position.set(u.slot(), count++);
    words.push_back(static_cast<uint64_t>(u.op()) | static_cast<uint64_t>(u.arg().kind()) << 16 |
                    static_cast<uint64_t>(u.tag().kind()) << 24 | static_cast<uint64_t>(u.srcCount()) << 32);
    words.push_back(u.dtype().bits());
    words.push_back(u.arg().bits());
    words.push_back(u.tag().bits());
    for (UOp s : u.src()) words.push_back(*position.find(s.slot()));
  }
  return words;
}

} // namespace uopscope
