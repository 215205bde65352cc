import { operationsOf, type Operation } from '../../src/ops/history/event.ts';
import type { Simulated } from './world/play.ts';

const short = (value: unknown): string => {
  const text = JSON.stringify(value) ?? '';
  return text.length > 160 ? `${text.slice(0, 157)}...` : text;
};

const ending = ({ outcome, answer, error }: Operation): string =>
  outcome === 'ok' ? short(answer) : outcome === 'fail' ? `refused: ${error}` : 'no answer';

/** A history as text: its contradictions, what was done to the system, and what each process asked and was told. */
export function show({ seed, found, happened, events }: Simulated): string {
  const begun = events[0]?.time ?? 0;
  const shown = operationsOf(events).filter(({ f }) => f !== 'renew' && f !== 'read');
  return [
    `seed ${seed}`,
    ...found.map(({ check, what, step }) => `  ${check}, step ${step}: ${what}`),
    'what happened',
    ...[...happened].map(([name, what]) => `  ${what} (${name})`),
    'history',
    ...shown.map((operation) => {
      const { invokedAt, process, f, thread_id, call } = operation;
      const ms = ((invokedAt - begun) / 1e6).toFixed(0).padStart(7);
      return `${ms} ms  ${process} ${f} ${thread_id} ${short(call)} -> ${ending(operation)}`;
    }),
  ].join('\n');
}
