import {
  createLanefold,
  defineAgent,
  defineTool,
  type AgentDefinition,
  type Json,
  type JsonObject,
  type Lanefold,
  type ModelName,
  type RunEventKind,
  type RunHandle,
  type ToolCallContext,
} from 'lanefold';
import { createMcpHandler, createMcpServer, mountMcp } from 'lanefold/mcp';
import type { Event, Message, RunAgentInput } from '@ag-ui/core';
import type { AgUiInput, AgUiMessage } from 'lanefold/ag-ui';
import { jsonSchema } from '@ai-sdk/provider-utils';
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import type { Session, SessionHistoryTransactionAwareSession } from '@openai/agents-core';
import { LanefoldSaver } from 'lanefold/langgraph';
import { LanefoldSession } from 'lanefold/openai-agents';
import { describe, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import type { AgUiEvent } from '../../src/runs/formats/ag-ui/event.ts';

// never called: the compiler is the test
const _typed = async () => {
  const support = defineAgent({ name: 'support', model: 'm' });
  const triage = defineAgent({
    name: 'triage',
    model: 'm',
    output: { schema: z.object({ urgent: z.boolean(), topic: z.string() }) },
  });
  const described = defineAgent({
    name: 'described',
    model: 'm',
    output: { schema: { type: 'object', properties: { n: { type: 'number' } } } },
  });
  const lanefold = await createLanefold({ agents: [support, triage, described] });
  return { lanefold, support, triage };
};
type Typed = Awaited<ReturnType<typeof _typed>>['lanefold'];

describe('types', () => {
  test('know the names of the agents', () => {
    const ask = (lanefold: Typed) => [
      lanefold.runs.enqueue({ agent: 'support', input: 'x' }),
      // @ts-expect-error no agent has this name
      lanefold.runs.enqueue({ agent: 'suport', input: 'x' }),
      // @ts-expect-error not an option
      lanefold.runs.enqueue({ agent: 'support', input: 'x', requestID: 'r' }),
      // @ts-expect-error no such word
      lanefold.runs.enqueue({ agent: 'support', input: 'x', busy: 'queue' }),
    ];
    expectTypeOf(ask).toBeFunction();
  });

  test('carry the output contract to the result', () => {
    const results = async (lanefold: Typed) => {
      const text = await lanefold.runs.enqueue({ agent: 'support', input: 'x' });
      expectTypeOf((await lanefold.runs.wait(text)).result).toEqualTypeOf<string | null>();
      const triaged = await lanefold.runs.enqueue({ agent: 'triage', input: 'x' });
      expectTypeOf((await lanefold.runs.wait(triaged)).result).toEqualTypeOf<{
        urgent: boolean;
        topic: string;
      } | null>();
      expectTypeOf((await lanefold.runs.get(triaged)).result).toEqualTypeOf<{
        urgent: boolean;
        topic: string;
      } | null>();
      const described = await lanefold.runs.enqueue({ agent: 'described', input: 'x' });
      expectTypeOf((await lanefold.runs.wait(described)).result).toEqualTypeOf<{ [key: string]: Json } | null>();
    };
    expectTypeOf(results).toBeFunction();
  });

  test('follow what a request overrides', () => {
    const results = async (lanefold: Typed) => {
      const raw = await lanefold.runs.enqueue({ agent: 'triage', input: 'x', output: 'raw' });
      expectTypeOf((await lanefold.runs.wait(raw)).result).toEqualTypeOf<string | null>();
      const schema = z.object({ score: z.number() });
      const scored = await lanefold.runs.enqueue({ agent: 'support', input: 'x', output: { schema } });
      expectTypeOf((await lanefold.runs.wait(scored)).result).toEqualTypeOf<{ score: number } | null>();
    };
    expectTypeOf(results).toBeFunction();
  });

  test('say nothing of agents and runs they do not know', () => {
    const results = async (lanefold: Lanefold, agents: AgentDefinition[], specific: Typed) => {
      const run = await lanefold.runs.enqueue({ agent: 'whatever', input: 'x' });
      expectTypeOf((await lanefold.runs.wait(run)).result).toEqualTypeOf<Json>();
      expectTypeOf((await lanefold.runs.wait({ threadId: 't', id: 'r' })).result).toEqualTypeOf<Json>();
      const plain = await createLanefold({ agents });
      expectTypeOf(plain).toEqualTypeOf<Lanefold>();
      expectTypeOf(await createLanefold()).toEqualTypeOf<Lanefold>();
      // functions that take any Lanefold take a typed one
      expectTypeOf(specific).toExtend<Lanefold>();
    };
    expectTypeOf(results).toBeFunction();
  });

  test('of a tool follow from its schema', () => {
    const tools = () => {
      defineTool({
        name: 'a',
        input: z.object({ city: z.string(), days: z.number().default(1) }),
        execute: (args) => expectTypeOf(args).toEqualTypeOf<{ city: string; days: number }>(),
        needsApproval: ({ days }) => days > 3,
      });
      defineTool({
        name: 'b',
        input: jsonSchema<{ city: string }>({ type: 'object' }),
        execute: (args) => expectTypeOf(args).toEqualTypeOf<{ city: string }>(),
      });
    };
    expectTypeOf(tools).toBeFunction();
  });

  test('of the state and the context of a tool are what its second argument says', () => {
    const tools = () => {
      defineTool({
        name: 'c',
        input: z.object({ item: z.string() }),
        execute: ({ item }, { state, context }: ToolCallContext<{ cart?: string[] }, { locale: string }>) => {
          expectTypeOf(item).toEqualTypeOf<string>();
          expectTypeOf(state).toEqualTypeOf<{ cart?: string[] }>();
          expectTypeOf(context.locale).toEqualTypeOf<string>();
        },
      });
      defineTool({
        name: 'd',
        input: z.object({}),
        execute: (_, { state }) => expectTypeOf(state).toEqualTypeOf<JsonObject>(),
      });
    };
    expectTypeOf(tools).toBeFunction();
  });

  test('hold for overrides and for many requests at once', () => {
    const results = async (lanefold: Typed) => {
      // @ts-expect-error a strategy has options of its own
      void lanefold.runs.enqueue({ agent: 'support', input: 'x', strategy: 'tot', strategyOptions: { maxDepht: 1 } });
      // @ts-expect-error a number of tokens
      void lanefold.runs.enqueue({ agent: 'support', input: 'x', maxTotalTokens: '5' });
      // @ts-expect-error no setting of a model
      void lanefold.runs.enqueue({ agent: 'support', input: 'x', settings: { temprature: 1 } });
      // @ts-expect-error no agent has this name
      void lanefold.runs.enqueueMany([{ agent: 'suport', input: 'x' }]);
      const [first] = await lanefold.runs.enqueueMany([{ agent: 'support', input: 'x', delayMs: 5, priority: 1 }]);
      expectTypeOf(first!).toEqualTypeOf<PromiseSettledResult<RunHandle<string>>>();
    };
    expectTypeOf(results).toBeFunction();
  });

  test('name strategies, models, kinds of events and reasons, with open ends for your own', () => {
    const names = async (lanefold: Typed) => {
      // @ts-expect-error an agent names a built-in strategy, or passes its own
      defineAgent({ name: 'x', model: 'm', strategy: 'reakt' });
      defineAgent({ name: 'y', model: 'fast', strategy: 'tot', strategyOptions: { maxDepth: 2 } });
      expectTypeOf<'openai:gpt-5' | 'scripted:demo' | 'an alias'>().toExtend<ModelName>();
      expectTypeOf<`anthropic:x`>().toExtend<ModelName>();
      void lanefold.runs.enqueue({ agent: 'support', input: 'x', strategy: 'tot' });
      // @ts-expect-error no strategy has this name, built in or declared in StrategyTypes
      void lanefold.runs.enqueue({ agent: 'support', input: 'x', strategy: 'reakt' });
      // @ts-expect-error nor here
      void lanefold.runs.enqueueMany([{ agent: 'support', input: 'x', strategy: 'reakt' }]);
      // @ts-expect-error nor for one tenant
      void lanefold.forTenant('acme').runs.enqueue({ agent: 'support', input: 'x', strategy: 'reakt' });
      // what the agents are, and so what their strategies are, is not known here
      const any = lanefold as Lanefold;
      void any.runs.enqueue({ agent: 'support', input: 'x', strategy: 'one-of-createLanefold' });
      const run = await lanefold.runs.wait({ threadId: 't', id: 'r' });
      expectTypeOf<'max_iterations'>().toExtend<typeof run.terminationReason>();
      expectTypeOf(run.terminationReason).not.toBeString();
      const [event] = await lanefold.runs.events(run);
      expectTypeOf(event!.kind).toEqualTypeOf<RunEventKind>();
      // @ts-expect-error no event has this kind
      return event!.kind === 'tool_finished' ? event : undefined;
    };
    expectTypeOf(names).toBeFunction();
  });

  test('of the savers fit the frameworks, for the library of all tenants and of one', () => {
    const savers = (lanefold: Typed) => {
      expectTypeOf(new LanefoldSaver(lanefold)).toExtend<BaseCheckpointSaver>();
      expectTypeOf(new LanefoldSaver(lanefold.forTenant('acme'), { lane: false })).toExtend<BaseCheckpointSaver>();
      expectTypeOf(new LanefoldSession(lanefold)).toExtend<Session>();
      expectTypeOf(new LanefoldSession(lanefold.forTenant('acme'))).toExtend<SessionHistoryTransactionAwareSession>();
      // @ts-expect-error not an option
      void new LanefoldSaver(lanefold, { lanes: 'x' });
      // @ts-expect-error a URL is no Lanefold
      void new LanefoldSession('postgres://localhost/app');
    };
    expectTypeOf(savers).toBeFunction();
  });

  test('make one look whether there is a result', () => {
    const results = async (lanefold: Typed) => {
      const run = await lanefold.runs.enqueue({ agent: 'support', input: 'x' });
      const { result, terminationReason } = await lanefold.runs.wait(run);
      // @ts-expect-error a run that reached a limit has none
      const unchecked: string = result;
      const answer: string = result ?? `No answer: ${terminationReason}`;
      const searched = await lanefold.runs.enqueue({ agent: 'support', input: 'x', strategy: 'tot' });
      const found = (await lanefold.runs.wait(searched)).result;
      // @ts-expect-error a search that was cut short has no best thought
      const best: string | undefined = found?.best.content;
      return [unchecked, answer, best];
    };
    expectTypeOf(results).toBeFunction();
  });

  test('let every Lanefold serve MCP', () => {
    const served = (lanefold: Typed) => [
      createMcpServer(lanefold, { agents: ['support'], waitMs: 1_000, apiKey: 'lfk_' }),
      createMcpHandler(lanefold),
      createMcpHandler(lanefold, { requireKey: false }),
      lanefold.startServer({ mcp: mountMcp({ agents: ['support'] }) }),
      // @ts-expect-error over HTTP, each client has its key
      mountMcp({ apiKey: 'lfk_' }),
      // @ts-expect-error the server decides who needs a key
      mountMcp({ requireKey: false }),
      // @ts-expect-error not an option
      createMcpServer(lanefold, { tools: ['support'] }),
    ];
    expectTypeOf(served).toBeFunction();
  });

  test('are those of AG-UI where the protocol is spoken', () => {
    // its package declares an enum for the names of events
    type Named<E> = E extends { type: infer T extends string } ? Omit<E, 'type'> & { type: `${T}` } : never;
    expectTypeOf<AgUiEvent>().toExtend<Named<Event>>();
    expectTypeOf<AgUiMessage>().toExtend<Message>();
    expectTypeOf<RunAgentInput>().toExtend<AgUiInput>();
  });
});
