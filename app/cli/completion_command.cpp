// uopscope completion bash|zsh|fish: what a shell needs to complete our verbs and options, made from the
// verbs themselves.
//
//   uopscope completion bash >> ~/.bashrc
//   uopscope completion zsh > "${fpath[1]}/_uopscope"
//   uopscope completion fish > ~/.config/fish/completions/uopscope.fish
#include "app/cli/output.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

namespace uopscope::cli {

namespace {

struct Word {
  std::string name, help;
  std::vector<std::string> values; ///< of an option
};
struct Verb {
  Word word;
  std::vector<Word> options;
};

/// "--by TEXT:{rule,pass,op}" -> its values.
std::vector<std::string> valuesOf(const CLI::Option& option) {
  std::string type = option.get_type_name();
  size_t open = type.find('{'), close = type.find('}');
  std::vector<std::string> out;
  if (open == std::string::npos || close == std::string::npos) return out;
  std::string list = type.substr(open + 1, close - open - 1);
  for (size_t at = 0; at <= list.size();) {
    size_t comma = std::min(list.find(',', at), list.size());
    out.push_back(list.substr(at, comma - at));
    at = comma + 1;
  }
  return out;
}

std::vector<Verb> verbsOf(CLI::App& app) {
  std::vector<Verb> out;
  for (CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; })) {
    Verb verb{{sub->get_name(), sub->get_description(), {}}, {}};
    for (const CLI::Option* option : sub->get_options()) {
      for (const std::string& name : option->get_lnames())
        verb.options.push_back({"--" + name, option->get_description(), valuesOf(*option)});
      for (const std::string& name : option->get_snames())
        verb.options.push_back({"-" + name, option->get_description(), valuesOf(*option)});
    }
    out.push_back(std::move(verb));
  }
  return out;
}

std::string joined(const std::vector<Word>& words) {
  std::string out;
  for (const Word& w : words) out += (out.empty() ? "" : " ") + w.name;
  return out;
}
std::string quoted(const std::string& text) {
  std::string out;
  for (char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return "'" + out + "'";
}

void bash(const std::vector<Verb>& verbs) {
  std::vector<Word> names;
  for (const Verb& v : verbs) names.push_back(v.word);
  fmt::print("_uopscope() {{\n  local word=\"${{COMP_WORDS[COMP_CWORD]}}\" "
             "before=\"${{COMP_WORDS[COMP_CWORD-1]}}\" words=\"\"\n"
             "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen -W \"{}\" -- \"$word\") "
             "$(compgen -f -- \"$word\"))\n"
             "    return\n  fi\n  case \"${{COMP_WORDS[1]}}:$before\" in\n",
             joined(names));
  for (const Verb& v : verbs)
    for (const Word& o : v.options)
      if (!o.values.empty())
        fmt::print("    {}:{}) COMPREPLY=($(compgen -W \"{}\" -- \"$word\")); return ;;\n", v.word.name,
                   o.name, fmt::join(o.values, " "));
  fmt::print("  esac\n  case \"${{COMP_WORDS[1]}}\" in\n");
  for (const Verb& v : verbs) fmt::print("    {}) words=\"{}\" ;;\n", v.word.name, joined(v.options));
  fmt::print("  esac\n  case \"$word\" in\n    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$word\")) ;;\n"
             "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n  esac\n}}\ncomplete -o filenames -F "
             "_uopscope uopscope\n");
}

void zsh(const std::vector<Verb>& verbs) {
  auto escaped = [](std::string text) {
    std::string out;
    for (char c : text)
      if (c == '[' || c == ']' || c == ':' || c == '\'')
        out += ' ';
      else
        out += c;
    return out;
  };
  fmt::print("#compdef uopscope\n_uopscope() {{\n  local -a verbs\n  verbs=(\n");
  for (const Verb& v : verbs) fmt::print("    '{}:{}'\n", v.word.name, escaped(v.word.help));
  fmt::print("  )\n  if (( CURRENT == 2 )); then\n    _describe verb verbs\n    _files\n    return\n  fi\n  "
             "case $words[2] in\n");
  for (const Verb& v : verbs) {
    fmt::print("    {}) _arguments", v.word.name);
    for (const Word& o : v.options)
      fmt::print(" \\\n        '{}[{}]{}'", o.name, escaped(o.help),
                 o.values.empty() ? "" : fmt::format(":value:({})", fmt::join(o.values, " ")));
    fmt::print(" \\\n        '*:file:_files' ;;\n");
  }
  fmt::print("  esac\n}}\ncompdef _uopscope uopscope\n");
}

void fish(const std::vector<Verb>& verbs) {
  for (const Verb& v : verbs) {
    fmt::print("complete -c uopscope -n __fish_use_subcommand -a {} -d {}\n", v.word.name,
               quoted(v.word.help));
    for (const Word& o : v.options) {
      bool isLong = o.name.starts_with("--");
      fmt::print("complete -c uopscope -n '__fish_seen_subcommand_from {}' -{} {} -d {}{}\n", v.word.name,
                 isLong ? "l" : "s", o.name.substr(isLong ? 2 : 1), quoted(o.help),
                 o.values.empty()
                     ? ""
                     : fmt::format(" -x -a {}", quoted(fmt::format("{}", fmt::join(o.values, " ")))));
    }
  }
}

} // namespace

int completion(const std::string& shell, CLI::App& app) {
  std::vector<Verb> verbs = verbsOf(app);
  if (shell == "bash")
    bash(verbs);
  else if (shell == "zsh")
    zsh(verbs);
  else
    fish(verbs);
  return kFine;
}

} // namespace uopscope::cli
