; ModuleID = 'tree.c'
source_filename = "tree.c"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%struct.node = type { i32, %struct.node*, %struct.node*, %struct.anon }
%struct.anon = type { double, [4 x i8] }

@table = dso_local local_unnamed_addr global [2 x i32 (%struct.node*, i32)*] [i32 (%struct.node*, i32)* @score, i32 (%struct.node*, i32)* null], align 16, !dbg !0

; Function Attrs: nofree nosync nounwind readonly uwtable
define dso_local double @total(%struct.node* noundef readonly %0) local_unnamed_addr #0 !dbg !37 {
  call void @llvm.dbg.value(metadata %struct.node* %0, metadata !41, metadata !DIExpression()), !dbg !43
  call void @llvm.dbg.value(metadata double 0.000000e+00, metadata !42, metadata !DIExpression()), !dbg !43
  %2 = icmp eq %struct.node* %0, null, !dbg !44
  br i1 %2, label %16, label %3, !dbg !44

3:                                                ; preds = %1, %3
  %4 = phi double [ %12, %3 ], [ 0.000000e+00, %1 ]
  %5 = phi %struct.node* [ %14, %3 ], [ %0, %1 ]
  call void @llvm.dbg.value(metadata double %4, metadata !42, metadata !DIExpression()), !dbg !43
  call void @llvm.dbg.value(metadata %struct.node* %5, metadata !41, metadata !DIExpression()), !dbg !43
  %6 = getelementptr inbounds %struct.node, %struct.node* %5, i64 0, i32 3, i32 0, !dbg !46
  %7 = load double, double* %6, align 8, !dbg !46, !tbaa !48
  %8 = getelementptr inbounds %struct.node, %struct.node* %5, i64 0, i32 1, !dbg !56
  %9 = load %struct.node*, %struct.node** %8, align 8, !dbg !56, !tbaa !57
  %10 = tail call double @total(%struct.node* noundef %9), !dbg !58
  %11 = fadd double %7, %10, !dbg !59
  %12 = fadd double %4, %11, !dbg !60
  call void @llvm.dbg.value(metadata double %12, metadata !42, metadata !DIExpression()), !dbg !43
  %13 = getelementptr inbounds %struct.node, %struct.node* %5, i64 0, i32 2, !dbg !61
  %14 = load %struct.node*, %struct.node** %13, align 8, !dbg !61, !tbaa !62
  call void @llvm.dbg.value(metadata %struct.node* %14, metadata !41, metadata !DIExpression()), !dbg !43
  %15 = icmp eq %struct.node* %14, null, !dbg !44
  br i1 %15, label %16, label %3, !dbg !44, !llvm.loop !63

16:                                               ; preds = %3, %1
  %17 = phi double [ 0.000000e+00, %1 ], [ %12, %3 ], !dbg !43
  ret double %17, !dbg !66
}

; Function Attrs: nofree nosync nounwind readonly uwtable
define dso_local i32 @score(%struct.node* noundef %0, i32 noundef %1) #0 !dbg !67 {
  call void @llvm.dbg.value(metadata %struct.node* %0, metadata !69, metadata !DIExpression()), !dbg !72
  call void @llvm.dbg.value(metadata i32 %1, metadata !70, metadata !DIExpression()), !dbg !72
  switch i32 %1, label %12 [
    i32 0, label %3
    i32 1, label %6
    i32 7, label %9
  ], !dbg !73

3:                                                ; preds = %2
  %4 = getelementptr inbounds %struct.node, %struct.node* %0, i64 0, i32 0, !dbg !74
  %5 = load i32, i32* %4, align 8, !dbg !74, !tbaa !76
  call void @llvm.dbg.value(metadata i32 %5, metadata !71, metadata !DIExpression()), !dbg !72
  br label %12, !dbg !77

6:                                                ; preds = %2
  %7 = tail call fastcc i32 @depth(%struct.node* noundef %0), !dbg !78
  %8 = mul nsw i32 %7, 3, !dbg !79
  call void @llvm.dbg.value(metadata i32 %8, metadata !71, metadata !DIExpression()), !dbg !72
  br label %12, !dbg !80

9:                                                ; preds = %2
  %10 = tail call double @total(%struct.node* noundef %0), !dbg !81
  %11 = fptosi double %10 to i32, !dbg !82
  call void @llvm.dbg.value(metadata i32 %11, metadata !71, metadata !DIExpression()), !dbg !72
  br label %12, !dbg !83

