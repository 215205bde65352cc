import { defineAgent, type Json } from 'lanefold';
import { createClient, type Client, type RunHandle, type RunSnapshot } from 'lanefold/client';
import { useRun } from 'lanefold/react';
import { describe, expectTypeOf, test } from 'vitest';
import { z } from 'zod';

// never called: the compiler is the test
const _agents = () => {
  const support = defineAgent({ name: 'support', model: 'm' });
  const triage = defineAgent({
    name: 'triage',
    model: 'm',
    output: { schema: z.object({ is_urgent: z.boolean(), topic: z.string() }) },
  });
  return [support, triage];
};
type Agents = ReturnType<typeof _agents>;
type Ticket = { is_urgent: boolean; topic: string };

describe('the types of lanefold/client', () => {
  test('know the names of the agents', () => {
    const ask = (client: Client<Agents>) => [
      client.runs.enqueue({ agent: 'support', input: 'x' }),
      // @ts-expect-error no agent has this name
      client.runs.enqueue({ agent: 'suport', input: 'x' }),
      // @ts-expect-error not an option
      client.runs.enqueue({ agent: 'support', input: 'x', requestID: 'r' }),
      // @ts-expect-error no such word
      client.runs.enqueue({ agent: 'support', input: 'x', busy: 'queue' }),
      // @ts-expect-error no agent has this name
      client.runs.enqueueMany([{ agent: 'suport', input: 'x' }]),
      // @ts-expect-error camelCase, as in the library
      client.threads.create({ system_prompt: 'x' }),
    ];
    expectTypeOf(ask).toBeFunction();
  });

  test('carry the output contract to the result, over retries', () => {
    const results = async (client: Client<Agents>) => {
      const text = await client.runs.enqueue({ agent: 'support', input: 'x' });
      expectTypeOf((await client.runs.wait(text)).result).toEqualTypeOf<string | null>();
      const run = await client.runs.enqueue({ agent: 'triage', input: 'x' });
      expectTypeOf(run).toEqualTypeOf<RunHandle<Ticket>>();
      expectTypeOf((await client.runs.wait(run)).result).toEqualTypeOf<Ticket | null>();
      expectTypeOf((await client.runs.get(run)).result).toEqualTypeOf<Ticket | null>();
      expectTypeOf((await client.runs.wait(await client.runs.retry(run))).result).toEqualTypeOf<Ticket | null>();
      expectTypeOf(useRun(client, run).run).toEqualTypeOf<RunSnapshot<Ticket> | undefined>();
      const [first] = await client.runs.enqueueMany([{ agent: 'triage', input: 'x' }]);
      expectTypeOf(first!).toEqualTypeOf<PromiseSettledResult<RunHandle<Ticket>>>();
    };
    expectTypeOf(results).toBeFunction();
  });

  test('follow what a request overrides', () => {
    const results = async (client: Client<Agents>) => {
      const raw = await client.runs.enqueue({ agent: 'triage', input: 'x', output: 'raw' });
      expectTypeOf((await client.runs.wait(raw)).result).toEqualTypeOf<string | null>();
      const schema = { type: 'object', properties: {} };
      const scored = await client.runs.enqueue({ agent: 'support', input: 'x', output: { schema } });
      expectTypeOf((await client.runs.wait(scored)).result).toEqualTypeOf<{ [key: string]: Json } | null>();
      const searched = await client.runs.enqueue({ agent: 'support', input: 'x', strategy: 'tot' });
      expectTypeOf((await client.runs.wait(searched)).result).toEqualTypeOf<Json>();
    };
    expectTypeOf(results).toBeFunction();
  });

  test('say nothing of agents and runs they do not know', () => {
    const results = async (client: Client, specific: Client<Agents>) => {
      const run = await client.runs.enqueue({ agent: 'whatever', input: 'x' });
      expectTypeOf((await client.runs.wait(run)).result).toEqualTypeOf<Json>();
      expectTypeOf((await client.runs.wait({ threadId: 't', id: 'r' })).result).toEqualTypeOf<Json>();
      expectTypeOf(createClient({ url: '' })).toEqualTypeOf<Client>();
      // hooks take any client
      expectTypeOf(specific).toExtend<Client>();
      expectTypeOf((await client.contexts.project('t'))[0]!.tool_call_id).toEqualTypeOf<string | null>();
      expectTypeOf((await client.contexts.project('t', { explain: true })).contextRef).toEqualTypeOf<string>();
    };
    expectTypeOf(results).toBeFunction();
  });
});
