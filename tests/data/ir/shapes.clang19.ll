; ModuleID = 'shapes.cpp'
source_filename = "shapes.cpp"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%struct.Square = type { %struct.Shape, %struct.Named, double }
%struct.Shape = type { ptr }
%struct.Named = type { ptr }

$_ZN6SquareC2Ed = comdat any

$_ZN5ShapeD2Ev = comdat any

$_Z6sum_ofIfLi3EET_RAT0__KS0_ = comdat any

$_Z6sum_ofIlLi2EET_RAT0__KS0_ = comdat any

$_ZN5ShapeC2Ev = comdat any

$_ZN5NamedC2Ev = comdat any

$_ZNK6Square4areaEv = comdat any

$_ZN6SquareD0Ev = comdat any

$_ZNK6Square4nameEv = comdat any

$_ZThn8_NK6Square4nameEv = comdat any

$_ZN5ShapeD0Ev = comdat any

$_ZNK5Named4nameEv = comdat any

$_ZTS3Bad = comdat any

$_ZTI3Bad = comdat any

$_ZTV6Square = comdat any

$_ZTS6Square = comdat any

$_ZTS5Shape = comdat any

$_ZTI5Shape = comdat any

$_ZTS5Named = comdat any

$_ZTI5Named = comdat any

$_ZTI6Square = comdat any

$_ZTV5Shape = comdat any

$_ZTV5Named = comdat any

@_ZTVN10__cxxabiv117__class_type_infoE = external global [0 x ptr]
@_ZTS3Bad = linkonce_odr dso_local constant [5 x i8] c"3Bad\00", comdat, align 1
@_ZTI3Bad = linkonce_odr dso_local constant { ptr, ptr } { ptr getelementptr inbounds (ptr, ptr @_ZTVN10__cxxabiv117__class_type_infoE, i64 2), ptr @_ZTS3Bad }, comdat, align 8
@__const._Z4sumsv.some = private unnamed_addr constant [3 x float] [float 1.500000e+00, float 2.500000e+00, float -0.000000e+00], align 4
@__const._Z4sumsv.others = private unnamed_addr constant [2 x i64] [i64 1, i64 2], align 16
@_ZTV6Square = linkonce_odr dso_local unnamed_addr constant { [6 x ptr], [3 x ptr] } { [6 x ptr] [ptr null, ptr @_ZTI6Square, ptr @_ZNK6Square4areaEv, ptr @_ZN5ShapeD2Ev, ptr @_ZN6SquareD0Ev, ptr @_ZNK6Square4nameEv], [3 x ptr] [ptr inttoptr (i64 -8 to ptr), ptr @_ZTI6Square, ptr @_ZThn8_NK6Square4nameEv] }, comdat, align 8
@_ZTVN10__cxxabiv121__vmi_class_type_infoE = external global [0 x ptr]
@_ZTS6Square = linkonce_odr dso_local constant [8 x i8] c"6Square\00", comdat, align 1
@_ZTS5Shape = linkonce_odr dso_local constant [7 x i8] c"5Shape\00", comdat, align 1
@_ZTI5Shape = linkonce_odr dso_local constant { ptr, ptr } { ptr getelementptr inbounds (ptr, ptr @_ZTVN10__cxxabiv117__class_type_infoE, i64 2), ptr @_ZTS5Shape }, comdat, align 8
@_ZTS5Named = linkonce_odr dso_local constant [7 x i8] c"5Named\00", comdat, align 1
@_ZTI5Named = linkonce_odr dso_local constant { ptr, ptr } { ptr getelementptr inbounds (ptr, ptr @_ZTVN10__cxxabiv117__class_type_infoE, i64 2), ptr @_ZTS5Named }, comdat, align 8
@_ZTI6Square = linkonce_odr dso_local constant { ptr, ptr, i32, i32, ptr, i64, ptr, i64 } { ptr getelementptr inbounds (ptr, ptr @_ZTVN10__cxxabiv121__vmi_class_type_infoE, i64 2), ptr @_ZTS6Square, i32 0, i32 2, ptr @_ZTI5Shape, i64 2, ptr @_ZTI5Named, i64 2050 }, comdat, align 8
@_ZTV5Shape = linkonce_odr dso_local unnamed_addr constant { [5 x ptr] } { [5 x ptr] [ptr null, ptr @_ZTI5Shape, ptr @__cxa_pure_virtual, ptr @_ZN5ShapeD2Ev, ptr @_ZN5ShapeD0Ev] }, comdat, align 8
@_ZTV5Named = linkonce_odr dso_local unnamed_addr constant { [3 x ptr] } { [3 x ptr] [ptr null, ptr @_ZTI5Named, ptr @_ZNK5Named4nameEv] }, comdat, align 8
@.str = private unnamed_addr constant [2 x i8] c"?\00", align 1
@.str.1 = private unnamed_addr constant [10 x i8] c"square\09\22\\\00", align 1

