import { LanefoldError } from '../errors.ts';

/**
 * The secrets that sign and verify tokens: the given ones, else those in `LANEFOLD_TOKEN_SECRET`. Ignores blank ones.
 */
export function tokenSecrets(given: readonly string[] = []): readonly string[] {
  const own = given.filter((secret) => secret.trim() !== '');
  if (own.length > 0) return own;
  return (process.env['LANEFOLD_TOKEN_SECRET'] ?? '')
    .split(',')
    .map((secret) => secret.trim())
    .filter((secret) => secret !== '');
}

/**
 * The first secret, which signs. Without one this throws instead of generating a secret, because no other process would
 * accept its tokens, and neither would this one after a restart.
 *
 * @throws LanefoldError `missing_token_secret`
 */
export function signingSecret(secrets: readonly string[]): string {
  const [first] = secrets;
  if (first !== undefined) return first;
  throw new LanefoldError('missing_token_secret', 'No secret is configured to sign tokens.', {
    hint:
      'Set LANEFOLD_TOKEN_SECRET to a long random string (openssl rand -hex 32), the same in every process. Separate ' +
      'several with commas; the first one signs.',
  });
}
