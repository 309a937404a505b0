@group(0) @binding(0) var<storage, read_write> data0_8: array<f32>;
@group(0) @binding(1) var<storage, read_write> data1_512: array<f32>;
var<workgroup> temp0: array<f32, 16>;

@compute @workgroup_size(16, 1, 1) fn grouped_(@builtin(workgroup_id) group_id: vec3<u32>, @builtin(local_invocation_id) thread_id: vec3<u32>, @builtin(global_invocation_id) launch_id: vec3<u32>) {
  // temp0 is shared by the work group
  var acc0: array<f32, 1>;
  var acc1: array<f32, 1>;
  let gidx0: i32 = i32(group_id.x);
  let lidx0: i32 = i32(thread_id.x);
  let alu0: bool = (lidx0 != 0) != true;
  acc0[0] = 0.0f;
  for (var Ridx1: i32 = 0; Ridx1 < 4; Ridx1++) {
    let val0: f32 = acc0[0];
    let val1: f32 = data1_512[(gidx0 << 6u) + (lidx0 << 2u) + Ridx1];
    acc0[0] = val0 + val1;
  }
  acc1[0] = 0.0f;
  let val2: f32 = acc0[0];
  temp0[lidx0] = val2;
  workgroupBarrier();
  for (var Ridx2_2: i32 = 0; Ridx2_2 < 16; Ridx2_2++) {
    let val3: f32 = acc1[0];
    let val4: f32 = temp0[Ridx2_2];
    acc1[0] = val3 + val4;
  }
  let val5: f32 = acc1[0];
  if (alu0) {
    data0_8[gidx0] = val5;
  }
}
