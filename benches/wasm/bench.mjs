// nextId of the packed WebAssembly against Date.now(), which it has to call. Rows are sampled in
// turn; the figures are medians of the ratios within one turn.
//
//   cargo xtask wasm && node benches/wasm/bench.mjs

const { Generator } = await import('../../target/wasm/package/index.mjs');

const TURNS = 61;
const CALLS = 200_000;

// One ID costs less than a sequence number lasts: a wide sequence, so that no tick gets full.
const layout = 't41.n1.s21@1700000000000/1ms';
const generator = new Generator({ layout, node: 1 });
await generator.nextIdAsync();
const array = new BigUint64Array(1000);
const million = new BigUint64Array(1_000_000);

const rows = {
  'Date.now()': () => {
    let sum = 0;
    for (let call = 0; call < CALLS; call += 1) sum += Date.now();
    return [sum, CALLS];
  },
  'nextId()': () => {
    let last;
    for (let call = 0; call < CALLS; call += 1) last = generator.nextId();
    return [last, CALLS];
  },
  'tryNextId()': () => {
    let last;
    for (let call = 0; call < CALLS; call += 1) last = generator.tryNextId();
    return [last, CALLS];
  },
  'fill of 1000, per ID': () => {
    for (let call = 0; call < 200; call += 1) generator.fill(array);
    return [array[0], 200_000];
  },
  'array.fill of 1000, per ID': () => {
    for (let call = 0; call < 200; call += 1) array.fill(7n);
    return [array[0], 200_000];
  },
  'fill of 1 M, per ID': () => [generator.fill(million), million.length],
  'array.fill of 1 M, per ID': () => [million.fill(7n), million.length],
};

const samples = Object.fromEntries(Object.keys(rows).map((name) => [name, []]));
for (let turn = 0; turn < TURNS; turn += 1) {
  for (const [name, run] of Object.entries(rows)) {
    const start = process.hrtime.bigint();
    const [, count] = run();
    const ns = Number(process.hrtime.bigint() - start) / count;
    if (turn > 10) samples[name].push(ns);
  }
  // 2^26 IDs are a second's; waiting is not what is measured.
  await generator.nextIdAsync();
}

function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

const floor = samples['Date.now()'];
console.log(`Node ${process.version}, ${process.platform} ${process.arch}`);
for (const [name, values] of Object.entries(samples)) {
  const ratio = median(values.map((ns, turn) => ns / floor[turn]));
  console.log(`${name.padEnd(28)} ${median(values).toFixed(2).padStart(8)} ns   ${ratio.toFixed(3)} x Date.now()`);
}
