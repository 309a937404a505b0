// uopscope completion bash|zsh|fish|man: writes a shell's completion of our verbs and options, and the manual
// page. The verbs' own definitions are the source.
//
//   uopscope completion bash >> ~/.bashrc
//   uopscope completion zsh > "${fpath[1]}/_uopscope"
//   uopscope completion fish > ~/.config/fish/completions/uopscope.fish
#include "app/cli/output.h"
#include "replay/schema/schema.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>

namespace uopscope::cli {

namespace {

struct Word {
  std::string name, help;
  std::vector<std::string> values; ///< possible values of an option
};
struct Verb {
  Word word;
  std::vector<Word> options;
  std::vector<Verb> verbs; ///< sub-verbs, as in "replay diff"
};

/// The values of an option: "--by TEXT:{rule,pass,op}" gives rule, pass, op.
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
    Verb verb{{sub->get_name(), sub->get_description(), {}}, {}, {}};
    for (const CLI::Option* option : sub->get_options()) {
      for (const std::string& name : option->get_lnames())
        verb.options.push_back({"--" + name, option->get_description(), valuesOf(*option)});
      for (const std::string& name : option->get_snames())
        verb.options.push_back({"-" + name, option->get_description(), valuesOf(*option)});
    }
    verb.verbs = verbsOf(*sub);
    out.push_back(std::move(verb));
  }
  return out;
}

