'use strict';

// Keeps a lease: sends the module's requests, passes the responses to the module, and sets timers.
// The module makes all decisions. If a timer is late, for example in a background tab, the window
// has ended.
//
// In some runtimes, timers and responses end with the request of the program that began them. There, no
// loop runs in the background: each asynchronous call sends what is due, and waits for what it needs.

const { emptyBuffers } = require('./handles.js');
const { collected } = require('./waiting.js');

const LONGEST_TIMER = 2 ** 31 - 1;
const LONGEST_CLOSE = 1000;
// The time between two looks at a lease for which another request of the program sends.
const LOOK = 10;
const IN_BROWSERS = {
  cache: 'no-store',
  credentials: 'omit',
  redirect: 'error',
  referrerPolicy: 'no-referrer',
};
// A response that is so much later than its time limit will not come.
const LATE = 500;

// A generator that is no longer reachable releases its node. Some runtimes do not report what is unreachable.
const abandoned =
  typeof FinalizationRegistry === 'function'
    ? new FinalizationRegistry((keeper) => keeper.close())
    : undefined;

class Keeper {
  #lease;
  #listener;
  #isInRequests;
  #running;
  #closing;
  #isClosing = false;
  #broken;
  #asked = 0;
  #heard = 0;
  #turn = 0;
  #sendsUntil = 0;
  #waiters = new Set();
  #interrupt;
  isLease = true;

  constructor(lease, listener, isInRequests) {
    this.#lease = lease;
    this.#listener = listener;
    this.#isInRequests = isInRequests;
    if (!isInRequests) {
      this.#running = this.#keep().catch((error) => {
        this.#broken = error;
        this.#tell();
      });
    }
  }

  watch(handle) {
    if (!this.#isInRequests) abandoned?.register(handle, this);
  }

  // Calls `call`. If there is no window, requests one, but does not wait for it.
  now(call) {
    try {
      return call();
    } catch (error) {
      if (this.#lease.lacksWindow()) this.ask();
      throw error;
    }
  }

  all(n, call) {
    return collected(n, (missing) => this.later(() => call(missing)));
  }

  // Requests a window for a call.
  ask() {
    this.#asked += 1;
    this.#interrupt?.();
  }

  // Calls `call`. If it fails because there is no window, waits for a window and calls again, for as long
  // as a call may wait.
  async later(call) {
    if (this.#isInRequests && this.#lease.rest(Date.now(), performance.now()) <= 0) {
      await this.#send();
    }
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
      emptyBuffers();
      this.#lease.close();
      this.#interrupt?.();
      this.#tell();
      this.#closing = new Promise((resolve) => {
        const timer = setTimeout(resolve, LONGEST_CLOSE);
        (this.#running ?? this.#send()).then(() => {
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
      const longest = Math.max(0, end() - performance.now());
      await (this.#isInRequests ? this.#look(since) : this.#changed(longest));
      if (this.#broken !== undefined) throw this.#broken;
      const [attempts, gains] = this.#lease.progress();
      if (gains !== since) return true;
      const isHeard = this.#isInRequests || this.#heard >= asked;
      const isTried = isHeard && attempts !== seen;
      seen = attempts;
      const left = end() - performance.now();
      const cannotSucceed = isTried && this.#lease.cannotSucceed(left);
      if (left <= 0 || cannotSucceed || this.#isClosing) return false;
    }
  }

  // Sends what is due. Waits a moment if nothing was granted, because another request of the program may send.
  async #look(since) {
    await this.#send();
    if (this.#lease.progress()[1] !== since) return;
    await new Promise((resolve) => {
      setTimeout(resolve, LOOK);
    });
  }

  async #keep() {
    const lease = this.#lease;
    for (;;) {
      const heard = this.#asked;
      this.#heard = heard;
      await this.#send();
      if (lease.isEnded()) return;
      const rest = lease.rest(Date.now(), performance.now());
      await this.#sleep(rest, () => this.#isClosing || this.#asked !== heard);
      // Every failure is followed by a pause, regardless of the number of waiting calls.
      const pause = lease.pause(Date.now(), performance.now());
      await this.#sleep(pause, () => this.#isClosing);
    }
  }

  // Sends the requests that are due, unless another call is sending. A call of a request that has ended sends
  // no longer, so its request is sent again.
  async #send() {
    const lease = this.#lease;
    const isPausing = lease.pause(Date.now(), performance.now()) > 0 && !this.#isClosing;
    if (isPausing || performance.now() < this.#sendsUntil) return;
    this.#turn += 1;
    const turn = this.#turn;
    lease.wake(Date.now(), performance.now());
    for (;;) {
      this.#tell();
      const request = lease.request(Date.now(), performance.now());
      if (request === undefined) return;
      this.#sendsUntil = performance.now() + request.timeout() + LATE;
      const [status, text] = await this.#fetched(request);
      if (turn !== this.#turn) return;
      this.#sendsUntil = 0;
      if (status === undefined) lease.unanswered(text, Date.now(), performance.now());
      else lease.answered(status, text, Date.now(), performance.now());
    }
  }

  // Returns the status and the body of a response, or only the reason of a failure.
  async #fetched(request) {
    const method = request.method();
    const headers = { 'content-type': 'application/json' };
    const authorization = request.authorization();
    if (authorization !== undefined) headers.authorization = authorization;
    const body = request.body();
    const options = { method, headers, body, signal: AbortSignal.timeout(request.timeout()) };
    // Edge runtimes have neither caches nor cookies here, and reject options for them.
    Object.assign(options, this.#isInRequests ? { redirect: 'manual' } : IN_BROWSERS);
    // With keepalive, a page can release its node even while the user leaves it.
    if (method === 'DELETE' && !this.#isInRequests) options.keepalive = true;
    const url = request.url();
    request.free();
    try {
      const response = await fetch(url, options);
      return [response.status, await response.text()];
    } catch (error) {
      return [undefined, `${error.cause?.code ?? error.cause?.message ?? error.message}`];
    }
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

  async #sleep(ms, isOver) {
    if (isOver()) return;
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.min(ms, LONGEST_TIMER));
      // In Node a lease does not keep the process running.
      timer.unref?.();
      this.#interrupt = () => {
        if (!isOver()) return;
        clearTimeout(timer);
        resolve();
      };
    });
    this.#interrupt = undefined;
  }
}

module.exports = { Keeper };
