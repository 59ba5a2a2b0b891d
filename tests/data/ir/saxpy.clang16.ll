; ModuleID = 'saxpy.cl'
source_filename = "saxpy.cl"
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64"

; Function Attrs: convergent mustprogress nofree norecurse nounwind willreturn memory(none)
define dso_local spir_func float @blend(<4 x float> noundef %v, float noundef %t) local_unnamed_addr #0 {
entry:
  %0 = extractelement <4 x float> %v, i64 0
  %1 = extractelement <4 x float> %v, i64 3
  %call = tail call spir_func float @_Z3mixfff(float noundef %0, float noundef %1, float noundef %t) #6
  %call1 = tail call spir_func float @_Z3dotDv4_fS_(<4 x float> noundef %v, <4 x float> noundef %v) #6
  %add = fadd float %call, %call1
  ret float %add
}

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare dso_local spir_func float @_Z3mixfff(float noundef, float noundef, float noundef) local_unnamed_addr #1

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare dso_local spir_func float @_Z3dotDv4_fS_(<4 x float> noundef, <4 x float> noundef) local_unnamed_addr #1

; Function Attrs: convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite)
define dso_local spir_kernel void @saxpy(ptr addrspace(1) noalias nocapture noundef align 4 %y, ptr addrspace(1) noalias nocapture noundef readonly align 4 %x, float noundef %a, i32 noundef %n) local_unnamed_addr #2 !kernel_arg_addr_space !3 !kernel_arg_access_qual !4 !kernel_arg_type !5 !kernel_arg_base_type !5 !kernel_arg_type_qual !6 {
entry:
  %call = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #6
  %conv = trunc i64 %call to i32
  %cmp = icmp ult i32 %conv, %n
  br i1 %cmp, label %if.then, label %if.end

if.then:                                          ; preds = %entry
  %idxprom = and i64 %call, 4294967295
  %arrayidx = getelementptr inbounds float, ptr addrspace(1) %x, i64 %idxprom
  %0 = load float, ptr addrspace(1) %arrayidx, align 4, !tbaa !7
  %arrayidx3 = getelementptr inbounds float, ptr addrspace(1) %y, i64 %idxprom
  %1 = load float, ptr addrspace(1) %arrayidx3, align 4, !tbaa !7
  %2 = tail call float @llvm.fmuladd.f32(float %a, float %0, float %1)
  store float %2, ptr addrspace(1) %arrayidx3, align 4, !tbaa !7
  br label %if.end

if.end:                                           ; preds = %if.then, %entry
  ret void
}

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare dso_local spir_func i64 @_Z13get_global_idj(i32 noundef) local_unnamed_addr #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.fmuladd.f32(float, float, float) #3

; Function Attrs: convergent norecurse nounwind
define dso_local spir_kernel void @reduce(ptr addrspace(1) nocapture noundef readonly align 16 %in, ptr addrspace(1) nocapture noundef writeonly align 4 %out, ptr addrspace(3) nocapture noundef align 4 %part, ptr addrspace(2) nocapture noundef readonly align 4 %scale) local_unnamed_addr #4 !kernel_arg_addr_space !11 !kernel_arg_access_qual !4 !kernel_arg_type !12 !kernel_arg_base_type !13 !kernel_arg_type_qual !14 {
entry:
  %call = tail call spir_func i64 @_Z12get_local_idj(i32 noundef 0) #6
  %call1 = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #6
  %arrayidx = getelementptr inbounds <4 x float>, ptr addrspace(1) %in, i64 %call1
  %0 = load <4 x float>, ptr addrspace(1) %arrayidx, align 16, !tbaa !15
  %1 = load float, ptr addrspace(2) %scale, align 4, !tbaa !7
  %2 = extractelement <4 x float> %0, i64 0
  %3 = extractelement <4 x float> %0, i64 3
  %call.i = tail call spir_func float @_Z3mixfff(float noundef %2, float noundef %3, float noundef %1) #6
  %call1.i = tail call spir_func float @_Z3dotDv4_fS_(<4 x float> noundef %0, <4 x float> noundef %0) #6
  %add.i = fadd float %call.i, %call1.i
  %arrayidx4 = getelementptr inbounds float, ptr addrspace(3) %part, i64 %call
  store float %add.i, ptr addrspace(3) %arrayidx4, align 4, !tbaa !7
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #7
  %call5 = tail call spir_func i64 @_Z14get_local_sizej(i32 noundef 0) #6
  %cmp.not29 = icmp ult i64 %call5, 2
  br i1 %cmp.not29, label %for.cond.cleanup, label %for.body

