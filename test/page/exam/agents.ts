import { defineAgent, defineTool, type AgentDefinition, type LanefoldOptions } from 'lanefold';
import { z } from 'zod';
import { deferred } from '../../support/until.ts';
import { fakeModel, type FakeScript } from '../../support/fake-model.ts';

const track = defineTool({
  name: 'track',
  description: 'Where a parcel is.',
  input: z.object({ order: z.string() }),
  execute: ({ order }) => ({ order, state: order === 'B-2041' ? 'on its way, arrives on Friday' : 'lost' }),
});
const refund = defineTool({
  name: 'refund',
  description: 'Pays an order back.',
  input: z.object({ order: z.string() }),
  execute: () => {
    throw new Error('The account of the shop is locked.');
  },
});

/** The model of the lost steer has been called, and may fail. */
export const [called, mayFail] = [deferred(), deferred()];

const look = { name: 'track', args: { order: 'B-77' } };

/** What the models answer, by the fault their conversation has. */
const scripts: Record<string, FakeScript> = {
  wrong_argument: [
    { calls: [{ name: 'track', args: { order: 'B-2014' } }] },
    { text: 'I am sorry, your parcel is lost.' },
  ],
  lost_steer: async (_, n) => {
    if (n > 0) return { text: 'Dear customer, because of the strike your parcel is late.' };
    called.resolve();
    await mayFail.promise;
    return new Error('out of credit');
  },
  prompt_change: [{ text: 'Good morning! What can I do for you?' }, { text: 'Wir haben bis 18 Uhr geöffnet.' }],
  cut_message: [
    { text: 'Noted: no nuts.' },
    { text: 'The salad is good today.' },
    { text: 'For dessert I recommend the walnut cake.' },
  ],
  cycle: [{ calls: [look] }, { calls: [look] }, { calls: [look] }, { calls: [look] }, { calls: [look] }],
  stale_anchor: [{ text: 'It goes to Berlin.' }, { text: 'Understood, to Bonn.' }, { text: 'It was sent to Berlin.' }],
  ignored_error: [{ calls: [{ name: 'refund', args: { order: 'B-9' } }] }, { text: 'You have your money back.' }],
  wrong_lane: [{ text: 'Hello Ada, your order is B-5.' }, { text: 'I know of no order. What is its number?' }],
  cut_answer: [{ text: 'To return the parcel, put it into the box, close it and', finishReason: 'length' }],
  changed_request: [{ text: 'Our annual report is on page nine.' }],
};

const models = new Map(Object.entries(scripts).map(([name, script]) => [name, fakeModel(script)]));

export const examModels: NonNullable<LanefoldOptions['models']> = { exam: (name) => models.get(name)! };

const clerk = { model: 'exam:wrong_argument', instructions: 'You help customers of a shop.', tools: [track, refund] };

export const examAgents: AgentDefinition[] = [
  defineAgent({ ...clerk, name: 'clerk', maxIterations: 5 }),
  defineAgent({ ...clerk, name: 'thrifty', contextPolicy: { maxMessages: 3, keepLastTurns: 1 } }),
  defineAgent({
    ...clerk,
    name: 'rewriter',
    requestTransformer: ({ messages }) => ({
      messages: messages.map((message) => (message.role === 'user' ? { ...message, content: 'The report?' } : message)),
    }),
  }),
];
