package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flakeid/flakeid/go"
)

// openTestStore leases a node from the database in DATABASE_URL, as every process does.
func openTestStore(t *testing.T) *Store {
	t.Helper()
	store, err := OpenStore(context.Background(), os.Getenv("DATABASE_URL"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return store
}

func send(service http.Handler, method, path, body string) *httptest.ResponseRecorder {
	response := httptest.NewRecorder()
	service.ServeHTTP(response, httptest.NewRequest(method, path, strings.NewReader(body)))
	return response
}

func create(t *testing.T, service http.Handler, body string) Order {
	t.Helper()
	response := send(service, "POST", "/orders", body)
	var order Order
	if err := json.Unmarshal(response.Body.Bytes(), &order); err != nil || response.Code != http.StatusCreated {
		t.Fatalf("%d: %s", response.Code, response.Body)
	}
	return order
}

func TestOrderRepeatsEarlierOrder(t *testing.T) {
	service := NewService(openTestStore(t))
	first := create(t, service, `{"item": "tea"}`)
	second := create(t, service, fmt.Sprintf(`{"item": "tea", "again": "%s"}`, first.ID))
	if second.ID <= first.ID || second.Again == nil || *second.Again != first.ID {
		t.Errorf("%+v repeats %+v", second, first)
	}
	response := send(service, "GET", "/orders/"+second.ID.String(), "")
	if want := fmt.Sprintf(`{"id":"%s","item":"tea","again":"%s"}`, second.ID, first.ID); strings.TrimSpace(response.Body.String()) != want {
		t.Errorf("got %s, not %s", response.Body, want)
	}
}

func TestNumberIsRejectedAsID(t *testing.T) {
	service := NewService(openTestStore(t))
	first := create(t, service, `{"item": "tea"}`)
	response := send(service, "POST", "/orders", fmt.Sprintf(`{"item": "tea", "again": %s}`, first.ID))
	if response.Code != http.StatusBadRequest {
		t.Errorf("%d: %s", response.Code, response.Body)
	}
}

func TestTimeOfOrderSelectsOrder(t *testing.T) {
	store := openTestStore(t)
	order := create(t, NewService(store), `{"item": "tea"}`)
	created, err := order.ID.Time(flakeid.Layout{})
	if err != nil {
		t.Fatal(err)
	}
	if age := time.Since(created).Abs(); age > 10*time.Second {
		t.Errorf("the order is %s old", age)
	}
	found, err := store.Between(context.Background(), created, created.Add(time.Millisecond))
	if err != nil || len(found) == 0 || found[0].ID != order.ID {
		t.Errorf("found %+v (%v), not %s", found, err, order.ID)
	}
}

func TestConcurrentOrdersHaveDistinctIDs(t *testing.T) {
	const stores, orders = 3, 1000
	ids := make(chan flakeid.ID, stores*orders)
	var group sync.WaitGroup
	for range stores {
		store := openTestStore(t)
		group.Add(1)
		go func() {
			defer group.Done()
			batch := make([]Order, orders)
			for index := range batch {
				batch[index].Item = "tea"
			}
			if err := store.CreateAll(context.Background(), batch); err != nil {
				t.Error(err)
			}
			for _, order := range batch {
				ids <- order.ID
			}
		}()
	}
	group.Wait()
	close(ids)
	distinct := make(map[flakeid.ID]bool)
	for id := range ids {
		distinct[id] = true
	}
	if len(distinct) != stores*orders {
		t.Errorf("%d of %d IDs are distinct", len(distinct), stores*orders)
	}
}
