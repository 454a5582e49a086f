// A web service for orders.
package main

import (
	"context"
	"errors"
	"flag"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	address := flag.String("listen", "localhost:8080", "the address of the service")
	flag.Parse()
	if err := run(*address, os.Getenv("DATABASE_URL")); err != nil {
		log.Fatal(err)
	}
}

func run(address, url string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	store, err := OpenStore(ctx, url)
	if err != nil {
		return err
	}
	defer store.Close()

	server := &http.Server{Addr: address, Handler: NewService(store)}
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		stopped <- server.Shutdown(context.Background())
	}()
	log.Printf("listening on %s", address)
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}