; Function Attrs: mustprogress noinline uwtable
define dso_local noundef double @_Z7checkedRK5Shape(ptr noundef nonnull align 8 dereferenceable(8) %0) local_unnamed_addr #0 {
  %2 = load ptr, ptr %0, align 8, !tbaa !4
  %3 = load ptr, ptr %2, align 8
  %4 = tail call noundef double %3(ptr noundef nonnull align 8 dereferenceable(8) %0)
  %5 = fcmp olt double %4, 0.000000e+00
  br i1 %5, label %6, label %8

6:                                                ; preds = %1
  %7 = tail call ptr @__cxa_allocate_exception(i64 4) #8
  store i32 3, ptr %7, align 16, !tbaa !7
  tail call void @__cxa_throw(ptr nonnull %7, ptr nonnull @_ZTI3Bad, ptr null) #9
  unreachable

8:                                                ; preds = %1
  ret double %4
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(i64 immarg, ptr nocapture) #1

declare ptr @__cxa_allocate_exception(i64) local_unnamed_addr

declare void @__cxa_throw(ptr, ptr, ptr) local_unnamed_addr

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(i64 immarg, ptr nocapture) #1

; Function Attrs: mustprogress noinline uwtable
define dso_local noundef double @_Z7guardedd(double noundef %0) local_unnamed_addr #0 personality ptr @__gxx_personality_v0 {
  %2 = alloca %struct.Square, align 8
  call void @llvm.lifetime.start.p0(i64 24, ptr nonnull %2) #8
  call void @_ZN6SquareC2Ed(ptr noundef nonnull align 8 dereferenceable(24) %2, double noundef %0)
  %3 = invoke noundef double @_Z7checkedRK5Shape(ptr noundef nonnull align 8 dereferenceable(8) %2)
          to label %20 unwind label %4

4:                                                ; preds = %1
  %5 = landingpad { ptr, i32 }
          catch ptr @_ZTI3Bad
          catch ptr null
  %6 = extractvalue { ptr, i32 } %5, 0
  %7 = extractvalue { ptr, i32 } %5, 1
  %8 = call i32 @llvm.eh.typeid.for.p0(ptr nonnull @_ZTI3Bad) #8
  %9 = icmp eq i32 %7, %8
  %10 = call ptr @__cxa_begin_catch(ptr %6) #8
  br i1 %9, label %11, label %13

11:                                               ; preds = %4
  %12 = load i32, ptr %10, align 4, !tbaa !7
  invoke void @__cxa_end_catch()
          to label %16 unwind label %18

13:                                               ; preds = %4
  invoke void @__cxa_end_catch()
          to label %20 unwind label %14

14:                                               ; preds = %13
  %15 = landingpad { ptr, i32 }
          cleanup
  br label %22

16:                                               ; preds = %11
  %17 = sitofp i32 %12 to double
  br label %20

18:                                               ; preds = %11
  %19 = landingpad { ptr, i32 }
          cleanup
  br label %22

20:                                               ; preds = %1, %13, %16
  %21 = phi double [ %17, %16 ], [ -1.000000e+00, %13 ], [ %3, %1 ]
  call void @_ZN5ShapeD2Ev(ptr noundef nonnull align 8 dereferenceable(24) %2) #8
  call void @llvm.lifetime.end.p0(i64 24, ptr nonnull %2) #8
  ret double %21

22:                                               ; preds = %18, %14
  %23 = phi { ptr, i32 } [ %19, %18 ], [ %15, %14 ]
  call void @_ZN5ShapeD2Ev(ptr noundef nonnull align 8 dereferenceable(24) %2) #8
  call void @llvm.lifetime.end.p0(i64 24, ptr nonnull %2) #8
  resume { ptr, i32 } %23
}

; Function Attrs: mustprogress noinline nounwind uwtable
define linkonce_odr dso_local void @_ZN6SquareC2Ed(ptr noundef nonnull align 8 dereferenceable(24) %0, double noundef %1) unnamed_addr #2 comdat align 2 {
  tail call void @_ZN5ShapeC2Ev(ptr noundef nonnull align 8 dereferenceable(8) %0) #8
  %3 = getelementptr inbounds i8, ptr %0, i64 8
  tail call void @_ZN5NamedC2Ev(ptr noundef nonnull align 8 dereferenceable(8) %3) #8
  store ptr getelementptr inbounds inrange(-16, 32) (i8, ptr @_ZTV6Square, i64 16), ptr %0, align 8, !tbaa !4
  store ptr getelementptr inbounds inrange(-16, 8) (i8, ptr @_ZTV6Square, i64 64), ptr %3, align 8, !tbaa !4
  %4 = getelementptr inbounds i8, ptr %0, i64 16
  store double %1, ptr %4, align 8, !tbaa !11
  ret void
}

