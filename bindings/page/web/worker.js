// Reads many IDs beside the page, and says from time to time how far it is.

import { Many, initSync } from '#glue';

// Milliseconds between two messages.
const PAUSE = 150;

addEventListener('message', async ({ data: { module, layout, blob } }) => {
  try {
    initSync({ module });
    const many = new Many(layout, 'decimal');
    const say = (ended, read) =>
      postMessage({
        figures: many.figures(ended),
        refused: many.refused(),
        firstRefused: many.first_refused(),
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
        say(false, read);
        last = now;
      }
    }
    say(true, read);
  } catch (error) {
    postMessage({ error: String(error) });
  }
});
