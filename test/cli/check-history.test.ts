import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toLine, Recorder, type HistoryEvent } from '../../src/ops/history/event.ts';
import { note } from '../history/concurrent.ts';
import { callCli } from './call-cli.ts';

/** An append that was acknowledged, and a read after it. */
function history(values: string[]): string {
  const events: HistoryEvent[] = [];
  const recorder = new Recorder('p', (event) => events.push(event));
  recorder.invoke('append', 't', { values: ['a', 'b'] }).ok({ first_seq: 0, rev: 2, duplicate: false });
  recorder.invoke('read', 't', {}).ok({ rev: values.length, entries: values.map(note) });
  return events.map(toLine).join('');
}

describe('lanefold check-history', () => {
  let dir: string;
  const file = (name: string) => path.join(dir, name);
  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'lanefold-history-'));
    await writeFile(file('legal.jsonl'), history(['a', 'b']));
    await writeFile(file('reordered.jsonl'), history(['b', 'a']));
    await writeFile(file('other.txt'), 'Dear diary');
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  test('finds nothing in a legal history', async () => {
    const { code, stdout } = await callCli(['check-history', file('legal.jsonl')]);
    expect([code, stdout]).toEqual([0, 'operations: 2, threads: 1\n']);
  });

  test('prints each contradiction, and fails', async () => {
    const { code, stdout, stderr } = await callCli(['check-history', file('reordered.jsonl')]);
    expect(code).toBe(1);
    expect(stdout).toContain('linearizable-appends: thread t: a was acknowledged at 0 and is at 1 (operations 0, 2)');
    expect(stderr).toContain('2 contradictions');
    const json = await callCli(['check-history', file('reordered.jsonl'), '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({
      operations: 2,
      violations: [{ check: 'linearizable-appends', thread_id: 't', operations: [0, 2] }, {}],
    });
  });

  test('refuses a file that is no history', async () => {
    for (const name of ['other.txt', 'missing.jsonl']) {
      const { code, stderr } = await callCli(['check-history', file(name)]);
      expect(code).toBe(2);
      expect(stderr).toMatch(/has no operations|Could not read/);
    }
  });
});
