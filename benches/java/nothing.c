/* What is called by JNI, JNA and the foreign-function interface to see what a call costs. */

#include <jni.h>
#include <stdint.h>

JNIEXPORT jlong JNICALL Java_Calls_jni(JNIEnv *env, jclass of, jlong value) {
    (void)env;
    (void)of;
    return value;
}

JNIEXPORT int64_t nothing(int64_t value) { return value; }
