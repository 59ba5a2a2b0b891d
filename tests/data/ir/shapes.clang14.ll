; ModuleID = 'shapes.cpp'
source_filename = "shapes.cpp"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%struct.Shape = type { i32 (...)** }
%struct.Square = type { %struct.Shape, %struct.Named, double }
%struct.Named = type { i32 (...)** }

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

@_ZTVN10__cxxabiv117__class_type_infoE = external global i8*
@_ZTS3Bad = linkonce_odr dso_local constant [5 x i8] c"3Bad\00", comdat, align 1
@_ZTI3Bad = linkonce_odr dso_local constant { i8*, i8* } { i8* bitcast (i8** getelementptr inbounds (i8*, i8** @_ZTVN10__cxxabiv117__class_type_infoE, i64 2) to i8*), i8* getelementptr inbounds ([5 x i8], [5 x i8]* @_ZTS3Bad, i32 0, i32 0) }, comdat, align 8
@__const._Z4sumsv.some = private unnamed_addr constant [3 x float] [float 1.500000e+00, float 2.500000e+00, float -0.000000e+00], align 4
@__const._Z4sumsv.others = private unnamed_addr constant [2 x i64] [i64 1, i64 2], align 16
@_ZTV6Square = linkonce_odr dso_local unnamed_addr constant { [6 x i8*], [3 x i8*] } { [6 x i8*] [i8* null, i8* bitcast ({ i8*, i8*, i32, i32, i8*, i64, i8*, i64 }* @_ZTI6Square to i8*), i8* bitcast (double (%struct.Square*)* @_ZNK6Square4areaEv to i8*), i8* bitcast (void (%struct.Shape*)* @_ZN5ShapeD2Ev to i8*), i8* bitcast (void (%struct.Square*)* @_ZN6SquareD0Ev to i8*), i8* bitcast (i8* (%struct.Square*)* @_ZNK6Square4nameEv to i8*)], [3 x i8*] [i8* inttoptr (i64 -8 to i8*), i8* bitcast ({ i8*, i8*, i32, i32, i8*, i64, i8*, i64 }* @_ZTI6Square to i8*), i8* bitcast (i8* (%struct.Square*)* @_ZThn8_NK6Square4nameEv to i8*)] }, comdat, align 8
@_ZTVN10__cxxabiv121__vmi_class_type_infoE = external global i8*
@_ZTS6Square = linkonce_odr dso_local constant [8 x i8] c"6Square\00", comdat, align 1
@_ZTS5Shape = linkonce_odr dso_local constant [7 x i8] c"5Shape\00", comdat, align 1
@_ZTI5Shape = linkonce_odr dso_local constant { i8*, i8* } { i8* bitcast (i8** getelementptr inbounds (i8*, i8** @_ZTVN10__cxxabiv117__class_type_infoE, i64 2) to i8*), i8* getelementptr inbounds ([7 x i8], [7 x i8]* @_ZTS5Shape, i32 0, i32 0) }, comdat, align 8
@_ZTS5Named = linkonce_odr dso_local constant [7 x i8] c"5Named\00", comdat, align 1
@_ZTI5Named = linkonce_odr dso_local constant { i8*, i8* } { i8* bitcast (i8** getelementptr inbounds (i8*, i8** @_ZTVN10__cxxabiv117__class_type_infoE, i64 2) to i8*), i8* getelementptr inbounds ([7 x i8], [7 x i8]* @_ZTS5Named, i32 0, i32 0) }, comdat, align 8
@_ZTI6Square = linkonce_odr dso_local constant { i8*, i8*, i32, i32, i8*, i64, i8*, i64 } { i8* bitcast (i8** getelementptr inbounds (i8*, i8** @_ZTVN10__cxxabiv121__vmi_class_type_infoE, i64 2) to i8*), i8* getelementptr inbounds ([8 x i8], [8 x i8]* @_ZTS6Square, i32 0, i32 0), i32 0, i32 2, i8* bitcast ({ i8*, i8* }* @_ZTI5Shape to i8*), i64 2, i8* bitcast ({ i8*, i8* }* @_ZTI5Named to i8*), i64 2050 }, comdat, align 8
@_ZTV5Shape = linkonce_odr dso_local unnamed_addr constant { [5 x i8*] } { [5 x i8*] [i8* null, i8* bitcast ({ i8*, i8* }* @_ZTI5Shape to i8*), i8* bitcast (void ()* @__cxa_pure_virtual to i8*), i8* bitcast (void (%struct.Shape*)* @_ZN5ShapeD2Ev to i8*), i8* bitcast (void (%struct.Shape*)* @_ZN5ShapeD0Ev to i8*)] }, comdat, align 8
@_ZTV5Named = linkonce_odr dso_local unnamed_addr constant { [3 x i8*] } { [3 x i8*] [i8* null, i8* bitcast ({ i8*, i8* }* @_ZTI5Named to i8*), i8* bitcast (i8* (%struct.Named*)* @_ZNK5Named4nameEv to i8*)] }, comdat, align 8
@.str = private unnamed_addr constant [2 x i8] c"?\00", align 1
@.str.1 = private unnamed_addr constant [10 x i8] c"square\09\22\\\00", align 1

