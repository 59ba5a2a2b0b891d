; ModuleID = 'machine.c'
source_filename = "machine.c"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%struct.__va_list_tag = type { i32, i32, i8*, i8* }

@interpret.labels = internal unnamed_addr constant [3 x i8*] [i8* blockaddress(@interpret, %3), i8* blockaddress(@interpret, %7), i8* blockaddress(@interpret, %9)], align 16

; Function Attrs: mustprogress nofree norecurse nosync nounwind readnone uwtable willreturn
define dso_local <4 x float> @shuffle(<4 x float> noundef %0, <4 x float> noundef %1, i32 noundef %2) local_unnamed_addr #0 {
  %4 = shufflevector <4 x float> %0, <4 x float> %1, <4 x i32> <i32 0, i32 5, i32 2, i32 7>
  %5 = shufflevector <4 x float> %1, <4 x float> poison, <4 x i32> <i32 3, i32 undef, i32 undef, i32 undef>
  %6 = fmul <4 x float> %5, %0
  %7 = extractelement <4 x float> %6, i64 0
  %8 = insertelement <4 x float> %4, float %7, i32 %2
  ret <4 x float> %8
}

; Function Attrs: argmemonly mustprogress nofree nosync nounwind willreturn
declare void @llvm.lifetime.start.p0i8(i64 immarg, i8* nocapture) #1

; Function Attrs: argmemonly mustprogress nofree nosync nounwind willreturn
declare void @llvm.lifetime.end.p0i8(i64 immarg, i8* nocapture) #1

; Function Attrs: mustprogress nofree norecurse nosync nounwind readnone uwtable willreturn
define dso_local <4 x i32> @compare(<4 x float> noundef %0, <4 x float> noundef %1) local_unnamed_addr #0 {
  %3 = fcmp olt <4 x float> %0, %1
  %4 = sext <4 x i1> %3 to <4 x i32>
  ret <4 x i32> %4
}

; Function Attrs: mustprogress nofree norecurse nounwind uwtable willreturn
define dso_local i32 @fetch(i32* nocapture noundef %0, i32 noundef %1) local_unnamed_addr #2 {
  %3 = atomicrmw add i32* %0, i32 2 seq_cst, align 4
  %4 = cmpxchg i32* %0, i32 %1, i32 5 acq_rel acquire, align 4
  %5 = extractvalue { i32, i1 } %4, 0
  fence release
  store atomic i32 %3, i32* %0 release, align 4
  %6 = load atomic i32, i32* %0 acquire, align 4
  %7 = add nsw i32 %6, %5
  ret i32 %7
}

; Function Attrs: nofree nosync nounwind uwtable
define dso_local i32 @add_all(i32 noundef %0, ...) local_unnamed_addr #3 {
  %2 = alloca [1 x %struct.__va_list_tag], align 16
  %3 = bitcast [1 x %struct.__va_list_tag]* %2 to i8*
  call void @llvm.lifetime.start.p0i8(i64 24, i8* nonnull %3) #9
  call void @llvm.va_start(i8* nonnull %3)
  %4 = icmp eq i32 %0, 0
  br i1 %4, label %29, label %5

5:                                                ; preds = %1
  %6 = getelementptr inbounds [1 x %struct.__va_list_tag], [1 x %struct.__va_list_tag]* %2, i64 0, i64 0, i32 0
  %7 = getelementptr inbounds [1 x %struct.__va_list_tag], [1 x %struct.__va_list_tag]* %2, i64 0, i64 0, i32 2
  %8 = getelementptr inbounds [1 x %struct.__va_list_tag], [1 x %struct.__va_list_tag]* %2, i64 0, i64 0, i32 3
  %9 = load i8*, i8** %8, align 16
  br label %10

10:                                               ; preds = %5, %23
  %11 = phi i32 [ %0, %5 ], [ %13, %23 ]
  %12 = phi i32 [ 0, %5 ], [ %27, %23 ]
  %13 = add nsw i32 %11, -1
  %14 = load i32, i32* %6, align 16
  %15 = icmp ult i32 %14, 41
  br i1 %15, label %16, label %20

16:                                               ; preds = %10
  %17 = sext i32 %14 to i64
  %18 = getelementptr i8, i8* %9, i64 %17
  %19 = add i32 %14, 8
  store i32 %19, i32* %6, align 16
  br label %23

20:                                               ; preds = %10
  %21 = load i8*, i8** %7, align 8
  %22 = getelementptr i8, i8* %21, i64 8
  store i8* %22, i8** %7, align 8
  br label %23

23:                                               ; preds = %20, %16
  %24 = phi i8* [ %18, %16 ], [ %21, %20 ]
  %25 = bitcast i8* %24 to i32*
  %26 = load i32, i32* %25, align 4
  %27 = add nsw i32 %26, %12
  %28 = icmp eq i32 %13, 0
  br i1 %28, label %29, label %10, !llvm.loop !4

