/* The parts that all native methods of io.github.flakeid.Native share. Each method converts its arguments, makes one
 * call to the C library, and converts the result. A failed call becomes an exception, which costs nothing when no
 * call fails.
 *
 * Strings arrive as UTF-8 bytes, because JNI's own strings use a different encoding. */
#ifndef FLAKEID_NATIVE_H
#define FLAKEID_NATIVE_H

#include <flakeid.h>
#include <jni.h>
#include <stdlib.h>
#include <string.h>

#define NATIVE(TYPE, NAME) JNIEXPORT TYPE JNICALL Java_io_github_flakeid_Native_##NAME
#define ENV JNIEnv *env, jclass class
#define HANDLE(TYPE, VALUE) ((TYPE *)(intptr_t)(VALUE))

/* Throws the exception for a failed call. */
void flakeid_jni_raise(JNIEnv *env, flakeid_status status);

/* Returns options by name, which the caller frees, from an array of alternating names and values; NULL when an
 * exception is pending. */
flakeid_options *flakeid_jni_options(JNIEnv *env, jobjectArray settings);

/* Throws an exception if the call failed. */
static inline void check(JNIEnv *env, flakeid_status status) {
    if (status != FLAKEID_OK) {
        flakeid_jni_raise(env, status);
    }
}

/* Returns a NUL-terminated copy of a string, which the caller frees; NULL for null. */
static inline char *text_of(JNIEnv *env, jbyteArray bytes) {
    jsize length;
    char *text;
    if (bytes == NULL) {
        return NULL;
    }
    length = (*env)->GetArrayLength(env, bytes);
    text = malloc((size_t)length + 1);
    if (text == NULL) {
        abort(); /* The library also aborts if memory runs out. */
    }
    (*env)->GetByteArrayRegion(env, bytes, 0, length, (jbyte *)text);
    text[length] = '\0';
    return text;
}

/* Returns the bytes of a string, without its NUL; NULL for NULL, or when an exception is pending. */
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

/* Returns an ASCII string, because ASCII is the same in JNI's encoding. */
static inline jstring ascii(JNIEnv *env, const char *text) { return (*env)->NewStringUTF(env, text); }

/* Returns an array of numbers, or NULL when an exception is pending. */
static inline jlongArray longs(JNIEnv *env, const jlong *values, jsize count) {
    jlongArray made = (*env)->NewLongArray(env, count);
    if (made != NULL) {
        (*env)->SetLongArrayRegion(env, made, 0, count, values);
    }
    return made;
}

#endif
