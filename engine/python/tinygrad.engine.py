# Running: see schedule, realize, jit.