29:                                               ; preds = %23, %1
  %30 = phi i32 [ 0, %1 ], [ %27, %23 ]
  call void @llvm.va_end(i8* %3)
  call void @llvm.lifetime.end.p0i8(i64 24, i8* nonnull %3) #9
  ret i32 %30
}

; Function Attrs: mustprogress nofree nosync nounwind willreturn
declare void @llvm.va_start(i8*) #4

; Function Attrs: mustprogress nofree nosync nounwind willreturn
declare void @llvm.va_end(i8*) #4

; Function Attrs: nofree nosync nounwind uwtable
define dso_local i32 @with_arguments() local_unnamed_addr #3 {
  %1 = call i32 (i32, ...) @add_all(i32 noundef 3, i32 noundef 1, i32 noundef 2, i32 noundef 3)
  ret i32 %1
}

; Function Attrs: nounwind uwtable
define dso_local i64 @timestamp() local_unnamed_addr #5 {
  %1 = call { i32, i32 } asm sideeffect "rdtsc ; \22(", "={ax},={dx},~{memory},~{dirflag},~{fpsr},~{flags}"() #9, !srcloc !7
  %2 = extractvalue { i32, i32 } %1, 0
  %3 = extractvalue { i32, i32 } %1, 1
  %4 = zext i32 %3 to i64
  %5 = shl nuw i64 %4, 32
  %6 = zext i32 %2 to i64
  %7 = or i64 %5, %6
  ret i64 %7
}

; Function Attrs: nofree norecurse nosync nounwind readonly uwtable
define dso_local i32 @interpret(i8* nocapture noundef readonly %0, i32 noundef %1) #6 {
  br label %10

3:                                                ; preds = %10
  %4 = add nsw i32 %12, 1
  br label %5

5:                                                ; preds = %3, %7
  %6 = phi i32 [ %4, %3 ], [ %8, %7 ]
  br label %10

7:                                                ; preds = %10
  %8 = shl nsw i32 %12, 1
  br label %5

9:                                                ; preds = %10
  ret i32 %12

10:                                               ; preds = %5, %2
  %11 = phi i8* [ %0, %2 ], [ %16, %5 ]
  %12 = phi i32 [ %1, %2 ], [ %6, %5 ]
  %13 = load i8, i8* %11, align 1, !tbaa !8
  %14 = zext i8 %13 to i64
  %15 = getelementptr inbounds [3 x i8*], [3 x i8*]* @interpret.labels, i64 0, i64 %14
  %16 = getelementptr inbounds i8, i8* %11, i64 1
  %17 = load i8*, i8** %15, align 8, !tbaa !11
  indirectbr i8* %17, [label %3, label %7, label %9]
}

; Function Attrs: mustprogress nofree nosync nounwind uwtable willreturn
define dso_local void @copy(i8* noalias nocapture noundef writeonly %0, i8* noalias nocapture noundef readonly %1, i64 noundef %2) local_unnamed_addr #7 {
  call void @llvm.memcpy.p0i8.p0i8.i64(i8* align 1 %0, i8* align 1 %1, i64 %2, i1 false)
  ret void
}

; Function Attrs: argmemonly mustprogress nofree nounwind willreturn
declare void @llvm.memcpy.p0i8.p0i8.i64(i8* noalias nocapture writeonly, i8* noalias nocapture readonly, i64, i1 immarg) #8

attributes #0 = { mustprogress nofree norecurse nosync nounwind readnone uwtable willreturn "frame-pointer"="none" "min-legal-vector-width"="128" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #1 = { argmemonly mustprogress nofree nosync nounwind willreturn }
attributes #2 = { mustprogress nofree norecurse nounwind uwtable willreturn "frame-pointer"="none" "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #3 = { nofree nosync nounwind uwtable "frame-pointer"="none" "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #4 = { mustprogress nofree nosync nounwind willreturn }
attributes #5 = { nounwind uwtable "frame-pointer"="none" "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #6 = { nofree norecurse nosync nounwind readonly uwtable "frame-pointer"="none" "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #7 = { mustprogress nofree nosync nounwind uwtable willreturn "frame-pointer"="none" "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #8 = { argmemonly mustprogress nofree nounwind willreturn }
attributes #9 = { nounwind }

!llvm.module.flags = !{!0, !1, !2, !3}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 7, !"PIC Level", i32 2}
!2 = !{i32 7, !"PIE Level", i32 2}
!3 = !{i32 7, !"uwtable", i32 1}
!4 = distinct !{!4, !5, !6}
!5 = !{!"llvm.loop.mustprogress"}
!6 = !{!"llvm.loop.unroll.disable"}
!7 = !{i64 1072}
!8 = !{!9, !9, i64 0}
!9 = !{!"omnipotent char", !10, i64 0}
!10 = !{!"Simple C/C++ TBAA"}
!11 = !{!12, !12, i64 0}
!12 = !{!"any pointer", !9, i64 0}
