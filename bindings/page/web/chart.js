// Bars, as an image with a title for each bar.

import { grouped, svg } from './dom.js';

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
      'aria-label': `${label}; the most is ${grouped(most)}`,
    },
    ...rects,
  );
}
