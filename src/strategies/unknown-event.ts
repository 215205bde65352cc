import { LanefoldError } from '../errors.ts';

/** An event a machine has no rule for: the run fails with it, rather than wait for ever. */
export const unknownEvent = (strategy: string, event: { type: string }): LanefoldError =>
  new LanefoldError('internal', `The strategy ${strategy} does not know the event ${JSON.stringify(event.type)}.`, {
    hint: 'This is a fault of the runtime; please report it.',
  });
