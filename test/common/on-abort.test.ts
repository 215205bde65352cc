import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { onAbort } from '../../src/base/common/timer.ts';

test('what waits for an abort is called once, also when it comes after the abort', () => {
  const controller = new AbortController();
  const called: string[] = [];
  onAbort(controller.signal, () => called.push('before'));
  onAbort(controller.signal, () => called.push('not'))();
  onAbort(undefined, () => called.push('never'))();
  expect(called).toEqual([]);
  controller.abort();
  onAbort(controller.signal, () => called.push('after'))();
  expect(called).toEqual(['before', 'after']);
});

test('what waits for one signal shares a listener, which goes with the last: Node warns of a leak at the eleventh', () => {
  const { signal } = new AbortController();
  const listeners = () => getEventListeners(signal, 'abort').length;
  const unlisten = Array.from({ length: 20 }, () => onAbort(signal, () => {}));
  expect(listeners()).toBe(1);
  for (const stop of unlisten) stop();
  expect(listeners()).toBe(0);
});
