# A file of rules: a script that leaves PatternMatchers in its names. `after` names the pass that they follow.
#
#   after = "initial symbolic"                                        # the default
#   rules = PatternMatcher([(UPat.var("x", dtypes.ints) * UPat.cvar("c"), shift)])
#
# `uopscope rule FILE TRACE` tries it, `uopscope record --rules FILE SCRIPT` records with it.
import runpy, traceback
import _uopscope
from uopscope.proofs import rules_of

DEFAULT_PASS = "initial symbolic"
_active = []

def _described(error, path):
  """The error with the last line of the file that was at work."""
  if isinstance(error, SyntaxError): return f"{error.filename or path}:{error.lineno}: {type(error).__name__}: {error.msg}"
  lines = [at.lineno for at in traceback.extract_tb(error.__traceback__) if at.filename == path]
  text = " ".join(str(error).split())
  return f"{path}:{lines[-1]}: {type(error).__name__}: {text}" if lines else f"{path}: {type(error).__name__}: {text}"

def load(path, after=""):
  """(the rules of a file as a matcher, the pass they follow, ""), or (None, "", the fault)."""
  try: names = runpy.run_path(path)
  except BaseException as e: return None, "", _described(e, path)
  rules = rules_of(names)
  if not rules: return None, "", f"{path} leaves no PatternMatcher in its names: assign one, such as rules = PatternMatcher([...])"
  after = after or names.get("after", DEFAULT_PASS)
  if not isinstance(after, str): return None, "", f"{path}: after is {after!r}; give the name of a pass, such as {DEFAULT_PASS!r}"
  try: _uopscope.UserRules(after, _uopscope.Matcher(rules))
  except ValueError as e: return None, "", f"{path}: {e}"
  return _uopscope.Matcher(rules), after, ""

def activate(path, after=""):
  """From now on the rules run in every schedule and kernel of the process; returns the fault, or ""."""
  matcher, after, fault = load(path, after)
  if not fault: _active.append(_uopscope.UserRules(after, matcher))
  return fault