std::string joined(const std::vector<Word>& words) {
  std::string out;
  for (const Word& w : words) out += (out.empty() ? "" : " ") + w.name;
  return out;
}
std::string namesOf(const std::vector<Verb>& verbs) {
  std::vector<Word> names;
  for (const Verb& v : verbs) names.push_back(v.word);
  return joined(names);
}
std::string quoted(const std::string& text) {
  std::string out;
  for (char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return "'" + out + "'";
}

/// Calls `use` with every verb and its full name: "ls", "replay diff".
void forEach(const std::vector<Verb>& verbs, const std::string& above,
             const std::function<void(const Verb&, const std::string& path)>& use) {
  for (const Verb& v : verbs) {
    use(v, above + v.word.name);
    forEach(v.verbs, above + v.word.name + " ", use);
  }
}

void bash(const std::vector<Verb>& verbs) {
  fmt::print("_uopscope() {{\n  local word=\"${{COMP_WORDS[COMP_CWORD]}}\" "
             "before=\"${{COMP_WORDS[COMP_CWORD-1]}}\" verb=\"${{COMP_WORDS[1]}}\" words=\"\"\n"
             "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen -W \"{}\" -- \"$word\") "
             "$(compgen -f -- \"$word\"))\n    return\n  fi\n",
             namesOf(verbs));
  for (const Verb& v : verbs)
    if (!v.verbs.empty())
      fmt::print("  if [ \"$verb\" = {} ]; then\n    if [ \"$COMP_CWORD\" -eq 2 ]; then\n      "
                 "COMPREPLY=($(compgen -W \"{}\" -- \"$word\"))\n      return\n    fi\n    verb=\"$verb "
                 "${{COMP_WORDS[2]}}\"\n  fi\n",
                 v.word.name, namesOf(v.verbs));
  fmt::print("  case \"$verb:$before\" in\n");
  forEach(verbs, "", [](const Verb& v, const std::string& path) {
    for (const Word& o : v.options)
      if (!o.values.empty())
        fmt::print("    \"{}:{}\") COMPREPLY=($(compgen -W \"{}\" -- \"$word\")); return ;;\n", path, o.name,
                   fmt::join(o.values, " "));
  });
  fmt::print("  esac\n  case \"$verb\" in\n");
  forEach(verbs, "", [](const Verb& v, const std::string& path) {
    fmt::print("    \"{}\") words=\"{}\" ;;\n", path, joined(v.options));
  });
  fmt::print("  esac\n  case \"$word\" in\n    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$word\")) ;;\n"
             "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n  esac\n}}\ncomplete -o filenames -F "
             "_uopscope uopscope\n");
}

void zsh(const std::vector<Verb>& verbs) {
  auto escaped = [](const std::string& text) {
    std::string out;
    for (char c : text)
      if (c == '[' || c == ']' || c == ':' || c == '\'')
        out += ' ';
      else
        out += c;
    return out;
  };
  fmt::print("#compdef uopscope\n_uopscope() {{\n  local -a verbs\n");
  std::function<void(const std::vector<Verb>&, int)> level = [&](const std::vector<Verb>& at, int depth) {
    std::string in(static_cast<size_t>(depth) * 2 - 2, ' ');
    fmt::print("{}verbs=(\n", in);
    for (const Verb& v : at) fmt::print("{}  '{}:{}'\n", in, v.word.name, escaped(v.word.help));
    fmt::print("{0})\n{0}if (( CURRENT == {1} )); then\n{0}  _describe verb verbs\n", in, depth);
    if (depth == 2) fmt::print("{}  _files\n", in);
    fmt::print("{0}  return\n{0}fi\n{0}case $words[{1}] in\n", in, depth);
    for (const Verb& v : at) {
      fmt::print("{}  {})\n", in, v.word.name);
      if (!v.verbs.empty()) {
        level(v.verbs, depth + 1);
        fmt::print("{}  ;;\n", in);
        continue;
      }
      fmt::print("{}    _arguments", in);
      for (const Word& o : v.options)
        fmt::print(" \\\n{}      '{}[{}]{}'", in, o.name, escaped(o.help),
                   o.values.empty() ? "" : fmt::format(":value:({})", fmt::join(o.values, " ")));
      fmt::print(" \\\n{}      '*:file:_files' ;;\n", in);
    }
    fmt::print("{}esac\n", in);
  };
  level(verbs, 2);
  fmt::print("}}\ncompdef _uopscope uopscope\n");
}

void fish(const std::vector<Verb>& verbs, const std::string& when = "__fish_use_subcommand",
          const std::string& above = "") {
  std::string withOwn; // verbs with sub-verbs, whose names may repeat a verb's
  for (const Verb& v : verbs)
    if (!v.verbs.empty()) withOwn += " " + v.word.name;
  for (const Verb& v : verbs) {
    fmt::print("complete -c uopscope -n '{}' -a {} -d {}\n", when, v.word.name, quoted(v.word.help));
    std::string seen = above + "__fish_seen_subcommand_from " + v.word.name;
    if (v.verbs.empty() && !withOwn.empty()) seen += "; and not __fish_seen_subcommand_from" + withOwn;
    for (const Word& o : v.options) {
      bool isLong = o.name.starts_with("--");
      fmt::print("complete -c uopscope -n '{}' -{} {} -d {}{}\n", seen, isLong ? "l" : "s",
                 o.name.substr(isLong ? 2 : 1), quoted(o.help),
                 o.values.empty()
                     ? ""
                     : fmt::format(" -x -a {}", quoted(fmt::format("{}", fmt::join(o.values, " ")))));
    }
    if (!v.verbs.empty())
      fish(v.verbs, seen + "; and not __fish_seen_subcommand_from " + namesOf(v.verbs), seen + "; and ");
  }
}

/// Escapes text for a manual page: a hyphen becomes a minus, and no line begins with a request.
std::string troff(const std::string& text) {
  std::string out;
  for (char c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    if (c == '-' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

void man(const std::vector<Verb>& verbs, const std::string& about, const std::string& examples) {
  fmt::print(
      ".TH UOPSCOPE 1 \"\" \"uopscope {}\" \"User Commands\"\n.SH NAME\nuopscope \\- {}\n.SH SYNOPSIS\n"
      ".B uopscope\n[\\fIVERB\\fR] [\\fIOPTIONS\\fR] [\\fIFILE\\fR]\n.SH DESCRIPTION\n"
      "Without a verb, a script is recorded and a trace opened, both in the window.\n.SH VERBS\n",
      kProgramVersion, troff(about));
  forEach(verbs, "", [](const Verb& v, const std::string& path) {
    fmt::print(".SS {}\n{}\n", path, troff(v.word.help));
    for (const Word& o : v.options) fmt::print(".TP\n\\fB{}\\fR\n{}\n", troff(o.name), troff(o.help));
  });
  fmt::print(".SH EXAMPLES\n.nf\n{}\n.fi\n.SH SEE ALSO\nThe guide in /usr/share/doc/uopscope.\n",
             troff(examples));
}

} // namespace

int completion(const std::string& shell, CLI::App& app) {
  std::vector<Verb> verbs = verbsOf(app);
  if (shell == "bash")
    bash(verbs);
  else if (shell == "zsh")
    zsh(verbs);
  else if (shell == "fish")
    fish(verbs);
  else
    man(verbs, app.get_description(), app.get_footer());
  return kFine;
}

} // namespace uopscope::cli
