import { chown, readFile, rename, rm, writeFile } from 'node:fs/promises';
import type { SystemUser } from './system-user.ts';
import { parseJson } from '../../../base/common/json.ts';

/** What other processes need to find a running cluster, without the password. */
export interface RuntimeInfo {
  pid: number;
  port: number;
  database: string;
}

/** Records a running cluster. `owner` gets the file, for later starts without root. */
export async function writeRuntime(path: string, info: RuntimeInfo, owner?: SystemUser): Promise<void> {
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, `${JSON.stringify(info)}\n`, { mode: 0o600 });
  if (owner) await chown(draft, owner.uid, owner.gid);
  await rename(draft, path);
}

/** The recorded cluster; undefined if there is no record or it is damaged. */
export async function readRuntime(path: string): Promise<RuntimeInfo | undefined> {
  try {
    const info = parseJson(await readFile(path, 'utf8')) as Partial<RuntimeInfo>;
    const { pid, port, database } = info;
    return Number.isInteger(pid) && Number.isInteger(port) && database ? (info as RuntimeInfo) : undefined;
  } catch {
    return undefined;
  }
}

/** Deletes the record of a stopped cluster, unless another one has been recorded since. */
export async function clearRuntime(path: string, pid: number): Promise<void> {
  if ((await readRuntime(path))?.pid === pid) await rm(path, { force: true });
}
