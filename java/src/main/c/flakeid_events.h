/* The events of leases, on their way to Java. */
#ifndef FLAKEID_EVENTS_H
#define FLAKEID_EVENTS_H

#include <flakeid.h>

/* For flakeid_lease_config; user_data is what Native.listenerNew made. */
void flakeid_jni_event(const flakeid_lease_event *event, void *listener);

#endif
