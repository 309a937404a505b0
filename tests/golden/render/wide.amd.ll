target triple = "amdgcn-amd-amdhsa"

define amdgpu_kernel void @wide(ptr addrspace(1) noalias align 4 %data0_256, ptr addrspace(1) noalias align 4 %data1_256) #0 {
entry:
  %idx0 = call range(i32 0, 4) i32 @llvm.amdgcn.workgroup.id.x()
  %alu0 = shl i32 %idx0, 6
  %idx1 = call range(i32 0, 16) i32 @llvm.amdgcn.workitem.id.x()
  %alu1 = shl i32 %idx1, 2
  %alu2 = add nsw i32 %alu0, %alu1
  %ptr0 = getelementptr inbounds float, ptr addrspace(1) %data1_256, i32 %alu2
  %val0 = load <4 x float>, ptr addrspace(1) %ptr0, align 16
  %gep0 = extractelement <4 x float> %val0, i32 0
  %alu3 = fcmp olt float %gep0, -120.0
  %alu4 = fcmp olt float %gep0, -190.0
  %alu5 = select i1 %alu4, float -190.0, float %gep0
  %alu6 = fcmp olt float 128.25, %alu5
  %alu7 = select i1 %alu6, float 128.25, float %alu5
  %alu8 = fadd float %alu7, 0x4168000FC0000000
  %alu9 = fadd float %alu8, 0xC168000FC0000000
  %alu10 = fsub float %alu7, %alu9
  %alu11 = call float @llvm.fma.f32(float 0x3F341FBBC0000000, float %alu10, float 0x3F65F3E520000000)
  %alu12 = call float @llvm.fma.f32(float %alu11, float %alu10, float 0x3F93B2D4C0000000)
  %alu13 = call float @llvm.fma.f32(float %alu12, float %alu10, float 0x3FBC6AEE80000000)
  %alu14 = call float @llvm.fma.f32(float %alu13, float %alu10, float 0x3FDEBFBDC0000000)
  %alu15 = call float @llvm.fma.f32(float %alu14, float %alu10, float 0x3FF62E4300000000)
  %alu16 = call float @llvm.fma.f32(float %alu15, float %alu10, float 2.0)
  %alu17 = fadd float %alu8, 64.0
  %alu18 = select i1 %alu3, float %alu17, float %alu8
  %cast0 = bitcast float %alu18 to i32
  %alu19 = shl i32 %cast0, 23
  %cast1 = bitcast i32 %alu19 to float
  %alu20 = fmul float %alu16, %cast1
  %alu21 = fmul float %alu20, 0x3BF0000000000000
  %alu22 = select i1 %alu3, float %alu21, float %alu20
  %alu23 = fadd float %alu22, %gep0
  %gep1 = extractelement <4 x float> %val0, i32 1
  %alu24 = fcmp olt float %gep1, -120.0
  %alu25 = fcmp olt float %gep1, -190.0
  %alu26 = select i1 %alu25, float -190.0, float %gep1
  %alu27 = fcmp olt float 128.25, %alu26
  %alu28 = select i1 %alu27, float 128.25, float %alu26
  %alu29 = fadd float %alu28, 0x4168000FC0000000
  %alu30 = fadd float %alu29, 0xC168000FC0000000
  %alu31 = fsub float %alu28, %alu30
  %alu32 = call float @llvm.fma.f32(float 0x3F341FBBC0000000, float %alu31, float 0x3F65F3E520000000)
  %alu33 = call float @llvm.fma.f32(float %alu32, float %alu31, float 0x3F93B2D4C0000000)
  %alu34 = call float @llvm.fma.f32(float %alu33, float %alu31, float 0x3FBC6AEE80000000)
  %alu35 = call float @llvm.fma.f32(float %alu34, float %alu31, float 0x3FDEBFBDC0000000)
  %alu36 = call float @llvm.fma.f32(float %alu35, float %alu31, float 0x3FF62E4300000000)
  %alu37 = call float @llvm.fma.f32(float %alu36, float %alu31, float 2.0)
  %alu38 = fadd float %alu29, 64.0
  %alu39 = select i1 %alu24, float %alu38, float %alu29
  %cast2 = bitcast float %alu39 to i32
  %alu40 = shl i32 %cast2, 23
  %cast3 = bitcast i32 %alu40 to float
  %alu41 = fmul float %alu37, %cast3
  %alu42 = fmul float %alu41, 0x3BF0000000000000
  %alu43 = select i1 %alu24, float %alu42, float %alu41
  %alu44 = fadd float %alu43, %gep1
  %gep2 = extractelement <4 x float> %val0, i32 2
  %alu45 = fcmp olt float %gep2, -120.0
  %alu46 = fcmp olt float %gep2, -190.0
  %alu47 = select i1 %alu46, float -190.0, float %gep2
  %alu48 = fcmp olt float 128.25, %alu47
  %alu49 = select i1 %alu48, float 128.25, float %alu47
  %alu50 = fadd float %alu49, 0x4168000FC0000000
  %alu51 = fadd float %alu50, 0xC168000FC0000000
  %alu52 = fsub float %alu49, %alu51
  %alu53 = call float @llvm.fma.f32(float 0x3F341FBBC0000000, float %alu52, float 0x3F65F3E520000000)
  %alu54 = call float @llvm.fma.f32(float %alu53, float %alu52, float 0x3F93B2D4C0000000)
  %alu55 = call float @llvm.fma.f32(float %alu54, float %alu52, float 0x3FBC6AEE80000000)
  %alu56 = call float @llvm.fma.f32(float %alu55, float %alu52, float 0x3FDEBFBDC0000000)
  %alu57 = call float @llvm.fma.f32(float %alu56, float %alu52, float 0x3FF62E4300000000)
  %alu58 = call float @llvm.fma.f32(float %alu57, float %alu52, float 2.0)
  %alu59 = fadd float %alu50, 64.0
  %alu60 = select i1 %alu45, float %alu59, float %alu50
  %cast4 = bitcast float %alu60 to i32
  %alu61 = shl i32 %cast4, 23
  %cast5 = bitcast i32 %alu61 to float
  %alu62 = fmul float %alu58, %cast5
  %alu63 = fmul float %alu62, 0x3BF0000000000000
  %alu64 = select i1 %alu45, float %alu63, float %alu62
  %alu65 = fadd float %alu64, %gep2
  %gep3 = extractelement <4 x float> %val0, i32 3
  %alu66 = fcmp olt float %gep3, -120.0
  %alu67 = fcmp olt float %gep3, -190.0
  %alu68 = select i1 %alu67, float -190.0, float %gep3
  %alu69 = fcmp olt float 128.25, %alu68
  %alu70 = select i1 %alu69, float 128.25, float %alu68
  %alu71 = fadd float %alu70, 0x4168000FC0000000
  %alu72 = fadd float %alu71, 0xC168000FC0000000
  %alu73 = fsub float %alu70, %alu72
  %alu74 = call float @llvm.fma.f32(float 0x3F341FBBC0000000, float %alu73, float 0x3F65F3E520000000)
  %alu75 = call float @llvm.fma.f32(float %alu74, float %alu73, float 0x3F93B2D4C0000000)
  %alu76 = call float @llvm.fma.f32(float %alu75, float %alu73, float 0x3FBC6AEE80000000)
  %alu77 = call float @llvm.fma.f32(float %alu76, float %alu73, float 0x3FDEBFBDC0000000)
  %alu78 = call float @llvm.fma.f32(float %alu77, float %alu73, float 0x3FF62E4300000000)
  %alu79 = call float @llvm.fma.f32(float %alu78, float %alu73, float 2.0)
  %alu80 = fadd float %alu71, 64.0
  %alu81 = select i1 %alu66, float %alu80, float %alu71
  %cast6 = bitcast float %alu81 to i32
  %alu82 = shl i32 %cast6, 23
  %cast7 = bitcast i32 %alu82 to float
  %alu83 = fmul float %alu79, %cast7
  %alu84 = fmul float %alu83, 0x3BF0000000000000
  %alu85 = select i1 %alu66, float %alu84, float %alu83
  %alu86 = fadd float %alu85, %gep3
  %vec0 = insertelement <4 x float> poison, float %alu23, i32 0
  %vec1 = insertelement <4 x float> %vec0, float %alu44, i32 1
  %vec2 = insertelement <4 x float> %vec1, float %alu65, i32 2
  %vec3 = insertelement <4 x float> %vec2, float %alu86, i32 3
  %ptr1 = getelementptr inbounds float, ptr addrspace(1) %data0_256, i32 %alu2
  store <4 x float> %vec3, ptr addrspace(1) %ptr1, align 16
  ret void
}

declare float @llvm.fma.f32(float, float, float)
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workitem.id.x()

attributes #0 = { nounwind "no-trapping-math"="true" "target-cpu"="gfx942" "amdgpu-flat-work-group-size"="16,16" "uniform-work-group-size"="true" }
