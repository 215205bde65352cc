import type { Message } from '../../context/message.ts';
import type { FileTokens } from '../../policy/heuristic.ts';
import { fileTokensOf } from './file-tokens.ts';

type Encoding = 'o200k_base' | 'cl100k_base';

/** OpenAI publishes its encodings by the first part of the model's name; no other provider has a tokenizer to load. */
const encodings: [RegExp, Encoding][] = [
  [/^(gpt-4o|gpt-4\.[15]|gpt-5|chatgpt-4o|o[134](-|$))/, 'o200k_base'],
  [/^(gpt-4|gpt-3\.5)/, 'cl100k_base'],
];

/** From OpenAI's cookbook: three tokens and a role frame each message. */
const perMessage = 4;
const perCall = 8;

/** The tokenizer takes quadratic time per word, so a long run of text without spaces, or of spaces, would block the process. */
const longestWord = 200;

/** Counts the exact tokens of a model's messages; undefined if its provider publishes no tokenizer for it. */
export async function exactTokens(model: string): Promise<((message: Message) => number) | undefined> {
  const name = model.startsWith('openai:') ? model.slice('openai:'.length) : '';
  const encoding = encodings.find(([pattern]) => pattern.test(name))?.[1];
  if (!encoding) return undefined;
  const { countTokens } = await load(encoding);
  const count = (text: string): number =>
    pieces(text).reduce((sum, piece) => sum + countTokens(piece, { disallowedSpecial: new Set() }), 0);
  const fileTokens = fileTokensOf(model);
  return (message) => messageTokens(message, count, fileTokens);
}

const load = (encoding: Encoding) =>
  encoding === 'o200k_base'
    ? import('gpt-tokenizer/encoding/o200k_base')
    : import('gpt-tokenizer/encoding/cl100k_base');

function messageTokens(message: Message, count: (text: string) => number, fileTokens: FileTokens): number {
  const { content, tool_calls: calls = [] } = message;
  let tokens = perMessage;
  if (typeof content === 'string') tokens += count(content);
  else {
    for (const part of content) {
      if (part.type === 'file') tokens += fileTokens(part);
      else tokens += count(part.type === 'text' && typeof part.text === 'string' ? part.text : JSON.stringify(part));
    }
  }
  for (const call of calls)
    tokens += perCall + count(call.name) + count(call.arguments_raw ?? JSON.stringify(call.arguments));
  return tokens;
}

/** The text, cut inside words and blanks that are too long for the tokenizer. */
function pieces(text: string): string[] {
  const cut: string[] = [];
  let at = 0;
  for (const { 0: word, index } of text.matchAll(/\S+|\s+/g)) {
    if (word.length < longestWord) continue;
    if (index > at) cut.push(text.slice(at, index));
    for (let i = 0; i < word.length; i += longestWord) cut.push(word.slice(i, i + longestWord));
    at = index + word.length;
  }
  cut.push(text.slice(at));
  return cut;
}
