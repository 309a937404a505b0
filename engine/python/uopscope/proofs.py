# `uopscope prove --rules FILE.py`: proves the rules of the PatternMatchers that a script assigns to names, like those of the
# engine. The script runs first, as any script.
#
#   rules = PatternMatcher([(UPat.var("x") + 0, lambda x: x)])      # in FILE.py
import runpy, sys
import _uopscope

def rules_of(names):
  """The rules of all matchers among these values, each once."""
  found = {}
  for value in names.values():
    if isinstance(value, _uopscope.Matcher):
      for rule in value.rules: found.setdefault((rule.name, rule.location), rule)
  return list(found.values())

def main(path, rule, milliseconds, as_json):
  rules = rules_of(runpy.run_path(path))
  if not rules:
    print(f"uopscope: {path} leaves no PatternMatcher in its names: assign one, such as rules = PatternMatcher([...])", file=sys.stderr)
    sys.exit(2)
  text, holds = _uopscope.prove_rules(rules, rule, milliseconds, as_json)
  print(text, end="")
  sys.exit(0 if holds else 1)
