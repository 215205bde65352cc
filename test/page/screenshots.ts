/** Makes the screenshots of the README and the guide: `npx tsx test/page/screenshots.ts`. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLanefold, defineAgent, defineTool } from 'lanefold';
import { z } from 'zod';
import { launchBrowser } from '../support/browser.ts';

const weather = defineTool({
  name: 'weather',
  description: 'The weather of a city, today.',
  input: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, sky: 'rain', celsius: 9 }),
});
const trains = defineTool({
  name: 'trains',
  description: 'Trains between two cities.',
  input: z.object({ from: z.string(), to: z.string() }),
  execute: () => [{ departs: '10:12', arrives: '12:47', euro: 29 }],
});
const turns = [
  {
    tools: [
      { tool: 'weather', args: { city: 'Hamburg' } },
      { tool: 'trains', args: { from: 'Berlin', to: 'Hamburg' } },
    ],
  },
  'It will rain in Hamburg at 9 °C, so take an umbrella. The 10:12 from Berlin arrives at 12:47 and costs 29 €.',
];

const lanefold = await createLanefold({
  redisUrl: null,
  embeddedDir: mkdtempSync(path.join(tmpdir(), 'lanefold-page-')),
  aliases: { planner: `scripted:${JSON.stringify(turns)}?latency_ms=150` },
  agents: [
    defineAgent({
      name: 'travel',
      model: 'planner',
      instructions: 'You plan trips by train. Be brief.',
      tools: [weather, trains],
    }),
  ],
});
await lanefold.startWorker();
const threadId = 'trip-hamburg';
await lanefold.threads.create({ id: threadId });
const ask = async (input: string) => {
  const run = await lanefold.runs.enqueue({ agent: 'travel', threadId, input });
  await lanefold.runs.wait(run);
  return run;
};
await ask('Should I go to Hamburg today, and when?');
await lanefold.threads.configure(threadId, { systemPrompt: 'You plan trips by train. Be brief, and name prices.' });
await ask('And if I leave from Berlin?');
await lanefold.contexts.replace(threadId, {
  entries: [{ role: 'user', content: 'In short: Berlin to Hamburg by train, today.' }],
});
const { id } = await ask('What would it cost with a bahncard?');

const { url } = await lanefold.startServer({ port: 0 });
const browser = await launchBrowser();
const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: 'light' });
const shoot = (name: string) => page.screenshot({ path: `docs/images/${name}.png` });
await page.goto(`${url}/#/threads/${threadId}`);
await page.getByText('take an umbrella').last().waitFor();
await page.getByText('Live: pause').waitFor();
await shoot('page-thread');
await page.goto(`${url}/#/threads/${threadId}/calls/${id}.2`);
await page.locator('[data-verdict=verified]').waitFor();
await page.getByRole('tab', { name: 'Diff to previous call' }).click();
await page.locator('.diff .added').first().waitFor();
await shoot('page-call');
await browser.close();
await lanefold.close();
