import { cleanText } from '../checks/text.ts';
import { hideUrlCredentials } from './sensitive-keys.ts';

/*
 * Redaction by form: removes API keys and credentials from the error text of providers, tools and repair functions.
 * For data, where a key names the secret, see sensitive-keys.ts.
 */

const maxMessageLength = 2_000;

const patterns: [RegExp, string][] = [
  [/\b(?:lfk|lft)[-_][\w*.-]{6,}/g, '[redacted]'],
  // signed tokens: of events and checkpoints
  [/\b(?:ev1|rt2)\.[\w-]{8,}\.[\w-]{8,}/g, '[redacted]'],
  // Names such as `pk_orders` and `key-value-store` begin like keys, so a key must contain at least ten letters and
  // digits in a row, including a digit. The id of one of our keys says who made a request, and grants no access.
  [
    /\b(?!key_[0-9a-v]{26}(?![\w*.-]))(?:(?:sk|pk|rk|gsk|xai|hf|pplx|nvapi|key)[-_]|npm_)(?=[\w*.-]{0,200}?(?<![A-Za-z0-9*])(?=[A-Za-z]{0,200}[0-9*])[A-Za-z0-9*]{10})[\w*.-]+/g,
    '[redacted]',
  ],
  [/\b(?:AIza[\w-]{10,}|(?:AKIA|ASIA)[A-Z0-9]{12,})/g, '[redacted]'],
  [/\b(?:gh[opusr]_|github_pat_|glpat-|xox[abprs]-)[\w-]{6,}/g, '[redacted]'],
  [/\b(Bearer|Basic)\s+[^\s"',]+/gi, '$1 [redacted]'],
  [/([?&](?:api[-_]?key|key|token|access_token)=)[^&\s"']+/gi, '$1[redacted]'],
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
export const redactSecrets = (message: string): string => cleanText(maskSecrets(message));

/** Error text without API keys and credentials, of at most 2,000 characters. */
export function maskSecrets(message: string): string {
  // Bodies can be megabytes. Keep more than the final length, so that a key across the cut is still recognised.
  let text = message.slice(0, maxMessageLength * 4);
  for (const secret of knownSecrets()) text = text.replaceAll(secret, '[redacted]');
  for (const [pattern, replacement] of patterns) text = text.replace(pattern, replacement);
  text = hideUrlCredentials(text, '[redacted]');
  return text.length > maxMessageLength ? `${text.slice(0, maxMessageLength - 1)}…` : text;
}
