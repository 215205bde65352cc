// @module-tag slow
import fc from 'fast-check';
import { toJUnit } from 'lanefold/evals';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser } from 'playwright-core';
import { launchBrowser, noBrowser } from '../support/browser.ts';
import { itemOf, scoreOf } from './items.ts';

let browser: Browser;
beforeAll(async () => {
  if (!noBrowser) browser = await launchBrowser();
});
afterAll(async () => await browser?.close());

test.skipIf(noBrowser)('any text comes out of an XML parser as it went in', async () => {
  const page = await browser.newPage();
  const text = fc.string({ unit: 'binary', maxLength: 20 });
  const texts = fc.sample(fc.tuple(text, text), { numRuns: 500, seed: 1 });
  const documents = texts.map(([caseId, answer]) => toJUnit([itemOf({ caseId, answer, scores: [scoreOf(0)] })]));
  const read = await page.evaluate((all) => {
    // the browser's own; the types of this file are Node's
    interface XmlNode {
      textContent: string;
      getAttribute: (name: string) => string | null;
      querySelector: (selector: string) => XmlNode | null;
    }
    const { DOMParser } = globalThis as unknown as {
      DOMParser: new () => { parseFromString: (xml: string, type: string) => XmlNode };
    };
    return all.map((xml) => {
      const parsed = new DOMParser().parseFromString(xml, 'application/xml');
      const testcase = parsed.querySelector('testcase');
      const broken = parsed.querySelector('parsererror')?.textContent ?? null;
      return { broken, name: testcase?.getAttribute('name'), text: testcase?.textContent };
    });
  }, documents);
  const kept = (each: string) => each.toWellFormed().replaceAll(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '\ufffd');
  expect(read).toEqual(
    texts.map(([caseId, answer]) => ({
      broken: null,
      name: kept(caseId),
      text: expect.stringContaining(`Repeat 1: ${kept(answer)}\n`),
    })),
  );
  await page.close();
});
