target triple = "amdgcn-amd-amdhsa"

define amdgpu_kernel void @small_types(ptr addrspace(1) noalias align 1 %data0_30, ptr addrspace(1) noalias align 1 %data1_30, ptr addrspace(1) noalias align 1 %data2_30, i32 %n) #0 {
entry:
  %idx0 = call i32 @llvm.amdgcn.workgroup.id.x()
  %ptr0 = getelementptr inbounds i8, ptr addrspace(1) %data2_30, i32 %idx0
  %val0 = load i8, ptr addrspace(1) %ptr0, align 1
  %cast0 = trunc i8 %val0 to i1
  %ptr1 = getelementptr inbounds i8, ptr addrspace(1) %data1_30, i32 %idx0
  %val1 = load i8, ptr addrspace(1) %ptr1, align 1
  %alu0 = mul i8 %val1, 3
  %alu1 = select i1 %cast0, i8 %alu0, i8 %val1
  %ptr2 = getelementptr inbounds i8, ptr addrspace(1) %data0_30, i32 %idx0
  store i8 %alu1, ptr addrspace(1) %ptr2, align 1
  ret void
}

declare i32 @llvm.amdgcn.workgroup.id.x()

attributes #0 = { nounwind "no-trapping-math"="true" "target-cpu"="gfx942" "amdgpu-flat-work-group-size"="1,1" "uniform-work-group-size"="true" }
