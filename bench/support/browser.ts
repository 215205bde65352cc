import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

const executablePath = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium';

/** Undefined on a machine without a browser. */
export async function openBrowser(): Promise<Browser | undefined> {
  if (!existsSync(executablePath)) return undefined;
  return chromium.launch({ executablePath, args: ['--headless=new', '--no-sandbox', '--disable-gpu'] });
}
