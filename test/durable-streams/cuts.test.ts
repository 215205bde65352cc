// @module-tag long
import fc from 'fast-check';
import { defineAgent } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApi, type Api } from '../api/helpers.ts';
import { cases } from '../support/cases.ts';
import { until } from '../support/until.ts';
import { startApiProcess, type ApiProcess } from './api-process.ts';
import { startCutter } from './cutter.ts';
import { readOnce, type Mode, type Reading } from './reader.ts';

const cuts = cases(60);
const modes: Mode[] = ['catch-up', 'long-poll', 'sse'];
const fresh = <T>(): Reading<T> => ({ offset: '-1', items: [], closed: false });

/** Numbers below a limit, the same in each run of the test. */
function draw(seed: number, below: number): () => number {
  const [numbers] = fc.sample(fc.infiniteStream(fc.nat(below - 1)), { numRuns: 1, seed });
  return () => numbers!.next().value!;
}

/** Most connections break soon, some only after a page. */
function budgets(seed: number): () => number {
  const [kind, few, many] = [draw(seed, 4), draw(seed + 1, 3_000), draw(seed + 2, 60_000)];
  return () => (kind() === 0 ? many() : few());
}

describe('a stream that clients write over connections that break', () => {
  let api: ApiProcess;
  beforeAll(async () => void (api = await startApiProcess()));
  afterAll(() => api?.close());

  test('loses and repeats nothing over its cuts, and over crashes of the server', async () => {
    const cutter = await startCutter(api.url, budgets(70));
    const url = `${cutter.url}/v1/stream/cut`;
    const json = { 'content-type': 'application/json', connection: 'close' };
    expect((await fetch(`${api.url}/v1/stream/cut`, { method: 'PUT', headers: json })).status).toBe(201);

    /** Repeats a request until its answer arrives: it may have been carried out before. */
    const insist = async (init: RequestInit): Promise<Response> => {
      for (;;) {
        try {
          const answer = await fetch(url, { method: 'POST', ...init });
          await answer.arrayBuffer();
          if (answer.status < 500) return answer;
        } catch {
          // cut
        }
      }
    };
    const sizes = draw(8, 5);
    let sent = 0;
    const write = async () => {
      let seq = 0;
      const headers = { ...json, 'producer-id': 'writer', 'producer-epoch': '0' };
      while (cutter.cuts < cuts) {
        const batch = Array.from({ length: 1 + sizes() }, () => ({ n: sent++, text: 'ä'.repeat(sizes() * 40) }));
        const answer = await insist({
          headers: { ...headers, 'producer-seq': String(seq++) },
          body: JSON.stringify(batch),
        });
        expect([200, 204]).toContain(answer.status);
      }
      cutter.heal();
      expect((await insist({ headers: { 'stream-closed': 'true' } })).status).toBe(204);
    };
    const read = async (mode: Mode) => {
      const reading = fresh<{ n: number }>();
      while (!reading.closed) await readOnce(url, mode, reading);
      return reading.items.map(({ n }) => n);
    };
    const crash = async () => {
      for (const after of [0.2, 0.4, 0.6, 0.8]) {
        await until('there were more cuts', () => cutter.cuts > after * cuts);
        const { database } = api;
        await api.kill();
        api = { ...(await startApiProcess(database)), database };
        cutter.lead(api.url);
      }
    };
    const [, , ...found] = await Promise.all([write(), crash(), ...modes.map(read)]);
    console.log(`${cutter.cuts} cuts, 4 crashes, ${sent} messages`);
    for (const seen of found) expect(seen).toEqual(Array.from({ length: sent }, (_, n) => n));
    cutter.close();
  });
});

describe('the trace of a thread over connections that break', () => {
  let api: Api;
  beforeAll(async () => {
    api = await startApi({ agents: [defineAgent({ name: 'echo', model: 'scripted:echo' })] });
  });
  afterAll(() => api?.close());

  test('loses and repeats nothing while runs write it', async () => {
    const { id } = await api.lanefold.threads.create({ id: 'cut' });
    const cutter = await startCutter(api.url, budgets(90));
    let writing = true;
    const write = async () => {
      for (let n = 0; n < 10 || cutter.cuts < cuts / 4; n++) {
        const run = await api.lanefold.runs.enqueue({ agent: 'echo', input: `Question ${n}`, threadId: id });
        await api.lanefold.runs.wait(run);
      }
      writing = false;
      cutter.heal();
    };
    const read = async (mode: Mode) => {
      const reading = fresh<{ event_seq: number }>();
      const url = `${cutter.url}/v1/threads/${id}/stream`;
      while (writing) await readOnce(url, mode, reading);
      // the stream of a thread does not close
      for (let before = -1; before < reading.items.length;) {
        before = reading.items.length;
        expect(await readOnce(url, 'catch-up', reading)).toBe(true);
      }
      return reading.items.map((event) => event.event_seq);
    };
    const [, ...found] = await Promise.all([write(), ...modes.map(read)]);
    const last = (await api.lanefold.threads.events(id, { limit: 100_000 })).at(-1)!.eventSeq;
    for (const seqs of found) expect(seqs).toEqual(Array.from({ length: last + 1 }, (_, n) => n));
    cutter.close();
  });
});