declare i32 @__gxx_personality_v0(...)

; Function Attrs: nofree nosync nounwind memory(none)
declare i32 @llvm.eh.typeid.for.p0(ptr) #3

declare ptr @__cxa_begin_catch(ptr) local_unnamed_addr

declare void @__cxa_end_catch() local_unnamed_addr

; Function Attrs: mustprogress noinline nounwind uwtable
define linkonce_odr dso_local void @_ZN5ShapeD2Ev(ptr noundef nonnull align 8 dereferenceable(8) %0) unnamed_addr #2 comdat align 2 {
  ret void
}

; Function Attrs: mustprogress noinline nounwind uwtable
define dso_local noundef float @_Z4sumsv() local_unnamed_addr #2 {
  %1 = alloca [3 x float], align 4
  %2 = alloca [2 x i64], align 16
  call void @llvm.lifetime.start.p0(i64 12, ptr nonnull %1) #8
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 4 dereferenceable(12) %1, ptr noundef nonnull align 4 dereferenceable(12) @__const._Z4sumsv.some, i64 12, i1 false)
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %2) #8
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 16 dereferenceable(16) %2, ptr noundef nonnull align 16 dereferenceable(16) @__const._Z4sumsv.others, i64 16, i1 false)
  %3 = call noundef float @_Z6sum_ofIfLi3EET_RAT0__KS0_(ptr noundef nonnull align 4 dereferenceable(12) %1)
  %4 = call noundef i64 @_Z6sum_ofIlLi2EET_RAT0__KS0_(ptr noundef nonnull align 8 dereferenceable(16) %2)
  %5 = sitofp i64 %4 to float
  %6 = fadd float %3, %5
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %2) #8
  call void @llvm.lifetime.end.p0(i64 12, ptr nonnull %1) #8
  ret float %6
}

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p0.p0.i64(ptr noalias nocapture writeonly, ptr noalias nocapture readonly, i64, i1 immarg) #4

; Function Attrs: mustprogress noinline nounwind uwtable
define linkonce_odr dso_local noundef float @_Z6sum_ofIfLi3EET_RAT0__KS0_(ptr noundef nonnull align 4 dereferenceable(12) %0) local_unnamed_addr #2 comdat {
  br label %3

2:                                                ; preds = %3
  ret float %8

3:                                                ; preds = %1, %3
  %4 = phi i64 [ 0, %1 ], [ %9, %3 ]
  %5 = phi float [ 0.000000e+00, %1 ], [ %8, %3 ]
  %6 = getelementptr inbounds [3 x float], ptr %0, i64 0, i64 %4
  %7 = load float, ptr %6, align 4, !tbaa !16
  %8 = fadd float %5, %7
  %9 = add nuw nsw i64 %4, 1
  %10 = icmp eq i64 %9, 3
  br i1 %10, label %2, label %3, !llvm.loop !18
}

; Function Attrs: mustprogress noinline nounwind uwtable
define linkonce_odr dso_local noundef i64 @_Z6sum_ofIlLi2EET_RAT0__KS0_(ptr noundef nonnull align 8 dereferenceable(16) %0) local_unnamed_addr #2 comdat {
  br label %3

2:                                                ; preds = %3
  ret i64 %8

3:                                                ; preds = %1, %3
  %4 = phi i64 [ 0, %1 ], [ %9, %3 ]
  %5 = phi i64 [ 0, %1 ], [ %8, %3 ]
  %6 = getelementptr inbounds [2 x i64], ptr %0, i64 0, i64 %4
  %7 = load i64, ptr %6, align 8, !tbaa !21
  %8 = add nsw i64 %7, %5
  %9 = add nuw nsw i64 %4, 1
  %10 = icmp eq i64 %4, 0
  br i1 %10, label %3, label %2, !llvm.loop !23
}

; Function Attrs: mustprogress noinline nounwind uwtable
define linkonce_odr dso_local void @_ZN5ShapeC2Ev(ptr noundef nonnull align 8 dereferenceable(8) %0) unnamed_addr #2 comdat align 2 {
  store ptr getelementptr inbounds inrange(-16, 24) (i8, ptr @_ZTV5Shape, i64 16), ptr %0, align 8, !tbaa !4
  ret void
}

