@group(0) @binding(0) var<storage, read_write> data0_30: array<atomic<u32>>;
@group(0) @binding(1) var<storage, read_write> data1_30: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read_write> data2_30: array<atomic<u32>>;
struct Variables { n: i32 }
var<immediate> variables: Variables;

@compute @workgroup_size(1, 1, 1) fn small_types_(@builtin(workgroup_id) group_id: vec3<u32>, @builtin(local_invocation_id) thread_id: vec3<u32>, @builtin(global_invocation_id) launch_id: vec3<u32>) {
  let n: i32 = variables.n;
  let gidx0: i32 = i32(group_id.x);
  let val0: bool = ((atomicLoad(&data2_30[gidx0 >> 2u]) >> (u32(gidx0 & 3) * 8u)) & 255u) != 0u;
  let val1: i32 = extractBits(i32((atomicLoad(&data1_30[gidx0 >> 2u]) >> (u32(gidx0 & 3) * 8u)) & 255u), 0u, 8u);
  atomicAnd(&data0_30[gidx0 >> 2u], ~(255u << (u32(gidx0 & 3) * 8u))); atomicOr(&data0_30[gidx0 >> 2u], (u32(select(val1, extractBits(val1 * 3, 0u, 8u), val0)) & 255u) << (u32(gidx0 & 3) * 8u));
}
