; ModuleID = 'tree.c'
source_filename = "tree.c"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%struct.node = type { i32, %struct.node*, %struct.node*, %struct.anon }
%struct.anon = type { double, [4 x i8] }

@table = dso_local local_unnamed_addr global [2 x i32 (%struct.node*, i32)*] [i32 (%struct.node*, i32)* @score, i32 (%struct.node*, i32)* null], align 16

; Function Attrs: nofree nosync nounwind readonly uwtable
define dso_local double @total(%struct.node* noundef readonly %0) local_unnamed_addr #0 {
  %2 = icmp eq %struct.node* %0, null
  br i1 %2, label %16, label %3

3:                                                ; preds = %1, %3
  %4 = phi double [ %12, %3 ], [ 0.000000e+00, %1 ]
  %5 = phi %struct.node* [ %14, %3 ], [ %0, %1 ]
  %6 = getelementptr inbounds %struct.node, %struct.node* %5, i64 0, i32 3, i32 0
  %7 = load double, double* %6, align 8, !tbaa !4
  %8 = getelementptr inbounds %struct.node, %struct.node* %5, i64 0, i32 1
  %9 = load %struct.node*, %struct.node** %8, align 8, !tbaa !12
  %10 = tail call double @total(%struct.node* noundef %9)
  %11 = fadd double %7, %10
  %12 = fadd double %4, %11
  %13 = getelementptr inbounds %struct.node, %struct.node* %5, i64 0, i32 2
  %14 = load %struct.node*, %struct.node** %13, align 8, !tbaa !13
  %15 = icmp eq %struct.node* %14, null
  br i1 %15, label %16, label %3, !llvm.loop !14

16:                                               ; preds = %3, %1
  %17 = phi double [ 0.000000e+00, %1 ], [ %12, %3 ]
  ret double %17
}

; Function Attrs: nofree nosync nounwind readonly uwtable
define dso_local i32 @score(%struct.node* noundef %0, i32 noundef %1) #0 {
  switch i32 %1, label %12 [
    i32 0, label %3
    i32 1, label %6
    i32 7, label %9
  ]

3:                                                ; preds = %2
  %4 = getelementptr inbounds %struct.node, %struct.node* %0, i64 0, i32 0
  %5 = load i32, i32* %4, align 8, !tbaa !16
  br label %12

6:                                                ; preds = %2
  %7 = tail call fastcc i32 @depth(%struct.node* noundef %0)
  %8 = mul nsw i32 %7, 3
  br label %12

9:                                                ; preds = %2
  %10 = tail call double @total(%struct.node* noundef %0)
  %11 = fptosi double %10 to i32
  br label %12

12:                                               ; preds = %2, %9, %6, %3
  %13 = phi i32 [ %11, %9 ], [ %8, %6 ], [ %5, %3 ], [ -1, %2 ]
  ret i32 %13
}

; Function Attrs: nofree nosync nounwind readonly uwtable
define internal fastcc i32 @depth(%struct.node* noundef readonly %0) unnamed_addr #0 {
  %2 = icmp eq %struct.node* %0, null
  br i1 %2, label %3, label %5

3:                                                ; preds = %1, %5
  %4 = phi i32 [ %14, %5 ], [ 0, %1 ]
  ret i32 %4

5:                                                ; preds = %1
  %6 = getelementptr inbounds %struct.node, %struct.node* %0, i64 0, i32 1
  %7 = load %struct.node*, %struct.node** %6, align 8, !tbaa !12
  %8 = tail call fastcc i32 @depth(%struct.node* noundef %7)
  %9 = getelementptr inbounds %struct.node, %struct.node* %0, i64 0, i32 2
  %10 = load %struct.node*, %struct.node** %9, align 8, !tbaa !13
  %11 = tail call fastcc i32 @depth(%struct.node* noundef %10)
  %12 = icmp sgt i32 %8, %11
  %13 = select i1 %12, i32 %8, i32 %11
  %14 = add nsw i32 %13, 1
  br label %3
}

; Function Attrs: nofree norecurse nosync nounwind readnone uwtable
define dso_local i32 @collatz(i32 noundef %0) local_unnamed_addr #1 {
  %2 = icmp eq i32 %0, 1
  br i1 %2, label %14, label %3

3:                                                ; preds = %1, %3
  %4 = phi i32 [ %12, %3 ], [ 0, %1 ]
  %5 = phi i32 [ %11, %3 ], [ %0, %1 ]
  %6 = and i32 %5, 1
  %7 = icmp eq i32 %6, 0
  %8 = mul i32 %5, 3
  %9 = add i32 %8, 1
  %10 = lshr i32 %5, 1
  %11 = select i1 %7, i32 %10, i32 %9
  %12 = add i32 %4, 1
  %13 = icmp eq i32 %11, 1
  br i1 %13, label %14, label %3, !llvm.loop !17

14:                                               ; preds = %3, %1
  %15 = phi i32 [ 0, %1 ], [ %12, %3 ]
  ret i32 %15
}

; Function Attrs: nounwind uwtable
define dso_local i32 @through_pointer(%struct.node* noundef %0, i32 noundef %1) local_unnamed_addr #2 {
  %3 = sext i32 %1 to i64
  %4 = getelementptr inbounds [2 x i32 (%struct.node*, i32)*], [2 x i32 (%struct.node*, i32)*]* @table, i64 0, i64 %3
  %5 = load i32 (%struct.node*, i32)*, i32 (%struct.node*, i32)** %4, align 8, !tbaa !18
  %6 = tail call i32 %5(%struct.node* noundef %0, i32 noundef %1) #3
  ret i32 %6
}

attributes #0 = { nofree nosync nounwind readonly uwtable "frame-pointer"="none" "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #1 = { nofree norecurse nosync nounwind readnone uwtable "frame-pointer"="none" "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #2 = { nounwind uwtable "frame-pointer"="none" "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #3 = { nounwind }

!llvm.module.flags = !{!0, !1, !2, !3}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 7, !"PIC Level", i32 2}
!2 = !{i32 7, !"PIE Level", i32 2}
!3 = !{i32 7, !"uwtable", i32 1}
!4 = !{!5, !11, i64 24}
!5 = !{!"node", !6, i64 0, !9, i64 8, !9, i64 16, !10, i64 24}
!6 = !{!"int", !7, i64 0}
!7 = !{!"omnipotent char", !8, i64 0}
!8 = !{!"Simple C/C++ TBAA"}
!9 = !{!"any pointer", !7, i64 0}
!10 = !{!"", !11, i64 0, !7, i64 8}
!11 = !{!"double", !7, i64 0}
!12 = !{!5, !9, i64 8}
!13 = !{!5, !9, i64 16}
!14 = distinct !{!14, !15}
!15 = !{!"llvm.loop.mustprogress"}
!16 = !{!5, !6, i64 0}
!17 = distinct !{!17, !15}
!18 = !{!9, !9, i64 0}
