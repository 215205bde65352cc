import { createAdaptorServer } from '@hono/node-server';
import { createWorld } from '@workflow/world-postgres';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { start } from 'workflow/api';
import { setWorld } from 'workflow/runtime';
import { check, question } from './workload.js';

/** `returnValue` polls every second; then every figure would be that pause. */
const firstPollMs = 20;

/** A fixed short interval would take the connections from the runs that are waited for. */
const pollGrowth = 1.2;

const require = createRequire(import.meta.url);
const here = import.meta.dirname;
const built = path.join(here, 'node_modules/.cache/workflow');

/** A workflow. Its queue calls the two handlers that the build made, over HTTP as in a web framework. */
export async function open({ databaseUrl }) {
  build();
  createSchema(databaseUrl);
  // by default it makes 50 deliveries at a time with 10 connections, and warns of that
  const world = createWorld({ connectionString: databaseUrl, maxPoolSize: 50 });
  setWorld(world);
  const handlers = {
    '/.well-known/workflow/v1/flow': require(path.join(built, 'flow.cjs')).POST,
    '/.well-known/workflow/v1/step': require(path.join(built, 'step.cjs')).POST,
  };
  const server = createAdaptorServer({ fetch: (request) => handlers[new URL(request.url).pathname](request) });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.env.WORKFLOW_LOCAL_BASE_URL = `http://127.0.0.1:${server.address().port}`;
  await world.start();
  return {
    async run() {
      const run = await start({ workflowId: 'workflow//./agent//agent' }, [question]);
      for (let pause = firstPollMs; !['completed', 'failed'].includes(await run.status); pause *= pollGrowth) {
        await delay(pause);
      }
      check(await run.returnValue);
    },
    async close() {
      await world.close();
      server.close();
    },
  };
}

function build() {
  mkdirSync(built, { recursive: true });
  execFileSync(process.execPath, [path.join(here, 'workflow/build.js')], { cwd: built });
}

function createSchema(databaseUrl) {
  execFileSync(process.execPath, [path.join(here, 'node_modules/@workflow/world-postgres/bin/setup.js')], {
    env: { ...process.env, WORKFLOW_POSTGRES_URL: databaseUrl },
  });
}
