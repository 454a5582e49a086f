// Reads many IDs in a worker, and reports the progress.

import { Many, initSync } from '#glue';

// The time between two messages in milliseconds.
const PAUSE = 150;

addEventListener('message', async ({ data: { module, layout, blob } }) => {
  try {
    initSync({ module });
    const many = new Many(layout, 'decimal');
    const report = (ended, read) =>
      postMessage({
        figures: many.figures(ended),
        rejected: many.rejected(),
        firstRejected: many.first_rejected(),
        ended,
        read,
      });
    let read = 0;
    let last = 0;
    const reader = blob.stream().getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      many.add(value);
      read += value.length;
      const now = performance.now();
      if (now - last >= PAUSE) {
        report(false, read);
        last = now;
      }
    }
    report(true, read);
  } catch (error) {
    postMessage({ error: String(error) });
  }
});
