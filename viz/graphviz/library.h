// What the files of this folder share around Graphviz' C interfaces, which take `char*` for texts they only read.
#pragma once
#include <cgraph.h>

#include <memory>
#include <mutex>
#include <string>

namespace uopscope::graphviz {

inline char* text(const std::string& s) {
  return const_cast<char*>(s.c_str());
}
inline char* text(const char* s) {
  return const_cast<char*>(s);
}
/// cgraph and gvc keep the graph in work and the error function in global variables.
inline std::mutex& mutex() {
  static std::mutex only;
  return only;
}

struct CloseGraph {
  void operator()(Agraph_t* g) const { agclose(g); }
};
using Graph = std::unique_ptr<Agraph_t, CloseGraph>;

/// Reads the first graph of a text. Error(Value) with the line of the fault. The mutex is held by the caller.
Graph parse(const std::string& text);

} // namespace uopscope::graphviz
