// Leases a node from `flakeid serve`, and generates IDs on it, with only the standard library.
package main

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"time"
)

// This layout is Twitter's: 41 bits of milliseconds, 10 bits of node, 12 bits of sequence.
const epoch = 1288834974657

type grant struct {
	Node      int64  `json:"node"`
	Start     int64  `json:"start"`
	Fence     int64  `json:"fence"`
	MaxWindow int64  `json:"max_window_ms"`
	Token     string `json:"token"`
	Broker    string `json:"broker"`
}

// lease is one node of a namespace. Only one goroutine may use it.
type lease struct {
	grant
	server, path string
	position     int64 // the tick and the sequence number of the next ID
}

func ask(method, url string, body map[string]any, answer any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequest(method, url, bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	client := http.Client{Timeout: time.Second}
	reply, err := client.Do(request)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	if reply.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: %s", method, url, reply.Status)
	}
	if answer == nil {
		return nil
	}
	return json.NewDecoder(reply.Body).Decode(answer)
}

func random(bytes int) string {
	text := make([]byte, bytes)
	rand.Read(text)
	return hex.EncodeToString(text)
}

func tick() int64 { return time.Now().UnixMilli() - epoch }

func (l *lease) acquire() error {
	// `after` excludes ticks of earlier IDs, even if they were generated on another node.
	after := l.position>>12 + 1
	body := map[string]any{"now": time.Now().UnixMilli(), "token": random(16), "after": after}
	var granted grant
	if err := ask("POST", l.server+l.path, body, &granted); err != nil {
		return err
	}
	l.grant, l.position = granted, granted.Start<<12
	return nil
}

func (l *lease) renew() error {
	next := l.Token[:16] + random(8)
	body := map[string]any{
		"start": l.Start, "token": l.Token, "next": next, "confirmed": l.Fence,
		"wanted": tick() + l.MaxWindow, "now": time.Now().UnixMilli(), "broker": l.Broker,
	}
	var renewed struct {
		Fence int64 `json:"fence"`
	}
	// Renewals go to the broker that granted the node, which may be another broker.
	url := fmt.Sprintf("%s%s/%d", l.Broker, l.path, l.Node)
	if err := ask("PATCH", url, body, &renewed); err != nil {
		// Another process may have the node from the fence on, so it is not renewed again.
		return l.acquire()
	}
	l.Token, l.Fence = next, renewed.Fence
	return nil
}

func (l *lease) nextID() (int64, error) {
	// The lease is renewed long before its window ends. A real client uses a goroutine for this.
	if l.Fence-tick() < l.MaxWindow*2/3 {
		if err := l.renew(); err != nil {
			return 0, err
		}
	}
	position := max(l.position, tick()<<12)
	if position >= l.Fence<<12 {
		return 0, errors.New("the lease has ended")
	}
	l.position = position + 1
	return position>>12<<22 | l.Node<<12 | position&0xFFF, nil
}

func (l *lease) close() error {
	body := map[string]any{"token": l.Token, "used_until": l.position>>12 + 1}
	return ask("DELETE", fmt.Sprintf("%s%s/%d", l.Broker, l.path, l.Node), body, nil)
}

func main() {
	l := lease{server: "http://localhost:7117", path: "/v1/default/leases"}
	if err := l.acquire(); err != nil {
		log.Fatal(err)
	}
	for range 3 {
		id, err := l.nextID()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(id)
		time.Sleep(2 * time.Second)
	}
	if err := l.close(); err != nil {
		log.Fatal(err)
	}
}
