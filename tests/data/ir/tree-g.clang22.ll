; ModuleID = 'tree.c'
source_filename = "tree.c"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

@table = dso_local local_unnamed_addr global [2 x ptr] [ptr @score, ptr null], align 16, !dbg !0

; Function Attrs: nofree nosync nounwind memory(read, inaccessiblemem: none, target_mem0: none, target_mem1: none) uwtable
define dso_local double @total(ptr noundef readonly captures(address_is_null) %n) local_unnamed_addr #0 !dbg !42 {
entry:
    #dbg_value(ptr %n, !46, !DIExpression(), !48)
    #dbg_value(double 0.000000e+00, !47, !DIExpression(), !48)
  %tobool.not6 = icmp eq ptr %n, null, !dbg !49
  br i1 %tobool.not6, label %for.end, label %for.body, !dbg !51

for.body:                                         ; preds = %entry, %for.body
  %sum.08 = phi double [ %add1, %for.body ], [ 0.000000e+00, %entry ]
  %n.addr.07 = phi ptr [ %2, %for.body ], [ %n, %entry ]
    #dbg_value(double %sum.08, !47, !DIExpression(), !48)
    #dbg_value(ptr %n.addr.07, !46, !DIExpression(), !48)
  %payload = getelementptr inbounds nuw i8, ptr %n.addr.07, i64 24, !dbg !52
  %0 = load double, ptr %payload, align 8, !dbg !54, !tbaa !55
  %left = getelementptr inbounds nuw i8, ptr %n.addr.07, i64 8, !dbg !61
  %1 = load ptr, ptr %left, align 8, !dbg !61, !tbaa !62
  %call = tail call double @total(ptr noundef %1), !dbg !63
  %add = fadd double %0, %call, !dbg !64
  %add1 = fadd double %sum.08, %add, !dbg !65
    #dbg_value(double %add1, !47, !DIExpression(), !48)
  %right = getelementptr inbounds nuw i8, ptr %n.addr.07, i64 16, !dbg !66
  %2 = load ptr, ptr %right, align 8, !dbg !67, !tbaa !68
    #dbg_value(ptr %2, !46, !DIExpression(), !48)
  %tobool.not = icmp eq ptr %2, null, !dbg !69
  br i1 %tobool.not, label %for.end, label %for.body, !dbg !70, !llvm.loop !71

for.end:                                          ; preds = %for.body, %entry
  %sum.0.lcssa = phi double [ 0.000000e+00, %entry ], [ %add1, %for.body ], !dbg !48
  ret double %sum.0.lcssa, !dbg !75
}

; Function Attrs: nofree nosync nounwind memory(read, inaccessiblemem: none, target_mem0: none, target_mem1: none) uwtable
define dso_local i32 @score(ptr noundef readonly captures(address_is_null) %n, i32 noundef %mode) #0 !dbg !76 {
entry:
    #dbg_value(ptr %n, !78, !DIExpression(), !81)
    #dbg_value(i32 %mode, !79, !DIExpression(), !81)
  switch i32 %mode, label %sw.epilog [
    i32 0, label %sw.bb
    i32 1, label %sw.bb1
    i32 7, label %sw.bb2
  ], !dbg !82

sw.bb:                                            ; preds = %entry
  %0 = load i32, ptr %n, align 8, !dbg !83, !tbaa !85
    #dbg_value(i32 %0, !80, !DIExpression(), !81)
  br label %sw.epilog, !dbg !86

sw.bb1:                                           ; preds = %entry
  %call = tail call fastcc i32 @depth(ptr noundef %n), !dbg !87
  %mul = mul nsw i32 %call, 3, !dbg !88
    #dbg_value(i32 %mul, !80, !DIExpression(), !81)
  br label %sw.epilog, !dbg !89

sw.bb2:                                           ; preds = %entry
  %call3 = tail call double @total(ptr noundef %n), !dbg !90
  %conv = fptosi double %call3 to i32, !dbg !91
    #dbg_value(i32 %conv, !80, !DIExpression(), !81)
  br label %sw.epilog, !dbg !92

sw.epilog:                                        ; preds = %entry, %sw.bb2, %sw.bb1, %sw.bb
  %s.0 = phi i32 [ %conv, %sw.bb2 ], [ %0, %sw.bb ], [ %mul, %sw.bb1 ], [ -1, %entry ], !dbg !93
    #dbg_value(i32 %s.0, !80, !DIExpression(), !81)
  ret i32 %s.0, !dbg !94
}