12:                                               ; preds = %2, %9, %6, %3
  %13 = phi i32 [ %11, %9 ], [ %8, %6 ], [ %5, %3 ], [ -1, %2 ], !dbg !84
  call void @llvm.dbg.value(metadata i32 %13, metadata !71, metadata !DIExpression()), !dbg !72
  ret i32 %13, !dbg !85
}

; Function Attrs: nofree nosync nounwind readonly uwtable
define internal fastcc i32 @depth(%struct.node* noundef readonly %0) unnamed_addr #0 !dbg !86 {
  call void @llvm.dbg.value(metadata %struct.node* %0, metadata !90, metadata !DIExpression()), !dbg !93
  %2 = icmp eq %struct.node* %0, null, !dbg !94
  br i1 %2, label %3, label %5, !dbg !96

3:                                                ; preds = %1, %5
  %4 = phi i32 [ %14, %5 ], [ 0, %1 ]
  ret i32 %4, !dbg !97

5:                                                ; preds = %1
  %6 = getelementptr inbounds %struct.node, %struct.node* %0, i64 0, i32 1, !dbg !98
  %7 = load %struct.node*, %struct.node** %6, align 8, !dbg !98, !tbaa !57
  %8 = tail call fastcc i32 @depth(%struct.node* noundef %7), !dbg !99
  call void @llvm.dbg.value(metadata i32 %8, metadata !91, metadata !DIExpression()), !dbg !93
  %9 = getelementptr inbounds %struct.node, %struct.node* %0, i64 0, i32 2, !dbg !100
  %10 = load %struct.node*, %struct.node** %9, align 8, !dbg !100, !tbaa !62
  %11 = tail call fastcc i32 @depth(%struct.node* noundef %10), !dbg !101
  call void @llvm.dbg.value(metadata i32 %11, metadata !92, metadata !DIExpression()), !dbg !93
  %12 = icmp sgt i32 %8, %11, !dbg !102
  %13 = select i1 %12, i32 %8, i32 %11, !dbg !103
  %14 = add nsw i32 %13, 1, !dbg !104
  br label %3
}

; Function Attrs: nofree norecurse nosync nounwind readnone uwtable
define dso_local i32 @collatz(i32 noundef %0) local_unnamed_addr #1 !dbg !105 {
  call void @llvm.dbg.value(metadata i32 %0, metadata !110, metadata !DIExpression()), !dbg !112
  call void @llvm.dbg.value(metadata i32 0, metadata !111, metadata !DIExpression()), !dbg !112
  %2 = icmp eq i32 %0, 1, !dbg !113
  br i1 %2, label %14, label %3, !dbg !114

3:                                                ; preds = %1, %3
  %4 = phi i32 [ %12, %3 ], [ 0, %1 ]
  %5 = phi i32 [ %11, %3 ], [ %0, %1 ]
  call void @llvm.dbg.value(metadata i32 %4, metadata !111, metadata !DIExpression()), !dbg !112
  call void @llvm.dbg.value(metadata i32 %5, metadata !110, metadata !DIExpression()), !dbg !112
  %6 = and i32 %5, 1, !dbg !115
  %7 = icmp eq i32 %6, 0, !dbg !115
  %8 = mul i32 %5, 3, !dbg !117
  %9 = add i32 %8, 1, !dbg !117
  %10 = lshr i32 %5, 1, !dbg !117
  %11 = select i1 %7, i32 %10, i32 %9, !dbg !117
  call void @llvm.dbg.value(metadata i32 %11, metadata !110, metadata !DIExpression()), !dbg !112
  %12 = add i32 %4, 1, !dbg !118
  call void @llvm.dbg.value(metadata i32 %12, metadata !111, metadata !DIExpression()), !dbg !112
  %13 = icmp eq i32 %11, 1, !dbg !113
  br i1 %13, label %14, label %3, !dbg !114, !llvm.loop !119

14:                                               ; preds = %3, %1
  %15 = phi i32 [ 0, %1 ], [ %12, %3 ], !dbg !112
  ret i32 %15, !dbg !121
}

