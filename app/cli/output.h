// Output of the verbs: tables with aligned columns, colour only where a terminal shows it, JSON.
#pragma once
#include "app/cli/cli.h"
#include "replay/read/decisions.h"

namespace uopscope::cli {

/// Whether to use colour: on a terminal unless NO_COLOR is set. CLICOLOR_FORCE=1 asks for colour in a pipe
/// too.
bool useColour();
enum class Paint { Plain, Bold, Dim, Added, Removed, Changed, Warning };
std::string paint(Paint paint, const std::string& text);

/// Rows of cells; columns of numbers are right-aligned. The last column is not padded.
class Table {
public:
  explicit Table(std::vector<std::string> header) : header_(std::move(header)) {}
  void add(std::vector<std::string> row); ///< control characters become visible
  size_t size() const { return rows_.size(); }
  void print() const;

private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

void printJson(const Json& json);
/// In one line, without its end; bytes that are no UTF-8 as U+FFFD.
std::string jsonLine(const Json& json);
/// Warns on stderr of an unusual trace (not finished, crashed ...).
void warnAbout(const Trace& trace);
std::string fileLine(const FileLine& at);
/// Prints the reasons of a rewrite with the prices of the alternatives, one line each.
void printDecisions(const std::vector<Decision>& made);
Json decisionsJson(const std::vector<Decision>& made);
/// "12", or "v3" for a node of a cursor's own.
std::string nodeName(NodeId id);
/// A field of comma-separated values, quoted where it must be.
std::string csvField(const std::string& text);
/// "script", "schedule", "kernel" or "other", as exports write it.
std::string_view kindName(ScopeKind kind);

} // namespace uopscope::cli
