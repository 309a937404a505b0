// Which commit a script was at, and whether it was changed since. The commit is read from the repository's
// files, without git. The state comes from git, which is given half a second.
//
//   GitPlace git = gitPlaceOf("models/train.py");     // git.commit, git.branch, git.root
//   GitQuestion(git.root).answer()                    // "clean", "2 files modified: a.py, b.py"
#pragma once
#include <string>
#include <vector>

namespace uopscope {

/// The repository that a path lies in: commit "<hash>" and, where known, the branch; empty if there is none.
struct GitPlace {
  std::string commit, branch, root;
};
GitPlace gitPlaceOf(const std::string& path);

/// Asks git for the state of a work tree. The question takes the program and its environment when it is made, since a script may
/// change the environment at any time: answer() reads neither, so any thread may call it.
class GitQuestion {
public:
  explicit GitQuestion(std::string root);
  /// Empty without git or when git took too long.
  std::string answer() const;

private:
  std::string root_, program_;           ///< no program: none in PATH
  std::vector<std::string> environment_; ///< "NAME=value"
};

} // namespace uopscope
