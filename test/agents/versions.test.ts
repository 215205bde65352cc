import { defineAgent, defineTool, type AgentDefinition } from 'lanefold';
import fc from 'fast-check';
import { defineStrategy } from 'lanefold/strategy';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { diffVersions } from '../../src/agent/definition/version.ts';
import { createAgentRegistry } from '../../src/agent/definition/registry.ts';
import { cases } from '../support/cases.ts';

const lookup = (description: string) =>
  defineTool({ name: 'lookup', description, input: z.object({ id: z.string() }), execute: () => 'found' });
const base = { name: 'support', model: 'scripted:demo', instructions: 'Help.', tools: [lookup('Looks up an order.')] };
const versionOf = async (definition: AgentDefinition) =>
  (await createAgentRegistry([defineAgent(definition)])).get(definition.name).version;

describe('the version of an agent', () => {
  test('is the same for the same definition, whatever its functions are', async () => {
    const { id, definition } = await versionOf(base);
    expect(id).toMatch(/^v_[0-9a-f]{24}$/);
    expect((await versionOf({ ...base, tools: [lookup('Looks up an order.')] })).id).toBe(id);
    expect(definition).toMatchObject({
      model: 'scripted:demo',
      instructions: 'Help.',
      strategy: 'react',
      tools: [{ name: 'lookup', description: 'Looks up an order.', input_schema: { type: 'object' } }],
    });
  });

  test.each<[string, Partial<AgentDefinition>, object[]]>([
    ['its prompt', { instructions: 'Help!' }, [{ path: 'instructions', from: 'Help.', to: 'Help!' }]],
    ['its model', { model: 'scripted:echo' }, [{ path: 'model', from: 'scripted:demo', to: 'scripted:echo' }]],
    ['a setting', { settings: { temperature: 0.2 } }, [{ path: 'settings.temperature', to: 0.2 }]],
    [
      'the description of a tool',
      { tools: [lookup('Finds an order.')] },
      [{ path: 'tools.lookup.description', from: 'Looks up an order.', to: 'Finds an order.' }],
    ],
    ['a tool less', { tools: [] }, [{ path: 'tools.lookup', from: { name: 'lookup' } }]],
    ['a limit', { maxIterations: 3 }, [{ path: 'limits.max_iterations', to: 3 }]],
    ['a context policy', { contextPolicy: { maxMessages: 9 } }, [{ path: 'context_policy' }]],
    [
      'an output contract',
      { output: { schema: z.object({ answer: z.string() }) } },
      [{ path: 'output', to: { max_repairs: 1 } }],
    ],
  ])('is another one with %s, and the difference says so', async (_, change, expected) => {
    const before = await versionOf(base);
    const after = await versionOf({ ...base, ...change } as AgentDefinition);
    expect(after.id).not.toBe(before.id);
    expect(diffVersions(before.definition, after.definition)).toMatchObject(expected);
    expect(diffVersions(before.definition, before.definition)).toEqual([]);
  });
});

