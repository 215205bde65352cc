export const longestUrl = 2_000;

/** Reads the URL of an endpoint, or says what is wrong with it. @param anywhere `http:` is allowed too */
export function readUrl(text: unknown, anywhere: boolean): { url: URL; problem?: never } | { problem: string } {
  if (typeof text !== 'string' || !URL.canParse(text)) return { problem: 'must be a URL' };
  const url = new URL(text);
  if (text.length > longestUrl) return { problem: `must have at most ${longestUrl} characters` };
  if (url.protocol !== 'https:' && !(anywhere && url.protocol === 'http:'))
    return { problem: `must begin with https:${anywhere ? ' or http:' : ''}` };
  if (url.username || url.password)
    return { problem: 'must not have a user or password: verify the signature instead' };
  if (url.hash) return { problem: 'must not have a fragment' };
  return { url };
}
