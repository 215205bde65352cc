import { cleanText } from '../text.ts';

/*
 * Redaction by form: removes API keys from the error text of providers and repair functions. For data, where a key names
 * the secret, see sensitive-keys.ts.
 */

const maxMessageLength = 2_000;

const patterns: [RegExp, string][] = [
  [/\b(?:sk|pk|rk|gsk|xai|hf|pplx|nvapi|key)[-_][A-Za-z0-9_*.-]{6,}/g, '[redacted]'],
  [/\bAIza[\w-]{10,}/g, '[redacted]'],
  [/\b(Bearer|Basic)\s+[^\s"',]+/gi, '$1 [redacted]'],
  [/([?&](?:api[-_]?key|key|token|access_token)=)[^&\s"']+/gi, '$1[redacted]'],
  [/(:\/\/)[^\s/@:"']{0,256}:[^\s/@"']{1,256}@/g, '$1[redacted]@'],
  [
    /((?:[\w-]{0,64}(?:password|passwd|secret)|(?:access|refresh|id|auth)[-_]token)["']?\s{0,9}[:=]\s{0,9}["']?)[^\s"',}&]{3,}/gi,
    '$1[redacted]',
  ],
  [/((?:x-)?api[-_]?key"?\s*[:=]\s*"?)[^\s"',}]{6,}/gi, '$1[redacted]'],
];

/** The secrets in this process's environment, to catch API keys of an unknown format. */
function knownSecrets(): string[] {
  return Object.entries(process.env)
    .filter(([name, value]) => /(_KEY|_TOKEN|_SECRET|PASSWORD)$/.test(name) && (value?.length ?? 0) >= 8)
    .map(([, value]) => value as string)
    .sort((a, b) => b.length - a.length);
}

/** Makes error text safe to store and show: no API keys, nothing PostgreSQL cannot store, at most 2,000 characters. */
export function redactSecrets(message: string): string {
  // Bodies can be megabytes. Keep more than the final length, so that a key across the cut is still recognised.
  let text = message.slice(0, maxMessageLength * 4);
  for (const secret of knownSecrets()) text = text.replaceAll(secret, '[redacted]');
  for (const [pattern, replacement] of patterns) text = text.replace(pattern, replacement);
  if (text.length > maxMessageLength) text = `${text.slice(0, maxMessageLength - 1)}…`;
  return cleanText(text);
}
