import { LanefoldError } from '../../base/errors.ts';
import type { RequestTransformer } from './transformer.ts';

type Named = Record<string, RequestTransformer>;

/**
 * Finds a transformer by name; those of the agent take precedence over shared ones.
 *
 * @throws LanefoldError `invalid_request_transformer`
 */
export function findTransformer(name: string, own: Named, shared: Named): RequestTransformer {
  const found = [own, shared].find((named) => Object.hasOwn(named, name))?.[name];
  if (found) return assertTransformer(name, found);
  const known = [...Object.keys(own), ...Object.keys(shared)].sort();
  throw new LanefoldError(
    'invalid_request_transformer',
    `Request transformer ${JSON.stringify(name)} does not exist.`,
    {
      hint: known.length > 0 ? `Known: ${known.join(', ')}.` : 'Pass requestTransformers: { … } to createLanefold.',
      details: { name, known },
    },
  );
}

export function assertTransformer(name: string, transformer: unknown): RequestTransformer {
  if (typeof transformer === 'function') return transformer as RequestTransformer;
  throw new LanefoldError(
    'invalid_request_transformer',
    `Request transformer ${JSON.stringify(name)} is not a function.`,
    { hint: 'Pass a function such as (request, context) => ({ … }).' },
  );
}
