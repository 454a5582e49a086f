/* Leased generators: opening them, the state of the lease, and its events. Events arrive on the library's own threads, which
 * the virtual machine does not know. Each thread is attached for one event, because events are rare, and because no code
 * would detach the thread when it ends. */
#include "native.h"

/* The receiver of events: an io.github.flakeid.LeaseEvents, and its method `put`. */
typedef struct {
    JavaVM *machine;
    jobject events;
    jmethodID put;
} listener;

NATIVE(jlong, listenerNew)(ENV, jobject events) {
    listener *made = malloc(sizeof *made);
    (void)class;
    if (made == NULL) {
        abort(); /* The library also aborts if memory runs out. */
    }
    made->put =
        (*env)->GetMethodID(env, (*env)->GetObjectClass(env, events), "put", "(IJJJI[B)V");
    made->events = made->put == NULL ? NULL : (*env)->NewGlobalRef(env, events);
    if (made->events == NULL || (*env)->GetJavaVM(env, &made->machine) != JNI_OK) {
        (*env)->DeleteGlobalRef(env, made->events);
        free(made);
        return 0; /* an exception is pending, or memory ran out: events are lost */
    }
    return (jlong)(intptr_t)made;
}

NATIVE(void, listenerFree)(ENV, jlong address) {
    listener *unused = (listener *)(intptr_t)address;
    (void)class;
    if (unused != NULL) {
        (*env)->DeleteGlobalRef(env, unused->events);
        free(unused);
    }
}

static void put(JNIEnv *env, const listener *to, const flakeid_lease_event *event) {
    jbyteArray message = bytes_of(env, event->message);
    if (!(*env)->ExceptionCheck(env)) {
        (*env)->CallVoidMethod(env, to->events, to->put, (jint)event->kind, (jlong)event->node,
                               (jlong)event->start, (jlong)event->fence, (jint)event->status,
                               message);
    }
    /* When memory runs out, the event is lost, and the lease continues. */
    (*env)->ExceptionClear(env);
}

static void on_event(const flakeid_lease_event *event, void *user_data) {
    const listener *to = user_data;
    JavaVMAttachArgs arguments = {JNI_VERSION_10, NULL, NULL};
    void *env = NULL;
    char name[] = "flakeid-lease";
    arguments.name = name;
    /* Attaching fails while the virtual machine ends. */
    if ((*to->machine)->AttachCurrentThreadAsDaemon(to->machine, &env, &arguments) == JNI_OK) {
        put(env, to, event);
        (*to->machine)->DetachCurrentThread(to->machine);
    }
}

NATIVE(jlong, generatorOpen)(ENV, jbyteArray url, jobjectArray settings, jlong listener) {
    flakeid_lease_config config = FLAKEID_LEASE_CONFIG_INIT;
    flakeid_generator *made = NULL;
    flakeid_options *options = flakeid_jni_options(env, settings);
    (void)class;
    if (options != NULL) {
        char *url_text = text_of(env, url);
        config.options = options;
        if (listener != 0) {
            config.on_event = on_event;
            config.user_data = HANDLE(void, listener);
        }
        interruptible(env);
        check(env, flakeid_generator_open(url_text, &config, &made));
        free(url_text);
        flakeid_options_free(options);
    }
    return (jlong)(intptr_t)made;
}

NATIVE(jlong, createNamespace)(ENV, jbyteArray url, jbyteArray name, jobjectArray settings) {
    flakeid_namespace_config config = FLAKEID_NAMESPACE_CONFIG_INIT;
    uint64_t wait_ms = 0;
    flakeid_options *options = flakeid_jni_options(env, settings);
    (void)class;
    if (options != NULL) {
        char *url_text = text_of(env, url), *name_text = text_of(env, name);
        config.options = options;
        check(env, flakeid_create_namespace(url_text, name_text, &config, &wait_ms));
        free(url_text);
        free(name_text);
        flakeid_options_free(options);
    }
    return (jlong)wait_ms;
}

NATIVE(jlongArray, lease)(ENV, jlong generator) {
    flakeid_lease_status lease = FLAKEID_LEASE_STATUS_INIT;
    flakeid_status status = flakeid_generator_lease(HANDLE(flakeid_generator, generator), &lease);
    (void)class;
    check(env, status);
    if (status == FLAKEID_OK) {
        jlong values[] = {lease.fenced_off,
                          (jlong)lease.start,
                          (jlong)lease.fence,
                          lease.fence_unix_ms,
                          lease.expires_unix_ms,
                          lease.expires_in_ms,
                          (jlong)lease.renewals,
                          (jlong)lease.grants,
                          (jlong)lease.failures,
                          lease.last_error};
        return longs(env, values, 10);
    }
    return NULL;
}
