import { expect } from 'vitest';
import { readSse } from '../../src/doors/client/sse.ts';
import { frame } from '../../src/doors/durable-streams/read.ts';
import { readable } from '../../src/agent/models/providers.ts';
import { eachWholeLine } from '../../src/agent/models/provider-fetch.ts';
import { demoTurn } from '../../src/agent/models/scripted/demo.ts';
import { generate } from '../../src/agent/models/generate.ts';
import { createModelRegistry } from '../../src/agent/models/registry.ts';
import type { Worst } from './growth.ts';

/** Something that reads text which callers, models, tools, receivers or files decide, and what it finds hardest. */
export interface Parser {
  read: (text: string) => unknown;
  worst: (string | Worst)[];
}

/** Refuses what it cannot read. */
export const orRefuses =
  (read: (text: string) => unknown) =>
  (text: string): unknown => {
    try {
      return read(text);
    } catch (error) {
      return error;
    }
  };

export const all =
  (...reads: ((text: string) => unknown)[]) =>
  (text: string): unknown =>
    reads.map((read) => read(text));

/** In pieces of a network, so that what a reader keeps is searched with each of them. */
export const piecesOf = (text: string): string[] => {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += 100) pieces.push(text.slice(at, at + 100));
  return pieces;
};

const tool = {
  type: 'function',
  name: 'calculator',
  inputSchema: { properties: { expression: {}, city: {} } },
} as const;

/** Server-sent events, as they come. */
export async function readEvents(text: string): Promise<void> {
  const encoder = new TextEncoder();
  async function* chunks() {
    for (const piece of piecesOf(text)) yield encoder.encode(piece);
  }
  for await (const message of readSse(chunks(), () => undefined)) expect(message.data).toBeDefined();
}

/** The stream of a provider, as it comes. */
export async function readStream(text: string): Promise<void> {
  const changed = new Blob([text]).stream().pipeThrough(new TextDecoderStream()).pipeThrough(cutUp());
  for await (const lines of changed.pipeThrough(eachWholeLine(readable))) expect(lines).not.toBe('');
}

export const readPage = (text: string): unknown => {
  const page = { data: Buffer.from(text), mediaType: 'text/plain', next: 0, upToDate: true, closed: true };
  return frame(page as Parameters<typeof frame>[0], undefined);
};

const cutUp = (): TransformStream<string, string> =>
  new TransformStream({
    transform(chunk, controller) {
      for (const piece of piecesOf(chunk)) controller.enqueue(piece);
    },
  });

const models = createModelRegistry();

/** Asks a scripted model, which streams its answer in words. */
export const askModel =
  (id: string) =>
  async (text: string): Promise<unknown> =>
    generate(await models.resolve(id), {
      prompt: [{ role: 'user', content: [{ type: 'text', text }] }],
      tools: [],
      settings: {},
      stream: true,
      idleTimeoutMs: 60_000,
      signal: new AbortController().signal,
    });

export const askDemo = (text: string): unknown =>
  demoTurn({ prompt: [{ role: 'user', content: [{ type: 'text', text }] }], tools: [tool] } as never);
