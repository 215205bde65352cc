import canonicalize from 'canonicalize';
import type { Message } from '../../api/types.ts';

export type Verdict = 'verified' | 'altered' | 'unknown';

/**
 * Whether messages have the recorded hash: SHA-256 over the canonical JSON (RFC 8785) of each, followed by a newline.
 * The browser computes it itself, from the bytes it shows. `unknown`: the browser offers no cryptography, because the
 * page was loaded over plain HTTP from another host.
 */
export async function verify(messages: Message[], recorded: string): Promise<Verdict> {
  if (!globalThis.crypto?.subtle) return 'unknown';
  const bytes = new TextEncoder().encode(messages.map((message) => `${canonicalize(message)}\n`).join(''));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  const hex = [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex === recorded ? 'verified' : 'altered';
}
