// Which commit a script was at, and whether it was changed since. The commit is read from the repository's
// files, without git. The state comes from git, which is given half a second.
//
//   GitPlace git = gitPlaceOf("models/train.py");     // git.commit, git.branch, git.root
//   gitStateOf(git.root)                              // "clean", "2 files modified: a.py, b.py"
#pragma once
#include <string>

namespace uopscope {

/// The repository that a path lies in: commit "<hash>" and, where known, the branch; empty if there is none.
struct GitPlace {
  std::string commit, branch, root;
};
GitPlace gitPlaceOf(const std::string& path);
/// The state of the work tree; empty without git or when git took too long.
std::string gitStateOf(const std::string& root);

} // namespace uopscope
