# Records the values that the reference reads from random blocks: python record_gguf.py ../../golden/python/gguf.json
import json, sys
import numpy as np
from tinygrad import Tensor
from tinygrad.nn.state import ggml_data_to_tensor

out, rng = {}, np.random.default_rng(5)
for kind, (values, size, scales) in {2: (32, 18, [0]), 3: (32, 20, [0, 2]), 8: (32, 34, [0]), 12: (256, 144, [0, 2]), 14: (256, 210, [208]), 39: (32, 17, [])}.items():
  data = rng.integers(0, 256, (2, size), dtype=np.uint8)
  for at in scales: data[:, at:at + 2] = rng.uniform(-2, 2, 2).astype(np.float16).view(np.uint8).reshape(2, 2)
  if kind == 39: data[:, 0] = [120, 131]
  out[kind] = {"bytes": data.tobytes().hex(), "values": [float(f"{v:.7g}") for v in ggml_data_to_tensor(Tensor(data.reshape(-1)), 2 * values, kind).numpy().reshape(-1).tolist()]}
with open(sys.argv[1], "w") as f: f.write("{\n" + ",\n".join(f'"{k}": {json.dumps(v)}' for k, v in out.items()) + "\n}\n")
