target triple = "amdgcn-amd-amdhsa"

define amdgpu_kernel void @grouped(ptr addrspace(1) noalias align 4 %data0_8, ptr addrspace(1) noalias align 4 %data1_512) #0 {
entry:
  %acc0 = alloca [1 x float], align 16, addrspace(5)
  %acc1 = alloca [1 x float], align 16, addrspace(5)
  %idx0 = call range(i32 0, 8) i32 @llvm.amdgcn.workgroup.id.x()
  %idx1 = call range(i32 0, 16) i32 @llvm.amdgcn.workitem.id.x()
  %cast0 = icmp ne i32 %idx1, 0
  %alu0 = icmp ne i1 %cast0, true
  %ptr0 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 0
  store float 0.0, ptr addrspace(5) %ptr0, align 4
  %alu1 = shl i32 %idx0, 6
  %alu2 = shl i32 %idx1, 2
  %alu3 = add nsw i32 %alu1, %alu2
  br label %before_Ridx1
before_Ridx1:
  br label %loop_Ridx1
loop_Ridx1:
  %Ridx1 = phi i32 [ 0, %before_Ridx1 ], [ %Ridx1.next, %end_Ridx1 ]
  %ptr1 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 0
  %val0 = load float, ptr addrspace(5) %ptr1, align 4
  %alu4 = add nsw i32 %alu3, %Ridx1
  %ptr2 = getelementptr inbounds float, ptr addrspace(1) %data1_512, i32 %alu4
  %val1 = load float, ptr addrspace(1) %ptr2, align 4
  %alu5 = fadd float %val0, %val1
  %ptr3 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 0
  store float %alu5, ptr addrspace(5) %ptr3, align 4
  br label %end_Ridx1
end_Ridx1:
  %Ridx1.next = add nuw nsw i32 %Ridx1, 1
  %Ridx1.more = icmp slt i32 %Ridx1.next, 4
  br i1 %Ridx1.more, label %loop_Ridx1, label %after_Ridx1
after_Ridx1:
  %ptr4 = getelementptr inbounds float, ptr addrspace(5) %acc1, i32 0
  store float 0.0, ptr addrspace(5) %ptr4, align 4
  %ptr5 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 0
  %val2 = load float, ptr addrspace(5) %ptr5, align 4
  %ptr6 = getelementptr inbounds float, ptr addrspace(3) @temp0, i32 %idx1
  store float %val2, ptr addrspace(3) %ptr6, align 4
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  br label %before_Ridx2_2
before_Ridx2_2:
  br label %loop_Ridx2_2
loop_Ridx2_2:
  %Ridx2_2 = phi i32 [ 0, %before_Ridx2_2 ], [ %Ridx2_2.next, %end_Ridx2_2 ]
  %ptr7 = getelementptr inbounds float, ptr addrspace(5) %acc1, i32 0
  %val3 = load float, ptr addrspace(5) %ptr7, align 4
  %ptr8 = getelementptr inbounds float, ptr addrspace(3) @temp0, i32 %Ridx2_2
  %val4 = load float, ptr addrspace(3) %ptr8, align 4
  %alu6 = fadd float %val3, %val4
  %ptr9 = getelementptr inbounds float, ptr addrspace(5) %acc1, i32 0
  store float %alu6, ptr addrspace(5) %ptr9, align 4
  br label %end_Ridx2_2
end_Ridx2_2:
  %Ridx2_2.next = add nuw nsw i32 %Ridx2_2, 1
  %Ridx2_2.more = icmp slt i32 %Ridx2_2.next, 16
  br i1 %Ridx2_2.more, label %loop_Ridx2_2, label %after_Ridx2_2
after_Ridx2_2:
  %ptr10 = getelementptr inbounds float, ptr addrspace(5) %acc1, i32 0
  %val5 = load float, ptr addrspace(5) %ptr10, align 4
  br i1 %alu0, label %if, label %if_after
if:
  br i1 %alu0, label %gate, label %gate_off
gate:
  %ptr11 = getelementptr float, ptr addrspace(1) %data0_8, i32 %idx0
  store float %val5, ptr addrspace(1) %ptr11, align 4
  br label %gate_off
gate_off:
  br label %if_after
if_after:
  ret void
}

@temp0 = internal unnamed_addr addrspace(3) global [16 x float] poison, align 16
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workitem.id.x()
declare void @llvm.amdgcn.s.barrier()

attributes #0 = { nounwind "no-trapping-math"="true" "target-cpu"="gfx942" "amdgpu-flat-work-group-size"="16,16" "uniform-work-group-size"="true" }
