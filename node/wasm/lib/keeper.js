'use strict';

// Keeps a lease: sends what the module asks to be sent, hands over what came of it, and sets timers. It
// decides nothing; a timer that comes late (in a tab in the background, say) finds the window ended.

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

  // Somebody needs a window.
  ask() {
    this.#asked += 1;
    this.#interrupt?.();
  }

  // Calls, and if that fails for want of a window, waits for one and calls again, for as long as a call
  // may wait.
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
      const isGained = await this.#gain(gains, end);
      if (!isGained) return call();
    }
  }

  // Waits for the first node.
  async opened() {
    const [, timeout] = this.#lease.timeouts();
    const isGained = await this.#gain(0, performance.now() + timeout);
    if (!isGained) throw this.#lease.why();
  }

  // Gives the node back; one that was not given back in time expires.
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

  // Whether there were more grants and renewals than `since` before it was in vain to wait on.
  async #gain(since, end) {
    if (this.#lease.progress()[1] !== since) return true;
    this.ask();
    const asked = this.#asked;
    let [seen] = this.#lease.progress();
    for (;;) {
      const left = end - performance.now();
      await this.#changed(Math.max(0, left));
      if (this.#broken !== undefined) throw this.#broken;
      const [attempts, gains] = this.#lease.progress();
      if (gains !== since) return true;
      const isTried = this.#heard >= asked && attempts !== seen;
      seen = attempts;
      const isInVain = isTried && this.#lease.isInVain(left);
      if (left <= 0 || isInVain || this.#isClosing) return false;
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
      // After a failure there is always a pause, however many ask.
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
      // A page that is left can still give its node back.
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

  // Passes events on, and wakes whoever waits.
  #tell() {
    for (;;) {
      const event = this.#lease.nextEvent();
      if (event === undefined) break;
      const told = [event.kind(), ...event.numbers().map((number) => number ?? null)];
      const error = event.error() ?? null;
      event.free();
      // If it throws, that is an uncaught exception, and the lease is kept all the same.
      if (this.#listener !== undefined) queueMicrotask(() => this.#listener(...told, error));
    }
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const wake of waiters) wake();
  }

  // Somebody waits for this, so the process, if it is one, goes on.
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
