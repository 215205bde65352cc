import { defineAgent, type AgentDefinition } from 'lanefold';
import { manualTool, order, parcel, stockTool, warranty } from './tools.ts';

const lines = {
  who: 'You help the customers of a bicycle shop.',
  returns: 'Customers may return everything within 30 days of the delivery.',
  tools: 'Look up what is in stock, warranties and parcels before you speak of them.',
  complaints: 'To a complaint, thank the customer, say sorry, and hand over to a colleague who calls back.',
  language: 'Answer in the language of the customer.',
  length: 'Keep answers short.',
};

const prompt = (changes: Partial<typeof lines> = {}): string =>
  Object.values({ ...lines, ...changes })
    .filter((line) => line !== '')
    .join('\n');

const contract = (required: string[]): NonNullable<AgentDefinition['output']> => ({
  schema: {
    type: 'object',
    properties: {
      reply: { type: 'string', description: 'What the customer reads.' },
      handoff: { type: 'boolean', description: 'Whether a colleague has to call back.' },
    },
    required,
    additionalProperties: false,
  },
});

const tools = [stockTool(), warranty, manualTool('Finds a passage in the manual.'), order, parcel];

const shop = {
  name: 'shop',
  model: 'exam:large',
  instructions: prompt(),
  tools,
  output: contract(['reply', 'handoff']),
  maxIterations: 6,
} satisfies Omit<AgentDefinition, 'version'>;

/** A change of the agent that makes it worse, and what a person should find. */
export interface Regression {
  name: string;
  change: Partial<Omit<AgentDefinition, 'name' | 'version'>>;
  /** Tags, or the split, of the cases that get worse; empty: none does. */
  worse: string[];
  /** The field that differs, as the page names it. */
  field: string;
  /** In a sentence. */
  mechanism: string;
}

export const regressions: Regression[] = [
  {
    name: 'lost_instruction',
    change: { instructions: prompt({ returns: '' }) },
    worse: ['returns'],
    field: 'instructions',
    mechanism: 'The prompt lost the line about returns, so answers do not say that they end after 30 days.',
  },
  {
    name: 'tone',
    change: {
      instructions: prompt({ complaints: 'To a complaint, be brief, and hand over to a colleague who calls back.' }),
    },
    worse: ['complaints'],
    field: 'instructions',
    mechanism: 'The prompt no longer asks for thanks and regret, which the judge looks for.',
  },
  {
    name: 'weak_model',
    change: { model: 'exam:small' },
    worse: ['prices'],
    field: 'model',
    mechanism: 'The cheaper model forgets the discount.',
  },
  {
    name: 'lost_field',
    change: { tools: [stockTool({ article: 'Such as helmet.' }), ...tools.slice(1)] },
    worse: ['stock'],
    field: 'tools.stock.input_schema',
    mechanism: 'The schema of stock lost its size, so the tool looks up the smallest one.',
  },
  {
    name: 'other_tool',
    change: {
      tools: tools.map((tool) =>
        tool.name === 'manual' ? manualTool('Answers any question about a part, its warranty included.') : tool,
      ),
    },
    worse: ['warranty'],
    field: 'tools.manual.description',
    mechanism: 'By its description, manual now knows warranties, so the model calls it instead of warranty.',
  },
  {
    name: 'context_policy',
    change: { contextPolicy: { maxMessages: 3, keepLastTurns: 1 } },
    worse: ['memory'],
    field: 'context_policy',
    mechanism: 'The policy leaves out the first message, which has the number of the frame.',
  },
  {
    name: 'contract',
    change: { output: contract(['reply']) },
    worse: ['complaints', 'prices'],
    field: 'output.schema',
    mechanism: 'The contract no longer requires handoff, so the model leaves it out.',
  },
  {
    name: 'early_end',
    change: { maxIterations: 2 },
    worse: ['delivery'],
    field: 'limits.max_iterations',
    mechanism:
      'Two model calls do not suffice for the order, the parcel and the answer: the run ends without an answer.',
  },
  {
    name: 'dear',
    change: { settings: { reasoning: 'high' } },
    worse: [],
    field: 'settings.reasoning',
    mechanism: 'It answers as well, but writes a long reasoning before each answer, which costs several times as much.',
  },
  {
    name: 'split',
    change: { instructions: prompt({ language: 'Answer in English.' }) },
    worse: ['german'],
    field: 'instructions',
    mechanism: 'It answers in English to questions in German.',
  },
];

/** A version under its neutral label. */
export interface Planted extends Regression {
  label: string;
}

/** The regressions as `v1` to `v10`, in an order that the seed decides. */
export function plant(seed: number): Planted[] {
  const random = randomFrom(seed);
  return regressions
    .map((regression) => ({ regression, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ regression }, index) => ({ ...regression, label: `v${index + 1}` }));
}

export const baseline = 'base';

/** The baseline, which serves, and the planted versions. */
export const shopVersions = (planted: Planted[]): AgentDefinition[] => [
  defineAgent({ ...shop, version: baseline }),
  ...planted.map(({ label, change }) => defineAgent({ ...shop, ...change, version: label })),
  defineAgent({ name: 'judge', model: 'exam:judge', instructions: 'You judge answers of an assistant.' }),
];

/** Mulberry32: numbers from 0 to 1 that the seed decides. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
