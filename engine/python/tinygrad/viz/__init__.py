# The views of what was tracked: tinygrad.viz.serve.