describe('values that may be secret', () => {
  const secretive = (secret: string, changes: Partial<AgentDefinition> = {}) =>
    versionOf({
      ...base,
      settings: {
        headers: { 'x-door': secret, 'Anthropic-Beta': 'fast-mode' },
        providerOptions: {
          gateway: { byok: { some: [{ apiKey: secret, region: 'eu' }] } },
          some: { sessionToken: secret },
        },
      },
      toolContext: { door: secret, beta: true, list: [{ pin: 1234, none: null }] },
      ...changes,
    });

  test('are hidden; their names, and what is not secret, stay', async () => {
    expect((await secretive('s3cret-of-mine')).definition).toMatchObject({
      settings: {
        headers: { 'x-door': '[REDACTED]', 'Anthropic-Beta': 'fast-mode' },
        provider_options: {
          gateway: { byok: { some: [{ apiKey: '[REDACTED]', region: 'eu' }] } },
          some: { sessionToken: '[REDACTED]' },
        },
      },
      tool_context: { door: '[REDACTED]', beta: true, list: [{ pin: '[REDACTED]', none: null }] },
    });
  });

  test('do not count, and the label does, so that it can tell versions apart', async () => {
    const { id } = await secretive('one');
    expect((await secretive('two')).id).toBe(id);
    expect((await secretive('one', { toolContext: { other: 'one', beta: true } })).id).not.toBe(id);
    const labelled = await secretive('one', { version: 'b' });
    expect(labelled.id).not.toBe(id);
    expect((await secretive('two', { version: 'b' })).id).toBe(labelled.id);
    expect((await versionOf({ ...base, version: 'b' })).id).toBe((await versionOf(base)).id);
  });

  test('have the names of `redactKeys`, and always those of the default', async () => {
    const registry = await createAgentRegistry(
      [defineAgent({ ...base, settings: { providerOptions: { some: { pin: '1', apiKey: '2', effort: 'high' } } } })],
      { redactKeys: ['pin'] },
    );
    expect(registry.get('support').version.definition).toMatchObject({
      settings: { provider_options: { some: { pin: '[REDACTED]', apiKey: '[REDACTED]', effort: 'high' } } },
    });
  });

  test('do not count in the fingerprint either, which checkpoint tokens show to their holders', async () => {
    const done = { memory: null, end: { reason: 'success' as const, answer: 'done', result: 'done' } };
    const strategy = defineStrategy({
      name: 'asker',
      begin: () => done,
      learn: () => done,
      best: () => done.end,
      options: { api_key: z.string().default(''), depth: z.number().default(1) },
    });
    const fingerprintOf = async (strategyOptions: object) =>
      (await createAgentRegistry([defineAgent({ ...base, strategy, strategyOptions })])).get('support').fingerprint;
    const known = await fingerprintOf({ api_key: '1234', depth: 2 });
    expect(await fingerprintOf({ api_key: '5678', depth: 2 })).toBe(known);
    expect(await fingerprintOf({ api_key: '1234', depth: 3 })).not.toBe(known);
  });

  test('are nowhere in a version, whatever they are and wherever they stand', async () => {
    const secret = fc.stringMatching(/^[a-z0-9]{8,20}$/);
    const names = fc.stringMatching(/^[a-z]{1,6}$/);
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        secret,
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(names, tie('value'), { maxKeys: 3 }),
      ),
    })).value;
    await fc.assert(
      fc.asyncProperty(fc.dictionary(names, json), fc.dictionary(names, secret), async (context, headers) => {
        const { definition } = await versionOf({ ...base, toolContext: context as never, settings: { headers } });
        const texts: string[] = [];
        JSON.stringify(
          [context, headers],
          (_, value: unknown) => (typeof value === 'string' && texts.push(value), value),
        );
        const shown = JSON.stringify(definition);
        expect(texts.filter((text) => shown.includes(`"${text}"`))).toEqual([]);
      }),
      { numRuns: cases(20) },
    );
  });
});

test('a difference is empty only for equal definitions, and turned around by turning them around', () => {
  const definition = fc.dictionary(fc.constantFrom('a', 'b', 'settings', 'limits'), fc.jsonValue()) as never;
  fc.assert(
    fc.property(definition, definition, (from, to) => {
      const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as never;
      const changes = diffVersions(plain(from), plain(to));
      expect(changes.length === 0).toBe(JSON.stringify(sorted(from)) === JSON.stringify(sorted(to)));
      const back = diffVersions(plain(to), plain(from)).map(({ path, from: to, to: from }) => ({ path, from, to }));
      const full = changes.map(({ path, from, to }) => ({ path, from, to }));
      const order = (a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : 1);
      expect(back.sort(order)).toEqual(full.sort(order));
    }),
  );
});

/** With the keys of all objects in order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, one]) => [key, sorted(one)]),
  );
}