; Function Attrs: nofree nosync nounwind memory(read, inaccessiblemem: none, target_mem0: none, target_mem1: none) uwtable
define internal fastcc range(i32 -2147483646, -2147483648) i32 @depth(ptr noundef readonly captures(address_is_null) %n) unnamed_addr #0 !dbg !95 {
entry:
    #dbg_value(ptr %n, !99, !DIExpression(), !102)
  %tobool.not = icmp eq ptr %n, null, !dbg !103
  br i1 %tobool.not, label %common.ret6, label %if.end, !dbg !105

common.ret6:                                      ; preds = %entry, %if.end
  %common.ret6.op = phi i32 [ %add, %if.end ], [ 0, %entry ]
  ret i32 %common.ret6.op, !dbg !106

if.end:                                           ; preds = %entry
  %left = getelementptr inbounds nuw i8, ptr %n, i64 8, !dbg !107
  %0 = load ptr, ptr %left, align 8, !dbg !107, !tbaa !62
  %call = tail call fastcc i32 @depth(ptr noundef %0), !dbg !108
    #dbg_value(i32 %call, !100, !DIExpression(), !102)
  %right = getelementptr inbounds nuw i8, ptr %n, i64 16, !dbg !109
  %1 = load ptr, ptr %right, align 8, !dbg !109, !tbaa !68
  %call1 = tail call fastcc i32 @depth(ptr noundef %1), !dbg !110
    #dbg_value(i32 %call1, !101, !DIExpression(), !102)
  %cond = tail call i32 @llvm.smax.i32(i32 %call, i32 %call1), !dbg !111
  %add = add nsw i32 %cond, 1, !dbg !112
  br label %common.ret6, !dbg !106
}

; Function Attrs: nofree norecurse nosync nounwind memory(none) uwtable
define dso_local i32 @collatz(i32 noundef %x) local_unnamed_addr #1 !dbg !113 {
entry:
    #dbg_value(i32 %x, !118, !DIExpression(), !120)
    #dbg_value(i32 0, !119, !DIExpression(), !120)
  %cmp.not6 = icmp eq i32 %x, 1, !dbg !121
  br i1 %cmp.not6, label %while.end, label %while.body, !dbg !122

while.body:                                       ; preds = %entry, %while.body
  %steps.08 = phi i32 [ %inc, %while.body ], [ 0, %entry ]
  %x.addr.07 = phi i32 [ %cond, %while.body ], [ %x, %entry ]
    #dbg_value(i32 %steps.08, !119, !DIExpression(), !120)
    #dbg_value(i32 %x.addr.07, !118, !DIExpression(), !120)
  %rem = and i32 %x.addr.07, 1, !dbg !123
  %tobool.not = icmp eq i32 %rem, 0, !dbg !125
  %mul = mul i32 %x.addr.07, 3, !dbg !126
  %add = add i32 %mul, 1, !dbg !126
  %div5 = lshr exact i32 %x.addr.07, 1, !dbg !126
  %cond = select i1 %tobool.not, i32 %div5, i32 %add, !dbg !126
    #dbg_value(i32 %cond, !118, !DIExpression(), !120)
  %inc = add i32 %steps.08, 1, !dbg !127
    #dbg_value(i32 %inc, !119, !DIExpression(), !120)
  %cmp.not = icmp eq i32 %cond, 1, !dbg !128
  br i1 %cmp.not, label %while.end, label %while.body, !dbg !129, !llvm.loop !130

while.end:                                        ; preds = %while.body, %entry
  %steps.0.lcssa = phi i32 [ 0, %entry ], [ %inc, %while.body ], !dbg !120
  ret i32 %steps.0.lcssa, !dbg !133
}

; Function Attrs: nounwind uwtable
define dso_local i32 @through_pointer(ptr noundef %n, i32 noundef %which) local_unnamed_addr #2 !dbg !134 {
entry:
    #dbg_value(ptr %n, !136, !DIExpression(), !138)
    #dbg_value(i32 %which, !137, !DIExpression(), !138)
  %idxprom = sext i32 %which to i64, !dbg !139
  %arrayidx = getelementptr inbounds ptr, ptr @table, i64 %idxprom, !dbg !139
  %0 = load ptr, ptr %arrayidx, align 8, !dbg !139, !tbaa !140
  %call = tail call i32 %0(ptr noundef %n, i32 noundef %which) #4, !dbg !141
  ret i32 %call, !dbg !142
}

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.smax.i32(i32, i32) #3

