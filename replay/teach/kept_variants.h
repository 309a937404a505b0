// Variants of what-if that were given names: which kernel, and what differs, as `whatif` takes it. They are kept beside the
// trace, in FILE.uoptrace.variants.json, and the trace itself stays as it is.
//
//   KeptVariants kept(trace.path());
//   kept.keep({"wide tiles", 3, {"--opts", "UPCAST 0 8"}});     // in place of one of that name
//   const KeptVariant& v = kept.find("wide tiles");             // Error(Key) names those there are
//
// Every change reads the file again first, since a window and a command line may both change it, and is written at once,
// as a whole. The file is untrusted: what is no variant is left out, and a file that holds such things is not written over.
// Errors: Error(File) where it cannot be written.
#pragma once
#include "replay/read/trace.h"

namespace uopscope {

struct KeptVariant {
  std::string name; ///< unique in the file, one line
  ScopeId kernel = 0;
  std::vector<std::string> arguments; ///< an option and its value: {"--without", "mul-one"}
  bool operator==(const KeptVariant&) const = default;
};

class KeptVariants {
public:
  explicit KeptVariants(const std::string& trace);
  static std::string fileFor(const std::string& trace) { return trace + ".variants.json"; }

  const std::vector<KeptVariant>& all() const { return all_; }
  const KeptVariant& find(const std::string& name) const;
  /// Error(Value) for a name or arguments that are no variant's. Nothing is written where it is kept already.
  void keep(KeptVariant variant);
  /// Error(Key) where there is no such variant, Error(Value) where the new name is taken.
  void rename(const std::string& name, const std::string& to);
  void forget(const std::string& name);

private:
  void read();
  void write() const;
  std::string file_;
  bool isForeign_ = false; ///< the file holds more than was understood: it is not written over
  std::vector<KeptVariant> all_;
};

} // namespace uopscope
