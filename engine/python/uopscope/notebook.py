# Tensors, graphs and kernels in a notebook: values in a table, nodes as a picture, source beside its costs. The classes
# return these from `_repr_html_`, which IPython looks for; nothing of IPython is imported.
#
#   Tensor([[1, 2], [3, 4]])             # at the end of a cell: shape, dtype, device and a table of the values
#   (Tensor([1, 2]) + 1).uop             # its graph, drawn by Graphviz where `dot` is on PATH, else node by node
#
# A tensor that is not realized shows its shape and graph alone, since displaying a cell must not compute anything.
import html, shutil, subprocess
from tinygrad.uop import Ops
from uopscope.colours import colour_of

MOST_ROWS, MOST_COLUMNS, MOST_VALUES, MOST_NODES = 8, 10, 1 << 16, 120
_BOX = "font-family:monospace;border:1px solid #8888;padding:1px 6px;text-align:right"

def _cell(value): return f'<td style="{_BOX}">{html.escape(f"{value:.4g}" if isinstance(value, float) else str(value))}</td>'
def _places(n, most): return list(range(n)) if n <= most else [*range(most // 2), None, *range(n - most // 2, n)]

def table(array):
  """A NumPy array of up to two axes as a table; dots mark the omitted part."""
  array = array.reshape(1, -1) if array.ndim < 2 else array
  columns = _places(array.shape[1], MOST_COLUMNS)
  dots = f'<td style="{_BOX}">&hellip;</td>'
  rows = [dots * len(columns) if r is None else "".join(dots if c is None else _cell(array[r, c].item()) for c in columns) for r in _places(array.shape[0], MOST_ROWS)]
  return '<table style="border-collapse:collapse">' + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"

def tensor_html(tensor):
  """Shape, dtype and device, and the values of a realized tensor; with more than two axes, those at index 0 of the leading
  axes."""
  title = f"Tensor {tuple(tensor.shape)} {tensor.dtype} on {tensor.device}"
  head = f"<div><b>{html.escape(title)}</b></div>"
  if tensor.uop.base.op is Ops.CONST: return f"{head}<div>each element is {html.escape(str(tensor.uop.base.arg))}</div>"
  known = all(isinstance(size, int) for size in tensor.shape)
  if not known or not tensor.uop.is_realized: return f"{head}<details><summary>not computed yet</summary>{graph_html(tensor.uop)}</details>"
  if tensor.numel() == 0 or tensor.numel() > MOST_VALUES: return head
  array = tensor.numpy()
  if array.ndim <= 2: return head + table(array)
  first = array.reshape(-1, *array.shape[-2:])[0]
  return f"{head}<div>[{', '.join('0' * (array.ndim - 2))}]</div>{table(first)}"

def dot_text(node):
  """The graph below a node in the language of Graphviz."""
  nodes = list(node.toposort())
  number = {u: i for i, u in enumerate(nodes)}
  def label(u): return f"{u.op.name}\\n{u.dtype}" + (f"\\n{str(u.arg)[:40]}" if u.arg is not None else "")
  quoted = lambda text: '"' + text.replace('"', "'") + '"'
  lines = [f"n{i} [label={quoted(label(u))} fillcolor={quoted(colour_of(u))}]" for u, i in number.items()]
  edges = [f"n{number[s]} -> n{number[u]}" + (f" [label={k}]" if len(u.src) > 1 else "") for u in nodes for k, s in enumerate(u.src)]
  return 'digraph { node [shape=box style="filled,rounded" fontname=monospace fontsize=10 height=0.2] edge [fontsize=8 arrowsize=0.5]\n' + "\n".join(lines + edges) + "\n}\n"

def drawn(text):
  """The picture as SVG, or None if Graphviz is not installed or takes more than ten seconds."""
  if shutil.which("dot") is None: return None
  try: done = subprocess.run(["dot", "-Tsvg"], input=text, capture_output=True, text=True, timeout=10)
  except subprocess.TimeoutExpired: return None
  return done.stdout[done.stdout.find("<svg"):] if done.returncode == 0 else None

def graph_html(node):
  """The graph below a node: a picture for up to 120 nodes, else its text."""
  count = len(node.toposort())
  picture = drawn(dot_text(node)) if count <= MOST_NODES else None
  body = picture if picture else f"<pre>{html.escape(str(node))}</pre>"
  return f'<div><b>{node.op.name}</b> of {count} node{"s" * (count != 1)}</div><div style="overflow:auto;max-height:40em">{body}</div>'

def kernel_html(program):
  """A ProgramSpec: its name, sizes and source."""
  sizes = ", ".join(f"{name} {value}" for name, value in (("global", program.global_size), ("local", program.local_size)) if value)
  return f"<div><b>{html.escape(program.name)}</b> on {html.escape(str(program.device))} {html.escape(sizes)}</div><pre>{html.escape(program.src)}</pre>"