attributes #0 = { nofree nosync nounwind memory(read, inaccessiblemem: none, target_mem0: none, target_mem1: none) uwtable "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cmov,+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #1 = { nofree norecurse nosync nounwind memory(none) uwtable "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cmov,+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #2 = { nounwind uwtable "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cmov,+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #3 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #4 = { nounwind }

!llvm.dbg.cu = !{!2}
!llvm.module.flags = !{!31, !32, !33, !34, !35, !36, !37}
!llvm.errno.tbaa = !{!38}

!0 = !DIGlobalVariableExpression(var: !1, expr: !DIExpression())
!1 = distinct !DIGlobalVariable(name: "table", scope: !2, file: !3, line: 40, type: !7, isLocal: false, isDefinition: true)
!2 = distinct !DICompileUnit(language: DW_LANG_C11, file: !3, isOptimized: true, runtimeVersion: 0, emissionKind: FullDebug, retainedTypes: !4, globals: !6, splitDebugInlining: false, nameTableKind: None)
!3 = !DIFile(filename: "tree.c", directory: ".", checksumkind: CSK_MD5, checksum: "21a2e50813dab0889939317c22828d68")
!4 = !{!5}
!5 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!6 = !{!0}
!7 = !DICompositeType(tag: DW_TAG_array_type, baseType: !8, size: 128, elements: !29)
!8 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !9, size: 64)
!9 = !DISubroutineType(types: !10)
!10 = !{!5, !11, !5}
!11 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !12, size: 64)
!12 = !DIDerivedType(tag: DW_TAG_const_type, baseType: !13)
!13 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: "node", file: !3, line: 2, size: 320, elements: !14)
!14 = !{!15, !16, !18, !19}
!15 = !DIDerivedType(tag: DW_TAG_member, name: "key", scope: !13, file: !3, line: 3, baseType: !5, size: 32)
!16 = !DIDerivedType(tag: DW_TAG_member, name: "left", scope: !13, file: !3, line: 4, baseType: !17, size: 64, offset: 64)
!17 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !13, size: 64)
!18 = !DIDerivedType(tag: DW_TAG_member, name: "right", scope: !13, file: !3, line: 4, baseType: !17, size: 64, offset: 128)
!19 = !DIDerivedType(tag: DW_TAG_member, name: "payload", scope: !13, file: !3, line: 5, baseType: !20, size: 128, offset: 192)
!20 = distinct !DICompositeType(tag: DW_TAG_structure_type, scope: !13, file: !3, line: 5, size: 128, elements: !21)
!21 = !{!22, !24}
!22 = !DIDerivedType(tag: DW_TAG_member, name: "weight", scope: !20, file: !3, line: 5, baseType: !23, size: 64)
!23 = !DIBasicType(name: "double", size: 64, encoding: DW_ATE_float)
!24 = !DIDerivedType(tag: DW_TAG_member, name: "tag", scope: !20, file: !3, line: 5, baseType: !25, size: 32, offset: 64)
!25 = !DICompositeType(tag: DW_TAG_array_type, baseType: !26, size: 32, elements: !27)
!26 = !DIBasicType(name: "char", size: 8, encoding: DW_ATE_signed_char)
!27 = !{!28}
!28 = !DISubrange(count: 4)
!29 = !{!30}
!30 = !DISubrange(count: 2)
!31 = !{i32 7, !"Dwarf Version", i32 5}
!32 = !{i32 2, !"Debug Info Version", i32 3}
!33 = !{i32 1, !"wchar_size", i32 4}
!34 = !{i32 8, !"PIC Level", i32 2}
!35 = !{i32 7, !"PIE Level", i32 2}
!36 = !{i32 7, !"uwtable", i32 2}
!37 = !{i32 7, !"debug-info-assignment-tracking", i1 true}
!38 = !{!39, !39, i64 0}
!39 = !{!"int", !40, i64 0}
!40 = !{!"omnipotent char", !41, i64 0}
!41 = !{!"Simple C/C++ TBAA"}
!42 = distinct !DISubprogram(name: "total", scope: !3, file: !3, line: 14, type: !43, scopeLine: 14, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !2, retainedNodes: !45, keyInstructions: true)
!43 = !DISubroutineType(types: !44)
!44 = !{!23, !11}
!45 = !{!46, !47}
!46 = !DILocalVariable(name: "n", arg: 1, scope: !42, file: !3, line: 14, type: !11)
!47 = !DILocalVariable(name: "sum", scope: !42, file: !3, line: 15, type: !23)
!48 = !DILocation(line: 0, scope: !42)
!49 = !DILocation(line: 16, column: 3, scope: !50, atomGroup: 11, atomRank: 1)
!50 = distinct !DILexicalBlock(scope: !42, file: !3, line: 16, column: 3)
!51 = !DILocation(line: 16, column: 3, scope: !50, atomGroup: 12, atomRank: 1)
!52 = !DILocation(line: 16, column: 37, scope: !53)
!53 = distinct !DILexicalBlock(scope: !50, file: !3, line: 16, column: 3)
!54 = !DILocation(line: 16, column: 45, scope: !53)
!55 = !{!56, !60, i64 24}
!56 = !{!"node", !39, i64 0, !57, i64 8, !57, i64 16, !59, i64 24}
!57 = !{!"p1 _ZTS4node", !58, i64 0}
!58 = !{!"any pointer", !40, i64 0}
!59 = !{!"", !60, i64 0, !40, i64 8}
!60 = !{!"double", !40, i64 0}
!61 = !DILocation(line: 16, column: 63, scope: !53)
!62 = !{!56, !57, i64 8}
!63 = !DILocation(line: 16, column: 54, scope: !53)
!64 = !DILocation(line: 16, column: 52, scope: !53)
!65 = !DILocation(line: 16, column: 31, scope: !53, atomGroup: 4, atomRank: 2)
!66 = !DILocation(line: 16, column: 20, scope: !53)
!67 = !DILocation(line: 16, column: 20, scope: !53, atomGroup: 5, atomRank: 2)
!68 = !{!56, !57, i64 16}
!69 = !DILocation(line: 16, column: 3, scope: !50, atomGroup: 2, atomRank: 1)
!70 = !DILocation(line: 16, column: 3, scope: !50, atomGroup: 3, atomRank: 1)
!71 = distinct !{!71, !72, !73, !74}
!72 = !DILocation(line: 16, column: 3, scope: !50)
!73 = !DILocation(line: 16, column: 67, scope: !50)
!74 = !{!"llvm.loop.mustprogress"}
!75 = !DILocation(line: 17, column: 3, scope: !42, atomGroup: 8, atomRank: 1)
!76 = distinct !DISubprogram(name: "score", scope: !3, file: !3, line: 20, type: !9, scopeLine: 20, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !2, retainedNodes: !77, keyInstructions: true)
!77 = !{!78, !79, !80}
!78 = !DILocalVariable(name: "n", arg: 1, scope: !76, file: !3, line: 20, type: !11)
!79 = !DILocalVariable(name: "mode", arg: 2, scope: !76, file: !3, line: 20, type: !5)
!80 = !DILocalVariable(name: "s", scope: !76, file: !3, line: 21, type: !5)
!81 = !DILocation(line: 0, scope: !76)
!82 = !DILocation(line: 22, column: 3, scope: !76, atomGroup: 1, atomRank: 1)
!83 = !DILocation(line: 23, column: 20, scope: !84, atomGroup: 2, atomRank: 2)
!84 = distinct !DILexicalBlock(scope: !76, file: !3, line: 22, column: 17)
!85 = !{!56, !39, i64 0}
!86 = !DILocation(line: 23, column: 25, scope: !84, atomGroup: 3, atomRank: 1)
!87 = !DILocation(line: 24, column: 17, scope: !84)
!88 = !DILocation(line: 24, column: 26, scope: !84, atomGroup: 4, atomRank: 2)
!89 = !DILocation(line: 24, column: 31, scope: !84, atomGroup: 5, atomRank: 1)
!90 = !DILocation(line: 25, column: 22, scope: !84, atomGroup: 6, atomRank: 3)
!91 = !DILocation(line: 25, column: 17, scope: !84, atomGroup: 6, atomRank: 2)
!92 = !DILocation(line: 25, column: 32, scope: !84, atomGroup: 7, atomRank: 1)
!93 = !DILocation(line: 0, scope: !84)
!94 = !DILocation(line: 28, column: 3, scope: !76, atomGroup: 10, atomRank: 1)
!95 = distinct !DISubprogram(name: "depth", scope: !3, file: !3, line: 8, type: !96, scopeLine: 8, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !2, retainedNodes: !98, keyInstructions: true)
!96 = !DISubroutineType(types: !97)
!97 = !{!5, !11}
!98 = !{!99, !100, !101}
!99 = !DILocalVariable(name: "n", arg: 1, scope: !95, file: !3, line: 8, type: !11)
!100 = !DILocalVariable(name: "l", scope: !95, file: !3, line: 10, type: !5)
!101 = !DILocalVariable(name: "r", scope: !95, file: !3, line: 10, type: !5)
!102 = !DILocation(line: 0, scope: !95)
!103 = !DILocation(line: 9, column: 8, scope: !104, atomGroup: 1, atomRank: 2)
!104 = distinct !DILexicalBlock(scope: !95, file: !3, line: 9, column: 7)
!105 = !DILocation(line: 9, column: 7, scope: !104, atomGroup: 1, atomRank: 1)
!106 = !DILocation(line: 12, column: 1, scope: !95, atomGroup: 7, atomRank: 1)
!107 = !DILocation(line: 10, column: 20, scope: !95)
!108 = !DILocation(line: 10, column: 11, scope: !95, atomGroup: 3, atomRank: 2)
!109 = !DILocation(line: 10, column: 40, scope: !95)
!110 = !DILocation(line: 10, column: 31, scope: !95, atomGroup: 4, atomRank: 2)
!111 = !DILocation(line: 11, column: 15, scope: !95, atomGroup: 6, atomRank: 1)
!112 = !DILocation(line: 11, column: 12, scope: !95, atomGroup: 5, atomRank: 2)
!113 = distinct !DISubprogram(name: "collatz", scope: !3, file: !3, line: 31, type: !114, scopeLine: 31, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !2, retainedNodes: !117, keyInstructions: true)
!114 = !DISubroutineType(types: !115)
!115 = !{!116, !116}
!116 = !DIBasicType(name: "unsigned int", size: 32, encoding: DW_ATE_unsigned)
!117 = !{!118, !119}
!118 = !DILocalVariable(name: "x", arg: 1, scope: !113, file: !3, line: 31, type: !116)
!119 = !DILocalVariable(name: "steps", scope: !113, file: !3, line: 32, type: !116)
!120 = !DILocation(line: 0, scope: !113)
!121 = !DILocation(line: 33, column: 12, scope: !113, atomGroup: 13, atomRank: 1)
!122 = !DILocation(line: 33, column: 3, scope: !113, atomGroup: 14, atomRank: 1)
!123 = !DILocation(line: 34, column: 11, scope: !124)
!124 = distinct !DILexicalBlock(scope: !113, file: !3, line: 33, column: 18)
!125 = !DILocation(line: 34, column: 11, scope: !124, atomGroup: 5, atomRank: 2)
!126 = !DILocation(line: 34, column: 9, scope: !124, atomGroup: 5, atomRank: 1)
!127 = !DILocation(line: 35, column: 10, scope: !124, atomGroup: 6, atomRank: 2)
!128 = !DILocation(line: 33, column: 12, scope: !113, atomGroup: 2, atomRank: 1)
!129 = !DILocation(line: 33, column: 3, scope: !113, atomGroup: 3, atomRank: 1)
!130 = distinct !{!130, !131, !132, !74}
!131 = !DILocation(line: 33, column: 3, scope: !113)
!132 = !DILocation(line: 36, column: 3, scope: !113)
!133 = !DILocation(line: 37, column: 3, scope: !113, atomGroup: 8, atomRank: 1)
!134 = distinct !DISubprogram(name: "through_pointer", scope: !3, file: !3, line: 42, type: !9, scopeLine: 42, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !2, retainedNodes: !135, keyInstructions: true)
!135 = !{!136, !137}
!136 = !DILocalVariable(name: "n", arg: 1, scope: !134, file: !3, line: 42, type: !11)
!137 = !DILocalVariable(name: "which", arg: 2, scope: !134, file: !3, line: 42, type: !5)
!138 = !DILocation(line: 0, scope: !134)
!139 = !DILocation(line: 42, column: 63, scope: !134)
!140 = !{!58, !58, i64 0}
!141 = !DILocation(line: 42, column: 63, scope: !134, atomGroup: 1, atomRank: 2)
!142 = !DILocation(line: 42, column: 56, scope: !134, atomGroup: 1, atomRank: 1)
