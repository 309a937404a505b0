target triple = "amdgcn-amd-amdhsa"

define amdgpu_kernel void @tensor_core(ptr addrspace(1) noalias align 4 %data0_1024, ptr addrspace(1) noalias align 2 %data1_2048, ptr addrspace(1) noalias align 2 %data2_2048) #0 {
entry:
  %acc0 = alloca [4 x float], align 16, addrspace(5)
  %idx0 = call range(i32 0, 2) i32 @llvm.amdgcn.workgroup.id.x()
  %alu0 = shl i32 %idx0, 4
  %idx1 = call range(i32 0, 2) i32 @llvm.amdgcn.workgroup.id.y()
  %alu1 = shl i32 %idx1, 9
  %alu2 = add nsw i32 %alu0, %alu1
  %idx2 = call range(i32 0, 64) i32 @llvm.amdgcn.workitem.id.x()
  %alu3 = ashr i32 %idx2, 4
  %alu4 = shl i32 %alu3, 7
  %alu5 = add nsw i32 %alu2, %alu4
  %alu6 = and i32 %idx2, 15
  %alu7 = add nsw i32 %alu5, %alu6
  %ptr0 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 0
  store float 0.0, ptr addrspace(5) %ptr0, align 4
  %ptr1 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 1
  store float 0.0, ptr addrspace(5) %ptr1, align 4
  %ptr2 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 2
  store float 0.0, ptr addrspace(5) %ptr2, align 4
  %ptr3 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 3
  store float 0.0, ptr addrspace(5) %ptr3, align 4
  %alu8 = shl i32 %idx1, 10
  %alu9 = shl i32 %alu3, 2
  %alu10 = add nsw i32 %alu8, %alu9
  %alu11 = shl i32 %alu6, 6
  %alu12 = add nsw i32 %alu10, %alu11
  %alu13 = add nsw i32 %alu0, %alu4
  %alu14 = add nsw i32 %alu13, %alu6
  br label %before_Ridx2
before_Ridx2:
  br label %loop_Ridx2
loop_Ridx2:
  %Ridx2 = phi i32 [ 0, %before_Ridx2 ], [ %Ridx2.next, %end_Ridx2 ]
  %alu15 = shl i32 %Ridx2, 4
  %alu16 = add nsw i32 %alu12, %alu15
  %ptr4 = getelementptr inbounds half, ptr addrspace(1) %data1_2048, i32 %alu16
  %val0 = load <4 x half>, ptr addrspace(1) %ptr4, align 8
  %alu17 = shl i32 %Ridx2, 9
  %alu18 = add nsw i32 %alu14, %alu17
  %ptr5 = getelementptr inbounds half, ptr addrspace(1) %data2_2048, i32 %alu18
  %val1 = load half, ptr addrspace(1) %ptr5, align 2
  %alu19 = add nsw i32 %alu18, 32
  %ptr6 = getelementptr inbounds half, ptr addrspace(1) %data2_2048, i32 %alu18
  %ptr7 = getelementptr inbounds half, ptr addrspace(1) %ptr6, i64 32
  %val2 = load half, ptr addrspace(1) %ptr7, align 2
  %alu20 = add nsw i32 %alu18, 64
  %ptr8 = getelementptr inbounds half, ptr addrspace(1) %data2_2048, i32 %alu18
  %ptr9 = getelementptr inbounds half, ptr addrspace(1) %ptr8, i64 64
  %val3 = load half, ptr addrspace(1) %ptr9, align 2
  %alu21 = add nsw i32 %alu18, 96
  %ptr10 = getelementptr inbounds half, ptr addrspace(1) %data2_2048, i32 %alu18
  %ptr11 = getelementptr inbounds half, ptr addrspace(1) %ptr10, i64 96
  %val4 = load half, ptr addrspace(1) %ptr11, align 2
  %vec0 = insertelement <4 x half> poison, half %val1, i32 0
  %vec1 = insertelement <4 x half> %vec0, half %val2, i32 1
  %vec2 = insertelement <4 x half> %vec1, half %val3, i32 2
  %vec3 = insertelement <4 x half> %vec2, half %val4, i32 3
  %ptr12 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 0
  %val5 = load float, ptr addrspace(5) %ptr12, align 4
  %ptr13 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 1
  %val6 = load float, ptr addrspace(5) %ptr13, align 4
  %ptr14 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 2
  %val7 = load float, ptr addrspace(5) %ptr14, align 4
  %ptr15 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 3
  %val8 = load float, ptr addrspace(5) %ptr15, align 4
  %vec4 = insertelement <4 x float> poison, float %val5, i32 0
  %vec5 = insertelement <4 x float> %vec4, float %val6, i32 1
  %vec6 = insertelement <4 x float> %vec5, float %val7, i32 2
  %vec7 = insertelement <4 x float> %vec6, float %val8, i32 3
  %wmma0 = call <4 x float> @llvm.amdgcn.mfma.f32.16x16x16f16(<4 x half> %val0, <4 x half> %vec3, <4 x float> %vec7, i32 0, i32 0, i32 0)
  %gep0 = extractelement <4 x float> %wmma0, i32 0
  %ptr16 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 0
  store float %gep0, ptr addrspace(5) %ptr16, align 4
  %gep1 = extractelement <4 x float> %wmma0, i32 1
  %ptr17 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 1
  store float %gep1, ptr addrspace(5) %ptr17, align 4
  %gep2 = extractelement <4 x float> %wmma0, i32 2
  %ptr18 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 2
  store float %gep2, ptr addrspace(5) %ptr18, align 4
  %gep3 = extractelement <4 x float> %wmma0, i32 3
  %ptr19 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 3
  store float %gep3, ptr addrspace(5) %ptr19, align 4
  br label %end_Ridx2
