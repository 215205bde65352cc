// @module-tag long
import { runConformanceTests } from '@durable-streams/server-conformance-tests';
import { afterAll, beforeAll, describe } from 'vitest';
import { startApiProcess, type ApiProcess } from './api-process.ts';

/** The suite reads the URL when a test starts. */
const config = { baseUrl: '' };
let api: ApiProcess;
beforeAll(async () => {
  api = await startApiProcess();
  config.baseUrl = api.url;
});
afterAll(() => api?.close());

describe('the conformance suite of Durable Streams, against an API process', () => runConformanceTests(config));