; Function Attrs: mustprogress noinline uwtable
define dso_local noundef double @_Z7checkedRK5Shape(%struct.Shape* noundef nonnull align 8 dereferenceable(8) %0) local_unnamed_addr #0 {
  %2 = bitcast %struct.Shape* %0 to double (%struct.Shape*)***
  %3 = load double (%struct.Shape*)**, double (%struct.Shape*)*** %2, align 8, !tbaa !4
  %4 = load double (%struct.Shape*)*, double (%struct.Shape*)** %3, align 8
  %5 = call noundef double %4(%struct.Shape* noundef nonnull align 8 dereferenceable(8) %0)
  %6 = fcmp olt double %5, 0.000000e+00
  br i1 %6, label %7, label %10

7:                                                ; preds = %1
  %8 = call i8* @__cxa_allocate_exception(i64 4) #9
  %9 = bitcast i8* %8 to i32*
  store i32 3, i32* %9, align 16, !tbaa !7
  call void @__cxa_throw(i8* %8, i8* bitcast ({ i8*, i8* }* @_ZTI3Bad to i8*), i8* null) #10
  unreachable

10:                                               ; preds = %1
  ret double %5
}

; Function Attrs: argmemonly mustprogress nofree nosync nounwind willreturn
declare void @llvm.lifetime.start.p0i8(i64 immarg, i8* nocapture) #1

declare i8* @__cxa_allocate_exception(i64) local_unnamed_addr

declare void @__cxa_throw(i8*, i8*, i8*) local_unnamed_addr

; Function Attrs: argmemonly mustprogress nofree nosync nounwind willreturn
declare void @llvm.lifetime.end.p0i8(i64 immarg, i8* nocapture) #1

; Function Attrs: mustprogress noinline uwtable
define dso_local noundef double @_Z7guardedd(double noundef %0) local_unnamed_addr #0 personality i8* bitcast (i32 (...)* @__gxx_personality_v0 to i8*) {
  %2 = alloca %struct.Square, align 8
  %3 = bitcast %struct.Square* %2 to i8*
  call void @llvm.lifetime.start.p0i8(i64 24, i8* nonnull %3) #9
  call void @_ZN6SquareC2Ed(%struct.Square* noundef nonnull align 8 dereferenceable(24) %2, double noundef %0)
  %4 = getelementptr inbounds %struct.Square, %struct.Square* %2, i64 0, i32 0
  %5 = invoke noundef double @_Z7checkedRK5Shape(%struct.Shape* noundef nonnull align 8 dereferenceable(8) %4)
          to label %23 unwind label %6

6:                                                ; preds = %1
  %7 = landingpad { i8*, i32 }
          catch i8* bitcast ({ i8*, i8* }* @_ZTI3Bad to i8*)
          catch i8* null
  %8 = extractvalue { i8*, i32 } %7, 0
  %9 = extractvalue { i8*, i32 } %7, 1
  %10 = call i32 @llvm.eh.typeid.for(i8* bitcast ({ i8*, i8* }* @_ZTI3Bad to i8*)) #9
  %11 = icmp eq i32 %9, %10
  %12 = call i8* @__cxa_begin_catch(i8* %8) #9
  br i1 %11, label %13, label %16

13:                                               ; preds = %6
  %14 = bitcast i8* %12 to i32*
  %15 = load i32, i32* %14, align 4, !tbaa !7
  invoke void @__cxa_end_catch()
          to label %19 unwind label %21

16:                                               ; preds = %6
  invoke void @__cxa_end_catch()
          to label %23 unwind label %17

17:                                               ; preds = %16
  %18 = landingpad { i8*, i32 }
          cleanup
  br label %25

19:                                               ; preds = %13
  %20 = sitofp i32 %15 to double
  br label %23

