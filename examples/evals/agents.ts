import { defineAgent } from 'lanefold';

/** What a customer asks, and what the answer has to contain. */
export const questions = [
  { input: 'When do I get my money back?', contains: ['30 days'] },
  { input: 'Do you ship to Norway?', contains: ['Norway'] },
  { input: 'Can I change my address?', contains: ['until it ships'] },
];

const script = (answers: string[]) => `scripted:${JSON.stringify(answers)}` as const;

/** Two versions of one agent. Their models are scripts, so that the example runs offline and always ends the same way. */
export const a = defineAgent({
  name: 'support',
  version: 'a',
  instructions: 'Answer with the rule that applies.',
  model: script(['Money back within 30 days. We ship to Norway. You can change an order until it ships.']),
});

export const b = defineAgent({
  name: 'support',
  version: 'b',
  instructions: 'Answer in five words.',
  model: script(['Yes, please see our website.']),
});
