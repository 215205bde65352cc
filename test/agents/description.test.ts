import { defineAgent } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';

describe('what an agent says about itself', () => {
  let lanefold: TestLanefold;
  beforeAll(async () => {
    const description = 'Sorts tickets.';
    const output = { schema: z.object({ urgent: z.boolean() }) };
    const triage = defineAgent({ name: 'triage', model: 'scripted:echo', description, output });
    lanefold = await startLanefold({ agents: [triage, defineAgent({ name: 'echo', model: 'scripted:echo' })] });
  });
  afterAll(() => lanefold?.close());

  test('is listed: what it is for, and the schema of its results', () => {
    expect(lanefold.agents.list()).toMatchObject([
      {
        name: 'triage',
        description: 'Sorts tickets.',
        outputSchema: { type: 'object', properties: { urgent: { type: 'boolean' } }, required: ['urgent'] },
      },
      { name: 'echo', description: null, outputSchema: null },
    ]);
  });

  test.each(['', ' ', 7, null])('is refused if it is %j', (description) => {
    const define = () => defineAgent({ name: 'a', model: 'm', description: description as string });
    expect(define).toThrow(
      expect.objectContaining({ code: 'invalid_agent', message: expect.stringContaining('description') }),
    );
  });
});
