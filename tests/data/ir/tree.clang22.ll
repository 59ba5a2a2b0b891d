; ModuleID = 'tree.c'
source_filename = "tree.c"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

@table = dso_local local_unnamed_addr global [2 x ptr] [ptr @score, ptr null], align 16

; Function Attrs: nofree nosync nounwind memory(read, inaccessiblemem: none, target_mem0: none, target_mem1: none) uwtable
define dso_local double @total(ptr noundef readonly captures(address_is_null) %n) local_unnamed_addr #0 {
entry:
  %tobool.not6 = icmp eq ptr %n, null
  br i1 %tobool.not6, label %for.end, label %for.body

for.body:                                         ; preds = %entry, %for.body
  %sum.08 = phi double [ %add1, %for.body ], [ 0.000000e+00, %entry ]
  %n.addr.07 = phi ptr [ %2, %for.body ], [ %n, %entry ]
  %payload = getelementptr inbounds nuw i8, ptr %n.addr.07, i64 24
  %0 = load double, ptr %payload, align 8, !tbaa !8
  %left = getelementptr inbounds nuw i8, ptr %n.addr.07, i64 8
  %1 = load ptr, ptr %left, align 8, !tbaa !14
  %call = tail call double @total(ptr noundef %1)
  %add = fadd double %0, %call
  %add1 = fadd double %sum.08, %add
  %right = getelementptr inbounds nuw i8, ptr %n.addr.07, i64 16
  %2 = load ptr, ptr %right, align 8, !tbaa !15
  %tobool.not = icmp eq ptr %2, null
  br i1 %tobool.not, label %for.end, label %for.body, !llvm.loop !16

for.end:                                          ; preds = %for.body, %entry
  %sum.0.lcssa = phi double [ 0.000000e+00, %entry ], [ %add1, %for.body ]
  ret double %sum.0.lcssa
}

; Function Attrs: nofree nosync nounwind memory(read, inaccessiblemem: none, target_mem0: none, target_mem1: none) uwtable
define dso_local i32 @score(ptr noundef readonly captures(address_is_null) %n, i32 noundef %mode) #0 {
entry:
  switch i32 %mode, label %sw.epilog [
    i32 0, label %sw.bb
    i32 1, label %sw.bb1
    i32 7, label %sw.bb2
  ]

sw.bb:                                            ; preds = %entry
  %0 = load i32, ptr %n, align 8, !tbaa !18
  br label %sw.epilog

sw.bb1:                                           ; preds = %entry
  %call = tail call fastcc i32 @depth(ptr noundef %n)
  %mul = mul nsw i32 %call, 3
  br label %sw.epilog

sw.bb2:                                           ; preds = %entry
  %call3 = tail call double @total(ptr noundef %n)
  %conv = fptosi double %call3 to i32
  br label %sw.epilog

sw.epilog:                                        ; preds = %entry, %sw.bb2, %sw.bb1, %sw.bb
  %s.0 = phi i32 [ %conv, %sw.bb2 ], [ %0, %sw.bb ], [ %mul, %sw.bb1 ], [ -1, %entry ]
  ret i32 %s.0
}

; Function Attrs: nofree nosync nounwind memory(read, inaccessiblemem: none, target_mem0: none, target_mem1: none) uwtable
define internal fastcc range(i32 -2147483646, -2147483648) i32 @depth(ptr noundef readonly captures(address_is_null) %n) unnamed_addr #0 {
entry:
  %tobool.not = icmp eq ptr %n, null
  br i1 %tobool.not, label %common.ret6, label %if.end

common.ret6:                                      ; preds = %entry, %if.end
  %common.ret6.op = phi i32 [ %add, %if.end ], [ 0, %entry ]
  ret i32 %common.ret6.op

if.end:                                           ; preds = %entry
  %left = getelementptr inbounds nuw i8, ptr %n, i64 8
  %0 = load ptr, ptr %left, align 8, !tbaa !14
  %call = tail call fastcc i32 @depth(ptr noundef %0)
  %right = getelementptr inbounds nuw i8, ptr %n, i64 16
  %1 = load ptr, ptr %right, align 8, !tbaa !15
  %call1 = tail call fastcc i32 @depth(ptr noundef %1)
  %cond = tail call i32 @llvm.smax.i32(i32 %call, i32 %call1)
  %add = add nsw i32 %cond, 1
  br label %common.ret6
}

; Function Attrs: nofree norecurse nosync nounwind memory(none) uwtable
define dso_local i32 @collatz(i32 noundef %x) local_unnamed_addr #1 {
entry:
  %cmp.not6 = icmp eq i32 %x, 1
  br i1 %cmp.not6, label %while.end, label %while.body

while.body:                                       ; preds = %entry, %while.body
  %steps.08 = phi i32 [ %inc, %while.body ], [ 0, %entry ]
  %x.addr.07 = phi i32 [ %cond, %while.body ], [ %x, %entry ]
  %rem = and i32 %x.addr.07, 1
  %tobool.not = icmp eq i32 %rem, 0
  %mul = mul i32 %x.addr.07, 3
  %add = add i32 %mul, 1
  %div5 = lshr exact i32 %x.addr.07, 1
  %cond = select i1 %tobool.not, i32 %div5, i32 %add
  %inc = add i32 %steps.08, 1
  %cmp.not = icmp eq i32 %cond, 1
  br i1 %cmp.not, label %while.end, label %while.body, !llvm.loop !19

while.end:                                        ; preds = %while.body, %entry
  %steps.0.lcssa = phi i32 [ 0, %entry ], [ %inc, %while.body ]
  ret i32 %steps.0.lcssa
}

; Function Attrs: nounwind uwtable
define dso_local i32 @through_pointer(ptr noundef %n, i32 noundef %which) local_unnamed_addr #2 {
entry:
  %idxprom = sext i32 %which to i64
  %arrayidx = getelementptr inbounds ptr, ptr @table, i64 %idxprom
  %0 = load ptr, ptr %arrayidx, align 8, !tbaa !20
  %call = tail call i32 %0(ptr noundef %n, i32 noundef %which) #4
  ret i32 %call
}

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.smax.i32(i32, i32) #3

attributes #0 = { nofree nosync nounwind memory(read, inaccessiblemem: none, target_mem0: none, target_mem1: none) uwtable "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cmov,+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #1 = { nofree norecurse nosync nounwind memory(none) uwtable "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cmov,+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #2 = { nounwind uwtable "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cmov,+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #3 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #4 = { nounwind }

!llvm.module.flags = !{!0, !1, !2, !3}
!llvm.errno.tbaa = !{!4}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 8, !"PIC Level", i32 2}
!2 = !{i32 7, !"PIE Level", i32 2}
!3 = !{i32 7, !"uwtable", i32 2}
!4 = !{!5, !5, i64 0}
!5 = !{!"int", !6, i64 0}
!6 = !{!"omnipotent char", !7, i64 0}
!7 = !{!"Simple C/C++ TBAA"}
!8 = !{!9, !13, i64 24}
!9 = !{!"node", !5, i64 0, !10, i64 8, !10, i64 16, !12, i64 24}
!10 = !{!"p1 _ZTS4node", !11, i64 0}
!11 = !{!"any pointer", !6, i64 0}
!12 = !{!"", !13, i64 0, !6, i64 8}
!13 = !{!"double", !6, i64 0}
!14 = !{!9, !10, i64 8}
!15 = !{!9, !10, i64 16}
!16 = distinct !{!16, !17}
!17 = !{!"llvm.loop.mustprogress"}
!18 = !{!9, !5, i64 0}
!19 = distinct !{!19, !17}
!20 = !{!11, !11, i64 0}
