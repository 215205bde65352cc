import type { Redactor } from '../../redaction/keys.ts';
import type { StepDraft } from '../../strategies/machine.ts';

type Finish = NonNullable<StepDraft['finish']>;

/**
 * A step as its trace may tell it, itself where there is nothing to hide. Entries, outcomes, results and the state of the
 * machine are what they were.
 */
export function redactStep(redactor: Redactor, step: StepDraft): StepDraft {
  const { events, thenEvents, finish, continue: next } = step;
  let told = step;
  const clean = redactor.value(events);
  if (clean && clean !== events) told = { ...told, events: clean };
  const cleanThen = redactor.value(thenEvents);
  if (cleanThen && cleanThen !== thenEvents) told = { ...told, thenEvents: cleanThen };
  const cleanNext = redactor.value(next?.events);
  if (next && cleanNext && cleanNext !== next.events) told = { ...told, continue: { ...next, events: cleanNext } };
  if (finish) told = { ...told, finish: redactFinish(redactor, finish) };
  return told;
}

function redactFinish(redactor: Redactor, finish: Finish): Finish & { shown?: unknown } {
  const { result, ...rest } = finish;
  const told = { ...redactor.value(rest), ...(result === undefined ? {} : { result }) };
  // the event of the end quotes a result that is no message of the log
  const shown = redactor.value(result);
  return shown === result ? told : { ...told, shown };
}
