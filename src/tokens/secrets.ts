import { LanefoldError } from '../errors.ts';

/** The secrets tokens are signed and verified with: given ones, else those of `LANEFOLD_TOKEN_SECRET`. Blank ones are none. */
export function tokenSecrets(given: readonly string[] = []): readonly string[] {
  const own = given.filter((secret) => secret.trim() !== '');
  if (own.length > 0) return own;
  return (process.env['LANEFOLD_TOKEN_SECRET'] ?? '')
    .split(',')
    .map((secret) => secret.trim())
    .filter((secret) => secret !== '');
}

/**
 * The first of them, which signs. One made up by this process would make tokens no other process accepts, nor this one
 * after a restart: hence the refusal.
 *
 * @throws LanefoldError `missing_token_secret`
 */
export function signingSecret(secrets: readonly string[]): string {
  const [first] = secrets;
  if (first !== undefined) return first;
  throw new LanefoldError('missing_token_secret', 'There is no secret to sign checkpoint tokens with.', {
    hint:
      'Set LANEFOLD_TOKEN_SECRET to a long random text (openssl rand -hex 32), the same in every process; several are ' +
      'separated by commas, and the first one signs.',
  });
}