for.cond.cleanup:                                 ; preds = %if.end, %entry
  %cmp10 = icmp eq i64 %call, 0
  br i1 %cmp10, label %if.then11, label %if.end16

for.body:                                         ; preds = %entry, %if.end
  %s.030.in = phi i64 [ %s.030, %if.end ], [ %call5, %entry ]
  %s.030 = lshr i64 %s.030.in, 1
  %cmp6 = icmp ult i64 %call, %s.030
  br i1 %cmp6, label %if.then, label %if.end

if.then:                                          ; preds = %for.body
  %add = add i64 %s.030, %call
  %arrayidx7 = getelementptr inbounds float, ptr addrspace(3) %part, i64 %add
  %4 = load float, ptr addrspace(3) %arrayidx7, align 4, !tbaa !7
  %5 = load float, ptr addrspace(3) %arrayidx4, align 4, !tbaa !7
  %add9 = fadd float %4, %5
  store float %add9, ptr addrspace(3) %arrayidx4, align 4, !tbaa !7
  br label %if.end

if.end:                                           ; preds = %if.then, %for.body
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #7
  %cmp.not = icmp ult i64 %s.030.in, 4
  br i1 %cmp.not, label %for.cond.cleanup, label %for.body, !llvm.loop !16

if.then11:                                        ; preds = %for.cond.cleanup
  %6 = load float, ptr addrspace(3) %part, align 4, !tbaa !7
  %call13 = tail call spir_func float @_Z11native_sqrtf(float noundef %6) #6
  %call14 = tail call spir_func i64 @_Z12get_group_idj(i32 noundef 0) #6
  %arrayidx15 = getelementptr inbounds float, ptr addrspace(1) %out, i64 %call14
  store float %call13, ptr addrspace(1) %arrayidx15, align 4, !tbaa !7
  br label %if.end16

if.end16:                                         ; preds = %if.then11, %for.cond.cleanup
  ret void
}

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare dso_local spir_func i64 @_Z12get_local_idj(i32 noundef) local_unnamed_addr #1

; Function Attrs: convergent nounwind
declare dso_local spir_func void @_Z7barrierj(i32 noundef) local_unnamed_addr #5

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare dso_local spir_func i64 @_Z14get_local_sizej(i32 noundef) local_unnamed_addr #1

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare dso_local spir_func float @_Z11native_sqrtf(float noundef) local_unnamed_addr #1

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare dso_local spir_func i64 @_Z12get_group_idj(i32 noundef) local_unnamed_addr #1

attributes #0 = { convergent mustprogress nofree norecurse nounwind willreturn memory(none) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #1 = { convergent mustprogress nofree nounwind willreturn memory(none) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #2 = { convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="true" }
attributes #3 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #4 = { convergent norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="true" }
attributes #5 = { convergent nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #6 = { convergent nounwind willreturn memory(none) }
attributes #7 = { convergent nounwind }

!llvm.module.flags = !{!0, !1}
!opencl.ocl.version = !{!2}
!opencl.spir.version = !{!2}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 7, !"frame-pointer", i32 2}
!2 = !{i32 1, i32 2}
!3 = !{i32 1, i32 1, i32 0, i32 0}
!4 = !{!"none", !"none", !"none", !"none"}
!5 = !{!"float*", !"float*", !"float", !"uint"}
!6 = !{!"restrict", !"restrict const", !"", !""}
!7 = !{!8, !8, i64 0}
!8 = !{!"float", !9, i64 0}
!9 = !{!"omnipotent char", !10, i64 0}
!10 = !{!"Simple C/C++ TBAA"}
!11 = !{i32 1, i32 1, i32 3, i32 2}
!12 = !{!"float4*", !"float*", !"float*", !"float*"}
!13 = !{!"float __attribute__((ext_vector_type(4)))*", !"float*", !"float*", !"float*"}
!14 = !{!"const", !"", !"", !"const"}
!15 = !{!9, !9, i64 0}
!16 = distinct !{!16, !17}
!17 = !{!"llvm.loop.unroll.disable"}