; Function Attrs: nounwind uwtable
define dso_local i32 @through_pointer(%struct.node* noundef %0, i32 noundef %1) local_unnamed_addr #2 !dbg !122 {
  call void @llvm.dbg.value(metadata %struct.node* %0, metadata !124, metadata !DIExpression()), !dbg !126
  call void @llvm.dbg.value(metadata i32 %1, metadata !125, metadata !DIExpression()), !dbg !126
  %3 = sext i32 %1 to i64, !dbg !127
  %4 = getelementptr inbounds [2 x i32 (%struct.node*, i32)*], [2 x i32 (%struct.node*, i32)*]* @table, i64 0, i64 %3, !dbg !127
  %5 = load i32 (%struct.node*, i32)*, i32 (%struct.node*, i32)** %4, align 8, !dbg !127, !tbaa !128
  %6 = tail call i32 %5(%struct.node* noundef %0, i32 noundef %1) #4, !dbg !127
  ret i32 %6, !dbg !129
}

; Function Attrs: nofree nosync nounwind readnone speculatable willreturn
declare void @llvm.dbg.value(metadata, metadata, metadata) #3

attributes #0 = { nofree nosync nounwind readonly uwtable "frame-pointer"="none" "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #1 = { nofree norecurse nosync nounwind readnone uwtable "frame-pointer"="none" "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #2 = { nounwind uwtable "frame-pointer"="none" "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #3 = { nofree nosync nounwind readnone speculatable willreturn }
attributes #4 = { nounwind }

!llvm.dbg.cu = !{!2}
!llvm.module.flags = !{!31, !32, !33, !34, !35, !36}

