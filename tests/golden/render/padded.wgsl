enable f16;
@group(0) @binding(0) var<storage, read_write> data0_40: array<f16>;
@group(0) @binding(1) var<storage, read_write> data1_36: array<f16>;

@compute @workgroup_size(8, 1, 1) fn padded_(@builtin(workgroup_id) group_id: vec3<u32>, @builtin(local_invocation_id) thread_id: vec3<u32>, @builtin(global_invocation_id) launch_id: vec3<u32>) {
  let gidx0: i32 = i32(group_id.x);
  let lidx0: i32 = i32(thread_id.x);
  let alu0: i32 = (gidx0 << 3u) + lidx0;
  let val0: f16 = select(f16(0.0f), data1_36[alu0 + (-4)], 3 < alu0);
  data0_40[alu0] = val0 * f16(0.5f);
}
