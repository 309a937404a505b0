define void @r_8_8_8(ptr noalias align 4 %data0_64, ptr noalias align 4 %data1_64, ptr noalias align 4 %data2_64) #0 {
entry:
  %acc0 = alloca [1 x float], align 4
  br label %before_Lidx0
before_Lidx0:
  br label %loop_Lidx0
loop_Lidx0:
  %Lidx0 = phi i32 [ 0, %before_Lidx0 ], [ %Lidx0.next, %end_Lidx0 ]
  br label %before_Lidx1
before_Lidx1:
  br label %loop_Lidx1
loop_Lidx1:
  %Lidx1 = phi i32 [ 0, %before_Lidx1 ], [ %Lidx1.next, %end_Lidx1 ]
  %alu0 = mul nsw i32 %Lidx0, 8
  %ptr0 = getelementptr inbounds float, ptr %acc0, i32 0
  store float 0.0, ptr %ptr0, align 4
  br label %before_Ridx2
before_Ridx2:
  br label %loop_Ridx2
loop_Ridx2:
  %Ridx2 = phi i32 [ 0, %before_Ridx2 ], [ %Ridx2.next, %end_Ridx2 ]
  %alu1 = add nsw i32 %alu0, %Ridx2
  %ptr1 = getelementptr inbounds float, ptr %data1_64, i32 %alu1
  %val0 = load float, ptr %ptr1, align 4
  %alu2 = mul nsw i32 %Ridx2, 8
  %alu3 = add nsw i32 %alu2, %Lidx1
  %ptr2 = getelementptr inbounds float, ptr %data2_64, i32 %alu3
  %val1 = load float, ptr %ptr2, align 4
  %ptr3 = getelementptr inbounds float, ptr %acc0, i32 0
  %val2 = load float, ptr %ptr3, align 4
  %alu4 = fmul float %val0, %val1
  %alu5 = fadd float %val2, %alu4
  %ptr4 = getelementptr inbounds float, ptr %acc0, i32 0
  store float %alu5, ptr %ptr4, align 4
  br label %end_Ridx2
end_Ridx2:
  %Ridx2.next = add nuw nsw i32 %Ridx2, 1
  %Ridx2.more = icmp slt i32 %Ridx2.next, 8
  br i1 %Ridx2.more, label %loop_Ridx2, label %after_Ridx2
after_Ridx2:
  %ptr5 = getelementptr inbounds float, ptr %acc0, i32 0
  %val3 = load float, ptr %ptr5, align 4
  %alu6 = add nsw i32 %alu0, %Lidx1
  %ptr6 = getelementptr inbounds float, ptr %data0_64, i32 %alu6
  store float %val3, ptr %ptr6, align 4
  br label %end_Lidx1
end_Lidx1:
  %Lidx1.next = add nuw nsw i32 %Lidx1, 1
  %Lidx1.more = icmp slt i32 %Lidx1.next, 8
  br i1 %Lidx1.more, label %loop_Lidx1, label %after_Lidx1
after_Lidx1:
  br label %end_Lidx0
end_Lidx0:
  %Lidx0.next = add nuw nsw i32 %Lidx0, 1
  %Lidx0.more = icmp slt i32 %Lidx0.next, 8
  br i1 %Lidx0.more, label %loop_Lidx0, label %after_Lidx0
after_Lidx0:
  ret void
}

attributes #0 = { nounwind "no-trapping-math"="true" }
