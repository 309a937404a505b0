# The texts of engine/docs are what help() and the window show of each public name: there is one for every name, each
# names something that exists, and each has examples that print what they say.
#
#   cumsum                                        # column 0: one name or several, separated by ", "
#     The sums of all elements up to each place   # indented: the text of these names
#     >>> Tensor([1, 2, 3]).cumsum().tolist()     # an example in doctest's form, with its true result
#     [1, 3, 6]
#
# The entry with the name of its file is of the class itself.
import contextlib, doctest, inspect, io, math, pathlib, traceback
import numpy as np
from tinygrad import Context, Device, GlobalCounters, Tensor, TinyJit, UOp, Variable, dtypes, nn
from tinygrad.dtype import AddrSpace, DType
from tinygrad.uop.ops import AxisType, KernelInfo, Ops, PatternMatcher, UPat
from check import run

DOCS = pathlib.Path(__file__).resolve().parents[3] / "engine" / "docs"
WIDTH = 118  # columns
# What has a file of texts; of Variable and Context the text of the whole is all there is.
WITH_NAMES = {"Tensor": Tensor, "UOp": UOp, "TinyJit": TinyJit, "DType": DType, "dtypes": dtypes, "Device": Device}
WHOLE = {"Variable": Variable, "Context": Context}
OPERATORS = {"Tensor": ("__add__", "__matmul__", "__getitem__", "__setitem__")}
NAMES = WITH_NAMES | WHOLE | {"nn": nn, "np": np, "math": math, "GlobalCounters": GlobalCounters, "AddrSpace": AddrSpace, "AxisType": AxisType,
                              "KernelInfo": KernelInfo, "Ops": Ops, "PatternMatcher": PatternMatcher, "UPat": UPat}

Device.DEFAULT = "CPU"  # examples print its name, on whatever device the tests are run

def entries(path):
  """[(names, text without its indentation)] in the order of the file."""
  found = []
  for number, line in enumerate(path.read_text().splitlines(), 1):
    if not line or line.startswith("#"): continue
    if not line.startswith(" "): found.append((line.split(", "), []))
    else:
      assert line.startswith("  ") and found, f"{path.name}:{number}: a line of text is indented by two blanks, below the names that it is of"
      found[-1][1].append(line[2:])
  return [(names, "\n".join(lines) + "\n") for names, lines in found]
TEXTS = {path.stem: entries(path) for path in sorted(DOCS.glob("*.txt"))}

def wrong_examples(name, text):
  """A line for each example that raises, or prints something else than the text says."""
  checker, names, wrong = doctest.OutputChecker(), dict(NAMES), []
  for example in doctest.DocTestParser().get_examples(text, name):
    printed = io.StringIO()
    try:
      with contextlib.redirect_stdout(printed): exec(compile(example.source, f"<{name}>", "single"), names)
      got = printed.getvalue()
    except Exception as e: got = printed.getvalue() + traceback.format_exception_only(e)[-1]
    if not checker.check_output(example.want, got, 0): wrong.append(f"{name}: {example.source.strip()}\n    prints    {got!r}\n    expected  {example.want!r}")
  return wrong

def test_every_file_is_of_something_that_exists():
  assert sorted(TEXTS) == sorted(WITH_NAMES | WHOLE), sorted(TEXTS)

def test_signatures_are_known_to_inspect():
  assert str(inspect.signature(Tensor.sum)) == "(self, axis=None, keepdim=False, dtype=None)"
  assert str(inspect.signature(Tensor([1.0]).squeeze)) == "(dim=None)"
  for c in (Tensor, UOp):
    methods = [n for n in dir(c) if not n.startswith("_") and callable(getattr(c, n))]
    known = [n for n in methods if getattr(getattr(c, n), "__text_signature__", None) or hasattr(getattr(c, n), "__code__")]
    assert len(known) > 0.95 * len(methods), sorted(set(methods) - set(known))

def test_lines_are_short():
  long = [f"{path.name}:{number}" for path in DOCS.glob("*.txt") for number, line in enumerate(path.read_text().splitlines(), 1) if len(line) > WIDTH]
  assert not long, f"more than {WIDTH} columns: {long}"

def test_every_public_name_has_a_text():
  for of, thing in WITH_NAMES.items():
    texts = {name for names, _ in TEXTS[of] for name in names}
    public = {n for n in dir(thing) if not n.startswith("_")}.union(OPERATORS.get(of, ()), [of])
    assert not (missing := sorted(public - texts)), f"{of}.txt lacks {missing}"
  for of in WHOLE: assert [names for names, _ in TEXTS[of]] == [[of]], f"{of}.txt has the one entry {of}"

def test_every_entry_names_something_that_exists():
  for of, found in TEXTS.items():
    names = [name for names, _ in found for name in names]
    assert not (unknown := [n for n in names if n != of and not hasattr(NAMES[of], n)]), f"{of} has no {unknown}"
    assert not (twice := sorted({n for n in names if names.count(n) > 1})), f"{of}.txt has two entries of {twice}"

def test_every_entry_has_a_text_and_an_example():
  for of, found in TEXTS.items():
    for names, text in found:
      assert text.strip() and not text.startswith(">>>"), f"{of}.txt: {names[0]} has no text"
      assert ">>> " in text, f"{of}.txt: {names[0]} has no example"

def test_examples_print_what_they_say():
  wrong = [line for of, found in TEXTS.items() for names, text in found for line in wrong_examples(f"{of}.{names[0]}", text)]
  assert not wrong, "\n" + "\n".join(wrong)

if __name__ == "__main__": run(globals())
