target triple = "amdgcn-amd-amdhsa"

define amdgpu_kernel void @tiled(ptr addrspace(1) noalias align 4 %data0_256, ptr addrspace(1) noalias align 4 %data1_256, ptr addrspace(1) noalias align 4 %data2_256) #0 {
entry:
  %acc0 = alloca [8 x float], align 16, addrspace(5)
  %idx0 = call range(i32 0, 4) i32 @llvm.amdgcn.workgroup.id.x()
  %alu0 = shl i32 %idx0, 2
  %idx1 = call range(i32 0, 2) i32 @llvm.amdgcn.workgroup.id.y()
  %alu1 = shl i32 %idx1, 7
  %alu2 = add nsw i32 %alu0, %alu1
  %idx2 = call range(i32 0, 4) i32 @llvm.amdgcn.workitem.id.x()
  %alu3 = add nsw i32 %alu2, %idx2
  %idx3 = call range(i32 0, 4) i32 @llvm.amdgcn.workitem.id.y()
  %alu4 = shl i32 %idx3, 4
  %alu5 = add nsw i32 %alu3, %alu4
  %ptr0 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 0
  store float 0.0, ptr addrspace(5) %ptr0, align 4
  %ptr1 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 1
  store float 0.0, ptr addrspace(5) %ptr1, align 4
  %ptr2 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 2
  store float 0.0, ptr addrspace(5) %ptr2, align 4
  %ptr3 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 3
  store float 0.0, ptr addrspace(5) %ptr3, align 4
  %ptr4 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 4
  store float 0.0, ptr addrspace(5) %ptr4, align 4
  %ptr5 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 5
  store float 0.0, ptr addrspace(5) %ptr5, align 4
  %ptr6 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 6
  store float 0.0, ptr addrspace(5) %ptr6, align 4
  %ptr7 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 7
  store float 0.0, ptr addrspace(5) %ptr7, align 4
  %alu6 = add nsw i32 %alu1, %alu4
  %alu7 = add nsw i32 %alu0, %idx2
  br label %before_Ridx2
before_Ridx2:
  br label %loop_Ridx2
loop_Ridx2:
  %Ridx2 = phi i32 [ 0, %before_Ridx2 ], [ %Ridx2.next, %end_Ridx2 ]
  %alu8 = shl i32 %Ridx2, 2
  %alu9 = add nsw i32 %alu6, %alu8
  %ptr8 = getelementptr inbounds float, ptr addrspace(1) %data1_256, i32 %alu9
  %val0 = load <4 x float>, ptr addrspace(1) %ptr8, align 16
  %gep0 = extractelement <4 x float> %val0, i32 0
  %alu10 = shl i32 %Ridx2, 6
  %alu11 = add nsw i32 %alu7, %alu10
  %ptr9 = getelementptr inbounds float, ptr addrspace(1) %data2_256, i32 %alu11
  %val1 = load float, ptr addrspace(1) %ptr9, align 4
  %ptr10 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 0
  %val2 = load float, ptr addrspace(5) %ptr10, align 4
  %alu12 = call float @llvm.fma.f32(float %gep0, float %val1, float %val2)
  %ptr11 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 0
  store float %alu12, ptr addrspace(5) %ptr11, align 4
  %alu13 = add nsw i32 %alu9, 64
  %ptr12 = getelementptr inbounds float, ptr addrspace(1) %data1_256, i32 %alu9
  %ptr13 = getelementptr inbounds float, ptr addrspace(1) %ptr12, i64 64
  %val3 = load <4 x float>, ptr addrspace(1) %ptr13, align 16
  %gep1 = extractelement <4 x float> %val3, i32 0
  %ptr14 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 1
  %val4 = load float, ptr addrspace(5) %ptr14, align 4
  %alu14 = call float @llvm.fma.f32(float %gep1, float %val1, float %val4)
  %ptr15 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 1
  store float %alu14, ptr addrspace(5) %ptr15, align 4
  %gep2 = extractelement <4 x float> %val0, i32 1
  %alu15 = add nsw i32 %alu11, 16
  %ptr16 = getelementptr inbounds float, ptr addrspace(1) %data2_256, i32 %alu11
  %ptr17 = getelementptr inbounds float, ptr addrspace(1) %ptr16, i64 16
  %val5 = load float, ptr addrspace(1) %ptr17, align 4
  %ptr18 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 2
  %val6 = load float, ptr addrspace(5) %ptr18, align 4
  %alu16 = call float @llvm.fma.f32(float %gep2, float %val5, float %val6)
  %ptr19 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 2
  store float %alu16, ptr addrspace(5) %ptr19, align 4
  %gep3 = extractelement <4 x float> %val3, i32 1
  %ptr20 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 3
  %val7 = load float, ptr addrspace(5) %ptr20, align 4
  %alu17 = call float @llvm.fma.f32(float %gep3, float %val5, float %val7)
  %ptr21 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 3
  store float %alu17, ptr addrspace(5) %ptr21, align 4
  %gep4 = extractelement <4 x float> %val0, i32 2
  %alu18 = add nsw i32 %alu11, 32
  %ptr22 = getelementptr inbounds float, ptr addrspace(1) %data2_256, i32 %alu11
  %ptr23 = getelementptr inbounds float, ptr addrspace(1) %ptr22, i64 32
  %val8 = load float, ptr addrspace(1) %ptr23, align 4
  %ptr24 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 4
  %val9 = load float, ptr addrspace(5) %ptr24, align 4
  %alu19 = call float @llvm.fma.f32(float %gep4, float %val8, float %val9)
  %ptr25 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 4
  store float %alu19, ptr addrspace(5) %ptr25, align 4
  %gep5 = extractelement <4 x float> %val3, i32 2
  %ptr26 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 5
  %val10 = load float, ptr addrspace(5) %ptr26, align 4
  %alu20 = call float @llvm.fma.f32(float %gep5, float %val8, float %val10)
  %ptr27 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 5
  store float %alu20, ptr addrspace(5) %ptr27, align 4
  %gep6 = extractelement <4 x float> %val0, i32 3
  %alu21 = add nsw i32 %alu11, 48
  %ptr28 = getelementptr inbounds float, ptr addrspace(1) %data2_256, i32 %alu11
  %ptr29 = getelementptr inbounds float, ptr addrspace(1) %ptr28, i64 48
  %val11 = load float, ptr addrspace(1) %ptr29, align 4
  %ptr30 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 6
  %val12 = load float, ptr addrspace(5) %ptr30, align 4
  %alu22 = call float @llvm.fma.f32(float %gep6, float %val11, float %val12)
  %ptr31 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 6
  store float %alu22, ptr addrspace(5) %ptr31, align 4
  %gep7 = extractelement <4 x float> %val3, i32 3
  %ptr32 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 7
  %val13 = load float, ptr addrspace(5) %ptr32, align 4
  %alu23 = call float @llvm.fma.f32(float %gep7, float %val11, float %val13)
  %ptr33 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 7
  store float %alu23, ptr addrspace(5) %ptr33, align 4
  br label %end_Ridx2
