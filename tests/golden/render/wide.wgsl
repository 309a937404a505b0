@group(0) @binding(0) var<storage, read_write> data0_256: array<f32>;
@group(0) @binding(1) var<storage, read_write> data1_256: array<f32>;

@compute @workgroup_size(16, 1, 1) fn wide(@builtin(workgroup_id) gid: vec3<u32>, @builtin(local_invocation_id) lid: vec3<u32>, @builtin(global_invocation_id) all: vec3<u32>) {
  let gidx0: i32 = i32(gid.x);
  let lidx0: i32 = i32(lid.x);
  let alu0: i32 = (gidx0 << 6u) + (lidx0 << 2u);
  let val0: f32 = data1_256[alu0];
  data0_256[alu0] = exp2(val0) + val0;
  let alu1: i32 = alu0 + 1;
  let val1: f32 = data1_256[alu1];
  data0_256[alu1] = exp2(val1) + val1;
  let alu2: i32 = alu0 + 2;
  let val2: f32 = data1_256[alu2];
  data0_256[alu2] = exp2(val2) + val2;
  let alu3: i32 = alu0 + 3;
  let val3: f32 = data1_256[alu3];
  data0_256[alu3] = exp2(val3) + val3;
}
