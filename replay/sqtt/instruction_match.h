// Which instruction of the kernel each issue of a wavefront was. A trace names only units ("vector", "memory"), and whether
// a jump was taken. A wavefront runs the program from its first instruction, so following the program along the issues names
// each instruction; an issue of another unit than the program has there shows that something was misread.
//
//   Program program(disassembly);                    // as disassembleObject() writes it
//   Match match = program.follow(wave);
//   if (match.complete) use(program.lines()[match.lines[k]].text, wave.issues[k].cycle);
#pragma once
#include "replay/sqtt/waves.h"

#include <map>
#include <string>
#include <vector>

namespace uopscope::sqtt {

struct Match {
  std::vector<uint32_t>
      lines;             ///< for each issue its line in Program::lines(), up to the first that does not agree
  bool complete = false; ///< all issues agree, and the program ends where the wavefront does
};

/// The costs of a line over all wavefronts whose match is complete.
struct LineCost {
  int64_t issues = 0;
  int64_t cycles = 0; ///< from the issue of the instruction before to its own: most of it is waiting
};

class Program {
public:
  struct Line {
    std::string text;         ///< the instruction
    std::optional<Unit> unit; ///< nothing: the hardware reports no issue (s_delay_alu)
    bool isJump = false, isEnd = false, isAnything = false; ///< isAnything: its unit is not known
    uint32_t target = 0;                                    ///< of a jump
    std::vector<std::string> labels;                        ///< before it
  };
  /// `tellsImmediates`: as the trace says. Where it does not, the end of the program is a message.
  explicit Program(std::string_view disassembly, bool tellsImmediates = true);
  const std::vector<Line>& lines() const { return lines_; }
  Match follow(const Wave& wave) const;
  /// The instructions with what each took, for a person to read.
  std::string listing(const std::vector<LineCost>& costs, int64_t waves) const;
  /// Adds the wave to the costs, which have an entry for each line.
  void addCosts(const Wave& wave, const Match& match, std::vector<LineCost>& costs) const;

private:
  bool tellsImmediates_;
  std::vector<Line> lines_;
};

} // namespace uopscope::sqtt
