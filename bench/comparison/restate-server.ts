import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Writable } from 'node:stream';
import { freePort } from '../../src/database/postgres/embedded/launch.ts';
import type { OwnServer } from '../systems/system.ts';
import { until } from '../support/until.ts';
import { peersFolder } from './install.ts';

const { resolve } = createRequire(path.join(peersFolder, 'package.json'));

// Descriptor 3 is a pipe to this process. The system closes it however this process ends, and then the shell stops
// the server.
const script = `"$@" 3<&- & P=$!; read -r end <&3; kill -TERM $P; wait $P`;

/** Starts a Restate server with default settings, on 127.0.0.1 and without its reports to the vendor. */
export async function startRestate(folder: string): Promise<OwnServer> {
  const [node, ingress, admin] = [await freePort(), await freePort(), await freePort()].map(
    (port) => `127.0.0.1:${port}`,
  ) as [string, string, string];
  const child = spawn('/bin/sh', ['-c', script, 'bench-restate', binary(), '--base-dir', folder], {
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
    env: {
      ...process.env,
      RESTATE_NODE_NAME: 'bench',
      RESTATE_LISTEN_MODE: 'tcp',
      RESTATE_BIND_ADDRESS: node,
      RESTATE_INGRESS__BIND_ADDRESS: ingress,
      RESTATE_ADMIN__BIND_ADDRESS: admin,
      RESTATE_LOG_FILTER: 'error,octocrab=off',
      RESTATE_DISABLE_TELEMETRY: 'true',
    },
  });
  const exited = once(child, 'exit');
  const lifeline = child.stdio[3] as Writable;
  lifeline.on('error', () => {});
  const stop = async () => {
    lifeline.end();
    await exited;
  };
  const isReady = async () => {
    if (child.exitCode !== null) throw new Error(`restate-server exited with ${child.exitCode}`);
    return (await answers(`http://${admin}/health`)) && (await answers(`http://${ingress}/restate/health`));
  };
  if (!(await until(isReady, { withinMs: 60_000, everyMs: 50 }))) {
    await stop();
    throw new Error('restate-server was not ready after 60 s');
  }
  return { pid: child.pid!, addresses: { ingress: `http://${ingress}`, admin: `http://${admin}` }, stop };
}

function binary(): string {
  const name = `@restatedev/restate-server-${process.platform}-${process.arch}`;
  try {
    return resolve(`${name}/bin/restate-server`);
  } catch {
    throw new Error(`the Restate server for this platform, ${name}, is not installed`);
  }
}

const answers = async (url: string) => (await fetch(url).catch(() => undefined))?.ok === true;
