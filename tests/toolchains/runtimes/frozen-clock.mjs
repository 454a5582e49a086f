// The clock of Cloudflare Workers: it shows the time of the last event, and stands still while code runs. Timers are
// events.

const now = Date.now.bind(Date);
const { setTimeout } = globalThis;
let frozen = 0;

// The number of readings of each clock.
export const readings = { date: 0, performance: 0 };

export function advance() {
  frozen = now();
}

Date.now = () => {
  readings.date += 1;
  return frozen;
};
performance.now = () => {
  readings.performance += 1;
  return frozen;
};
globalThis.setTimeout = (call, ms, ...rest) =>
  setTimeout(() => {
    advance();
    call(...rest);
  }, ms);
