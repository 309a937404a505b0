# The display in notebooks: values of realized tensors, graphs, kernels. Display computes nothing, and large content is cut.
import sys, types
import uopscope
from uopscope import notebook
from tinygrad import Tensor, GlobalCounters
from tinygrad.engine.realize import get_program
from tinygrad.device import Device
from check import raises, run

def test_a_realized_tensor_is_a_table():
  shown = Tensor([[1, 2], [3, 4]])._repr_html_()
  assert "Tensor (2, 2) dtypes.int on" in shown and shown.count("<tr>") == 2 and shown.count("<td") == 4 and ">4<" in shown
  assert Tensor([[[1.5, 2]], [[3, 4]]])._repr_html_().count("<td") == 2  # the first of the outer axis, with a note
  assert "[0]" in Tensor([[[1.5, 2]], [[3, 4]]])._repr_html_()
  assert Tensor([])._repr_html_().count("<td") == 0 and "(0,)" in Tensor([])._repr_html_()
  assert Tensor([3.25])._repr_html_().count("<td") == 1 and "each element is 7" in Tensor.full((4, 4), 7)._repr_html_()

def test_large_tables_are_cut_in_the_middle():
  shown = Tensor.arange(40 * 50).reshape(40, 50).contiguous().realize()._repr_html_()
  assert shown.count("<tr>") == 9 and "&hellip;" in shown and ">0<" in shown and ">1999<" in shown and ">1000<" not in shown

def test_looking_computes_nothing():
  x = Tensor([1, 2, 3]).realize() * 2
  before = GlobalCounters.kernel_count
  shown = x._repr_html_()
  assert GlobalCounters.kernel_count == before and "not computed yet" in shown and not x.uop.is_realized

def test_graphs_are_pictures_or_text():
  node = (Tensor([1, 2]) * 2).uop
  text = notebook.dot_text(node)
  nodes = list(node.toposort())
  assert text.startswith("digraph") and text.count("fillcolor") == len(nodes) and text.count("->") == sum(len(u.src) for u in nodes)
  assert f"<b>MUL</b> of {len(nodes)} nodes" in node._repr_html_()
  found, notebook.shutil = notebook.shutil, types.SimpleNamespace(which=lambda name: None)
  try: assert "<pre>" in node._repr_html_() and "<svg" not in node._repr_html_()
  finally: notebook.shutil = found

def test_a_kernel_shows_its_source_escaped():
  ast = (Tensor([1, 2]).contiguous() + 1).schedule()[-1].ast
  program = get_program(ast, Device["CPU"].renderer)
  shown = program._repr_html_()
  assert program.name in shown and "<pre>" in shown and "#include <" not in shown

def test_the_names_of_tinygrad_are_asked_for_once_and_not_over_another():
  uopscope.as_tinygrad(); uopscope.as_tinygrad()
  assert uopscope.Tensor is Tensor and "vmap" in dir(uopscope) and "Tensor" in dir(uopscope)
  ours, sys.modules["tinygrad"] = sys.modules["tinygrad"], types.ModuleType("tinygrad")
  try: raises(ImportError, uopscope.as_tinygrad, "imported already", "before the first")
  finally: sys.modules["tinygrad"] = ours

if __name__ == "__main__": run(globals())
