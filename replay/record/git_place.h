// Which commit a script was at: read from the repository's files, without git; whether it was changed since:
// asked of git, which is given half a second.
//
//   GitPlace git = gitPlaceOf("models/train.py");     // git.commit, git.branch, git.root
//   gitStateOf(git.root)                              // "clean", "2 files modified: a.py, b.py"
#pragma once
#include <string>

namespace uopscope {

/// Commit of the repository a path lies in: "<hash>", with "branch" where known; empty if there is none.
struct GitPlace {
  std::string commit, branch, root;
};
GitPlace gitPlaceOf(const std::string& path);
/// Empty where it cannot be told: no git, or it took too long.
std::string gitStateOf(const std::string& root);

} // namespace uopscope
