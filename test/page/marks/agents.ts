import { defineAgent, defineTool, ToolError, type AgentDefinition, type LanefoldOptions } from 'lanefold';
import { z } from 'zod';
import { deferred } from '../../support/until.ts';
import { treeModel } from '../../support/tree-model.ts';
import { fakeModel, type FakeScript } from '../../support/fake-model.ts';

const refund = defineTool({
  name: 'refund',
  input: z.object({ order: z.string() }),
  execute: () => {
    throw new Error('<b>The account of the shop is locked.</b>');
  },
});
const book = defineTool({
  name: 'book',
  input: z.object({ train: z.string() }),
  needsApproval: true,
  execute: () => ({ booked: true }),
});
const overloaded = () =>
  Object.assign(new Error('The provider is overloaded.'), {
    statusCode: 503,
    isRetryable: true,
    responseHeaders: { 'retry-after-ms': '1' },
  });

/** The model has been called, and may answer. */
const gate = () => ({ called: deferred(), mayAnswer: deferred() });

/** Agents that make every mark, and their models; what they have said already is theirs alone. */
export function markedWorld() {
  const [held, steered] = [gate(), gate()];
  let tries = 0;
  const track = defineTool({
    name: 'track',
    input: z.object({ order: z.string() }),
    maxRetries: 1,
    retryBackoffMs: 1,
    execute: ({ order }) => {
      tries += 1;
      if (tries === 1) throw new ToolError('The carrier does not answer.', { retryable: true });
      return { order, state: 'on its way' };
    },
  });

  /** What the models answer, by the fault their conversation has. */
  const scripts: Record<string, FakeScript> = {
    tool_failed: [{ calls: [{ name: 'refund', args: { order: 'B-9' } }] }, { text: 'You have your money back.' }],
    tool_retried: [{ calls: [{ name: 'track', args: { order: 'B-7' } }] }, { text: 'It is on its way.' }],
    cut_by_kind: [{ calls: [{ name: 'track', args: { order: 'B-7' } }] }, { text: 'It is on its way.' }],
    model_retried: (_, n) => (n === 0 ? overloaded() : { text: 'Here I am.' }),
    down: overloaded,
    steered: async (_, n) => {
      if (n > 0) return { text: 'Dear customer, your parcel is late.' };
      steered.called.resolve();
      await steered.mayAnswer.promise;
      return { text: 'Dear customer, because of the strike your parcel is late.' };
    },
    held: async (_, n) => {
      if (n > 0) return { text: 'I could not.' };
      held.called.resolve();
      await held.mayAnswer.promise;
      return { calls: [{ name: 'refund', args: { order: 'B-1' } }] };
    },
    waiting: [{ calls: [{ name: 'book', args: { train: '10:12' } }] }],
    failed: () => new Error('out of credit'),
    plain: [{ text: 'A long answer. '.repeat(20) }, { text: 'In short: all is well.' }],
  };

  const byFault = new Map(Object.entries(scripts).map(([name, script]) => [name, fakeModel(script)]));

  const models: NonNullable<LanefoldOptions['models']> = {
    fault: (name) => (name === 'tree' ? treeModel() : (byFault.get(name) ?? byFault.get('plain')!)),
  };

  const clerk = {
    model: 'fault:plain',
    instructions: 'You help customers of a shop.',
    tools: [refund, track, book],
    overridable: { http: ['model' as const, 'systemPrompt' as const] },
  };

  const agents: AgentDefinition[] = [
    ...Object.keys(scripts).map((name) => defineAgent({ ...clerk, name, model: `fault:${name}` })),
    defineAgent({ ...clerk, name: 'insured', model: ['fault:down', 'fault:cheap'] }),
    defineAgent({ ...clerk, name: 'thrifty', contextPolicy: { maxMessages: 3, keepLastTurns: 1 } }),
    defineAgent({ ...clerk, name: 'talker', contextPolicy: { includeKinds: ['message'] } }),
    defineAgent({ ...clerk, name: 'squeezed', contextPolicy: { maxInputTokens: 20 } }),
    defineAgent({
      ...clerk,
      name: 'searcher',
      model: 'fault:tree',
      strategy: 'tot',
      tools: [],
      contextPolicy: { maxMessages: 2, keepLastTurns: 1 },
    }),
  ];
  return { agents, models, held, steered };
}

export type MarkedWorld = ReturnType<typeof markedWorld>;
