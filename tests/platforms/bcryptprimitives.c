/* The function of bcryptprimitives.dll that Rust's standard library calls, for versions of Wine
 * without that library. */

#include <windows.h>
#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length) {
    return RtlGenRandom(data, (ULONG)length);
}
