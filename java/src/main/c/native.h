/* The functions and macros that all native methods of io.github.flakeid.Native share. Each method converts its
 * arguments, makes one call to the C library, and converts the result. If the call fails, the method throws an
 * exception. A successful call has no cost for error handling.
 *
 * Java passes strings as arrays of UTF-8 bytes, because JNI's own strings use a different encoding. */
#ifndef FLAKEID_NATIVE_H
#define FLAKEID_NATIVE_H

#include <flakeid.h>
#include <jni.h>
#include <stdlib.h>
#include <string.h>

#define NATIVE(TYPE, NAME) JNIEXPORT TYPE JNICALL Java_io_github_flakeid_Native_##NAME
#define ENV JNIEnv *env, jclass class
#ifdef _MSC_VER
#define FLAKEID_JNI_THREAD __declspec(thread)
#else
#define FLAKEID_JNI_THREAD __thread
#endif
#define HANDLE(TYPE, VALUE) ((TYPE *)(intptr_t)(VALUE))

/* Throws the Java exception for a failed call to the C library. */
void flakeid_jni_raise(JNIEnv *env, flakeid_status status);

/* Whether interrupts of the current thread end its waits in the library. */
extern FLAKEID_JNI_THREAD int flakeid_jni_interruptible;

void flakeid_jni_make_interruptible(JNIEnv *env);

/* Lets interrupts of the current thread end its waits in the library, from the first call on. */
static inline void interruptible(JNIEnv *env) {
    if (!flakeid_jni_interruptible) {
        flakeid_jni_make_interruptible(env);
    }
}

/* Creates options from an array in which names and values alternate. The caller frees the options. Returns NULL
 * when an exception is pending. */
flakeid_options *flakeid_jni_options(JNIEnv *env, jobjectArray settings);

/* Throws a Java exception if the status reports a failed call. */
static inline void check(JNIEnv *env, flakeid_status status) {
    if (status != FLAKEID_OK) {
        flakeid_jni_raise(env, status);
    }
}

/* Returns a NUL-terminated copy of a string, which the caller frees. Returns NULL if the Java array is null. */
static inline char *text_of(JNIEnv *env, jbyteArray bytes) {
    jsize length;
    char *text;
    if (bytes == NULL) {
        return NULL;
    }
    length = (*env)->GetArrayLength(env, bytes);
    text = malloc((size_t)length + 1);
    if (text == NULL) {
        abort(); /* Memory has run out. flakeid's C library also aborts the process in this case. */
    }
    (*env)->GetByteArrayRegion(env, bytes, 0, length, (jbyte *)text);
    text[length] = '\0';
    return text;
}

/* Returns a Java array with the bytes of a string, without the terminating NUL. Returns NULL if the string is
 * NULL, or when an exception is pending. */
static inline jbyteArray bytes_of(JNIEnv *env, const char *text) {
    jsize length;
    jbyteArray bytes;
    if (text == NULL) {
        return NULL;
    }
    length = (jsize)strlen(text);
    bytes = (*env)->NewByteArray(env, length);
    if (bytes != NULL) {
        (*env)->SetByteArrayRegion(env, bytes, 0, length, (const jbyte *)text);
    }
    return bytes;
}

/* Converts an ASCII string to a Java string. In JNI's encoding, ASCII strings have the same bytes. */
static inline jstring ascii(JNIEnv *env, const char *text) { return (*env)->NewStringUTF(env, text); }

/* Returns a Java array with the given numbers, or NULL when an exception is pending. */
static inline jlongArray longs(JNIEnv *env, const jlong *values, jsize count) {
    jlongArray made = (*env)->NewLongArray(env, count);
    if (made != NULL) {
        (*env)->SetLongArrayRegion(env, made, 0, count, values);
    }
    return made;
}

#endif
