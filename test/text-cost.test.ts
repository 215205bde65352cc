import { expect, test } from 'vitest';
import { parseAnswer } from '../src/contracts/parse-answer.ts';
import { toParts } from '../src/models/messages/parts.ts';
import { createModelRegistry } from '../src/models/registry/registry.ts';
import { generate } from '../src/models/generate.ts';
import { oneLine } from '../src/log/printable.ts';
import { redactSecrets } from '../src/redaction/error-text.ts';
import { parseThought } from '../src/strategies/chain/parse-thought.ts';
import { cleanText } from '../src/checks/text.ts';

/** A megabyte of what makes a pattern search from every character to the end. */
const hostile: Record<string, string> = {
  spaces: ' '.repeat(2 ** 20),
  digits: '1'.repeat(2 ** 20),
  'lines of spaces': `${' '.repeat(1_000)}\n`.repeat(1_000),
  'spaced digits': '1 '.repeat(2 ** 19),
  fences: '```\n'.repeat(2 ** 18),
  'steps without an end': 'step '.repeat(2 ** 18),
  bullets: '- '.repeat(2 ** 19),
  capitals: "Aa ' ".repeat(2 ** 18),
  'half a data URL': `data:${';base64'.repeat(2 ** 17)}`,
};

const models = createModelRegistry();

async function demo(text: string): Promise<void> {
  const tool = (name: string, property: string) => ({
    type: 'function' as const,
    name,
    inputSchema: { type: 'object' as const, properties: { [property]: { type: 'string' as const } } },
  });
  for (const id of ['scripted:demo', 'scripted:echo']) {
    await generate(await models.resolve(id), {
      prompt: [{ role: 'user', content: [{ type: 'text', text }] }],
      tools: id === 'scripted:demo' ? [tool('calculator', 'expression'), tool('weather', 'city')] : [],
      settings: {},
      stream: false,
      signal: new AbortController().signal,
      idleTimeoutMs: 60_000,
    });
  }
}

const readers: Record<string, (text: string) => unknown> = {
  'a chain of thought': parseThought,
  'an answer under a contract': parseAnswer,
  'an error text': redactSecrets,
  'a line': oneLine,
  'clean text': cleanText,
  'an image': (url) => {
    try {
      return toParts([{ type: 'image_url', image_url: { url } }] as never);
    } catch {
      return undefined;
    }
  },
  'the scripted models': demo,
};

// quadratic work on a megabyte takes minutes, linear work milliseconds: the limit of the test tells them apart
test.each(Object.keys(readers))('%s is read in linear time, whatever it says', { timeout: 20_000 }, async (name) => {
  for (const text of Object.values(hostile)) await readers[name]!(text);
  expect(Object.keys(hostile)).not.toHaveLength(0);
});
