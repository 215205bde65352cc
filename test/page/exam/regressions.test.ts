// @module-tag long
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noBrowser } from '../../support/browser.ts';
import { expectAccessible, openSite, type OpenPage, type Site } from '../harness.ts';
import { baseline, plant, shopVersions, type Planted } from './regressions/regressions.ts';
import { seedRegressions, shopModels, shopPrice } from './regressions/seed.ts';

const planted = plant(7);
const mostClicks = 3;

describe.skipIf(noBrowser)('of each planted regression, the page leads from the report to the cause', () => {
  let site: Site;
  let page: Page;
  let go: OpenPage['go'];
  let see: OpenPage['see'];
  let evalId: string;
  let clicks: number;
  beforeAll(async () => {
    site = await openSite({ agents: shopVersions(planted), models: shopModels, options: { priceOf: shopPrice } });
    evalId = await seedRegressions(site.api.lanefold, planted);
    ({ page, go, see } = await site.open());
  });
  afterAll(() => site?.close());

  const click = async (what: string) => {
    clicks += 1;
    await page.locator(what).first().click();
  };

  /** The row of a tag or a part says that cases of it are worse. */
  const seeWorse = async (name: string, cases: string) => {
    const row = page.locator(`[data-part="${name}"]`);
    await row.locator('.status.bad').waitFor();
    expect(await row.locator('td').last().textContent()).toBe(cases);
  };

  /** What the page shows of the change: of the field before and after, and in the worst case. */
  const causes: Record<string, () => Promise<void>> = {
    async lost_instruction() {
      await see('.changes del', 'Customers may return everything within 30 days');
      await click('[data-case] a');
      await see('.entry', 'Missing: "30 days".');
      await see('.sides .changed del', 'within 30 days');
    },
    async tone() {
      await see('.changes del', 'thank');
      await see('.changes dd', 'thank be');
      await see('[data-case] .muted', 'judge: It does not thank the customer and does not say sorry.');
      await click('[data-case] a');
      await see('.entry', 'It does not thank the customer and does not say sorry.');
    },
    async weak_model() {
      await see('.changes del', 'exam:large');
      await see('.changes ins', 'exam:small');
      await click('[data-case] a');
      await see('h1', 'What do 3 tubes at 7.50 € with 10 % off cost?');
      await see('.entry.bad .facts', /Model\s*exam:small/);
      await see('.entry.assistant .facts', /Model\s*exam:large/);
      await see('.entry.bad h3 .status.bad', '0.00');
      await see('.entry', '"reply":"22.50 €"');
      await see('.entry', '"reply":"20.25 €"');
      await see('.facts', 'What do 3 tubes at 7.50 € with 10 % off cost?');
    },
    async lost_field() {
      await see('.changes del', 'size');
      await click('[data-case] a');
      await see('.entry', 'stock was called with other arguments: $.size is missing, expected "M".');
      await see('.sides .changed del', '"size":"M"');
    },
    async other_tool() {
      await see('.changes ins', 'Answers any question about a part, its warranty included.');
      await click('[data-case] a');
      await see('.entry', 'warranty was not called; manual was.');
      await see('.sides .changed', 'manual({"part":"frame"})');
    },
    async context_policy() {
      await see('.changes ins', '"max_messages": 3');
      await click('[data-case] a');
      await see('.sides .removed', /The number of my frame is F-118\..*not sent/);
    },
    async contract() {
      await see('.changes del', 'handoff');
      await click('[data-case] a');
      await see('.entry', '"handoff":false');
      await see('.sides .changed del', 'handoff');
    },
    async early_end() {
      await see('.changes dd', '6 → 2');
      await see('[data-case] .muted', 'The run was ended by max_iterations.');
      await click('[data-case] a');
      await see('p:has(.status.bad:text("max_iterations"))', 'model call 2 of 2');
      const { label } = planted.find(({ name }) => name === 'early_end')!;
      const answer = page.getByRole('region', { name: `${label}, repeat 1` });
      await answer.getByRole('link', { name: /^run_/ }).click();
      await see('.status.wait', 'no answer');
      await see('.facts', new RegExp(`Version\\s*${label} v_`));
      await page.locator('.crumbs').getByRole('link', { name: 'Case' }).click();
      await see('h1', 'When does order B-20 arrive?');
    },
    async dear() {
      await see('.changes dd', 'added: high');
      await see('[data-variant] .status.bad', /^3\.\d×$/);
    },
    async split() {
      await see('.changes ins', 'English');
      await click('[data-case] a');
      await see('.facts', /Part\s*german/);
      await see('.sides .changed del', 'language');
      const folded = page.locator('.sides').getByRole('button', { name: 'lines are the same' });
      const count = await folded.count();
      await folded.first().click();
      await expect.poll(() => folded.count()).toBe(count - 1);
    },
  };

  const open = async (label: string) => {
    clicks = 0;
    await go('#/evals');
    await click(`a.row-link:has-text("${evalId}")`);
    await see('h2', 'Verdict');
    await click(`a:text-is("Compare ${label} with ${baseline}")`);
    await see('h2', 'What changed');
  };

  test.each(planted)('$name, as $label', async ({ name, label, worse, field }: Planted) => {
    await open(label);
    await see('.changes dt', field);
    expect(await page.locator('.changes dt').allTextContents()).toEqual([field]);
    if (name === 'dear') {
      await see('p .status.bad', /^same scores, costs 3\.\d×/);
      await see('p', `No difference between ${label} and ${baseline} is shown: each of the 28 cases scored the same.`);
    } else {
      const interval = /the score differs by -0\.\d{3} \(95 % interval -0\.\d{3} to -0\.\d{3}\) over 28 cases/;
      await see('p:has(.status.bad)', new RegExp(`${label} is worse than ${baseline}: ${interval.source}`));
    }
    for (const part of worse) await seeWorse(part, part === 'german' ? '6 of 6' : '4 of 4');
    // the tags tell a regression from the others, except that of a part
    const rows = page.locator('[aria-label="By tag"] tbody tr:has(.status.bad)');
    if (name !== 'split') await expect.poll(() => rows.count()).toBe(worse.length);
    await causes[name]!();
    expect(clicks).toBeLessThanOrEqual(mostClicks);
    expect(site.faults).toEqual([]);
  });

  test('the report of all versions names where each of them is worse', async () => {
    await go(`#/evals/${evalId}`);
    for (const { label, worse, name } of planted)
      if (name !== 'split' && worse.length > 0)
        await see(
          `p:has(a:text-is("Compare ${label} with ${baseline}"))`,
          new RegExp(`Worse in .*${worse[0]} \\(4 of 4\\)`),
        );
    const german = planted.find(({ name }) => name === 'split')!;
    await see(`p:has(a:text-is("Compare ${german.label} with ${baseline}"))`, 'Worse in german (6 of 6), ');
    await expectAccessible(page, 'report');
    const beyond = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    expect(beyond).toBe(0);
  });

  test('the head of the table stays in sight, and a red cell leads to the answers', async () => {
    await go(`#/evals/${evalId}`);
    await see('[data-case] .preview', 'What do 3 tubes at 7.50 € with 10 % off cost?');
    await page.locator('[data-case]').last().scrollIntoViewIfNeeded();
    const within = await page.evaluate(
      '(({ top, height }) => top >= 0 && top + height <= innerHeight)(document.querySelector(".long th").getBoundingClientRect())',
    );
    expect(within).toBe(true);
    const { label } = planted.find(({ name }) => name === 'weak_model')!;
    await page.locator(`[data-case]:has-text("What do 3 tubes") [data-label="${label}"] a.bad`).click();
    await see('h1', 'What do 3 tubes at 7.50 € with 10 % off cost?');
    await see('h2', 'What was sent for these answers');
  });

  test('filters keep to the tag or the part that one chooses', async () => {
    await open(planted.find(({ name }) => name === 'split')!.label);
    await click('[data-part="german"] button');
    const top = await page.evaluate<number>('document.getElementById("cases").getBoundingClientRect().top');
    expect(top).toBeLessThan(450);
    await see('h2', 'Cases (6 of 28)');
    await click('[data-part="returns"] button');
    await see('h2', 'Cases (4 of 28)');
    await page.getByRole('button', { name: 'Only what got worse' }).click();
    await see('h2', 'Cases (1 of 28)');
  });
});
