import { describe, expect, test } from 'vitest';
import { checkHistory } from '../../src/ops/history/check-history.ts';
import { Recorder, type HistoryEvent, type Recording } from '../../src/ops/history/event.ts';

const place = '* tokens all';

/** A history of what one run takes and gives back, and of what is reserved then. */
function historyOf(act: (ask: Asking) => void): HistoryEvent[] {
  const events: HistoryEvent[] = [];
  const clock = () => events.length;
  const recorder = new Recorder('p', (event) => events.push({ ...event, index: events.length }), clock);
  const reserve = (call: { take?: number; done?: number; settles?: boolean }) =>
    recorder.invoke('reserve', 't', {
      run_id: 'run',
      settles: call.settles ?? false,
      take: call.take === undefined ? [] : [[place, call.take]],
      done: call.done === undefined ? [] : [[place, call.done]],
    });
  act({ reserve, usage: (reserved) => recorder.invoke('usage', 'limits', {}).ok({ reserved: { [place]: reserved } }) });
  return events;
}

interface Asking {
  reserve(call: { take?: number; done?: number; settles?: boolean }): Recording<'reserve'>;
  usage(reserved: number): void;
}

const found = (act: (ask: Asking) => void) => checkHistory(historyOf(act)).map(({ what }) => what);

describe('reservations are conserved', () => {
  test('when a request whose answer was lost is executed after the end of its run', () => {
    const late = (reserved: number) =>
      found(({ reserve, usage }) => {
        reserve({ take: 58 }).info('lost');
        reserve({ settles: true }).ok({ granted: true });
        usage(reserved);
      });
    expect(late(0)).toEqual([]);
    expect(late(58)).toEqual([]);
    expect(late(59)).toEqual([`${place} has 59 reserved, but runs hold 0 to 58`]);
  });

  test('when the end overlaps with a request', () => {
    expect(
      found(({ reserve, usage }) => {
        const taking = reserve({ take: 10 });
        reserve({ settles: true }).ok({ granted: true });
        taking.ok({ granted: true });
        usage(10);
        reserve({ done: 10 }).ok({ granted: true });
        usage(0);
      }),
    ).toEqual([]);
  });

  test('when a worker gives back late, after another one has claimed the run', () => {
    const late = (reserved: number) =>
      found(({ reserve, usage }) => {
        reserve({ take: 30 }).ok({ granted: true });
        const returning = reserve({ done: 30 });
        reserve({ take: 40, settles: true }).ok({ granted: true });
        returning.ok({ granted: true });
        usage(reserved);
      });
    expect(late(10)).toEqual([]);
    expect(late(40)).toEqual([]);
    expect(late(9)).toEqual([`${place} has 9 reserved, but runs hold 10 to 40`]);
  });

  test('when two requests overlap, of which either may be executed first', () => {
    expect(
      found(({ reserve, usage }) => {
        reserve({ take: 10 }).ok({ granted: true });
        reserve({ take: 10, settles: true }).ok({ granted: true });
        const next = reserve({ done: 10, take: 10 });
        const late = reserve({ done: 10 });
        late.ok({ granted: true });
        next.ok({ granted: true });
        usage(0);
      }),
    ).toEqual([]);
  });

  test('by the end of a run, which returns everything that it took before', () => {
    expect(
      found(({ reserve, usage }) => {
        reserve({ take: 10 }).ok({ granted: true });
        reserve({ take: 20 }).ok({ granted: true });
        reserve({ done: 10 }).ok({ granted: true });
        usage(20);
        reserve({ settles: true }).ok({ granted: true });
        usage(20);
      }),
    ).toEqual([`${place} has 20 reserved, but runs hold 0`]);
  });
});
