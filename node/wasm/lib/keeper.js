'use strict';

// Keeps a lease: sends the module's requests, passes the responses to the module, and sets timers.
// The module makes all decisions. If a timer is late, for example in a background tab, the window
// has ended.

const LONGEST_TIMER = 2 ** 31 - 1;
const LONGEST_CLOSE = 1000;

class Keeper {
  #lease;
  #listener;
  #running;
  #closing;
  #isClosing = false;
  #broken;
  #asked = 0;
  #heard = 0;
  #waiters = new Set();
  #interrupt;

  constructor(lease, listener) {
    this.#lease = lease;
    this.#listener = listener;
    this.#running = this.#keep().catch((error) => {
      this.#broken = error;
      this.#tell();
    });
  }

  // Requests a window for a call.
  ask() {
    this.#asked += 1;
    this.#interrupt?.();
  }

  // Calls `call`. If it fails because there is no window, waits for a window and calls again, for as long
  // as a call may wait.
  async insist(call) {
    const [timeout] = this.#lease.timeouts();
    const end = performance.now() + timeout;
    for (;;) {
      const [, gains] = this.#lease.progress();
      try {
        return await call();
      } catch (error) {
        if (error.code !== 'FLAKEID_LEASE_EXPIRED' && !this.#lease.lacksWindow()) throw error;
      }
      const isGained = await this.#gain(gains, () => end);
      if (!isGained) return call();
    }
  }

  // Waits for the first node.
  async opened() {
    const begun = performance.now();
    // The time becomes longer while the store grants nothing for a while.
    const isGained = await this.#gain(0, () => begun + this.#lease.timeouts()[1]);
    if (!isGained) throw this.#lease.why();
  }

  // Releases the node. A node that is not released in time expires.
  close() {
    if (!this.#isClosing) {
      this.#isClosing = true;
      this.#lease.close();
      this.#interrupt?.();
      this.#tell();
      this.#closing = new Promise((resolve) => {
        const timer = setTimeout(resolve, LONGEST_CLOSE);
        this.#running.then(() => {
          clearTimeout(timer);
          resolve();
        }, resolve);
      });
    }
    return this.#closing;
  }

  // Waits for a grant or renewal after `since`. Returns false if waiting longer cannot succeed.
  async #gain(since, end) {
    if (this.#lease.progress()[1] !== since) return true;
    this.ask();
    const asked = this.#asked;
    let [seen] = this.#lease.progress();
    for (;;) {
      await this.#changed(Math.max(0, end() - performance.now()));
      if (this.#broken !== undefined) throw this.#broken;
      const [attempts, gains] = this.#lease.progress();
      if (gains !== since) return true;
      const isTried = this.#heard >= asked && attempts !== seen;
      seen = attempts;
      const left = end() - performance.now();
      const cannotSucceed = isTried && this.#lease.cannotSucceed(left);
      if (left <= 0 || cannotSucceed || this.#isClosing) return false;
    }
  }

  async #keep() {
    const lease = this.#lease;
    for (;;) {
      const heard = this.#asked;
      this.#heard = heard;
      lease.wake(Date.now(), performance.now());
      for (;;) {
        this.#tell();
        const request = lease.request(Date.now(), performance.now());
        if (request === undefined) break;
        await this.#send(request);
      }
      if (lease.isEnded()) return;
      const rest = lease.rest(Date.now(), performance.now());
      await this.#sleep(rest, () => this.#isClosing || this.#asked !== heard);
      // Every failure is followed by a pause, regardless of the number of waiting calls.
      const pause = lease.pause(Date.now(), performance.now());
      await this.#sleep(pause, () => this.#isClosing);
    }
  }

  async #send(request) {
    const method = request.method();
    const headers = { 'content-type': 'application/json' };
    const authorization = request.authorization();
    if (authorization !== undefined) headers.authorization = authorization;
    const options = {
      method,
      headers,
      body: request.body(),
      signal: AbortSignal.timeout(request.timeout()),
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      referrerPolicy: 'no-referrer',
      // With keepalive, a page can release its node even while the user leaves it.
      keepalive: method === 'DELETE',
    };
    const url = request.url();
    request.free();
    let answer;
    try {
      const response = await fetch(url, options);
      answer = [response.status, await response.text()];
    } catch (error) {
      const reason = error.cause?.code ?? error.cause?.message ?? error.message;
      this.#lease.unanswered(`${reason}`, Date.now(), performance.now());
      return;
    }
    this.#lease.answered(...answer, Date.now(), performance.now());
  }

  // Passes events to the listener, and wakes waiting calls.
  #tell() {
    for (;;) {
      const event = this.#lease.nextEvent();
      if (event === undefined) break;
      const told = [event.kind(), ...event.numbers().map((number) => number ?? null)];
      const error = event.error() ?? null;
      event.free();
      // An exception of the listener is an uncaught exception, and the lease is kept anyway.
      if (this.#listener !== undefined) queueMicrotask(() => this.#listener(...told, error));
    }
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const wake of waiters) wake();
  }

  // Waits for a change. This keeps a Node process running, because a call waits for it.
  #changed(ms) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.min(ms, LONGEST_TIMER));
      this.#waiters.add(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #sleep(ms, isOver) {
    return new Promise((resolve) => {
      if (isOver()) {
        resolve();
        return;
      }
      let timer;
      const wake = () => {
        clearTimeout(timer);
        this.#interrupt = undefined;
        resolve();
      };
      timer = setTimeout(wake, Math.min(ms, LONGEST_TIMER));
      // In Node a lease does not keep the process running.
      timer.unref?.();
      this.#interrupt = () => {
        if (isOver()) wake();
      };
    });
  }
}

module.exports = { Keeper };
