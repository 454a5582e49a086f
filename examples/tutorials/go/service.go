package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/flakeid/flakeid/go"
	"github.com/jackc/pgx/v5"
)

// NewService returns the routes of the service.
func NewService(store *Store) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
		var order Order
		if err := json.NewDecoder(r.Body).Decode(&order); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		err := store.Create(r.Context(), &order)
		respond(w, http.StatusCreated, order, err)
	})
	mux.HandleFunc("GET /orders/{id}", func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.ParseUint(r.PathValue("id"), 10, 63)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		order, err := store.Find(r.Context(), flakeid.ID(id))
		respond(w, http.StatusOK, order, err)
	})
	mux.HandleFunc("GET /orders", func(w http.ResponseWriter, r *http.Request) {
		since, err := time.Parse(time.RFC3339, r.URL.Query().Get("since"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		orders, err := store.Between(r.Context(), since, time.Now().Add(time.Minute))
		respond(w, http.StatusOK, orders, err)
	})
	return mux
}

func respond(w http.ResponseWriter, status int, value any, err error) {
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		http.Error(w, "this order does not exist", http.StatusNotFound)
	case errors.Is(err, flakeid.ErrLeaseExpired):
		// The database has not responded for ten seconds.
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(value)
	}
}
