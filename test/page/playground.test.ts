// @module-tag long
import fc from 'fast-check';
import { defineAgent, type AgentDefinition } from 'lanefold';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { versionOf } from '../../page/views/call/trial.ts';
import { noBrowser } from '../support/browser.ts';
import { expectAccessible, openSite, type OpenPage, type Site } from './harness.ts';

const transformed = defineAgent({
  name: 'transformed',
  model: 'scripted:["Well."]',
  requestTransformer: ({ messages }) => ({ messages: [...messages, { role: 'user', content: 'More.' }] }),
});

test('the code of a version defines what the variant was, with any texts', () => {
  const travel = defineAgent({ name: 'travel', model: 'scripted:echo', instructions: 'Be brief.' });
  const text = fc.string({ unit: fc.constantFrom('a', "'", '`', '\\', '$', '{', '}', '\n', '"', 'ä') });
  const variant = fc.record(
    {
      model: fc.constantFrom('openai:gpt-4o', 'scripted:["It\'s"]'),
      system_prompt: fc.option(text),
      context_policy: fc.constantFrom('window', { keep_last_turns: 2, max_messages: 4 }),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(variant, (change) => {
      const code = versionOf('travel', 'b', change);
      const made = new Function('defineAgent', 'travel', `return ${code}`)(defineAgent, travel) as AgentDefinition;
      expect(made).toMatchObject({ name: 'travel', version: 'b', model: change.model ?? 'scripted:echo' });
      const { system_prompt: prompt = 'Be brief.' } = change;
      expect(made.instructions ?? '').toBe(prompt?.trim() ? prompt : '');
      if (change.context_policy === undefined) expect(made.contextPolicy).toBeUndefined();
      else if (change.context_policy !== 'window')
        expect(made.contextPolicy).toMatchObject({ keepLastTurns: 2, maxMessages: 4 });
    }),
  );
});

describe.skipIf(noBrowser)('the playground of a call', () => {
  let site: Site;
  let page: Page;
  let go: OpenPage['go'];
  beforeAll(async () => {
    site = await openSite({ agents: [transformed] });
    ({ page, go } = await site.open());
  });
  afterAll(() => site?.close());

  const open = async (threadId: string, call: string) => {
    await go(`#/threads/${threadId}/calls/${call}`);
    await page.getByRole('tab', { name: 'Playground' }).click();
    await page.getByRole('group', { name: 'Variant A' }).waitFor();
  };
  const variant = (name: string) => page.getByRole('group', { name: `Variant ${name}` });
  const answer = (name: string) => page.getByRole('region', { name: `${name}, repeat 1` });
  const run = () => page.getByRole('button', { name: 'Run', exact: true }).click();

  test('asks for its answer under up to three variants, side by side, and keeps the best', async () => {
    await site.ask('again', 'To Hamburg?');
    const id = await site.ask('again', 'And back?');
    await open('again', `${id}.2`);
    for (const name of ['B', 'C']) {
      await page.getByRole('button', { name: 'Add a variant' }).click();
      await variant(name).waitFor();
    }
    expect(await page.getByRole('button', { name: 'Add a variant' }).count()).toBe(0);
    await variant('B').getByLabel('Model').fill('openai:gpt-4o');
    await variant('B').getByLabel('System prompt').fill("Don't be brief.\nBe long.");
    await variant('C').getByLabel('Model').fill('second');
    await variant('C').getByLabel('Policy').fill('{"keep_last_turns": 1, "max_messages": 3}');
    await run();
    await answer('A').getByText('Take an umbrella.').waitFor();
    for (const name of ['B', 'C']) await answer(name).getByText('The sun shines all day.').waitFor();
    await page.getByRole('region', { name: 'Recorded' }).getByText('Take an umbrella.').waitFor();
    const facts = await answer('B').locator('.facts').innerText();
    for (const fact of [/Model\s+openai:gpt-4o/, /Duration\s+\d/, /Input\s+\d+ tokens/, /Output\s+\d+/, /Cost\s+\$0/])
      expect(facts).toMatch(fact);
    expect(site.second.calls.map(({ prompt }) => prompt[0])).toContainEqual(
      expect.objectContaining({ role: 'system', content: "Don't be brief.\nBe long." }),
    );
    // the policy of the third left the first turn out
    expect(site.second.calls.map(({ prompt }) => prompt.map(({ role }) => role))).toContainEqual([
      'system',
      'user',
      'assistant',
      'tool',
    ]);
    await expectAccessible(page, 'playground');

    await page.reload();
    await answer('B').getByText('The sun shines all day.').waitFor();
    await expect.poll(() => variant('B').getByLabel('Model').inputValue()).toBe('openai:gpt-4o');
    expect(JSON.parse(await variant('C').getByLabel('Policy').inputValue())).toMatchObject({ keep_last_turns: 1 });

    await page.getByRole('button', { name: 'Keep as case: answer B' }).click();
    await page.getByLabel('Dataset').fill('weather');
    await page.getByRole('dialog').getByRole('button', { name: 'Keep', exact: true }).click();
    await page.getByText('Kept as a case of weather').waitFor();
    const { data } = await site.api.lanefold.cases.list({ dataset: 'weather', threadId: 'again' });
    expect(data).toMatchObject([
      { kind: 'call', llmCallId: `${id}.2`, expected: { answer: 'The sun shines all day.' } },
    ]);

    await page.getByRole('button', { name: 'Keep as version: variant B' }).click();
    await page.getByLabel('Label of the version').fill('long');
    const code = await page.getByRole('dialog').locator('.text').innerText();
    expect(code.split('\n').map((line) => line.trim())).toEqual([
      'defineAgent({',
      '...travel,',
      "version: 'long',",
      "model: 'openai:gpt-4o',",
      "instructions: `Don't be brief.",
      'Be long.`,',
      '})',
    ]);
    expect(await site.api.lanefold.threads.get('again')).toMatchObject({ rev: 9 });
  });

  test('asks for the whole run again, whose tools answer from the record', async () => {
    const id = await site.ask('whole', 'To Hamburg?');
    await open('whole', `${id}.1`);
    await page.getByLabel('Ask for').selectOption('the whole run');
    await run();
    await answer('A').getByText('Take an umbrella.').waitFor();
    await answer('A').getByRole('link', { name: /^run_/ }).click();
    await page.getByText('weather').first().waitFor();
    // a second trial finds the case of the first one
    await open('whole', `${id}.1`);
    await page.getByLabel('Ask for').selectOption('the whole run');
    await page.getByRole('combobox', { name: 'Tools' }).selectOption('run, where that is safe');
    await run();
    await answer('A').getByText('done').waitFor();
    const { data } = await site.api.lanefold.cases.list({ dataset: 'playground', threadId: 'whole' });
    expect(data).toMatchObject([{ kind: 'run', runId: id }]);
  });

  test('says what is wrong with a variant, and which calls cannot be asked again', async () => {
    const id = await site.ask('odd', 'To Hamburg?');
    await open('odd', `${id}.2`);
    await variant('A').getByLabel('Model').fill('nobody:knows');
    await run();
    await page.getByText('unknown_model').waitFor();
    await variant('A').getByLabel('Policy').fill('{"keep_last_turns": ');
    await run();
    await page.getByText('The policy is not valid JSON.').waitFor();
    const other = await site.ask('changed', 'Hello', 'transformed');
    await open('changed', `${other}.1`);
    await run();
    await page.getByText('case_unverified').waitFor();
  });
});
