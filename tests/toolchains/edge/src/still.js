// Lets the clocks stand still between events, as they do in the network of Cloudflare, but not in workerd.

const [date, moment] = [Date.now, performance.now.bind(performance)];
const { fetch, setTimeout } = globalThis;
let wall = date();
let monotonic = moment();

// Sets the clocks. Every event of a request calls this function.
export function advance() {
  wall = date();
  monotonic = moment();
}

Date.now = () => wall;
performance.now = () => monotonic;

globalThis.setTimeout = (call, ms) =>
  setTimeout(() => {
    advance();
    call();
  }, ms);

globalThis.fetch = async (...values) => {
  const response = await fetch(...values);
  advance();
  return response;
};
