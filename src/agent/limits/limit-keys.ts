import { LanefoldError } from '../../base/errors.ts';

/** Dimensions that every run has; a request cannot set them. */
export const ownDimensions = ['tenant', 'key', 'agent', 'model', 'provider', 'thread'] as const;

/** The name of a dimension. */
export const dimensionGrammar = /^[a-z][a-z0-9_]{0,31}$/;

const mostKeys = 8;
const longestValue = 200;

/** @throws LanefoldError `invalid_input` */
export function assertLimitKeys(keys: unknown): void {
  if (keys === undefined) return;
  const entries = keys !== null && typeof keys === 'object' && !Array.isArray(keys) ? Object.entries(keys) : undefined;
  if (!entries) throw invalid('limitKeys is not an object');
  if (entries.length > mostKeys) throw invalid(`limitKeys has more than ${mostKeys} keys`);
  for (const [name, value] of entries) {
    if (!dimensionGrammar.test(name)) throw invalid(`limitKeys has the name ${JSON.stringify(name)}`);
    if (ownDimensions.some((own) => own === name)) throw invalid(`limitKeys sets ${name}, which every run has already`);
    if (
      typeof value !== 'string' ||
      value === '' ||
      value.length > longestValue ||
      value === '*' ||
      value.includes('/')
    )
      throw invalid(`limitKeys.${name} is not a text of 1 to ${longestValue} characters without /`);
  }
}

const invalid = (problem: string): LanefoldError =>
  new LanefoldError('invalid_input', `${problem}.`, {
    hint: "Pass values by name, such as limitKeys: { customer: 'acme' }. Names are up to 32 letters, digits and _, and begin with a letter.",
  });