21:                                               ; preds = %13
  %22 = landingpad { i8*, i32 }
          cleanup
  br label %25

23:                                               ; preds = %1, %16, %19
  %24 = phi double [ %20, %19 ], [ -1.000000e+00, %16 ], [ %5, %1 ]
  call void @_ZN5ShapeD2Ev(%struct.Shape* noundef nonnull align 8 dereferenceable(24) %4) #9
  call void @llvm.lifetime.end.p0i8(i64 24, i8* nonnull %3) #9
  ret double %24

25:                                               ; preds = %21, %17
  %26 = phi { i8*, i32 } [ %22, %21 ], [ %18, %17 ]
  call void @_ZN5ShapeD2Ev(%struct.Shape* noundef nonnull align 8 dereferenceable(24) %4) #9
  call void @llvm.lifetime.end.p0i8(i64 24, i8* nonnull %3) #9
  resume { i8*, i32 } %26
}

; Function Attrs: noinline nounwind uwtable
define linkonce_odr dso_local void @_ZN6SquareC2Ed(%struct.Square* noundef nonnull align 8 dereferenceable(24) %0, double noundef %1) unnamed_addr #2 comdat align 2 {
  %3 = getelementptr inbounds %struct.Square, %struct.Square* %0, i64 0, i32 0
  call void @_ZN5ShapeC2Ev(%struct.Shape* noundef nonnull align 8 dereferenceable(8) %3) #9
  %4 = getelementptr inbounds %struct.Square, %struct.Square* %0, i64 0, i32 1
  call void @_ZN5NamedC2Ev(%struct.Named* noundef nonnull align 8 dereferenceable(8) %4) #9
  %5 = getelementptr inbounds %struct.Square, %struct.Square* %0, i64 0, i32 0, i32 0
  store i32 (...)** bitcast (i8** getelementptr inbounds ({ [6 x i8*], [3 x i8*] }, { [6 x i8*], [3 x i8*] }* @_ZTV6Square, i64 0, inrange i32 0, i64 2) to i32 (...)**), i32 (...)*** %5, align 8, !tbaa !4
  %6 = getelementptr %struct.Named, %struct.Named* %4, i64 0, i32 0
  store i32 (...)** bitcast (i8** getelementptr inbounds ({ [6 x i8*], [3 x i8*] }, { [6 x i8*], [3 x i8*] }* @_ZTV6Square, i64 0, inrange i32 1, i64 2) to i32 (...)**), i32 (...)*** %6, align 8, !tbaa !4
  %7 = getelementptr inbounds %struct.Square, %struct.Square* %0, i64 0, i32 2
  store double %1, double* %7, align 8, !tbaa !11
  ret void
}

declare i32 @__gxx_personality_v0(...)

; Function Attrs: nofree nosync nounwind readnone
declare i32 @llvm.eh.typeid.for(i8*) #3

declare i8* @__cxa_begin_catch(i8*) local_unnamed_addr

declare void @__cxa_end_catch() local_unnamed_addr

; Function Attrs: noinline nounwind uwtable
define linkonce_odr dso_local void @_ZN5ShapeD2Ev(%struct.Shape* noundef nonnull align 8 dereferenceable(8) %0) unnamed_addr #2 comdat align 2 {
  ret void
}

; Function Attrs: mustprogress noinline nounwind uwtable
define dso_local noundef float @_Z4sumsv() local_unnamed_addr #4 {
  %1 = alloca [3 x float], align 4
  %2 = alloca [2 x i64], align 16
  %3 = bitcast [3 x float]* %1 to i8*
  call void @llvm.lifetime.start.p0i8(i64 12, i8* nonnull %3) #9
  call void @llvm.memcpy.p0i8.p0i8.i64(i8* noundef nonnull align 4 dereferenceable(12) %3, i8* noundef nonnull align 4 dereferenceable(12) bitcast ([3 x float]* @__const._Z4sumsv.some to i8*), i64 12, i1 false)
  %4 = bitcast [2 x i64]* %2 to i8*
  call void @llvm.lifetime.start.p0i8(i64 16, i8* nonnull %4) #9
  call void @llvm.memcpy.p0i8.p0i8.i64(i8* noundef nonnull align 16 dereferenceable(16) %4, i8* noundef nonnull align 16 dereferenceable(16) bitcast ([2 x i64]* @__const._Z4sumsv.others to i8*), i64 16, i1 false)
  %5 = call noundef float @_Z6sum_ofIfLi3EET_RAT0__KS0_([3 x float]* noundef nonnull align 4 dereferenceable(12) %1)
  %6 = call noundef i64 @_Z6sum_ofIlLi2EET_RAT0__KS0_([2 x i64]* noundef nonnull align 8 dereferenceable(16) %2)
  %7 = sitofp i64 %6 to float
  %8 = fadd float %5, %7
  call void @llvm.lifetime.end.p0i8(i64 16, i8* nonnull %4) #9
  call void @llvm.lifetime.end.p0i8(i64 12, i8* nonnull %3) #9
  ret float %8
}

