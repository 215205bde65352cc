import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

const executablePath = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium';

/** Whether browser tests have to be skipped, which is said once. */
export const noBrowser = !existsSync(executablePath);
if (noBrowser) console.log(`No browser found (CHROMIUM_PATH, or ${executablePath}): the browser tests are skipped.`);

export const chromiumOptions = {
  executablePath,
  args: [
    '--headless=new',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
};

export const launchBrowser = (): Promise<Browser> => chromium.launch(chromiumOptions);
