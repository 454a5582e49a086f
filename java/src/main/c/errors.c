/* The exceptions of failed calls, the interrupts of threads, and the function that starts the library. */
#include "native.h"

#ifdef _WIN32
#include <windows.h>
#endif

/* A weak reference, because the library outlives the class loader that loaded it. Another reference to one of its classes
 * would keep all of them loaded. */
static jweak exception_class;
static jmethodID exception_of;

/* Keeps the library loaded, because its threads may still run when its class loader is collected.
 * On other systems, a linker option does this. */
static int stays_loaded(void) {
#ifdef _WIN32
    HMODULE library;
    return GetModuleHandleExW(
        GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN,
        (LPCWSTR)(void *)&exception_class, &library);
#else
    return 1;
#endif
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *machine, void *reserved) {
    JNIEnv *env;
    jclass found;
    (void)reserved;
    if (!stays_loaded()) {
        return JNI_ERR;
    }
    if ((*machine)->GetEnv(machine, (void **)&env, JNI_VERSION_10) != JNI_OK) {
        return JNI_ERR;
    }
    found = (*env)->FindClass(env, "io/github/flakeid/FlakeidException");
    if (found == NULL) {
        return JNI_ERR;
    }
    exception_class = (*env)->NewWeakGlobalRef(env, found);
    exception_of = (*env)->GetStaticMethodID(
        env, found, "of", "(I[B[BJJJ)Lio/github/flakeid/FlakeidException;");
    return exception_class == NULL || exception_of == NULL ? JNI_ERR : JNI_VERSION_10;
}

#if defined(__GNUC__)
__attribute__((cold))
#endif
void flakeid_jni_raise(JNIEnv *env, flakeid_status status) {
    jbyteArray message = bytes_of(env, flakeid_last_error_spelled(FLAKEID_SPELLING_JAVA));
    jbyteArray field =
        message == NULL ? NULL : bytes_of(env, flakeid_last_error_field_spelled(FLAKEID_SPELLING_JAVA));
    /* The class is loaded, because Native, which has the same class loader, is calling. */
    jclass class = message == NULL ? NULL : (*env)->NewLocalRef(env, exception_class);
    jobject made;
    if (class == NULL) {
        return; /* an OutOfMemoryError is pending */
    }
    made = (*env)->CallStaticObjectMethod(env, class, exception_of, (jint)status, message,
                                          field, (jlong)flakeid_retry_after_ms(),
                                          (jlong)flakeid_rollback_ms(), (jlong)flakeid_horizon_ms());
    if (!(*env)->ExceptionCheck(env) && made != NULL) {
        (*env)->Throw(env, made);
    }
}

FLAKEID_JNI_THREAD int flakeid_jni_interruptible;

/* Reports whether the current thread was interrupted. The library calls this function during a wait. A thread that is no
 * longer attached to the virtual machine is not a thread of Java. */
static int32_t is_interrupted(void *user_data) {
    JavaVM *machine = user_data;
    JNIEnv *env;
    jclass class;
    jobject thread;
    jmethodID ask;
    int32_t interrupted = 0;
    if ((*machine)->GetEnv(machine, (void **)&env, JNI_VERSION_10) != JNI_OK) {
        return 0;
    }
    class = (*env)->FindClass(env, "java/lang/Thread");
    thread = (*env)->CallStaticObjectMethod(
        env, class, (*env)->GetStaticMethodID(env, class, "currentThread", "()Ljava/lang/Thread;"));
    ask = (*env)->ExceptionCheck(env) ? NULL : (*env)->GetMethodID(env, class, "isInterrupted", "()Z");
    if (ask != NULL) {
        interrupted = (*env)->CallBooleanMethod(env, thread, ask) && !(*env)->ExceptionCheck(env);
        (*env)->ExceptionClear(env);
    }
    (*env)->DeleteLocalRef(env, thread);
    (*env)->DeleteLocalRef(env, class);
    return interrupted;
}

void flakeid_jni_make_interruptible(JNIEnv *env) {
    JavaVM *machine;
    if ((*env)->GetJavaVM(env, &machine) == JNI_OK) {
        flakeid_set_interrupt(is_interrupted, machine);
        flakeid_jni_interruptible = 1;
    }
}

NATIVE(jstring, codeOf)(ENV, jint status) {
    (void)class;
    return ascii(env, flakeid_status_code(status));
}

NATIVE(jstring, version)(ENV) {
    (void)class;
    return ascii(env, flakeid_version());
}
