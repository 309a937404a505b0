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
  %alu4 = fcmp olt float 128.25, %gep0
  %alu5 = fcmp olt float %gep0, -152.0
  %alu6 = select i1 %alu5, float -152.0, float %gep0
  %alu7 = select i1 %alu4, float 128.25, float %alu6
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
  %alu21 = select i1 %alu5, float 0.0, float 0x3BF0000000000000
  %alu22 = fmul float %alu20, %alu21
  %alu23 = select i1 %alu3, float %alu22, float %alu20
  %alu24 = fadd float %alu23, %gep0
  %gep1 = extractelement <4 x float> %val0, i32 1
  %alu25 = fcmp olt float %gep1, -120.0
  %alu26 = fcmp olt float 128.25, %gep1
  %alu27 = fcmp olt float %gep1, -152.0
  %alu28 = select i1 %alu27, float -152.0, float %gep1
  %alu29 = select i1 %alu26, float 128.25, float %alu28
  %alu30 = fadd float %alu29, 0x4168000FC0000000
  %alu31 = fadd float %alu30, 0xC168000FC0000000
  %alu32 = fsub float %alu29, %alu31
  %alu33 = call float @llvm.fma.f32(float 0x3F341FBBC0000000, float %alu32, float 0x3F65F3E520000000)
  %alu34 = call float @llvm.fma.f32(float %alu33, float %alu32, float 0x3F93B2D4C0000000)
  %alu35 = call float @llvm.fma.f32(float %alu34, float %alu32, float 0x3FBC6AEE80000000)
  %alu36 = call float @llvm.fma.f32(float %alu35, float %alu32, float 0x3FDEBFBDC0000000)
  %alu37 = call float @llvm.fma.f32(float %alu36, float %alu32, float 0x3FF62E4300000000)
  %alu38 = call float @llvm.fma.f32(float %alu37, float %alu32, float 2.0)
  %alu39 = fadd float %alu30, 64.0
  %alu40 = select i1 %alu25, float %alu39, float %alu30
  %cast2 = bitcast float %alu40 to i32
  %alu41 = shl i32 %cast2, 23
  %cast3 = bitcast i32 %alu41 to float
  %alu42 = fmul float %alu38, %cast3
  %alu43 = select i1 %alu27, float 0.0, float 0x3BF0000000000000
  %alu44 = fmul float %alu42, %alu43
  %alu45 = select i1 %alu25, float %alu44, float %alu42
  %alu46 = fadd float %alu45, %gep1
  %gep2 = extractelement <4 x float> %val0, i32 2
  %alu47 = fcmp olt float %gep2, -120.0
  %alu48 = fcmp olt float 128.25, %gep2
  %alu49 = fcmp olt float %gep2, -152.0
  %alu50 = select i1 %alu49, float -152.0, float %gep2
  %alu51 = select i1 %alu48, float 128.25, float %alu50
  %alu52 = fadd float %alu51, 0x4168000FC0000000
  %alu53 = fadd float %alu52, 0xC168000FC0000000
  %alu54 = fsub float %alu51, %alu53
  %alu55 = call float @llvm.fma.f32(float 0x3F341FBBC0000000, float %alu54, float 0x3F65F3E520000000)
  %alu56 = call float @llvm.fma.f32(float %alu55, float %alu54, float 0x3F93B2D4C0000000)
  %alu57 = call float @llvm.fma.f32(float %alu56, float %alu54, float 0x3FBC6AEE80000000)
  %alu58 = call float @llvm.fma.f32(float %alu57, float %alu54, float 0x3FDEBFBDC0000000)
  %alu59 = call float @llvm.fma.f32(float %alu58, float %alu54, float 0x3FF62E4300000000)
  %alu60 = call float @llvm.fma.f32(float %alu59, float %alu54, float 2.0)
  %alu61 = fadd float %alu52, 64.0
  %alu62 = select i1 %alu47, float %alu61, float %alu52
  %cast4 = bitcast float %alu62 to i32
  %alu63 = shl i32 %cast4, 23
  %cast5 = bitcast i32 %alu63 to float
  %alu64 = fmul float %alu60, %cast5
  %alu65 = select i1 %alu49, float 0.0, float 0x3BF0000000000000
  %alu66 = fmul float %alu64, %alu65
  %alu67 = select i1 %alu47, float %alu66, float %alu64
  %alu68 = fadd float %alu67, %gep2
  %gep3 = extractelement <4 x float> %val0, i32 3
  %alu69 = fcmp olt float %gep3, -120.0
  %alu70 = fcmp olt float 128.25, %gep3
  %alu71 = fcmp olt float %gep3, -152.0
  %alu72 = select i1 %alu71, float -152.0, float %gep3
  %alu73 = select i1 %alu70, float 128.25, float %alu72
  %alu74 = fadd float %alu73, 0x4168000FC0000000
  %alu75 = fadd float %alu74, 0xC168000FC0000000
  %alu76 = fsub float %alu73, %alu75
  %alu77 = call float @llvm.fma.f32(float 0x3F341FBBC0000000, float %alu76, float 0x3F65F3E520000000)
  %alu78 = call float @llvm.fma.f32(float %alu77, float %alu76, float 0x3F93B2D4C0000000)
  %alu79 = call float @llvm.fma.f32(float %alu78, float %alu76, float 0x3FBC6AEE80000000)
  %alu80 = call float @llvm.fma.f32(float %alu79, float %alu76, float 0x3FDEBFBDC0000000)
  %alu81 = call float @llvm.fma.f32(float %alu80, float %alu76, float 0x3FF62E4300000000)
  %alu82 = call float @llvm.fma.f32(float %alu81, float %alu76, float 2.0)
  %alu83 = fadd float %alu74, 64.0
  %alu84 = select i1 %alu69, float %alu83, float %alu74
  %cast6 = bitcast float %alu84 to i32
  %alu85 = shl i32 %cast6, 23
  %cast7 = bitcast i32 %alu85 to float
  %alu86 = fmul float %alu82, %cast7
  %alu87 = select i1 %alu71, float 0.0, float 0x3BF0000000000000
  %alu88 = fmul float %alu86, %alu87
  %alu89 = select i1 %alu69, float %alu88, float %alu86
  %alu90 = fadd float %alu89, %gep3
  %vec0 = insertelement <4 x float> poison, float %alu24, i32 0
  %vec1 = insertelement <4 x float> %vec0, float %alu46, i32 1
  %vec2 = insertelement <4 x float> %vec1, float %alu68, i32 2
  %vec3 = insertelement <4 x float> %vec2, float %alu90, i32 3
  %ptr1 = getelementptr inbounds float, ptr addrspace(1) %data0_256, i32 %alu2
  store <4 x float> %vec3, ptr addrspace(1) %ptr1, align 16
  ret void
}

declare float @llvm.fma.f32(float, float, float)
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workitem.id.x()

attributes #0 = { nounwind "no-trapping-math"="true" "target-cpu"="gfx942" "amdgpu-flat-work-group-size"="16,16" "uniform-work-group-size"="true" }
