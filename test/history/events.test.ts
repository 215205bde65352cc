import { expect, test } from 'vitest';
import { merge, operationsOf, fromLines, toLine, Recorder, type HistoryEvent } from '../../src/ops/history/event.ts';
import { elleFile, toElle } from '../../src/ops/history/elle.ts';
import { note } from './concurrent.ts';

function recording(name = 'p') {
  const events: HistoryEvent[] = [];
  let time = 0;
  return {
    events,
    recorder: new Recorder(
      name,
      (event) => events.push(event),
      () => (time += 10),
    ),
  };
}

const receipt = (firstSeq: number, duplicate = false) => ({ first_seq: firstSeq, rev: firstSeq + 1, duplicate });

test('a process does one thing at a time, and nothing more once an answer was lost', () => {
  const { events, recorder } = recording();
  const one = recorder.invoke('append', 't', { values: ['a'] });
  const two = recorder.invoke('append', 't', { values: ['b'] });
  one.info('reset');
  two.ok(receipt(0));
  recorder.invoke('append', 't', { values: ['c'] }).fail('lane_busy');
  expect(events.map(({ process, type }) => `${process} ${type}`)).toEqual([
    'p.0 invoke',
    'p.1 invoke',
    'p.0 info',
    'p.1 ok',
    'p.1 invoke',
    'p.1 fail',
  ]);
  expect(operationsOf(events).map(({ outcome, ended }) => [outcome, ended])).toEqual([
    ['info', Infinity],
    ['ok', 3],
    ['fail', 5],
  ]);
  expect(() => one.ok(receipt(0))).toThrow('has ended already');
});

test('histories of several processes become one, in order of time, also if one died while it wrote a line', () => {
  const events = (process: string, ...times: number[]): HistoryEvent[] =>
    times.map((time, i) => ({
      index: i,
      time,
      process,
      f: 'append',
      thread_id: 't',
      ...(i % 2 ? { type: 'ok', value: receipt(0) } : { type: 'invoke', value: { values: [`${process} ${time}`] } }),
    }));
  const file = [...events('a', 1, 4, 5, 6)].map(toLine).join('');
  const merged = merge(fromLines(file.slice(0, -20)), events('b', 2, 3));
  expect(merged.map(({ index, time, process }) => [index, time, process])).toEqual([
    [0, 1, 'a'],
    [1, 2, 'b'],
    [2, 3, 'b'],
    [3, 4, 'a'],
    [4, 5, 'a'], // prettier-ignore
  ]);
  expect(operationsOf(merged).map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'info']);
});

test('Elle gets each thread as a list, and all attempts at an append as one transaction', () => {
  const { events, recorder } = recording();
  const lost = recorder.invoke('append', 't', { values: ['a', 'b'], key: 'k' });
  recorder.invoke('claim', 't', { run_id: 'r', worker_id: 'w', lease_ms: 1 }).fail('locked');
  lost.info('reset');
  const again = recorder.invoke('append', 't', { values: ['a', 'b'], key: 'k' });
  const read = recorder.invoke('read', 't', {});
  again.ok(receipt(0, true));
  read.ok({ rev: 2, entries: [note('a', 0), note('b', 1)] });
  recorder.invoke('append', 'u', { values: ['c'] }).fail('lane_busy');
  recorder.invoke('append', 'u', { values: ['d'] });
  expect(toElle(events).map(({ process, type, value }) => [process, type, ...value])).toEqual([
    [0, 'invoke', ['append', 't', 0], ['append', 't', 1]],
    [1, 'invoke', ['r', 't', null]],
    [0, 'ok', ['append', 't', 0], ['append', 't', 1]],
    [1, 'ok', ['r', 't', [0, 1]]],
    [2, 'invoke', ['append', 'u', 2]],
    [2, 'fail', ['append', 'u', 2]],
    [3, 'invoke', ['append', 'u', 3]],
    [3, 'info', ['append', 'u', 3]],
  ]);
  expect((JSON.parse(elleFile(events)) as { index: number; f: string }[]).map(({ index, f }) => [index, f])).toEqual(
    Array.from({ length: 8 }, (_, index) => [index, 'txn']),
  );
});
