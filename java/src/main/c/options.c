/* The list of options by name. */
#include "native.h"

flakeid_options *flakeid_jni_options(JNIEnv *env, jobjectArray settings) {
    flakeid_options *options = NULL;
    jsize index, count = (*env)->GetArrayLength(env, settings);
    flakeid_status status = flakeid_options_new(&options);
    for (index = 0; status == FLAKEID_OK && index + 1 < count; index += 2) {
        jbyteArray name = (*env)->GetObjectArrayElement(env, settings, index);
        jbyteArray value = (*env)->GetObjectArrayElement(env, settings, index + 1);
        char *name_text = text_of(env, name), *value_text = text_of(env, value);
        status = flakeid_options_set(options, name_text, value_text);
        free(name_text);
        free(value_text);
        (*env)->DeleteLocalRef(env, name);
        (*env)->DeleteLocalRef(env, value);
    }
    if (status != FLAKEID_OK) {
        flakeid_jni_raise(env, status);
        flakeid_options_free(options);
        return NULL;
    }
    return options;
}
