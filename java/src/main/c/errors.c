/* The exceptions of failed calls, and the function that starts the library. */
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

NATIVE(jstring, codeOf)(ENV, jint status) {
    (void)class;
    return ascii(env, flakeid_status_code(status));
}

NATIVE(jstring, version)(ENV) {
    (void)class;
    return ascii(env, flakeid_version());
}
