//go:build linux

#include "textflag.h"

// func readCounter() uint64
TEXT ·readCounter(SB), NOSPLIT, $0-8
	RDTSC
	SHLQ $32, DX
	ORQ  DX, AX
	MOVQ AX, ret+0(FP)
	RET

// func hasInvariantCounter() bool
TEXT ·hasInvariantCounter(SB), NOSPLIT, $0-1
	MOVB $0, ret+0(FP)
	MOVL $0x80000000, AX
	XORL CX, CX
	CPUID
	CMPL AX, $0x80000007
	JCS  none
	MOVL $0x80000007, AX
	XORL CX, CX
	CPUID
	SHRL $8, DX
	ANDL $1, DX
	MOVB DX, ret+0(FP)
none:
	RET

// func Pause()
TEXT ·Pause(SB), NOSPLIT, $0-0
	MOVL $64, AX
again:
	PAUSE
	DECL AX
	JNZ  again
	RET
