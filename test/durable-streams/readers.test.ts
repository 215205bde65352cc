// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { startApiProcess, type ApiProcess } from './api-process.ts';
import { parseSse } from './parse-sse.ts';

const readers = 1_000;
/** Of the whole process, with everything it needs besides. */
const allowedMiB = 512;

describe.skipIf(process.platform !== 'linux')('an API process with a thousand readers at once', () => {
  let api: ApiProcess;
  beforeAll(async () => void (api = await startApiProcess()));
  afterAll(() => api?.close());

  test('gives each of them everything, in bounded memory', async () => {
    const json = { 'content-type': 'application/json' };
    const url = `${api.url}/v1/stream/crowd`;
    const post = (value: unknown, headers = {}) =>
      fetch(url, { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify([value]) });
    await fetch(url, { method: 'PUT', headers: json });
    const before = api.memory('VmRSS');

    let joined = 0;
    const left = new AbortController();
    const read = async () => {
      const found: number[] = [];
      let offset = '-1';
      for (let closed = false; !closed;) {
        const response = await fetch(`${url}?offset=${offset}&live=sse`, { signal: left.signal });
        expect(response.status).toBe(200);
        for await (const { event, data } of parseSse(response.body!)) {
          if (event === 'data') found.push(...(JSON.parse(data) as { n: number }[]).map(({ n }) => n));
          else {
            const control = JSON.parse(data) as { streamNextOffset: string; streamClosed?: boolean };
            if (offset === '-1') joined += 1;
            offset = control.streamNextOffset;
            closed = control.streamClosed === true;
          }
        }
      }
      return found;
    };
    const reading = Array.from({ length: readers }, read);
    await until('everybody reads', () => joined === readers);
    const waiting = api.memory('VmRSS');
    const messages = 50;
    for (let n = 0; n < messages; n++) expect((await post({ n, text: 'x'.repeat(2_000) })).status).toBe(204);
    expect((await fetch(url, { method: 'POST', headers: { 'stream-closed': 'true' } })).status).toBe(204);
    const expected = Array.from({ length: messages }, (_, n) => n);
    for (const found of await Promise.all(reading)) expect(found).toEqual(expected);
    const most = api.memory('VmHWM');
    console.log(
      `RSS in MiB: ${before.toFixed(0)} before, ${waiting.toFixed(0)} with ${readers} readers, ${most.toFixed(0)} at most`,
    );
    expect(most).toBeLessThan(allowedMiB);
    left.abort();
  });
});
