import type { ToolCall } from '../../context/message.ts';
import type { EntryDraft } from '../machine.ts';

const warning =
  'You have repeated the same tool calls with the same arguments as in your previous turn. ' +
  'Use the results you have, try something different, or give your final answer.';

/** Appended after a tool round that repeats the calls of the round before it. */
export const cycleWarning = (iteration: number): EntryDraft => ({
  role: 'user',
  payload: { content: warning },
  refs: { kind: 'cycle_warning', iteration },
});

/** The same for rounds with the same tool names and arguments, whatever the order and ids of the calls. */
export const signatureOf = (calls: ToolCall[]): string =>
  hash(
    calls
      .map((call) => `${call.name}:${call.arguments_raw ?? JSON.stringify(call.arguments)}`)
      .sort()
      .join('\n'),
  );

/** Two 32-bit FNV-1a hashes: strong enough, because a signature is compared only with the previous one. */
function hash(text: string): string {
  let a = 0x811c9dc5;
  let b = 0x9e3779b9;
  for (let i = 0; i < text.length; i++) {
    a = Math.imul(a ^ text.charCodeAt(i), 0x01000193);
    b = Math.imul(b ^ text.charCodeAt(i), 0x01000197);
  }
  return (a >>> 0).toString(16) + (b >>> 0).toString(16);
}