; Function Attrs: mustprogress noinline nounwind uwtable
define linkonce_odr dso_local void @_ZN5NamedC2Ev(ptr noundef nonnull align 8 dereferenceable(8) %0) unnamed_addr #2 comdat align 2 {
  store ptr getelementptr inbounds inrange(-16, 8) (i8, ptr @_ZTV5Named, i64 16), ptr %0, align 8, !tbaa !4
  ret void
}

; Function Attrs: mustprogress noinline nounwind uwtable
define linkonce_odr dso_local noundef double @_ZNK6Square4areaEv(ptr noundef nonnull align 8 dereferenceable(24) %0) unnamed_addr #2 comdat align 2 {
  %2 = getelementptr inbounds i8, ptr %0, i64 16
  %3 = load double, ptr %2, align 8, !tbaa !11
  %4 = fmul double %3, %3
  ret double %4
}

; Function Attrs: mustprogress noinline nounwind uwtable
define linkonce_odr dso_local void @_ZN6SquareD0Ev(ptr noundef nonnull align 8 dereferenceable(24) %0) unnamed_addr #2 comdat align 2 {
  tail call void @_ZN5ShapeD2Ev(ptr noundef nonnull align 8 dereferenceable(24) %0) #8
  tail call void @_ZdlPvm(ptr noundef %0, i64 noundef 24) #10
  ret void
}

; Function Attrs: mustprogress noinline nounwind uwtable
define linkonce_odr dso_local noundef ptr @_ZNK6Square4nameEv(ptr noundef nonnull align 8 dereferenceable(24) %0) unnamed_addr #2 comdat align 2 {
  ret ptr @.str.1
}

; Function Attrs: noinline uwtable
define linkonce_odr dso_local noundef ptr @_ZThn8_NK6Square4nameEv(ptr noundef %0) unnamed_addr #5 comdat align 2 {
  %2 = getelementptr inbounds i8, ptr %0, i64 -8
  %3 = tail call noundef ptr @_ZNK6Square4nameEv(ptr noundef nonnull align 8 dereferenceable(24) %2)
  ret ptr %3
}

declare void @__cxa_pure_virtual() unnamed_addr

; Function Attrs: mustprogress noinline nounwind uwtable
define linkonce_odr dso_local void @_ZN5ShapeD0Ev(ptr noundef nonnull align 8 dereferenceable(8) %0) unnamed_addr #2 comdat align 2 {
  tail call void @llvm.trap() #11
  unreachable
}

; Function Attrs: cold noreturn nounwind memory(inaccessiblemem: write)
declare void @llvm.trap() #6

; Function Attrs: mustprogress noinline nounwind uwtable
define linkonce_odr dso_local noundef ptr @_ZNK5Named4nameEv(ptr noundef nonnull align 8 dereferenceable(8) %0) unnamed_addr #2 comdat align 2 {
  ret ptr @.str
}

; Function Attrs: nobuiltin nounwind
declare void @_ZdlPvm(ptr noundef, i64 noundef) local_unnamed_addr #7

attributes #0 = { mustprogress noinline uwtable "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cmov,+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { mustprogress noinline nounwind uwtable "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cmov,+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #3 = { nofree nosync nounwind memory(none) }
attributes #4 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #5 = { noinline uwtable "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cmov,+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #6 = { cold noreturn nounwind memory(inaccessiblemem: write) }
attributes #7 = { nobuiltin nounwind "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cmov,+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #8 = { nounwind }
attributes #9 = { noreturn }
attributes #10 = { builtin nounwind }
attributes #11 = { noreturn nounwind }

!llvm.module.flags = !{!0, !1, !2, !3}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 8, !"PIC Level", i32 2}
!2 = !{i32 7, !"PIE Level", i32 2}
!3 = !{i32 7, !"uwtable", i32 2}
!4 = !{!5, !5, i64 0}
!5 = !{!"vtable pointer", !6, i64 0}
!6 = !{!"Simple C++ TBAA"}
!7 = !{!8, !9, i64 0}
!8 = !{!"_ZTS3Bad", !9, i64 0}
!9 = !{!"int", !10, i64 0}
!10 = !{!"omnipotent char", !6, i64 0}
!11 = !{!12, !15, i64 16}
!12 = !{!"_ZTS6Square", !13, i64 0, !14, i64 8, !15, i64 16}
!13 = !{!"_ZTS5Shape"}
!14 = !{!"_ZTS5Named"}
!15 = !{!"double", !10, i64 0}
!16 = !{!17, !17, i64 0}
!17 = !{!"float", !10, i64 0}
!18 = distinct !{!18, !19, !20}
!19 = !{!"llvm.loop.mustprogress"}
!20 = !{!"llvm.loop.unroll.disable"}
!21 = !{!22, !22, i64 0}
!22 = !{!"long", !10, i64 0}
!23 = distinct !{!23, !19, !20}
