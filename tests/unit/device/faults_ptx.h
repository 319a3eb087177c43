/* Kernels in PTX, one right and the rest wrong, each in its own way, for the tests of the software
 * driver and of the worker. */
#ifndef KEET_TESTS_FAULTS_PTX_H
#define KEET_TESTS_FAULTS_PTX_H

static const char faults_ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                                 ".global .u32 tally = 41;\n"
                                 /* a[i] += step, of n elements */
                                 ".visible .entry add(.param .u64 a, .param .u32 step,\n"
                                 "    .param .u32 n)\n{\n"
                                 "  .reg .pred %p; .reg .u32 %r<9>; .reg .u64 %d<4>;\n"
                                 "  ld.param.u64 %d1, [a]; ld.param.u32 %r1, [step];\n"
                                 "  ld.param.u32 %r2, [n];\n"
                                 "  mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;\n"
                                 "  mov.u32 %r5, %tid.x; mad.lo.u32 %r6, %r3, %r4, %r5;\n"
                                 "  setp.ge.u32 %p, %r6, %r2; @%p ret;\n"
                                 "  mul.wide.u32 %d2, %r6, 4; add.u64 %d3, %d1, %d2;\n"
                                 "  ld.global.u32 %r7, [%d3]; add.u32 %r8, %r7, %r1;\n"
                                 "  st.global.u32 [%d3], %r8; ret;\n}\n"
                                 ".visible .entry stray(.param .u64 a)\n{\n"
                                 "  .reg .u32 %r; .reg .u64 %d<3>;\n"
                                 "  mov.u64 %d1, 4096; mov.u32 %r, 1;\n"
                                 "  st.global.u32 [%d1], %r; ret;\n}\n"
                                 ".visible .entry skewed(.param .u64 a)\n{\n"
                                 "  .reg .u32 %r; .reg .u64 %d<3>;\n"
                                 "  ld.param.u64 %d1, [a]; mov.u32 %r, 1;\n"
                                 "  st.global.u32 [%d1+2], %r; ret;\n}\n"
                                 ".visible .entry trapped(.param .u64 a)\n{\n  trap;\n}\n"
                                 ".visible .entry endless(.param .u64 a)\n{\n"
                                 "  .reg .u32 %r; .reg .u64 %d;\n  ld.param.u64 %d, [a];\n"
                                 "again:\n  ld.volatile.global.u32 %r, [%d];\n"
                                 "  bra again;\n}\n"
                                 /* counts down from a[0] */
                                 ".visible .entry counted(.param .u64 a)\n{\n"
                                 "  .reg .pred %p; .reg .u32 %r; .reg .u64 %d;\n"
                                 "  ld.param.u64 %d, [a]; ld.global.u32 %r, [%d];\n"
                                 "again:\n  setp.eq.u32 %p, %r, 0; @%p ret;\n"
                                 "  sub.u32 %r, %r, 1; bra again;\n}\n"
                                 ".extern .shared .align 4 .b8 room[];\n"
                                 ".visible .entry roomy(.param .u64 a)\n{\n"
                                 "  .reg .u32 %r<3>; .reg .u64 %d;\n  ld.param.u64 %d, [a];\n"
                                 "  mov.u32 %r1, room; st.shared.u32 [%r1], 7;\n"
                                 "  ld.shared.u32 %r2, [%r1]; st.global.u32 [%d], %r2; ret;\n}\n";

#endif
