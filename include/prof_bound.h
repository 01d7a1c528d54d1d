/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * prof_bound.h - bounds of indices and sizes that verifiers of all kernels accept
 *
 * clang removes a mask or a comparison that it can prove to be unnecessary. Verifiers of older
 * kernels cannot follow that proof through another copy of the value, for example on the stack or
 * in 32 bits. These macros force the bound into the code, on the register that is used next. In
 * programs, each mask of an index and each variable size of a helper uses them;
 * tools/check-bounds.sh finds the others. User space compiles some of the same code with plain
 * expressions.
 */
#ifndef D9_PROF_BOUND_H
#define D9_PROF_BOUND_H

#ifdef __bpf__

/* i modulo cnt. @cnt: a constant power of two */
#define PROF_BOUND_INDEX(i, cnt)                                                                   \
	({                                                                                         \
		__u64 bound_i = (i);                                                               \
		_Static_assert(!((cnt) & ((cnt)-1)), "a power of two");                            \
		asm volatile("%0 &= %1" : "+r"(bound_i) : "i"((cnt)-1));                           \
		bound_i;                                                                           \
	})

/* i & mask. @mask: a power of two minus one, known to the verifier */
#define PROF_BOUND_MASK(i, mask)                                                                   \
	({                                                                                         \
		__u64 bound_i = (i);                                                               \
		asm volatile("%0 &= %1" : "+r"(bound_i) : "ri"(mask));                             \
		bound_i;                                                                           \
	})

/*
 * The minimum of sz and max. @max: a constant. The verifier follows the smaller sizes first. It then finds that the
 * maximum is one of them, and does not check the code below again.
 */
#define PROF_BOUND_SIZE(sz, max)                                                                   \
	({                                                                                         \
		__u64 bound_sz;                                                                    \
		asm volatile("%0 = %2\nif %1 > %2 goto +1\n%0 = %1"                                \
			     : "=&r"(bound_sz)                                                     \
			     : "r"((__u64)(sz)), "i"(max));                                        \
		bound_sz;                                                                          \
	})

#else

#define PROF_BOUND_INDEX(i, cnt) ((i) & ((cnt)-1))
#define PROF_BOUND_MASK(i, mask) ((i) & (mask))
#define PROF_BOUND_SIZE(sz, max) ((sz) <= (max) ? (sz) : (max))

#endif
#endif
