# Wrong calls, one per line of errors.txt: each raises an exception that handlers written for the reference catch, and messages name the
# operation and the script's line. A line is the exception's name and the expression.
import pathlib, re, sys
import numpy as np
from tinygrad import Tensor, dtypes, nn, TinyJit, Variable, UOp, Device, Context
from tinygrad.nn import state, optim
from check import raises, run

TABLE = pathlib.Path(__file__).with_name("errors.txt").read_text().splitlines()
def if_(x): return 1 if x else 0

def attempt(expression):
  r = eval(expression)
  for x in r if isinstance(r, (tuple, list)) else [r]:
    if isinstance(x, Tensor): x.realize()

def test_wrong_calls_raise_what_the_reference_raises():
  failures = []
  for line in TABLE:
    name, expression = line.split(None, 1)
    try:
      attempt(expression)
      failures.append(f"{expression}: nothing raised, expected {name}")
    except BaseException as e:
      if name not in (c.__name__ for c in type(e).__mro__): failures.append(f"{expression}: {type(e).__name__}, expected {name}: {e}")
  assert not failures, "\n".join(failures)
  assert len(TABLE) > 280

def test_messages_name_the_operation_the_arguments_and_the_line():
  t = Tensor.ones(2, 3)
  cases = {"add": (lambda: t + Tensor.ones(4), "(2, 3)", "(4,)"), "__add__": (lambda: t + "a", "Tensor (2, 3) float", "str 'a'"),
           "gather": (lambda: t.gather(0, [0]), "list [0]", "index: Tensor"), "__getitem__": (lambda: t[1.5], "float"),
           "reshape": (lambda: t.reshape(4), "(4,)"), "matmul": (lambda: t @ t, "(2, 3)"), "cast": (lambda: t.cast(5), "int 5"),
           "normal": (lambda: Tensor.normal(2, mean="a"), "mean=str 'a'"), "__init__": (lambda: Tensor([1, "a"]), "number")}
  for operation, (f, *words) in cases.items():
    line = f.__code__.co_firstlineno
    e = raises(Exception, f, *words)
    assert operation in str(e) or operation == "matmul", (operation, str(e))
    assert re.search(rf"\(at .*test_errors.py:{line}\)", str(e)), str(e)

def test_an_error_of_the_scripts_own_function_is_left_alone():
  def broken(x): raise ValueError("mine")
  assert str(raises(ValueError, lambda: Tensor.ones(2).sequential([broken]))) == "mine"
  assert str(raises(KeyError, lambda: Tensor.ones(2).custom_kernel(fxn=lambda x: {}["k"]))) == "'k'"

def test_comparing_with_what_is_no_number_is_an_error():
  for wrong in (None, "a", [1], {}): raises(AssertionError, lambda: Tensor([1]) == wrong), raises(TypeError, lambda: Tensor([1]) != wrong)

def test_a_variable_that_may_leave_the_axis_cannot_index_it():
  t, v = Tensor.arange(4), Variable("a", 0, 8).bind(2)
  raises(ValueError, lambda: t[v], "out of bounds", "size=4")
  assert t[Variable("b", 0, 3).bind(2)].item() == 2
  raises(IndexError, lambda: t[Variable("c", 4, 8).bind(5)])

if __name__ == "__main__": run(globals())
