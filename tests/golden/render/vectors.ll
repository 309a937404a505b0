define void @E_2_8(ptr noalias align 4 %data0_16, ptr noalias align 4 %data1_16, ptr noalias align 1 %data2_16, ptr noalias align 4 %data3_1) #0 {
entry:
  %ptr0 = getelementptr inbounds float, ptr %data3_1, i32 0
  %val0 = load float, ptr %ptr0, align 4
  br label %before_Lidx0
before_Lidx0:
  br label %loop_Lidx0
loop_Lidx0:
  %Lidx0 = phi i32 [ 0, %before_Lidx0 ], [ %Lidx0.next, %end_Lidx0 ]
  %alu0 = shl i32 %Lidx0, 3
  %ptr1 = getelementptr inbounds float, ptr %data1_16, i32 %alu0
  %val1 = load <8 x float>, ptr %ptr1, align 4
  %vec0 = insertelement <8 x float> poison, float %val0, i32 0
  %vec1 = shufflevector <8 x float> %vec0, <8 x float> poison, <8 x i32> zeroinitializer
  %alu1 = fcmp olt <8 x float> %val1, <float 0.0, float 0.0, float 0.0, float 0.0, float 0.0, float 0.0, float 0.0, float 0.0>
  %alu2 = fcmp olt <8 x float> %vec1, %val1
  %alu3 = fmul <8 x float> %val1, %vec1
  %alu4 = select <8 x i1> %alu1, <8 x float> %alu3, <8 x float> %val1
  %cast0 = zext <8 x i1> %alu2 to <8 x i8>
  %ptr2 = getelementptr inbounds i8, ptr %data2_16, i32 %alu0
  store <8 x i8> %cast0, ptr %ptr2, align 1
  %alu5 = fadd <8 x float> %alu4, %vec1
  %cast1 = uitofp <8 x i1> %alu2 to <8 x float>
  %alu6 = fadd <8 x float> %alu5, %cast1
  %alu7 = call <8 x float> @llvm.sqrt.v8f32(<8 x float> %alu6)
  %alu8 = fcmp olt <8 x float> %alu7, %val1
  %alu9 = select <8 x i1> %alu8, <8 x float> %val1, <8 x float> %alu7
  %alu10 = fcmp uno <8 x float> %val1, %val1
  %fence0 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %alu9)
  %alu11 = select <8 x i1> %alu10, <8 x float> %val1, <8 x float> %fence0
  %ptr3 = getelementptr inbounds float, ptr %data0_16, i32 %alu0
  store <8 x float> %alu11, ptr %ptr3, align 4
  br label %end_Lidx0
end_Lidx0:
  %Lidx0.next = add nuw nsw i32 %Lidx0, 1
  %Lidx0.more = icmp slt i32 %Lidx0.next, 2
  br i1 %Lidx0.more, label %loop_Lidx0, label %after_Lidx0
after_Lidx0:
  ret void
}

declare <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float>)
declare <8 x float> @llvm.sqrt.v8f32(<8 x float>)

attributes #0 = { nounwind "no-trapping-math"="true" }
