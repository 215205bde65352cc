import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { createClient, type Client } from 'lanefold/client';
import { expect, onTestFinished, test } from 'vitest';
import { bundleWithReact, reactVersions, type ReactVersion } from '../support/react.ts';

interface Rendered {
  version: string;
  render(client: Client): string;
}

/** The module, with everything that it imports but Node's own in one file. */
async function load(version: ReactVersion): Promise<Rendered> {
  const folder = mkdtempSync(path.join(tmpdir(), 'lanefold-react-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'rendered.cjs');
  writeFileSync(file, await bundleWithReact(version, 'test/react/rendered.jsx', { platform: 'node', format: 'cjs' }));
  return ((await import(/* @vite-ignore */ pathToFileURL(file).href)) as { default: Rendered }).default;
}

test.each(reactVersions)(
  'on a server, hooks of React %s render what is not known yet, and ask for nothing',
  async (v) => {
    const asked: unknown[] = [];
    const fetch = (url: unknown) => {
      asked.push(url);
      return Promise.reject(new Error('not here'));
    };
    const client = createClient({ url: 'http://127.0.0.1:9', fetch });
    const { version, render } = await load(v);
    expect(version.split('.')[0]).toBe(v);
    expect(render(client)).toBe('<p>[[],&quot;loading&quot;,null,null,false,[]]</p>');
    expect(asked).toEqual([]);
  },
);
