import type { Lanefold } from 'lanefold';
import { openBrowser } from './browser.ts';
import { median } from './median.ts';

const opens = 20;
const warmUps = 3;

/** A thread, and how many entries it has. */
export interface OpenedThread {
  id: string;
  entries: number;
}

/** Median times in ms until the requested entry is drawn. */
export interface OpenTimes {
  /** From opening the thread until its newest entry is drawn. */
  newest: number;
  /** From a jump to the middle of the log until that entry is drawn. */
  middle: number;
}

/** Measures the page in a browser that already has it open. Undefined on a machine without a browser. */
export async function timeToOpen(lanefold: Lanefold, threads: OpenedThread[]): Promise<OpenTimes[] | undefined> {
  const browser = await openBrowser();
  if (!browser) return undefined;
  const server = await lanefold.startServer({ port: 0 });
  const page = await browser.newPage();
  await page.goto(server.url);
  const times = threads.map(() => ({ newest: [] as number[], middle: [] as number[] }));
  for (let i = -warmUps; i < opens; i++) {
    // in turn, so that other load on the machine affects all of them equally
    for (const [n, { id, entries }] of threads.entries()) {
      await page.goto(`${server.url}/#/runs`);
      await page.locator('#title').waitFor();
      const middle = Math.floor(entries / 2);
      const newest = await page.evaluate<number>(drawn(`#/threads/${id}`, entries - 1));
      const inMiddle = await page.evaluate<number>(drawn(`#/threads/${id}?at=${middle}`, middle));
      if (i < 0) continue;
      times[n]!.newest.push(newest);
      times[n]!.middle.push(inMiddle);
    }
  }
  await browser.close();
  await server.close();
  return times.map(({ newest, middle }) => ({ newest: median(newest), middle: median(middle) }));
}

/** Goes to an address; resolves with the ms until an entry is drawn. */
const drawn = (hash: string, seq: number) => `(async () => {
  const from = performance.now();
  location.hash = '${hash}';
  const there = () => [...document.querySelectorAll('.virtual .entry .num')].some((one) => one.textContent === '#${seq}');
  while (!there()) await new Promise(requestAnimationFrame);
  return performance.now() - from;
})()`;
