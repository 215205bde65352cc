import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Contestant } from '../support/contestant.ts';
import { peersFolder } from './install.ts';
import { startRestate } from './restate-server.ts';

const file = fileURLToPath(new URL('systems/lanefold.js', import.meta.url));

export const ours: Contestant[] = [
  { name: 'lanefold-postgres', file, usesRedis: false },
  { name: 'lanefold-redis', file, usesRedis: true },
];

const peer = (name: string): Contestant => ({ name, file: path.join(peersFolder, `${name}.js`), usesRedis: false });

export const peers: Contestant[] = [
  ...['dbos', 'dbos-queue', 'absurd'].map(peer),
  ...['restate-service', 'restate-object'].map((name) => ({ ...peer(name), startServer: startRestate })),
  ...['workflow', 'langgraph', 'langgraph-sync', 'mastra', 'graphile-worker', 'pg-boss'].map(peer),
];
