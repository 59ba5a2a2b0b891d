; The dialect of LLVM 3.7 to 3.9, by hand.
source_filename = "legacy.c"
target datalayout = "e-m:e-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

module asm "\09.symver old, \22old@V1\22"

%node = type { i32, %node*, %"struct.a b"* }
%"struct.a b" = type { %node, [2 x %node*], void (i8*, ...)* }
%pair = type { <{ i8, i32 }>, x86_mmx }
%opaque_one = type opaque

$folded = comdat any

@.str = private unnamed_addr constant [5 x i8] c"a\22%\0A\00", align 1
@chooser = global i32 select (i1 icmp eq (i32* @counter, i32* null), i32 1, i32 2), align 4
@counter = common global i32 0, align 4
@"quoted \22name\22" = internal global %node zeroinitializer
@list = external global %opaque_one*
@table = internal constant [2 x i8*] [i8* bitcast (void (i8*, ...)* @print to i8*), i8* null]
@alias = weak alias i32 (%node*), i32 (%node*)* @length
@llvm.used = appending global [1 x i8*] [i8* bitcast (i32* @counter to i8*)], section "llvm.metadata"

declare void @print(i8* nocapture readonly, ...)

declare void @llvm.memcpy.p0i8.p0i8.i64(i8* nocapture, i8* nocapture readonly, i64, i32, i1) #1

declare void @llvm.memset.p0i8.i64(i8* nocapture, i8, i64, i32, i1) #1

declare void @llvm.lifetime.start(i64, i8* nocapture) #1

declare void @llvm.dbg.value(metadata, i64, metadata, metadata) #1

declare i32 @__gxx_personality_v0(...)

; Function Attrs: nounwind uwtable
define i32 @length(%node* nocapture readonly) #0 {
  %2 = icmp eq %node* %0, null
  br i1 %2, label %10, label %3

; <label>:3                                       ; preds = %1, %3
  %4 = phi i32 [ %8, %3 ], [ 0, %1 ]
  %5 = phi %node* [ %7, %3 ], [ %0, %1 ]
  %6 = getelementptr inbounds %node, %node* %5, i64 0, i32 1
  %7 = load %node*, %node** %6, align 8, !tbaa !2
  %8 = add nuw nsw i32 %4, 1
  %9 = icmp eq %node* %7, null
  br i1 %9, label %10, label %3

; <label>:10                                      ; preds = %3, %1
  %11 = phi i32 [ 0, %1 ], [ %8, %3 ]
  ret i32 %11
}

define void @by_value(%pair* byval align 8, i32, ...) personality i8* bitcast (i32 (...)* @__gxx_personality_v0 to i8*) {
  %3 = alloca %pair, align 8
  %4 = bitcast %pair* %3 to i8*
  call void @llvm.lifetime.start(i64 16, i8* %4) #1
  %5 = bitcast %pair* %0 to i8*
  call void @llvm.memcpy.p0i8.p0i8.i64(i8* %4, i8* %5, i64 16, i32 8, i1 false)
  tail call void @llvm.dbg.value(metadata i32 %1, i64 0, metadata !5, metadata !6), !dbg !DILocation(line: 12, scope: !7)
  %6 = fcmp ogt double fadd (double 1.0, double 0x3FF0000000000000), fsub (double -0.000000e+00, double 2.0)
  %7 = select i1 %6, i32 %1, i32 ptrtoint (i32* @counter to i32)
  invoke void (i8*, ...) @print(i8* getelementptr inbounds ([5 x i8], [5 x i8]* @.str, i32 0, i32 0), i32 %7, double 1.5)
          to label %8 unwind label %9

; <label>:8
  ret void

; <label>:9
  %10 = landingpad { i8*, i32 }
          cleanup
          catch i8* null
  %11 = extractvalue { i8*, i32 } %10, 1
  call void @llvm.memset.p0i8.i64(i8* %4, i8 0, i64 16, i32 8, i1 false)
  resume { i8*, i32 } %10, !dbg !8
}

define weak_odr i32 @atomics(i32* %p, i32 (i32, ...)* %callee) comdat($folded) {
"entry point":
  %old = atomicrmw add i32* %p, i32 1 singlethread seq_cst
  %"two words" = cmpxchg weak volatile i32* %p, i32 %old, i32 7 singlethread acq_rel monotonic
  fence singlethread acquire
  %"7" = extractvalue { i32, i1 } %"two words", 0
  %value = load atomic volatile i32, i32* @counter singlethread acquire, align 4
  store atomic i32 %value, i32* @counter release, align 4
  %sum = add i32 %"7", sub (i32 0, i32 ptrtoint (i32* @counter to i32))
  switch i32 %sum, label %"odd\5Cname" [
    i32 0, label %done
    i32 1, label %done
  ]

"odd\5Cname":                                      ; preds = %"entry point"
  %called = call fastcc i32 (i32, ...) %callee(i32 signext %sum, double %"7.x") #2
  br label %done

done:
  %result = phi i32 [ %called, %"odd\5Cname" ], [ 0, %"entry point" ], [ 0, %"entry point" ]
  %"7.x" = fadd double 1.0, undef
  ret i32 %result
}

define x86_mmx @media(x86_mmx, <4 x float> %v) {
start:
  %1 = insertelement <4 x float> %v, float fdiv (float 1.0, float 3.0), i32 0
  %2 = shufflevector <4 x float> %1, <4 x float> undef, <4 x i32> <i32 0, i32 1, i32 0, i32 undef>
  %3 = bitcast <4 x float> %2 to <4 x i32>
  call void asm sideeffect "emms \22 (", "~{dirflag}"()
  ret x86_mmx %0
}

attributes #0 = { nounwind "less-precise-fpmad"="false" }
attributes #1 = { argmemonly nounwind }
attributes #2 = { nounwind }

!llvm.ident = !{!0}
!llvm.module.flags = !{!1}

!0 = !{!"clang version 3.8.0"}
!1 = !{i32 2, !"Debug Info Version", i32 3}
!2 = !{!3, !3, i64 0}
!3 = !{!"any pointer", !4}
!4 = !{!"omnipotent char"}
!5 = !DILocalVariable(name: "n", scope: !7)
!6 = !DIExpression()
!7 = distinct !DISubprogram(name: "by_value", line: 10, isLocal: false)
!8 = !DILocation(line: 14, column: 3, scope: !7)
