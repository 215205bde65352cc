import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { packageRoot } from '../base/environment.ts';
import type { ApiApp } from './env.ts';
import { openApiDocument } from './openapi.ts';

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Lanefold API</title>
<link rel="icon" href="data:,">
<script type="module" src="/docs/reference.js"></script>
</head>
<body>
<openapi-explorer spec-url="/openapi.json" hide-server-selection fetch-credentials="same-origin"
  primary-color="#1f4fd8" secondary-color="#0b3aa8" nav-bg-color="#f4f5f7" nav-text-color="#30343b" nav-hover-bg-color="#e3e6eb"
  nav-hover-text-color="#111418" bg-color="#ffffff" text-color="#24282e">
</openapi-explorer>
</body>
</html>
`;

/** Content security policy for pages: no resources from other hosts, no framing. */
export const pagePolicy =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'self'; form-action 'self'";

/** The web component that renders the document. A build copies it, so that users of the package need not install it. */
export const explorer = (): string =>
  createRequire(import.meta.url).resolve('openapi-explorer/dist/browser/openapi-explorer.min.js');

const script = import.meta.url.endsWith('.ts') ? explorer : () => path.join(packageRoot, 'dist/docs/reference.js');

/** Serves the OpenAPI document and a page that renders it without loading anything from other hosts. */
export function addDocs(app: ApiApp): void {
  app.get('/openapi.json', (c) => c.json(openApiDocument(app)));
  app.get('/docs', (c) => c.html(page, 200, { 'Content-Security-Policy': pagePolicy }));
  app.get('/docs/reference.js', async (c) =>
    c.body(new Uint8Array(await readFile(script())), 200, {
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'private, max-age=3600',
    }),
  );
}
