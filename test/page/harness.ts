import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import {
  defineAgent,
  defineTool,
  withEffects,
  type AgentDefinition,
  type LanefoldOptions,
  type ServerOptions,
} from 'lanefold';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { z } from 'zod';
import { startApi, type Api } from '../api/helpers.ts';
import { launchBrowser } from '../support/browser.ts';
import { fakeModel, type FakeModel } from '../support/fake-model.ts';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const weather = defineTool({
  name: 'weather',
  input: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, sky: 'rain' }),
});
const book = defineTool({
  name: 'book',
  needsApproval: true,
  input: z.object({ train: z.string() }),
  execute: () => ({ booked: true }),
});
const note = defineTool({
  name: 'note',
  input: z.object({ seat: z.string() }),
  execute: ({ seat }) => withEffects('noted', [{ op: 'set_path', path: ['trip', 'seat'], value: seat }]),
});
const script = (turns: unknown) => `scripted:${JSON.stringify(turns)}`;

export interface Site {
  api: Api;
  /** A model that no agent uses. */
  second: FakeModel;
  browser: Browser;
  /** What went wrong in the pages, or was asked of another host. */
  faults: string[];
  open(theme?: 'light' | 'dark', width?: number): Promise<OpenPage>;
  ask(threadId: string, input: string, agent?: string, model?: string): Promise<string>;
  close(): Promise<void>;
}

export interface OpenPage {
  page: Page;
  context: BrowserContext;
  /** Opens an address of the page from nothing, such as `#/threads`. */
  go(address: string): Promise<void>;
  /** Goes to an address as a link does, from wherever the page is. */
  follow(address: string): Promise<void>;
  /** Waits for an element with these words. */
  see(what: string, words: string | RegExp): Promise<void>;
  /** A message in the conversation: the title and the list of runs have the question, too. */
  said(text: string): Locator;
}

export interface SiteOptions {
  /** Whether it has a worker; default true. */
  worker?: boolean;
  server?: ServerOptions;
  /** More of them than every site has. */
  agents?: AgentDefinition[];
  models?: LanefoldOptions['models'];
  /** More options of the library. */
  options?: Pick<LanefoldOptions, 'priceOf' | 'scorers'>;
}

/** A server with agents, and a browser to look at it. */
export async function openSite({
  server,
  worker = true,
  agents = [],
  models,
  options,
}: SiteOptions = {}): Promise<Site> {
  const broken = fakeModel(() => new Error('out of credit'));
  const second = fakeModel([{ text: 'The sun shines all day.' }]);
  const api = await startApi({
    worker,
    // receivers of webhooks are on this machine
    privateWebhooks: true,
    ...(server ? { server } : {}),
    ...options,
    // the price list knows openai:gpt-4o
    models: { broken: () => broken, second, openai: () => second, ...models },
    aliases: {
      planner: script([{ tools: [{ tool: 'weather', args: { city: 'Hamburg' } }] }, 'Take an umbrella.']),
      booker: script([{ tools: [{ tool: 'book', args: { train: '10:12' } }] }, 'Booked.']),
      noter: script([{ tools: [{ tool: 'note', args: { seat: '7A' } }] }, 'Noted.']),
      slow: `${script(['A long answer, written slowly.'])}?latency_ms=600000`,
    },
    agents: [
      defineAgent({
        name: 'travel',
        model: 'planner',
        instructions: 'Be brief.',
        tools: [weather],
        overridable: { http: ['model', 'systemPrompt', 'contextPolicy'] },
      }),
      defineAgent({ name: 'booking', model: 'booker', tools: [book], overridable: { http: ['systemPrompt'] } }),
      defineAgent({ name: 'noting', model: 'noter', tools: [note], overridable: { http: ['systemPrompt'] } }),
      ...agents,
    ],
  });
  // the first visit waits for the page to be built: on a busy machine longer than a test waits for a page
  await fetch(`${api.url}/page/app.js`);
  const browser = await launchBrowser();
  const faults: string[] = [];
  return {
    api,
    second,
    browser,
    faults,
    async open(theme = 'light', width = 1280) {
      const context = await browser.newContext({ colorScheme: theme, viewport: { width, height: 900 } });
      const page = await context.newPage();
      page.setDefaultTimeout(60_000);
      page.on('pageerror', (error) => faults.push(error.message));
      page.on('dialog', (dialog) => {
        faults.push(`dialog: ${dialog.message()}`);
        void dialog.dismiss();
      });
      page.on('console', (message) => {
        if (/Content Security Policy|Trusted/i.test(message.text())) faults.push(message.text());
      });
      page.on('request', (request) => {
        if (!request.url().startsWith(api.url) && !request.url().startsWith('data:')) faults.push(request.url());
      });
      return {
        page,
        context,
        async go(address) {
          await page.goto('about:blank');
          await page.goto(`${api.url}/${address}`);
        },
        async follow(address) {
          if (page.url().startsWith(api.url)) await page.evaluate(`location.hash = ${JSON.stringify(address)}`);
          else await page.goto(`${api.url}/${address}`);
        },
        see: (what, words) => page.locator(what).filter({ hasText: words }).first().waitFor(),
        said: (text) => page.locator('.virtual').getByText(text, { exact: true }),
      };
    },
    async ask(threadId, input, agent = 'travel', model) {
      const run = await api.lanefold.runs.enqueue({
        agent,
        threadId,
        input,
        createThread: true,
        ...(model ? { model } : {}),
      });
      if (agent === 'travel' && model !== 'slow') await api.lanefold.runs.wait(run);
      return run.id;
    },
    async close() {
      await browser.close();
      await api.close();
    },
  };
}

/** axe-core finds nothing to complain of; by all its rules, or by some. */
export async function expectAccessible(page: Page, what: string, rules?: string[]): Promise<void> {
  // the policy of the page refuses scripts in the document: this one comes from the debugger
  if (!(await page.evaluate<boolean>('"axe" in globalThis'))) await page.evaluate(axeSource);
  const { violations } = await page.evaluate<{ violations: Violation[] }>(
    `axe.run(${JSON.stringify(rules ? { runOnly: rules } : {})})`,
  );
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes[0]!.html.slice(0, 200)} ${nodes[0]!.failureSummary}`);
  expect(found, what).toEqual([]);
}

interface Violation {
  id: string;
  nodes: { html: string; failureSummary: string }[];
}

/** The rules of axe-core that a colour scheme can break. */
export const ofColours = ['color-contrast', 'link-in-text-block'];

/** Those that the width of a window can break, which shows and hides elements: the document is the same at any width. */
export const ofLayout = [
  ...ofColours,
  'target-size',
  'scrollable-region-focusable',
  'button-name',
  'link-name',
  'label',
  'select-name',
  'region',
  'landmark-one-main',
  'heading-order',
  'nested-interactive',
  'aria-hidden-focus',
];
