// A bar chart: an image with a title for each bar, and a table for users who cannot see it or have
// no pointer.

import { grouped, h, svg, table } from './dom.js';

const HEIGHT = 100;

// `values` is a list of `[name, count]`.
export function bars(values, classes, label) {
  const most = Math.max(...values.map(([, count]) => count), 1);
  const rects = values.map(([name, count], index) => {
    const height = Math.max((count * HEIGHT) / most, count > 0 ? 1 : 0);
    const title = svg('title', {}, `${name}: ${grouped(count)}`);
    const place = { x: index + 0.08, y: HEIGHT - height, width: 0.84, height };
    return svg('rect', place, title);
  });
  return svg(
    'svg',
    {
      class: classes,
      viewBox: `0 0 ${values.length} ${HEIGHT}`,
      preserveAspectRatio: 'none',
      role: 'img',
      'aria-label': `${label}; the largest number is ${grouped(most)}`,
    },
    ...rects,
  );
}

// The table is built when it is opened for the first time, because it is replaced several times a
// second while IDs are read.
export function values(caption, rows) {
  const details = h('details', {}, h('summary', {}, 'As a table'));
  details.addEventListener(
    'toggle',
    () =>
      details.append(
        table(
          caption,
          rows.map(([name, count]) => [name, grouped(count)]),
        ),
      ),
    { once: true },
  );
  return details;
}
