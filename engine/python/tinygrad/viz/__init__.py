# Views of the recorded rewrites: tinygrad.viz.serve.
