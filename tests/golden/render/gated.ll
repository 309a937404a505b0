define void @E_n(ptr noalias align 2 %data0_100, ptr noalias align 2 %data1_90, ptr noalias align 1 %data2_100, i32 %n) #0 {
entry:
  br label %before_Lidx0
before_Lidx0:
  %some0 = icmp sgt i32 %n, 0
  br i1 %some0, label %loop_Lidx0, label %after_Lidx0
loop_Lidx0:
  %Lidx0 = phi i32 [ 0, %before_Lidx0 ], [ %Lidx0.next, %end_Lidx0 ]
  %alu0 = sub nsw i32 %Lidx0, 5
  %alu1 = icmp slt i32 4, %Lidx0
  %alu2 = icmp slt i32 %Lidx0, 95
  %alu3 = and i1 %alu1, %alu2
  %ptr0 = getelementptr half, ptr %data1_90, i32 %alu0
  br i1 %alu3, label %gate, label %gate_off
gate:
  %val0 = load half, ptr %ptr0, align 2
  br label %gate_off
gate_off:
  %val1 = phi half [ %val0, %gate ], [ 0xH0000, %loop_Lidx0 ]
  %ptr1 = getelementptr inbounds i8, ptr %data2_100, i32 %Lidx0
  %val2 = load i8, ptr %ptr1, align 1
  %cast0 = trunc i8 %val2 to i1
  br i1 %cast0, label %if, label %if_after
if:
  %alu4 = fmul half %val1, 0xH2E66
  %ptr2 = getelementptr inbounds half, ptr %data0_100, i32 %Lidx0
  store half %alu4, ptr %ptr2, align 2
  br label %if_after
if_after:
  br label %end_Lidx0
end_Lidx0:
  %Lidx0.next = add nuw nsw i32 %Lidx0, 1
  %Lidx0.more = icmp slt i32 %Lidx0.next, %n
  br i1 %Lidx0.more, label %loop_Lidx0, label %after_Lidx0
after_Lidx0:
  ret void
}

attributes #0 = { nounwind "no-trapping-math"="true" }
