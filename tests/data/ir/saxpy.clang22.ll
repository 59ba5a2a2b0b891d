; ModuleID = 'saxpy.cl'
source_filename = "saxpy.cl"
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"
target triple = "spir64"

; Function Attrs: convergent mustprogress nofree norecurse nounwind willreturn memory(none)
define dso_local spir_func float @blend(<4 x float> noundef %0, float noundef %1) local_unnamed_addr #0 {
  %3 = extractelement <4 x float> %0, i64 0
  %4 = extractelement <4 x float> %0, i64 3
  %5 = tail call spir_func float @_Z3mixfff(float noundef %3, float noundef %4, float noundef %1) #9
  %6 = tail call spir_func float @_Z3dotDv4_fS_(<4 x float> noundef %0, <4 x float> noundef %0) #9
  %7 = fadd float %5, %6
  ret float %7
}

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare dso_local spir_func float @_Z3mixfff(float noundef, float noundef, float noundef) local_unnamed_addr #1

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare dso_local spir_func float @_Z3dotDv4_fS_(<4 x float> noundef, <4 x float> noundef) local_unnamed_addr #1

; Function Attrs: convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite, inaccessiblemem: readwrite)
define dso_local spir_kernel void @saxpy(ptr addrspace(1) noalias noundef align 4 captures(none) %0, ptr addrspace(1) noalias noundef readonly align 4 captures(none) %1, float noundef %2, i32 noundef %3) local_unnamed_addr #2 !kernel_arg_addr_space !8 !kernel_arg_access_qual !9 !kernel_arg_type !10 !kernel_arg_base_type !10 !kernel_arg_type_qual !11 {
  tail call void @llvm.experimental.noalias.scope.decl(metadata !12)
  tail call void @llvm.experimental.noalias.scope.decl(metadata !15)
  %5 = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #9
  %6 = trunc i64 %5 to i32
  %7 = icmp ugt i32 %3, %6
  br i1 %7, label %8, label %15

8:                                                ; preds = %4
  %9 = and i64 %5, 4294967295
  %10 = getelementptr inbounds nuw float, ptr addrspace(1) %1, i64 %9
  %11 = load float, ptr addrspace(1) %10, align 4, !tbaa !17, !alias.scope !15, !noalias !12
  %12 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %9
  %13 = load float, ptr addrspace(1) %12, align 4, !tbaa !17, !alias.scope !12, !noalias !15
  %14 = tail call float @llvm.fmuladd.f32(float %2, float %11, float %13)
  store float %14, ptr addrspace(1) %12, align 4, !tbaa !17, !alias.scope !12, !noalias !15
  br label %15

15:                                               ; preds = %4, %8
  ret void
}

; Function Attrs: alwaysinline convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite)
define dso_local spir_func void @__clang_ocl_kern_imp_saxpy(ptr addrspace(1) noalias noundef align 4 captures(none) %0, ptr addrspace(1) noalias noundef readonly align 4 captures(none) %1, float noundef %2, i32 noundef %3) local_unnamed_addr #3 !kernel_arg_addr_space !8 !kernel_arg_access_qual !9 !kernel_arg_type !10 !kernel_arg_base_type !10 !kernel_arg_type_qual !11 {
  %5 = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #9
  %6 = trunc i64 %5 to i32
  %7 = icmp ugt i32 %3, %6
  br i1 %7, label %8, label %15

8:                                                ; preds = %4
  %9 = and i64 %5, 4294967295
  %10 = getelementptr inbounds nuw float, ptr addrspace(1) %1, i64 %9
  %11 = load float, ptr addrspace(1) %10, align 4, !tbaa !17
  %12 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %9
  %13 = load float, ptr addrspace(1) %12, align 4, !tbaa !17
  %14 = tail call float @llvm.fmuladd.f32(float %2, float %11, float %13)
  store float %14, ptr addrspace(1) %12, align 4, !tbaa !17
  br label %15

15:                                               ; preds = %8, %4
  ret void
}

