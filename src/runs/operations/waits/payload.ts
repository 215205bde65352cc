import { LanefoldError } from '../../../base/errors.ts';
import { assertStorable } from '../../../base/checks/values.ts';
import { defaultMaxResultBytes, renderResult } from '../../../agent/tools/outcome.ts';

/** Checks what is to become the result of a call. @throws LanefoldError `invalid_input`, `invalid_text` */
export const assertResult = (payload: unknown, what: string): void => void contentOf(payload, what);

/** What a sender gives as the result of a call, as the model reads it. @throws LanefoldError `invalid_input`, `invalid_text` */
export function contentOf(payload: unknown, what: string): string {
  assertStorable(payload, what);
  const { status, content, error } = renderResult(payload ?? null, defaultMaxResultBytes);
  if (status === 'ok') return content;
  throw new LanefoldError('invalid_input', `${what} cannot be the result of a call. ${error?.message ?? ''}`.trim(), {
    hint: `Nothing was written. Pass text or JSON of at most ${defaultMaxResultBytes} bytes.`,
  });
}
