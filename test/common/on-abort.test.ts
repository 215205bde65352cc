import { expect, test, vi } from 'vitest';
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

test('what waits for one signal shares a listener: Node warns of a leak at the eleventh', () => {
  const { signal } = new AbortController();
  const listen = vi.spyOn(signal, 'addEventListener');
  for (let n = 0; n < 20; n++) onAbort(signal, () => {});
  expect(listen).toHaveBeenCalledTimes(1);
});
