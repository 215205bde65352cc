import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { ApiApp } from './env.ts';
import { openApiDocument } from './openapi.ts';

const require = createRequire(import.meta.url);

const files: Record<string, string> = {
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Lanefold API</title>
<link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

const start = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#swagger-ui', validatorUrl: null, deepLinking: true, docExpansion: 'list' });
`;

/** Content security policy for pages: no resources of other hosts, no framing. */
export const pagePolicy =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'self'; form-action 'self'";

/** Serves the OpenAPI document and a page that renders it without loading anything from other hosts. */
export function addDocs(app: ApiApp): void {
  app.get('/openapi.json', (c) => c.json(openApiDocument(app)));
  app.get('/docs', (c) => c.html(page, 200, { 'Content-Security-Policy': pagePolicy }));
  app.get('/docs/start.js', (c) => c.body(start, 200, { 'content-type': 'text/javascript; charset=utf-8' }));
  for (const [name, type] of Object.entries(files)) {
    const file = path.join(path.dirname(require.resolve('swagger-ui-dist/package.json')), name);
    app.get(`/docs/${name}`, async (c) =>
      c.body(new Uint8Array(await readFile(file)), 200, {
        'content-type': type,
        'cache-control': 'private, max-age=3600',
      }),
    );
  }
}
