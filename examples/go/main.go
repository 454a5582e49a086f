// Five IDs of a leased node, through cgo.
package main

/*
#cgo pkg-config: flakeid
#include <stdlib.h>
#include <flakeid.h>
*/
import "C"

import (
	"errors"
	"fmt"
	"log"
	"os"
	"runtime"
	"unsafe"
)

// call turns a status into an error. The last error belongs to a thread of the operating system,
// and a goroutine may be moved to another one between two calls.
func call(function func() C.flakeid_status) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if function() != C.FLAKEID_OK {
		return errors.New(C.GoString(C.flakeid_last_error()))
	}
	return nil
}

func run(url string) error {
	store := C.CString(url)
	defer C.free(unsafe.Pointer(store))
	var generator *C.flakeid_generator
	// No options: any node of the namespace "default", in Twitter's layout.
	err := call(func() C.flakeid_status { return C.flakeid_generator_open(store, nil, &generator) })
	if err != nil {
		return err
	}
	defer C.flakeid_generator_free(generator) // gives the node back
	for range [5]struct{}{} {
		var id C.uint64_t
		err = call(func() C.flakeid_status { return C.flakeid_generator_next(generator, &id) })
		if err != nil {
			return err
		}
		fmt.Println(uint64(id))
	}
	return nil
}

func main() {
	url := os.Getenv("FLAKEID_STORE")
	if url == "" {
		url = "sqlite://flakeid.db"
	}
	if err := run(url); err != nil {
		log.Fatal(err)
	}
}