!0 = !DIGlobalVariableExpression(var: !1, expr: !DIExpression())
!1 = distinct !DIGlobalVariable(name: "table", scope: !2, file: !3, line: 40, type: !7, isLocal: false, isDefinition: true)
!2 = distinct !DICompileUnit(language: DW_LANG_C99, file: !3, isOptimized: true, runtimeVersion: 0, emissionKind: FullDebug, retainedTypes: !4, globals: !6, splitDebugInlining: false, nameTableKind: None)
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
!34 = !{i32 7, !"PIC Level", i32 2}
!35 = !{i32 7, !"PIE Level", i32 2}
!36 = !{i32 7, !"uwtable", i32 1}
!37 = distinct !DISubprogram(name: "total", scope: !3, file: !3, line: 14, type: !38, scopeLine: 14, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !2, retainedNodes: !40)
!38 = !DISubroutineType(types: !39)
!39 = !{!23, !11}
!40 = !{!41, !42}
!41 = !DILocalVariable(name: "n", arg: 1, scope: !37, file: !3, line: 14, type: !11)
!42 = !DILocalVariable(name: "sum", scope: !37, file: !3, line: 15, type: !23)
!43 = !DILocation(line: 0, scope: !37)
!44 = !DILocation(line: 16, column: 3, scope: !45)
!45 = distinct !DILexicalBlock(scope: !37, file: !3, line: 16, column: 3)
!46 = !DILocation(line: 16, column: 45, scope: !47)
!47 = distinct !DILexicalBlock(scope: !45, file: !3, line: 16, column: 3)
!48 = !{!49, !55, i64 24}
!49 = !{!"node", !50, i64 0, !53, i64 8, !53, i64 16, !54, i64 24}
!50 = !{!"int", !51, i64 0}
!51 = !{!"omnipotent char", !52, i64 0}
!52 = !{!"Simple C/C++ TBAA"}
!53 = !{!"any pointer", !51, i64 0}
!54 = !{!"", !55, i64 0, !51, i64 8}
!55 = !{!"double", !51, i64 0}
!56 = !DILocation(line: 16, column: 63, scope: !47)
!57 = !{!49, !53, i64 8}
!58 = !DILocation(line: 16, column: 54, scope: !47)
!59 = !DILocation(line: 16, column: 52, scope: !47)
!60 = !DILocation(line: 16, column: 31, scope: !47)
!61 = !DILocation(line: 16, column: 20, scope: !47)
!62 = !{!49, !53, i64 16}
!63 = distinct !{!63, !44, !64, !65}
!64 = !DILocation(line: 16, column: 67, scope: !45)
!65 = !{!"llvm.loop.mustprogress"}
!66 = !DILocation(line: 17, column: 3, scope: !37)
!67 = distinct !DISubprogram(name: "score", scope: !3, file: !3, line: 20, type: !9, scopeLine: 20, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !2, retainedNodes: !68)
!68 = !{!69, !70, !71}
!69 = !DILocalVariable(name: "n", arg: 1, scope: !67, file: !3, line: 20, type: !11)
!70 = !DILocalVariable(name: "mode", arg: 2, scope: !67, file: !3, line: 20, type: !5)
!71 = !DILocalVariable(name: "s", scope: !67, file: !3, line: 21, type: !5)
!72 = !DILocation(line: 0, scope: !67)
!73 = !DILocation(line: 22, column: 3, scope: !67)
!74 = !DILocation(line: 23, column: 20, scope: !75)
!75 = distinct !DILexicalBlock(scope: !67, file: !3, line: 22, column: 17)
!76 = !{!49, !50, i64 0}
!77 = !DILocation(line: 23, column: 25, scope: !75)
!78 = !DILocation(line: 24, column: 17, scope: !75)
!79 = !DILocation(line: 24, column: 26, scope: !75)
!80 = !DILocation(line: 24, column: 31, scope: !75)
!81 = !DILocation(line: 25, column: 22, scope: !75)
!82 = !DILocation(line: 25, column: 17, scope: !75)
!83 = !DILocation(line: 25, column: 32, scope: !75)
!84 = !DILocation(line: 0, scope: !75)
!85 = !DILocation(line: 28, column: 3, scope: !67)
!86 = distinct !DISubprogram(name: "depth", scope: !3, file: !3, line: 8, type: !87, scopeLine: 8, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !2, retainedNodes: !89)
!87 = !DISubroutineType(types: !88)
!88 = !{!5, !11}
!89 = !{!90, !91, !92}
!90 = !DILocalVariable(name: "n", arg: 1, scope: !86, file: !3, line: 8, type: !11)
!91 = !DILocalVariable(name: "l", scope: !86, file: !3, line: 10, type: !5)
!92 = !DILocalVariable(name: "r", scope: !86, file: !3, line: 10, type: !5)
!93 = !DILocation(line: 0, scope: !86)
!94 = !DILocation(line: 9, column: 8, scope: !95)
!95 = distinct !DILexicalBlock(scope: !86, file: !3, line: 9, column: 7)
!96 = !DILocation(line: 9, column: 7, scope: !86)
!97 = !DILocation(line: 12, column: 1, scope: !86)
!98 = !DILocation(line: 10, column: 20, scope: !86)
!99 = !DILocation(line: 10, column: 11, scope: !86)
!100 = !DILocation(line: 10, column: 40, scope: !86)
!101 = !DILocation(line: 10, column: 31, scope: !86)
!102 = !DILocation(line: 11, column: 17, scope: !86)
!103 = !DILocation(line: 11, column: 15, scope: !86)
!104 = !DILocation(line: 11, column: 12, scope: !86)
!105 = distinct !DISubprogram(name: "collatz", scope: !3, file: !3, line: 31, type: !106, scopeLine: 31, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !2, retainedNodes: !109)
!106 = !DISubroutineType(types: !107)
!107 = !{!108, !108}
!108 = !DIBasicType(name: "unsigned int", size: 32, encoding: DW_ATE_unsigned)
!109 = !{!110, !111}
!110 = !DILocalVariable(name: "x", arg: 1, scope: !105, file: !3, line: 31, type: !108)
!111 = !DILocalVariable(name: "steps", scope: !105, file: !3, line: 32, type: !108)
!112 = !DILocation(line: 0, scope: !105)
!113 = !DILocation(line: 33, column: 12, scope: !105)
!114 = !DILocation(line: 33, column: 3, scope: !105)
!115 = !DILocation(line: 34, column: 11, scope: !116)
!116 = distinct !DILexicalBlock(scope: !105, file: !3, line: 33, column: 18)
!117 = !DILocation(line: 34, column: 9, scope: !116)
!118 = !DILocation(line: 35, column: 10, scope: !116)
!119 = distinct !{!119, !114, !120, !65}
!120 = !DILocation(line: 36, column: 3, scope: !105)
!121 = !DILocation(line: 37, column: 3, scope: !105)
!122 = distinct !DISubprogram(name: "through_pointer", scope: !3, file: !3, line: 42, type: !9, scopeLine: 42, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !2, retainedNodes: !123)
!123 = !{!124, !125}
!124 = !DILocalVariable(name: "n", arg: 1, scope: !122, file: !3, line: 42, type: !11)
!125 = !DILocalVariable(name: "which", arg: 2, scope: !122, file: !3, line: 42, type: !5)
!126 = !DILocation(line: 0, scope: !122)
!127 = !DILocation(line: 42, column: 63, scope: !122)
!128 = !{!53, !53, i64 0}
!129 = !DILocation(line: 42, column: 56, scope: !122)