end_Ridx2:
  %Ridx2.next = add nuw nsw i32 %Ridx2, 1
  %Ridx2.more = icmp slt i32 %Ridx2.next, 4
  br i1 %Ridx2.more, label %loop_Ridx2, label %after_Ridx2
after_Ridx2:
  %ptr34 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 0
  %val14 = load float, ptr addrspace(5) %ptr34, align 4
  %ptr35 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 2
  %val15 = load float, ptr addrspace(5) %ptr35, align 4
  %alu24 = fadd float %val14, %val15
  %ptr36 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 4
  %val16 = load float, ptr addrspace(5) %ptr36, align 4
  %ptr37 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 6
  %val17 = load float, ptr addrspace(5) %ptr37, align 4
  %alu25 = fadd float %val16, %val17
  %alu26 = fadd float %alu24, %alu25
  %ptr38 = getelementptr inbounds float, ptr addrspace(1) %data0_256, i32 %alu5
  store float %alu26, ptr addrspace(1) %ptr38, align 4
  %alu27 = add nsw i32 %alu5, 64
  %ptr39 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 1
  %val18 = load float, ptr addrspace(5) %ptr39, align 4
  %ptr40 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 3
  %val19 = load float, ptr addrspace(5) %ptr40, align 4
  %alu28 = fadd float %val18, %val19
  %ptr41 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 5
  %val20 = load float, ptr addrspace(5) %ptr41, align 4
  %ptr42 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 7
  %val21 = load float, ptr addrspace(5) %ptr42, align 4
  %alu29 = fadd float %val20, %val21
  %alu30 = fadd float %alu28, %alu29
  %ptr43 = getelementptr inbounds float, ptr addrspace(1) %data0_256, i32 %alu5
  %ptr44 = getelementptr inbounds float, ptr addrspace(1) %ptr43, i64 64
  store float %alu30, ptr addrspace(1) %ptr44, align 4
  ret void
}

declare float @llvm.fma.f32(float, float, float)
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workgroup.id.y()
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workitem.id.y()

attributes #0 = { nounwind "no-trapping-math"="true" "target-cpu"="gfx942" "amdgpu-flat-work-group-size"="16,16" "uniform-work-group-size"="true" }