; Function Attrs: argmemonly mustprogress nofree nounwind willreturn
declare void @llvm.memcpy.p0i8.p0i8.i64(i8* noalias nocapture writeonly, i8* noalias nocapture readonly, i64, i1 immarg) #5

; Function Attrs: mustprogress noinline nounwind uwtable
define linkonce_odr dso_local noundef float @_Z6sum_ofIfLi3EET_RAT0__KS0_([3 x float]* noundef nonnull align 4 dereferenceable(12) %0) local_unnamed_addr #4 comdat {
  br label %3

2:                                                ; preds = %3
  ret float %8

3:                                                ; preds = %1, %3
  %4 = phi i64 [ 0, %1 ], [ %9, %3 ]
  %5 = phi float [ 0.000000e+00, %1 ], [ %8, %3 ]
  %6 = getelementptr inbounds [3 x float], [3 x float]* %0, i64 0, i64 %4
  %7 = load float, float* %6, align 4, !tbaa !14
  %8 = fadd float %5, %7
  %9 = add nuw nsw i64 %4, 1
  %10 = icmp eq i64 %9, 3
  br i1 %10, label %2, label %3, !llvm.loop !16
}

; Function Attrs: mustprogress noinline nounwind uwtable
define linkonce_odr dso_local noundef i64 @_Z6sum_ofIlLi2EET_RAT0__KS0_([2 x i64]* noundef nonnull align 8 dereferenceable(16) %0) local_unnamed_addr #4 comdat {
  br label %3

2:                                                ; preds = %3
  ret i64 %8

3:                                                ; preds = %1, %3
  %4 = phi i64 [ 0, %1 ], [ %9, %3 ]
  %5 = phi i64 [ 0, %1 ], [ %8, %3 ]
  %6 = getelementptr inbounds [2 x i64], [2 x i64]* %0, i64 0, i64 %4
  %7 = load i64, i64* %6, align 8, !tbaa !19
  %8 = add nsw i64 %7, %5
  %9 = add nuw nsw i64 %4, 1
  %10 = icmp eq i64 %4, 0
  br i1 %10, label %3, label %2, !llvm.loop !21
}

; Function Attrs: noinline nounwind uwtable
define linkonce_odr dso_local void @_ZN5ShapeC2Ev(%struct.Shape* noundef nonnull align 8 dereferenceable(8) %0) unnamed_addr #2 comdat align 2 {
  %2 = getelementptr inbounds %struct.Shape, %struct.Shape* %0, i64 0, i32 0
  store i32 (...)** bitcast (i8** getelementptr inbounds ({ [5 x i8*] }, { [5 x i8*] }* @_ZTV5Shape, i64 0, inrange i32 0, i64 2) to i32 (...)**), i32 (...)*** %2, align 8, !tbaa !4
  ret void
}

; Function Attrs: noinline nounwind uwtable
define linkonce_odr dso_local void @_ZN5NamedC2Ev(%struct.Named* noundef nonnull align 8 dereferenceable(8) %0) unnamed_addr #2 comdat align 2 {
  %2 = getelementptr inbounds %struct.Named, %struct.Named* %0, i64 0, i32 0
  store i32 (...)** bitcast (i8** getelementptr inbounds ({ [3 x i8*] }, { [3 x i8*] }* @_ZTV5Named, i64 0, inrange i32 0, i64 2) to i32 (...)**), i32 (...)*** %2, align 8, !tbaa !4
  ret void
}

; Function Attrs: mustprogress noinline nounwind uwtable
define linkonce_odr dso_local noundef double @_ZNK6Square4areaEv(%struct.Square* noundef nonnull align 8 dereferenceable(24) %0) unnamed_addr #4 comdat align 2 {
  %2 = getelementptr inbounds %struct.Square, %struct.Square* %0, i64 0, i32 2
  %3 = load double, double* %2, align 8, !tbaa !11
  %4 = fmul double %3, %3
  ret double %4
}

