import type { Lanefold } from 'lanefold';
import { bearer, type Api } from '../../api/helpers.ts';
import { until } from '../../support/until.ts';
import type { MarkedWorld } from './agents.ts';

/** A conversation with one planted fault, on a thread that has its name. */
export interface Fault {
  fault: string;
  seed(talk: Talk): Promise<unknown>;
}

interface Talk {
  world: MarkedWorld;
  api: Api;
  lanefold: Lanefold;
  threadId: string;
  /** Asks, and waits for the end of the run. */
  ask(input: string, agent?: string, more?: object): Promise<string>;
}

export const faults: Fault[] = [
  { fault: 'tool_failed', seed: ({ ask }) => ask('Please pay B-9 back.', 'tool_failed') },
  { fault: 'tool_retried', seed: ({ ask }) => ask('Where is B-7?', 'tool_retried') },
  { fault: 'model_retried', seed: ({ ask }) => ask('Are you there?', 'model_retried') },
  { fault: 'model_fell_back', seed: ({ ask }) => ask('Are you insured?', 'insured') },
  { fault: 'model_overridden', seed: ({ ask }) => ask('Good morning', 'plain', { model: 'fault:cheap' }) },
  {
    fault: 'cut',
    async seed({ ask }) {
      for (const question of ['I am allergic to nuts.', 'What is for lunch?', 'And for dessert?'])
        await ask(question, 'thrifty');
    },
  },
  {
    fault: 'cut_lifted',
    async seed({ ask }) {
      for (const question of ['I am allergic to nuts.', 'What is for lunch?', 'And for dessert?'])
        await ask(question, 'thrifty');
      await ask('And to drink?');
    },
  },
  {
    fault: 'cut_by_kind',
    async seed({ ask }) {
      await ask('Where is B-7?', 'cut_by_kind');
      await ask('And now?', 'talker');
      await ask('And then?', 'talker');
    },
  },
  { fault: 'over_budget', seed: ({ ask }) => ask('I have a long question. '.repeat(40), 'squeezed') },
  {
    fault: 'searched',
    async seed({ ask }) {
      for (const question of ['By train?', 'By car?', 'On foot?']) await ask(question);
      await ask('How do we get there?', 'searcher', { strategyOptions: { history: true } });
    },
  },
  {
    fault: 'cache_missed',
    async seed({ lanefold, threadId, ask }) {
      await ask('The first question');
      await lanefold.contexts.replace(threadId, { entries: [{ role: 'user', content: 'Something else' }] });
      await ask('The second question');
    },
  },
  {
    fault: 'steered',
    async seed({ world, lanefold, threadId }) {
      const run = await lanefold.runs.enqueue({ agent: 'steered', threadId, input: 'Write to the customer.' });
      await world.steered.called.promise;
      await lanefold.runs.steer(threadId, 'Do not mention the strike.', { by: 'desk' });
      world.steered.mayAnswer.resolve();
      await lanefold.runs.wait(run);
    },
  },
  {
    fault: 'prompt_changed',
    async seed({ api, lanefold, threadId, ask }) {
      await ask('Good morning!');
      const { key } = await lanefold.keys.create({ name: 'intern', scopes: ['admin'] });
      const changed = await api.call(
        'PATCH',
        `/v1/threads/${threadId}/config`,
        { system_prompt: 'Answer in German.' },
        bearer(key),
      );
      if (changed.status !== 200) throw new Error(changed.text);
      await ask('How long are you open?');
    },
  },
  {
    fault: 'compacted',
    async seed({ lanefold, threadId, ask }) {
      for (const question of ['One', 'Two', 'Three']) await ask(question);
      const run = await lanefold.contexts.compact(threadId, {
        keepTurns: 1,
        model: 'scripted:["In short: all is well."]',
      });
      await lanefold.runs.wait(run);
      await ask('Four');
    },
  },
  {
    fault: 'waiting',
    async seed({ lanefold, threadId }) {
      const asked = await lanefold.runs.enqueue({ agent: 'waiting', threadId, input: 'Book the 10:12.' });
      await until('the run waits', async () => (await lanefold.runs.get(asked)).status === 'suspended');
      await lanefold.runs.enqueue({ agent: 'plain', threadId, input: 'And then?', busy: 'wait' });
    },
  },
  { fault: 'failed', seed: ({ ask }) => ask('Are you there?', 'failed') },
];

/** Holds all conversations. */
export async function seedFaults(api: Api, world: MarkedWorld): Promise<void> {
  const { lanefold } = api;
  for (const { fault, seed } of faults) {
    const ask = async (input: string, agent = 'plain', more = {}) => {
      const run = await lanefold.runs.enqueue({ agent, threadId: fault, input, ...more });
      await lanefold.runs.wait(run);
      return run.id;
    };
    await lanefold.threads.create({ id: fault });
    await seed({ world, api, lanefold, threadId: fault, ask });
  }
}
