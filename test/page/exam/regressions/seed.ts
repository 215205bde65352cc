import type { Lanefold, LanefoldOptions } from 'lanefold';
import { examCases } from './cases.ts';
import { judgeModel, shopModel } from './model.ts';
import { baseline, type Planted } from './regressions.ts';

const dataset = 'shop';

const models = { large: shopModel(true), small: shopModel(false), judge: judgeModel() };

export const shopModels: NonNullable<LanefoldOptions['models']> = {
  exam: (name) => models[name as keyof typeof models],
};

/** In dollars per million tokens, input and output. */
const prices: Record<string, [number, number]> = { 'exam:large': [2, 8], 'exam:small': [1, 4], 'exam:judge': [1, 4] };

export const shopPrice: NonNullable<LanefoldOptions['priceOf']> = ({ model, inputTokens, outputTokens }) => {
  const price = prices[model];
  return price && (inputTokens * price[0] + outputTokens * price[1]) / 1_000_000;
};

/** Holds the conversations, keeps them as cases, compares all versions, and has each of them serve a few users. Returns the eval. */
export async function seedRegressions(lanefold: Lanefold, planted: Planted[]): Promise<string> {
  const ask = async (input: string, version: string, threadId?: string) => {
    const run = await lanefold.runs.enqueue({
      agent: 'shop',
      version,
      input,
      createThread: threadId !== undefined,
      ...(threadId === undefined ? {} : { threadId }),
    });
    await lanefold.runs.wait(run);
    return run;
  };
  for (const [index, { tag, split, earlier = [], question, expected }] of examCases.entries()) {
    const threadId = `shop-${String(index + 1).padStart(2, '0')}`;
    for (const each of earlier) await ask(each, baseline, threadId);
    const run = await ask(question, baseline, threadId);
    await lanefold.cases.keep({ threadId, runId: run.id, dataset, split, expected, tags: [tag] });
  }
  const labels = [baseline, ...planted.map(({ label }) => label)];
  const { id } = await lanefold.evals.run({
    dataset,
    tools: 'live',
    concurrency: 16,
    judge: { agent: 'judge' },
    variants: labels.map((label) => ({ name: label, version: label })),
  });
  await lanefold.evals.wait(id, { timeoutMs: 170_000 });
  for (const label of labels)
    for (const { question } of examCases.filter((_, index) => index % 4 === 0)) await ask(question, label);
  return id;
}
