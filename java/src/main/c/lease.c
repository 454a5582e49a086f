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
        abort(); /* because the library also aborts when memory runs out */
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

NATIVE(jlong, generatorOpen)(ENV, jbyteArray url, jbyteArray layout, jbyteArray namespace_name,
                             jbyteArray name, jbyteArray clock_name, jint has, jlongArray numbers,
                             jlong listener) {
    flakeid_lease_config config = FLAKEID_LEASE_CONFIG_INIT;
    flakeid_generator *made = NULL;
    jlong n[15];
    char *texts[5];
    int index;
    (void)class;
    texts[0] = text_of(env, url);
    texts[1] = text_of(env, layout);
    texts[2] = text_of(env, namespace_name);
    texts[3] = text_of(env, name);
    texts[4] = text_of(env, clock_name);
    (*env)->GetLongArrayRegion(env, numbers, 0, 15, n);
    config.has = (uint32_t)has;
    config.layout = texts[1];
    config.namespace_name = texts[2];
    config.name = texts[3];
    config.clock_name = texts[4];
    config.node = (uint64_t)n[0];
    config.datacenter = (uint64_t)n[1];
    config.worker = (uint64_t)n[2];
    config.epoch = n[3];
    config.sequence_mask = (uint64_t)n[4];
    config.sequence_start = (uint32_t)n[5];
    config.overflow = (int32_t)n[6];
    config.rollback = (int32_t)n[7];
    config.first_node = (uint64_t)n[8];
    config.max_wait_ms = (uint64_t)n[9];
    config.last_node = (uint64_t)n[10];
    config.window_ms = (uint64_t)n[11];
    config.ttl_ms = (uint64_t)n[12];
    config.never_reuse = (int32_t)n[13];
    config.node_count = (uint32_t)n[14];
    if (listener != 0) {
        config.on_event = on_event;
        config.user_data = HANDLE(void, listener);
    }
    check(env, flakeid_generator_open(texts[0], &config, &made));
    for (index = 0; index < 5; index++) {
        free(texts[index]);
    }
    return (jlong)(intptr_t)made;
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
