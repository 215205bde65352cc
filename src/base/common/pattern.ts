/**
 * The only place that builds patterns from text. A pattern that is written down is checked by ESLint, which cannot see what
 * one is built from: so a part that is not written here is a name, taken literally.
 */

/** Text as the part of a pattern that matches it. */
export const literally = (text: string): string => text.replace(/[^\w]/g, '\\$&');

/**
 * The keys of labelled values, such as `api_key=` and `"api_key":`, with their quotes and the sign. `*key` stands for any
 * name of at most 64 more characters that ends so, and a name begins at the first of its letters: so it is read once for
 * each key.
 */
export const labelPattern = (keys: readonly string[]): RegExp =>
  new RegExp(
    String.raw`(?<![\w-])(?=[\w\\"'-])(\\?["']?)(?:${keys.map(keyPattern).join('|')})\1\s{0,20}[:=]\s{0,20}`,
    'gi',
  );

const keyPattern = (key: string): string =>
  key.startsWith('*') ? String.raw`[\w-]{0,64}${literally(key.slice(1))}` : literally(key);
