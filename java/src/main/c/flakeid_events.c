/* The events of leases, on their way to Java. They come on the library's own threads, of which the virtual machine knows
 * nothing: each is attached for one event, because events are rare, and nobody would detach it when it ends. */
#include "flakeid_events.h"

#include <jni.h>
#include <stdlib.h>
#include <string.h>

/* Whom to tell: an io.github.flakeid.LeaseEvents, and its method `put`. */
typedef struct {
    JavaVM *machine;
    jobject events;
    jmethodID put;
} listener;

JNIEXPORT jlong JNICALL Java_io_github_flakeid_Native_listenerNew(JNIEnv *env, jclass class,
                                                                  jobject events) {
    listener *made = malloc(sizeof *made);
    (void)class;
    if (made == NULL) {
        abort(); /* as the library does when there is no memory */
    }
    made->put =
        (*env)->GetMethodID(env, (*env)->GetObjectClass(env, events), "put", "(IJJJI[B)V");
    made->events = made->put == NULL ? NULL : (*env)->NewGlobalRef(env, events);
    if (made->events == NULL || (*env)->GetJavaVM(env, &made->machine) != JNI_OK) {
        (*env)->DeleteGlobalRef(env, made->events);
        free(made);
        return 0; /* an exception is pending, or there is no memory: nobody is told */
    }
    return (jlong)(intptr_t)made;
}

JNIEXPORT void JNICALL Java_io_github_flakeid_Native_listenerFree(JNIEnv *env, jclass class,
                                                                  jlong address) {
    listener *unused = (listener *)(intptr_t)address;
    (void)class;
    if (unused != NULL) {
        (*env)->DeleteGlobalRef(env, unused->events);
        free(unused);
    }
}

static void put(JNIEnv *env, const listener *to, const flakeid_lease_event *event) {
    jbyteArray message = NULL;
    if (event->message != NULL) {
        jsize length = (jsize)strlen(event->message);
        message = (*env)->NewByteArray(env, length);
        if (message != NULL) {
            (*env)->SetByteArrayRegion(env, message, 0, length, (const jbyte *)event->message);
        }
    }
    if (!(*env)->ExceptionCheck(env)) {
        (*env)->CallVoidMethod(env, to->events, to->put, (jint)event->kind, (jlong)event->node,
                               (jlong)event->start, (jlong)event->fence, (jint)event->status,
                               message);
    }
    /* Out of memory: the event is lost, and the lease goes on. */
    (*env)->ExceptionClear(env);
}

void flakeid_jni_event(const flakeid_lease_event *event, void *user_data) {
    const listener *to = user_data;
    JavaVMAttachArgs arguments = {JNI_VERSION_10, NULL, NULL};
    void *env = NULL;
    char name[] = "flakeid-lease";
    arguments.name = name;
    /* It fails while the virtual machine ends. */
    if ((*to->machine)->AttachCurrentThreadAsDaemon(to->machine, &env, &arguments) == JNI_OK) {
        put(env, to, event);
        (*to->machine)->DetachCurrentThread(to->machine);
    }
}
