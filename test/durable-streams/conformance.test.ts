// @module-tag slow
import { runConformanceTests } from '@durable-streams/server-conformance-tests';
import { afterAll, beforeAll, describe, vi } from 'vitest';
import { startApiProcess, type ApiProcess } from './api-process.ts';

/** The suite reads the URL when a test starts. */
const config = { baseUrl: '' };
let api: ApiProcess;
beforeAll(async () => {
  api = await startApiProcess();
  config.baseUrl = api.url;
  vi.stubGlobal('fetch', withoutIdleConnections(fetch));
});
afterAll(async () => {
  vi.unstubAllGlobals();
  await api?.close();
});

describe('the conformance suite of Durable Streams, against an API process', () => runConformanceTests(config));

/**
 * The suite compares a hundred thousand bytes one by one, and on a busy machine the server closes idle connections meanwhile;
 * the next request would be sent on one of them. A body that is too large needs a connection that stays for the answer.
 */
function withoutIdleConnections(own: typeof fetch): typeof fetch {
  return (input, init) => {
    if (init?.body instanceof Uint8Array && init.body.byteLength > 2 ** 20) return own(input, init);
    const headers = new Headers(init?.headers);
    headers.set('connection', 'close');
    return own(input, { ...init, headers });
  };
}
