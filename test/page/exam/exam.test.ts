// @module-tag slow
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noBrowser } from '../../support/browser.ts';
import { expectAccessible, openSite, type OpenPage, type Site } from '../harness.ts';
import { examAgents, examModels } from './agents.ts';
import { conversations, seedExam } from './conversations.ts';

/** Clicks from the list of threads until the fault is in sight. */
const clicksTo: Record<string, number> = {
  wrong_argument: 1,
  lost_steer: 1,
  prompt_change: 1,
  cut_message: 2,
  cycle: 2,
  stale_anchor: 3,
  ignored_error: 1,
  wrong_lane: 2,
  cut_answer: 2,
  changed_request: 2,
};

test('the guide tells of every fault what to look at', () => {
  const guide = readFileSync('docs/reference/page.md', 'utf8');
  const rows = conversations.map(
    ({ complaint }) => guide.split('\n').filter((line) => line.includes(complaint)).length,
  );
  expect(rows).toEqual(conversations.map(() => 1));
});

describe.skipIf(noBrowser)('what went wrong is seen within a few clicks', () => {
  let site: Site;
  let page: Page;
  let go: OpenPage['go'];
  let see: OpenPage['see'];
  let clicks: number;
  beforeAll(async () => {
    site = await openSite({ agents: examAgents, models: examModels });
    await seedExam(site.api.lanefold);
    ({ page, go, see } = await site.open());
  });
  afterAll(() => site?.close());

  const click = async (what: string) => {
    clicks += 1;
    await page.locator(what).click();
  };
  const openLastCall = async () => {
    clicks += 1;
    await page.locator('a', { hasText: 'What was sent' }).last().click();
    await page.locator('[data-verdict]').waitFor();
  };

  /** Of each fault what a person does once the thread is open, and what is there to see. */
  const finds: Record<string, () => Promise<void>> = {
    async wrong_argument() {
      await see('.entry.user', 'B-2041');
      await see('.tool-call', '{"order":"B-2014"}');
    },
    async lost_steer() {
      await see('.run-mark', 'dropped: the run ended before it reached the model');
      await see('.run-mark', 'out of credit');
    },
    async prompt_change() {
      await see('.mark', 'System prompt: You help customers of a shop. Answer in German.');
    },
    async cut_message() {
      await see('.notice', 'The policy left out entries #1 to #4');
      expect(await page.locator('.messages').textContent()).not.toContain('allergic');
      await click('.notice a');
      await see('.entry.user', 'I am allergic to nuts.');
    },
    async cycle() {
      await see('.entry.user:has(.tag:text("cycle_warning"))', 'repeated the same tool calls');
      await click('.side .plain a');
      await see('.facts .bad', 'max_iterations');
      await see('.facts', /Model calls\s*5 of 5/);
      await see('.fold .tag.bad', 'same as in round 1');
    },
    async stale_anchor() {
      await see('.entry.user', 'send it to Bonn instead');
      await click('.mark.anchor > summary');
      await see('.mark.anchor .entry', 'the order goes to Berlin');
      await click('[role=tab]:has-text("What the model sees")');
      await see('.messages .entry', 'the order goes to Berlin');
      expect(await page.locator('.messages').textContent()).not.toContain('Bonn');
    },
    async ignored_error() {
      await see('.entry.tool:has(.badge)', 'The account of the shop is locked.');
      await see('.entry.tool .badge', 'Tool failed: refund');
    },
    async wrong_lane() {
      await see('.mark:has(.tag:text("draft"))', 'This lane became the active one');
      await openLastCall();
      await see('.facts', /Lane\s*draft/);
      expect(await page.locator('.messages').textContent()).not.toContain('Ada');
    },
    async cut_answer() {
      await openLastCall();
      await see('.facts .bad', 'length');
    },
    async changed_request() {
      await openLastCall();
      await see('[data-verdict=altered]', 'Hash differs');
      await see('.why', 'A request transformer changed these messages');
    },
  };

  /** What further views say of a fault; the clicks to them do not count. */
  const also: Record<string, () => Promise<void>> = {
    async lost_steer() {
      await click('.side-run:has(.status.bad)');
      await see('.entry.user:has(.tag.bad:text("dropped"))', 'Do not mention the strike.');
      await see('.waterfall .retry', /Model call 1\s*failed/);
    },
    async prompt_change() {
      await openLastCall();
      await click('[role=tab]:has-text("Diff to previous call")');
      await see('.diff .changed:has(.role:text("system")) ins', 'Answer in German.');
    },
  };

  test.each(conversations)('$fault', async ({ fault, thread }) => {
    clicks = 0;
    await go('#/threads');
    // a mark in the list leads to the call
    if (fault === 'cut_message') await click(`tr:has-text("${thread}") [data-mark=cut]`);
    else await click(`.row-link:has-text("${thread}")`);
    await finds[fault]!();
    expect(clicks).toBe(clicksTo[fault]);
    await also[fault]?.();
    // the tests of the views ask for all rules; colours and what is inside of what differ here
    await expectAccessible(page, fault, ['color-contrast', 'link-in-text-block', 'nested-interactive']);
    expect(site.faults).toEqual([]);
  });
});
