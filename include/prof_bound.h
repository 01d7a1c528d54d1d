/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * prof_bound.h - bounds of indices and sizes that the verifier of every kernel sees
 *
 * clang removes a mask or a comparison that it can prove to be needless. The verifiers of older kernels cannot
 * follow that proof when it goes through another copy of the value: one on the stack, or one of 32 bits. These
 * macros put the bound into the code where clang cannot remove it, on the register that is used next. In
 * programs every mask of an index and every variable size that a helper gets goes through them:
 * tools/check-bounds.sh finds those that do not. User space compiles some of the same code, with the plain
 * expression.
 */
#ifndef D9_PROF_BOUND_H
#define D9_PROF_BOUND_H

#ifdef __bpf__

/* i modulo cnt. @cnt: a constant, a power of two. */
#define PROF_BOUND_INDEX(i, cnt)                                                                   \
	({                                                                                         \
		__u64 bound_i = (i);                                                               \
		_Static_assert(!((cnt) & ((cnt)-1)), "a power of two");                            \
		asm volatile("%0 &= %1" : "+r"(bound_i) : "i"((cnt)-1));                           \
		bound_i;                                                                           \
	})

/* i & mask. @mask: one less than a power of two, which the verifier knows. */
#define PROF_BOUND_MASK(i, mask)                                                                   \
	({                                                                                         \
		__u64 bound_i = (i);                                                               \
		asm volatile("%0 &= %1" : "+r"(bound_i) : "ri"(mask));                             \
		bound_i;                                                                           \
	})

/* sz, or max where that is less. @max: a constant. */
#define PROF_BOUND_SIZE(sz, max)                                                                   \
	({                                                                                         \
		__u64 bound_sz = (sz);                                                             \
		asm volatile("if %0 <= %1 goto +1\n%0 = %1" : "+r"(bound_sz) : "i"(max));          \
		bound_sz;                                                                          \
	})

#else

#define PROF_BOUND_INDEX(i, cnt) ((i) & ((cnt)-1))
#define PROF_BOUND_MASK(i, mask) ((i) & (mask))
#define PROF_BOUND_SIZE(sz, max) ((sz) <= (max) ? (sz) : (max))

#endif
#endif
