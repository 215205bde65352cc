import { camelKeys } from '../../base/common/case.ts';
import { LanefoldError } from '../../base/errors.ts';
import type { PolicyOption } from './policy.ts';
import { parseJson } from '../../base/common/json.ts';

/** Converts a policy from its fields in snake_case to the form the library takes. */
export const toPolicyOption = (given: string | object): PolicyOption =>
  (typeof given === 'string' ? given : camelKeys(given)) as PolicyOption;

/** Parses a policy from a URL or a command line: a preset, or a JSON object. @throws LanefoldError `invalid_policy` */
export function parsePolicy(text: string): PolicyOption {
  if (!text.trimStart().startsWith('{')) return text as PolicyOption;
  try {
    return toPolicyOption(parseJson(text) as object);
  } catch {
    throw new LanefoldError('invalid_policy', 'The context policy is not JSON.', {
      hint: 'Pass a preset, or a JSON object such as {"max_input_tokens": 8000}.',
    });
  }
}
