define void @E_4_4(ptr noalias align 4 %data0_16, ptr noalias align 4 %data1_16, ptr noalias align 4 %data2_16) #0 {
entry:
  br label %before_Lidx0
before_Lidx0:
  br label %loop_Lidx0
loop_Lidx0:
  %Lidx0 = phi i32 [ 0, %before_Lidx0 ], [ %Lidx0.next, %end_Lidx0 ]
  %alu0 = mul nsw i32 %Lidx0, 4
  %ptr0 = getelementptr inbounds float, ptr %data1_16, i32 %alu0
  %val0 = load <4 x float>, ptr %ptr0, align 4
  %ptr1 = getelementptr inbounds float, ptr %data2_16, i32 %alu0
  %val1 = load <4 x float>, ptr %ptr1, align 4
  %gep0 = extractelement <4 x float> %val0, i32 0
  %gep1 = extractelement <4 x float> %val1, i32 0
  %alu1 = fadd float %gep0, %gep1
  %alu2 = fcmp olt float %alu1, 0.0
  %alu3 = select i1 %alu2, float 0.0, float %alu1
  %gep2 = extractelement <4 x float> %val0, i32 1
  %gep3 = extractelement <4 x float> %val1, i32 1
  %alu4 = fadd float %gep2, %gep3
  %alu5 = fcmp olt float %alu4, 0.0
  %alu6 = select i1 %alu5, float 0.0, float %alu4
  %gep4 = extractelement <4 x float> %val0, i32 2
  %gep5 = extractelement <4 x float> %val1, i32 2
  %alu7 = fadd float %gep4, %gep5
  %alu8 = fcmp olt float %alu7, 0.0
  %alu9 = select i1 %alu8, float 0.0, float %alu7
  %gep6 = extractelement <4 x float> %val0, i32 3
  %gep7 = extractelement <4 x float> %val1, i32 3
  %alu10 = fadd float %gep6, %gep7
  %alu11 = fcmp olt float %alu10, 0.0
  %alu12 = select i1 %alu11, float 0.0, float %alu10
  %vec0 = insertelement <4 x float> poison, float %alu3, i32 0
  %vec1 = insertelement <4 x float> %vec0, float %alu6, i32 1
  %vec2 = insertelement <4 x float> %vec1, float %alu9, i32 2
  %vec3 = insertelement <4 x float> %vec2, float %alu12, i32 3
  %ptr2 = getelementptr inbounds float, ptr %data0_16, i32 %alu0
  store <4 x float> %vec3, ptr %ptr2, align 4
  br label %end_Lidx0
end_Lidx0:
  %Lidx0.next = add nuw nsw i32 %Lidx0, 1
  %Lidx0.more = icmp slt i32 %Lidx0.next, 4
  br i1 %Lidx0.more, label %loop_Lidx0, label %after_Lidx0
after_Lidx0:
  ret void
}

attributes #0 = { nounwind "no-trapping-math"="true" }