; Function Attrs: noinline nounwind uwtable
define linkonce_odr dso_local void @_ZN6SquareD0Ev(%struct.Square* noundef nonnull align 8 dereferenceable(24) %0) unnamed_addr #2 comdat align 2 {
  %2 = getelementptr inbounds %struct.Square, %struct.Square* %0, i64 0, i32 0
  call void @_ZN5ShapeD2Ev(%struct.Shape* noundef nonnull align 8 dereferenceable(24) %2) #9
  %3 = bitcast %struct.Square* %0 to i8*
  call void @_ZdlPv(i8* noundef %3) #11
  ret void
}

; Function Attrs: mustprogress noinline nounwind uwtable
define linkonce_odr dso_local noundef i8* @_ZNK6Square4nameEv(%struct.Square* noundef nonnull align 8 dereferenceable(24) %0) unnamed_addr #4 comdat align 2 {
  ret i8* getelementptr inbounds ([10 x i8], [10 x i8]* @.str.1, i64 0, i64 0)
}

; Function Attrs: noinline uwtable
define linkonce_odr dso_local noundef i8* @_ZThn8_NK6Square4nameEv(%struct.Square* noundef %0) unnamed_addr #6 comdat align 2 {
  %2 = getelementptr inbounds %struct.Square, %struct.Square* %0, i64 -1, i32 2
  %3 = bitcast double* %2 to %struct.Square*
  %4 = tail call noundef i8* @_ZNK6Square4nameEv(%struct.Square* noundef nonnull align 8 dereferenceable(24) %3)
  ret i8* %4
}

declare void @__cxa_pure_virtual() unnamed_addr

; Function Attrs: noinline nounwind uwtable
define linkonce_odr dso_local void @_ZN5ShapeD0Ev(%struct.Shape* noundef nonnull align 8 dereferenceable(8) %0) unnamed_addr #2 comdat align 2 {
  call void @llvm.trap() #12
  unreachable
}

; Function Attrs: cold noreturn nounwind
declare void @llvm.trap() #7

; Function Attrs: mustprogress noinline nounwind uwtable
define linkonce_odr dso_local noundef i8* @_ZNK5Named4nameEv(%struct.Named* noundef nonnull align 8 dereferenceable(8) %0) unnamed_addr #4 comdat align 2 {
  ret i8* getelementptr inbounds ([2 x i8], [2 x i8]* @.str, i64 0, i64 0)
}

; Function Attrs: nobuiltin nounwind
declare void @_ZdlPv(i8* noundef) local_unnamed_addr #8

attributes #0 = { mustprogress noinline uwtable "frame-pointer"="none" "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #1 = { argmemonly mustprogress nofree nosync nounwind willreturn }
attributes #2 = { noinline nounwind uwtable "frame-pointer"="none" "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #3 = { nofree nosync nounwind readnone }
attributes #4 = { mustprogress noinline nounwind uwtable "frame-pointer"="none" "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #5 = { argmemonly mustprogress nofree nounwind willreturn }
attributes #6 = { noinline uwtable "frame-pointer"="none" "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #7 = { cold noreturn nounwind }
attributes #8 = { nobuiltin nounwind "frame-pointer"="none" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #9 = { nounwind }
attributes #10 = { noreturn }
attributes #11 = { builtin nounwind }
attributes #12 = { noreturn nounwind }

!llvm.module.flags = !{!0, !1, !2, !3}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 7, !"PIC Level", i32 2}
!2 = !{i32 7, !"PIE Level", i32 2}
!3 = !{i32 7, !"uwtable", i32 1}
!4 = !{!5, !5, i64 0}
!5 = !{!"vtable pointer", !6, i64 0}
!6 = !{!"Simple C++ TBAA"}
!7 = !{!8, !9, i64 0}
!8 = !{!"_ZTS3Bad", !9, i64 0}
!9 = !{!"int", !10, i64 0}
!10 = !{!"omnipotent char", !6, i64 0}
!11 = !{!12, !13, i64 16}
!12 = !{!"_ZTS6Square", !13, i64 16}
!13 = !{!"double", !10, i64 0}
!14 = !{!15, !15, i64 0}
!15 = !{!"float", !10, i64 0}
!16 = distinct !{!16, !17, !18}
!17 = !{!"llvm.loop.mustprogress"}
!18 = !{!"llvm.loop.unroll.disable"}
!19 = !{!20, !20, i64 0}
!20 = !{!"long", !10, i64 0}
!21 = distinct !{!21, !17, !18}
