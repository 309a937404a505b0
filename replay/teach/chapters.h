// Tells a compilation in chapters, one sentence for each pass. The sentence combines the table of passes with
// the facts of this pass: rules that applied, sizes before and after, operations that came and went,
// decisions and their prices.
//
//   for (const Chapter& c : tellScope(trace, kernel).chapters) print(c.title, c.sentences);
//
// A kernel has eight to twelve chapters, always in the same order, so that two kernels can be read side by
// side. Invariant: a story contains only facts of the trace.
#pragma once
#include "replay/read/trace.h"

#include <nlohmann/json.hpp>

namespace uopscope {

struct Chapter {
  std::string title, about; ///< about: the purpose of the chapter, the same in every story
  struct Sentence {
    PassId pass = 0;  ///< 0: the sentence is about no single pass
    std::string link; ///< link into the trace: kernel=6&pass=13
    std::string text;
    std::vector<std::string> details; ///< an example, decisions with prices
  };
  std::vector<Sentence> sentences;
  std::string code; ///< shown below the chapter
};

struct ToldScope {
  ScopeId scope = 0;
  std::string name, kind, script; ///< script: "softmax.py:9"
  std::vector<Chapter> chapters;
};

ToldScope tellScope(Trace& trace, ScopeId scope);

struct StoryOptions {
  bool colour = false;
  size_t codeLines = 60; ///< most lines of code on a terminal; 0: all
};
std::string storyText(const ToldScope& told, const StoryOptions& options);
/// The story as one page that needs no network.
std::string storyHtml(const std::vector<ToldScope>& told, const std::string& title);
nlohmann::ordered_json storyJson(const ToldScope& told);

} // namespace uopscope
