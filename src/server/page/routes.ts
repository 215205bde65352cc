import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { packageRoot } from '../../base/environment.ts';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import type { Context } from 'hono';
import { LanefoldError } from '../../base/errors.ts';
import type { ApiApp } from '../env.ts';
import type { Site } from '../site.ts';

/** A file in every encoding that a browser may accept, best first. */
interface ServedFile {
  tag: string;
  encodings: { name: 'br' | 'gzip' | undefined; content: Uint8Array<ArrayBuffer> }[];
}

/** Compresses the files once, because every reader gets the same ones. */
export const compressed = async (files: PageFiles): Promise<ReadonlyMap<string, ServedFile>> =>
  new Map(await Promise.all([...files].map(async ([name, content]) => [name, await encode(content)] as const)));

const encode = async (content: Uint8Array): Promise<ServedFile> => ({
  tag: `"${createHash('sha256').update(content).digest('base64url').slice(0, 24)}"`,
  encodings: [
    { name: 'br', content: new Uint8Array(await promisify(brotliCompress)(content)) },
    { name: 'gzip', content: new Uint8Array(await promisify(gzip)(content)) },
    { name: undefined, content: new Uint8Array(content) },
  ],
});

/** The files of the page: bundled from the sources in a checkout, else as published. Read once per process. */
const pageFiles = (): Promise<ReadonlyMap<string, ServedFile>> => (files ??= load().then(compressed));

let files: Promise<ReadonlyMap<string, ServedFile>> | undefined;

const load = (): Promise<PageFiles> => {
  const sources = path.join(packageRoot, 'page');
  return existsSync(path.join(sources, 'app.tsx'))
    ? bundlePage(sources)
    : readBundle(path.join(packageRoot, 'dist/page'));
};

async function readBundle(folder: string): Promise<PageFiles> {
  const names = await readdir(folder);
  const contents = await Promise.all(names.map((name) => readFile(path.join(folder, name))));
  return new Map(names.map((name, i) => [name, contents[i]!]));
}

/** The files of the page by name. */
type PageFiles = ReadonlyMap<string, Uint8Array>;

/** Bundles the page from its sources in a checkout; the published package has the bundle. */
export async function bundlePage(sources: string): Promise<PageFiles> {
  const [scripts, styles, index] = await Promise.all([
    bundleScripts(sources),
    bundleStyles(sources),
    readFile(path.join(sources, 'index.html')),
  ]);
  return new Map([...scripts, ['app.css', styles], ['index.html', index]]);
}

/** `app.js`, and a file for each part that is loaded on demand, which takes what it shares from `app.js`. */
async function bundleScripts(sources: string): Promise<[name: string, content: Uint8Array][]> {
  const { build } = await import('rolldown');
  const { output } = await build({
    input: { app: path.join(sources, 'app.tsx') },
    tsconfig: path.join(sources, 'tsconfig.json'),
    preserveEntrySignatures: 'allow-extension',
    transform: { target: ['es2022', 'chrome123', 'firefox128', 'safari17.5'] },
    output: {
      format: 'esm',
      minify: true,
      entryFileNames: '[name].js',
      chunkFileNames: '[name]-[hash].js',
      // left to choose, rolldown may move what all parts share to a file that `app.js` would have to wait for
      codeSplitting: { groups: [{ name: 'app', tags: ['$initial'] }] },
    },
    write: false,
    logLevel: 'silent',
  });
  return output.map((file) => [file.fileName, Buffer.from(file.type === 'chunk' ? file.code : file.source)]);
}

async function bundleStyles(sources: string): Promise<Uint8Array> {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: [path.join(sources, 'styles/index.css')],
    write: false,
    bundle: true,
    minify: true,
    target: ['chrome123', 'firefox128', 'safari17.5'],
    logLevel: 'silent',
  });
  return outputFiles[0]!.contents;
}

/**
 * The page may load its own script, style sheet and API, and nothing else. Trusted Types block every path from text to
 * HTML, so that output of models and tools stays text.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/**
 * Serves the page at `/`. Its files hold no data and need no key: the page asks for the key, and the API checks it. Without a
 * key, they are protected as all else is.
 */
export function addPage(app: ApiApp, { page, open, byKey }: Pick<Site, 'page' | 'open' | 'byKey'>): void {
  if (!page) return;
  if (open) for (const route of ['/', '/page/*']) app.use(route, byKey);
  app.get('/', (c) => send(c, 'index.html'));
  app.get('/page/:file', (c) => send(c, c.req.param('file')));
}

/** Whether a browser accepts an encoding: it names it, not with a weight of 0. */
const accepts = {
  br: /\bbr\b(?!\s*;\s*q=0(?![.\d]*[1-9]))/,
  gzip: /\bgzip\b(?!\s*;\s*q=0(?![.\d]*[1-9]))/,
};

async function send(c: Context, name: string): Promise<Response> {
  const type = types[path.extname(name)];
  const file = (await pageFiles()).get(name);
  if (!file || !type) throw new LanefoldError('not_found', 'The page has no such file.', { hint: 'Open /.' });
  const accepted = c.req.header('accept-encoding') ?? '';
  const { name: encoding, content } = file.encodings.find(
    (one) => one.name === undefined || accepts[one.name].test(accepted),
  )!;
  const headers = {
    'content-type': type,
    'content-security-policy': policy,
    'cache-control': 'no-cache',
    vary: 'accept-encoding',
    etag: file.tag,
    ...(encoding ? { 'content-encoding': encoding } : {}),
  };
  if (c.req.header('if-none-match') === file.tag) return c.body(null, 304, headers);
  return c.body(content, 200, headers);
}
