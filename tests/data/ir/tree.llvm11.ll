; ModuleID = '<string>'
source_filename = "tree.c"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%struct.node = type { i32, %struct.node*, %struct.node*, %struct.anon }
%struct.anon = type { double, [4 x i8] }

@table = dso_local local_unnamed_addr global [2 x i32 (%struct.node*, i32)*] [i32 (%struct.node*, i32)* @score, i32 (%struct.node*, i32)* null], align 16

; Function Attrs: nounwind readonly uwtable
define dso_local double @total(%struct.node* readonly %n) local_unnamed_addr #0 {
entry:
  %tobool.not7 = icmp eq %struct.node* %n, null
  br i1 %tobool.not7, label %for.end, label %for.body

for.body:                                         ; preds = %for.body, %entry
  %sum.09 = phi double [ %add1, %for.body ], [ 0.000000e+00, %entry ]
  %n.addr.08 = phi %struct.node* [ %2, %for.body ], [ %n, %entry ]
  %weight = getelementptr inbounds %struct.node, %struct.node* %n.addr.08, i64 0, i32 3, i32 0
  %0 = load double, double* %weight, align 8, !tbaa !4
  %left = getelementptr inbounds %struct.node, %struct.node* %n.addr.08, i64 0, i32 1
  %1 = load %struct.node*, %struct.node** %left, align 8, !tbaa !12
  %call = call double @total(%struct.node* %1)
  %add = fadd double %0, %call
  %add1 = fadd double %sum.09, %add
  %right = getelementptr inbounds %struct.node, %struct.node* %n.addr.08, i64 0, i32 2
  %2 = load %struct.node*, %struct.node** %right, align 8, !tbaa !13
  %tobool.not = icmp eq %struct.node* %2, null
  br i1 %tobool.not, label %for.end, label %for.body

for.end:                                          ; preds = %for.body, %entry
  %sum.0.lcssa = phi double [ 0.000000e+00, %entry ], [ %add1, %for.body ]
  ret double %sum.0.lcssa
}

; Function Attrs: nounwind readonly uwtable
define dso_local i32 @score(%struct.node* %n, i32 %mode) #0 {
entry:
  switch i32 %mode, label %sw.epilog [
    i32 0, label %sw.bb
    i32 1, label %sw.bb1
    i32 7, label %sw.bb2
  ]

sw.bb:                                            ; preds = %entry
  %key = getelementptr inbounds %struct.node, %struct.node* %n, i64 0, i32 0
  %0 = load i32, i32* %key, align 8, !tbaa !14
  br label %sw.epilog

sw.bb1:                                           ; preds = %entry
  %call = call fastcc i32 @depth(%struct.node* %n)
  %mul = mul nsw i32 %call, 3
  br label %sw.epilog

sw.bb2:                                           ; preds = %entry
  %call3 = call double @total(%struct.node* %n)
  %conv = fptosi double %call3 to i32
  br label %sw.epilog

sw.epilog:                                        ; preds = %sw.bb2, %sw.bb1, %sw.bb, %entry
  %s.0 = phi i32 [ %conv, %sw.bb2 ], [ %mul, %sw.bb1 ], [ %0, %sw.bb ], [ -1, %entry ]
  ret i32 %s.0
}

; Function Attrs: nounwind readonly uwtable
define internal fastcc i32 @depth(%struct.node* readonly %n) unnamed_addr #0 {
entry:
  %tobool.not = icmp eq %struct.node* %n, null
  br i1 %tobool.not, label %return, label %if.end

if.end:                                           ; preds = %entry
  %left = getelementptr inbounds %struct.node, %struct.node* %n, i64 0, i32 1
  %0 = load %struct.node*, %struct.node** %left, align 8, !tbaa !12
  %call = call fastcc i32 @depth(%struct.node* %0)
  %right = getelementptr inbounds %struct.node, %struct.node* %n, i64 0, i32 2
  %1 = load %struct.node*, %struct.node** %right, align 8, !tbaa !13
  %call1 = call fastcc i32 @depth(%struct.node* %1)
  %cmp = icmp sgt i32 %call, %call1
  %cond = select i1 %cmp, i32 %call, i32 %call1
  %add = add nsw i32 %cond, 1
  br label %return

return:                                           ; preds = %if.end, %entry
  %retval.0 = phi i32 [ %add, %if.end ], [ 0, %entry ]
  ret i32 %retval.0
}

; Function Attrs: norecurse nounwind readnone uwtable
define dso_local i32 @collatz(i32 %x) local_unnamed_addr #1 {
entry:
  %cmp.not6 = icmp eq i32 %x, 1
  br i1 %cmp.not6, label %while.end, label %while.body

while.body:                                       ; preds = %while.body, %entry
  %steps.08 = phi i32 [ %inc, %while.body ], [ 0, %entry ]
  %x.addr.07 = phi i32 [ %cond, %while.body ], [ %x, %entry ]
  %rem = and i32 %x.addr.07, 1
  %tobool.not = icmp eq i32 %rem, 0
  %mul = mul i32 %x.addr.07, 3
  %add = add i32 %mul, 1
  %div = lshr i32 %x.addr.07, 1
  %cond = select i1 %tobool.not, i32 %div, i32 %add
  %inc = add i32 %steps.08, 1
  %cmp.not = icmp eq i32 %cond, 1
  br i1 %cmp.not, label %while.end, label %while.body

while.end:                                        ; preds = %while.body, %entry
  %steps.0.lcssa = phi i32 [ 0, %entry ], [ %inc, %while.body ]
  ret i32 %steps.0.lcssa
}

; Function Attrs: nounwind uwtable
define dso_local i32 @through_pointer(%struct.node* %n, i32 %which) local_unnamed_addr #2 {
entry:
  %idxprom = sext i32 %which to i64
  %arrayidx = getelementptr inbounds [2 x i32 (%struct.node*, i32)*], [2 x i32 (%struct.node*, i32)*]* @table, i64 0, i64 %idxprom
  %0 = load i32 (%struct.node*, i32)*, i32 (%struct.node*, i32)** %arrayidx, align 8, !tbaa !15
  %call = call i32 %0(%struct.node* %n, i32 %which) #3
  ret i32 %call
}

attributes #0 = { nounwind readonly uwtable "frame-pointer"="none" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #1 = { norecurse nounwind readnone uwtable "frame-pointer"="none" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #2 = { nounwind uwtable "frame-pointer"="none" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
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
!14 = !{!5, !6, i64 0}
!15 = !{!9, !9, i64 0}
