import { LanefoldError } from '../../../base/errors.ts';
import { interruptIdOf, type Answerable } from '../../../runs/formats/ag-ui/interrupts.ts';

/** @throws LanefoldError `interrupts_open` */
export function assertNoneLeft(runId: string, open: readonly Answerable[], named: ReadonlySet<string>): void {
  const left = open.map((wait) => interruptIdOf(runId, wait)).filter((id) => !named.has(id));
  if (left.length === 0) return;
  throw new LanefoldError('interrupts_open', `The run waits for answers to ${left.join(', ')}.`, {
    hint: 'Nothing was written. Send resume with an entry for each of them.',
    details: { interrupts: left },
  });
}

export const notFound = (id: string): LanefoldError =>
  new LanefoldError('interrupt_not_found', `The thread has no interrupt ${id.slice(0, 200)}.`, {
    hint: 'Nothing was written. Answer the interrupts of the last RUN_FINISHED, in one request.',
  });

export const ended = (id: string): LanefoldError =>
  new LanefoldError('interrupt_ended', `The interrupt ${id} has ended in another way.`, {
    hint: 'The first answer counts. Send cancelled for it to see what became of it.',
  });

export const invalid = (message: string): LanefoldError =>
  new LanefoldError('invalid_input', message, {
    hint: 'Nothing was written. See the responseSchema of each interrupt.',
  });