end_Ridx2:
  %Ridx2.next = add nuw nsw i32 %Ridx2, 1
  %Ridx2.more = icmp slt i32 %Ridx2.next, 4
  br i1 %Ridx2.more, label %loop_Ridx2, label %after_Ridx2
after_Ridx2:
  %ptr20 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 0
  %val9 = load float, ptr addrspace(5) %ptr20, align 4
  %ptr21 = getelementptr inbounds float, ptr addrspace(1) %data0_1024, i32 %alu7
  store float %val9, ptr addrspace(1) %ptr21, align 4
  %alu22 = add nsw i32 %alu7, 32
  %ptr22 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 1
  %val10 = load float, ptr addrspace(5) %ptr22, align 4
  %ptr23 = getelementptr inbounds float, ptr addrspace(1) %data0_1024, i32 %alu7
  %ptr24 = getelementptr inbounds float, ptr addrspace(1) %ptr23, i64 32
  store float %val10, ptr addrspace(1) %ptr24, align 4
  %alu23 = add nsw i32 %alu7, 64
  %ptr25 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 2
  %val11 = load float, ptr addrspace(5) %ptr25, align 4
  %ptr26 = getelementptr inbounds float, ptr addrspace(1) %data0_1024, i32 %alu7
  %ptr27 = getelementptr inbounds float, ptr addrspace(1) %ptr26, i64 64
  store float %val11, ptr addrspace(1) %ptr27, align 4
  %alu24 = add nsw i32 %alu7, 96
  %ptr28 = getelementptr inbounds float, ptr addrspace(5) %acc0, i32 3
  %val12 = load float, ptr addrspace(5) %ptr28, align 4
  %ptr29 = getelementptr inbounds float, ptr addrspace(1) %data0_1024, i32 %alu7
  %ptr30 = getelementptr inbounds float, ptr addrspace(1) %ptr29, i64 96
  store float %val12, ptr addrspace(1) %ptr30, align 4
  ret void
}

declare <4 x float> @llvm.amdgcn.mfma.f32.16x16x16f16(<4 x half>, <4 x half>, <4 x float>, i32, i32, i32)
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workgroup.id.y()
declare i32 @llvm.amdgcn.workitem.id.x()

attributes #0 = { nounwind "no-trapping-math"="true" "target-cpu"="gfx942" "amdgpu-flat-work-group-size"="64,64" "uniform-work-group-size"="true" }
