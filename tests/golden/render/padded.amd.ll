target triple = "amdgcn-amd-amdhsa"

define amdgpu_kernel void @padded(ptr addrspace(1) noalias align 2 %data0_40, ptr addrspace(1) noalias align 2 %data1_36) #0 {
entry:
  %idx0 = call range(i32 0, 5) i32 @llvm.amdgcn.workgroup.id.x()
  %alu0 = shl i32 %idx0, 3
  %idx1 = call range(i32 0, 8) i32 @llvm.amdgcn.workitem.id.x()
  %alu1 = add nsw i32 %alu0, %idx1
  %alu2 = add nsw i32 %alu1, -4
  %alu3 = icmp slt i32 3, %alu1
  %ptr0 = getelementptr half, ptr addrspace(1) %data1_36, i32 %alu2
  br i1 %alu3, label %gate, label %gate_off
gate:
  %val0 = load half, ptr addrspace(1) %ptr0, align 2
  br label %gate_off
gate_off:
  %val1 = phi half [ %val0, %gate ], [ 0xH0000, %entry ]
  %alu4 = fmul half %val1, 0xH3800
  %ptr1 = getelementptr inbounds half, ptr addrspace(1) %data0_40, i32 %alu1
  store half %alu4, ptr addrspace(1) %ptr1, align 2
  ret void
}

declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workitem.id.x()

attributes #0 = { nounwind "no-trapping-math"="true" "target-cpu"="gfx942" "amdgpu-flat-work-group-size"="8,8" "uniform-work-group-size"="true" }
