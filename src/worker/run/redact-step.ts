import type { Redactor } from '../../base/redaction/sensitive-keys.ts';
import type { EventDraft, StepDraft } from '../../agent/strategies/machine.ts';

type Finish = NonNullable<StepDraft['finish']>;

/**
 * The step with its events redacted, for the trace. Entries, outcomes, effects, the result and the
 * machine's state are left as they are: the model and the tools need them whole.
 */
export const redactStep = (redactor: Redactor, step: StepDraft): StepDraft => ({
  ...step,
  ...(step.events && { events: redactEvents(redactor, step.events) }),
  ...(step.thenEvents && { thenEvents: redactEvents(redactor, step.thenEvents) }),
  ...(step.continue && { continue: { ...step.continue, events: redactEvents(redactor, step.continue.events) } }),
  ...(step.finish && { finish: redactFinish(redactor, step.finish) }),
});

/** Redacts only `data`: the other fields of an event are fixed names, which no redaction rule is meant for. */
export const redactEvents = (redactor: Redactor, events: readonly EventDraft[]): EventDraft[] =>
  events.map((event) => (event.data ? { ...event, data: redactor.value(event.data) } : event));

function redactFinish(redactor: Redactor, finish: Finish): Finish & { shown?: unknown } {
  const { result, events, output } = finish;
  // the terminal event quotes this result, which is not a message in the log
  const shown = redactor.value(result);
  return {
    ...finish,
    ...(events && { events: redactEvents(redactor, events) }),
    ...(output && { output: redactor.value(output) }),
    ...(shown === result ? {} : { shown }),
  };
}