; Function Attrs: convergent norecurse nounwind
define dso_local spir_kernel void @reduce(ptr addrspace(1) noundef readonly align 16 captures(none) %0, ptr addrspace(1) noundef writeonly align 4 captures(none) %1, ptr addrspace(3) noundef align 4 captures(none) %2, ptr addrspace(2) noundef readonly align 4 captures(none) %3) local_unnamed_addr #4 !kernel_arg_addr_space !19 !kernel_arg_access_qual !9 !kernel_arg_type !20 !kernel_arg_base_type !21 !kernel_arg_type_qual !22 {
  %5 = tail call spir_func i64 @_Z12get_local_idj(i32 noundef 0) #9
  %6 = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #9
  %7 = getelementptr inbounds nuw <4 x float>, ptr addrspace(1) %0, i64 %6
  %8 = load <4 x float>, ptr addrspace(1) %7, align 16, !tbaa !23
  %9 = load float, ptr addrspace(2) %3, align 4, !tbaa !17
  %10 = extractelement <4 x float> %8, i64 0
  %11 = extractelement <4 x float> %8, i64 3
  %12 = tail call spir_func float @_Z3mixfff(float noundef %10, float noundef %11, float noundef %9) #9
  %13 = tail call spir_func float @_Z3dotDv4_fS_(<4 x float> noundef %8, <4 x float> noundef %8) #9
  %14 = fadd float %12, %13
  %15 = getelementptr inbounds nuw float, ptr addrspace(3) %2, i64 %5
  store float %14, ptr addrspace(3) %15, align 4, !tbaa !17
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #10
  %16 = tail call spir_func i64 @_Z14get_local_sizej(i32 noundef 0) #9
  %17 = lshr i64 %16, 1
  %18 = icmp eq i64 %17, 0
  br i1 %18, label %19, label %21

19:                                               ; preds = %29, %4
  %20 = icmp eq i64 %5, 0
  br i1 %20, label %32, label %37

21:                                               ; preds = %4, %29
  %22 = phi i64 [ %30, %29 ], [ %17, %4 ]
  %23 = icmp ult i64 %5, %22
  br i1 %23, label %24, label %29

24:                                               ; preds = %21
  %25 = getelementptr inbounds nuw float, ptr addrspace(3) %15, i64 %22
  %26 = load float, ptr addrspace(3) %25, align 4, !tbaa !17
  %27 = load float, ptr addrspace(3) %15, align 4, !tbaa !17
  %28 = fadd float %26, %27
  store float %28, ptr addrspace(3) %15, align 4, !tbaa !17
  br label %29

29:                                               ; preds = %24, %21
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #10
  %30 = lshr i64 %22, 1
  %31 = icmp eq i64 %30, 0
  br i1 %31, label %19, label %21, !llvm.loop !24

32:                                               ; preds = %19
  %33 = load float, ptr addrspace(3) %2, align 4, !tbaa !17
  %34 = tail call spir_func float @_Z11native_sqrtf(float noundef %33) #9
  %35 = tail call spir_func i64 @_Z12get_group_idj(i32 noundef 0) #9
  %36 = getelementptr inbounds nuw float, ptr addrspace(1) %1, i64 %35
  store float %34, ptr addrspace(1) %36, align 4, !tbaa !17
  br label %37

37:                                               ; preds = %19, %32
  ret void
}

; Function Attrs: alwaysinline convergent norecurse nounwind
define dso_local spir_func void @__clang_ocl_kern_imp_reduce(ptr addrspace(1) noundef readonly align 16 captures(none) %0, ptr addrspace(1) noundef writeonly align 4 captures(none) %1, ptr addrspace(3) noundef align 4 captures(none) %2, ptr addrspace(2) noundef readonly align 4 captures(none) %3) local_unnamed_addr #5 !kernel_arg_addr_space !19 !kernel_arg_access_qual !9 !kernel_arg_type !20 !kernel_arg_base_type !21 !kernel_arg_type_qual !22 {
  %5 = tail call spir_func i64 @_Z12get_local_idj(i32 noundef 0) #9
  %6 = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #9
  %7 = getelementptr inbounds nuw <4 x float>, ptr addrspace(1) %0, i64 %6
  %8 = load <4 x float>, ptr addrspace(1) %7, align 16, !tbaa !23
  %9 = load float, ptr addrspace(2) %3, align 4, !tbaa !17
  %10 = extractelement <4 x float> %8, i64 0
  %11 = extractelement <4 x float> %8, i64 3
  %12 = tail call spir_func float @_Z3mixfff(float noundef %10, float noundef %11, float noundef %9) #9
  %13 = tail call spir_func float @_Z3dotDv4_fS_(<4 x float> noundef %8, <4 x float> noundef %8) #9
  %14 = fadd float %12, %13
  %15 = getelementptr inbounds nuw float, ptr addrspace(3) %2, i64 %5
  store float %14, ptr addrspace(3) %15, align 4, !tbaa !17
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #10
  %16 = tail call spir_func i64 @_Z14get_local_sizej(i32 noundef 0) #9
  %17 = lshr i64 %16, 1
  %18 = icmp eq i64 %17, 0
  br i1 %18, label %19, label %21

19:                                               ; preds = %29, %4
  %20 = icmp eq i64 %5, 0
  br i1 %20, label %32, label %37

21:                                               ; preds = %4, %29
  %22 = phi i64 [ %30, %29 ], [ %17, %4 ]
  %23 = icmp ult i64 %5, %22
  br i1 %23, label %24, label %29

24:                                               ; preds = %21
  %25 = getelementptr inbounds nuw float, ptr addrspace(3) %15, i64 %22
  %26 = load float, ptr addrspace(3) %25, align 4, !tbaa !17
  %27 = load float, ptr addrspace(3) %15, align 4, !tbaa !17
  %28 = fadd float %26, %27
  store float %28, ptr addrspace(3) %15, align 4, !tbaa !17
  br label %29

29:                                               ; preds = %24, %21
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #10
  %30 = lshr i64 %22, 1
  %31 = icmp eq i64 %30, 0
  br i1 %31, label %19, label %21, !llvm.loop !24

32:                                               ; preds = %19
  %33 = load float, ptr addrspace(3) %2, align 4, !tbaa !17
  %34 = tail call spir_func float @_Z11native_sqrtf(float noundef %33) #9
  %35 = tail call spir_func i64 @_Z12get_group_idj(i32 noundef 0) #9
  %36 = getelementptr inbounds nuw float, ptr addrspace(1) %1, i64 %35
  store float %34, ptr addrspace(1) %36, align 4, !tbaa !17
  br label %37

37:                                               ; preds = %32, %19
  ret void
}

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare dso_local spir_func i64 @_Z13get_global_idj(i32 noundef) local_unnamed_addr #1

; Function Attrs: mustprogress nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.fmuladd.f32(float, float, float) #6

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare dso_local spir_func i64 @_Z12get_local_idj(i32 noundef) local_unnamed_addr #1

; Function Attrs: convergent nounwind
declare dso_local spir_func void @_Z7barrierj(i32 noundef) local_unnamed_addr #7

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare dso_local spir_func i64 @_Z14get_local_sizej(i32 noundef) local_unnamed_addr #1

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare dso_local spir_func float @_Z11native_sqrtf(float noundef) local_unnamed_addr #1

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare dso_local spir_func i64 @_Z12get_group_idj(i32 noundef) local_unnamed_addr #1

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: readwrite)
declare void @llvm.experimental.noalias.scope.decl(metadata) #8

attributes #0 = { convergent mustprogress nofree norecurse nounwind willreturn memory(none) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #1 = { convergent mustprogress nofree nounwind willreturn memory(none) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #2 = { convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite, inaccessiblemem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="false" }
attributes #3 = { alwaysinline convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="false" }
attributes #4 = { convergent norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="false" }
attributes #5 = { alwaysinline convergent norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="false" }
attributes #6 = { mustprogress nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #7 = { convergent nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #8 = { nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: readwrite) }
attributes #9 = { convergent nounwind willreturn memory(none) }
attributes #10 = { convergent nounwind }

!llvm.module.flags = !{!0, !1}
!opencl.ocl.version = !{!2}
!opencl.spir.version = !{!2}
!llvm.ident = !{!3}
!llvm.errno.tbaa = !{!4}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 7, !"frame-pointer", i32 2}
!2 = !{i32 2, i32 0}
!3 = !{!"clang version 22.1.8"}
!4 = !{!5, !5, i64 0}
!5 = !{!"int", !6, i64 0}
!6 = !{!"omnipotent char", !7, i64 0}
!7 = !{!"Simple C/C++ TBAA"}
!8 = !{i32 1, i32 1, i32 0, i32 0}
!9 = !{!"none", !"none", !"none", !"none"}
!10 = !{!"float*", !"float*", !"float", !"uint"}
!11 = !{!"restrict", !"restrict const", !"", !""}
!12 = !{!13}
!13 = distinct !{!13, !14, !"__clang_ocl_kern_imp_saxpy: argument 0"}
!14 = distinct !{!14, !"__clang_ocl_kern_imp_saxpy"}
!15 = !{!16}
!16 = distinct !{!16, !14, !"__clang_ocl_kern_imp_saxpy: argument 1"}
!17 = !{!18, !18, i64 0}
!18 = !{!"float", !6, i64 0}
!19 = !{i32 1, i32 1, i32 3, i32 2}
!20 = !{!"float4*", !"float*", !"float*", !"float*"}
!21 = !{!"float __attribute__((ext_vector_type(4)))*", !"float*", !"float*", !"float*"}
!22 = !{!"const", !"", !"", !"const"}
!23 = !{!6, !6, i64 0}
!24 = distinct !{!24, !25}
!25 = !{!"llvm.loop.unroll.disable"}
