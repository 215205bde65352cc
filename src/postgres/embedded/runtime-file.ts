import { chown, readFile, rename, rm, writeFile } from 'node:fs/promises';
import type { SystemUser } from './system-user.ts';

/** What others need to find a running cluster. The password is not in it. */
export interface RuntimeInfo {
  pid: number;
  port: number;
  database: string;
}

/** Records a running cluster; `owner` may go on without root later. */
export async function writeRuntime(path: string, info: RuntimeInfo, owner?: SystemUser): Promise<void> {
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, `${JSON.stringify(info)}\n`, { mode: 0o600 });
  if (owner) await chown(draft, owner.uid, owner.gid);
  await rename(draft, path);
}

/** The recorded cluster; undefined when there is none or the record is damaged. */
export async function readRuntime(path: string): Promise<RuntimeInfo | undefined> {
  try {
    const info = JSON.parse(await readFile(path, 'utf8')) as Partial<RuntimeInfo>;
    const { pid, port, database } = info;
    return Number.isInteger(pid) && Number.isInteger(port) && database ? (info as RuntimeInfo) : undefined;
  } catch {
    return undefined;
  }
}

/** Forgets a cluster that ended, unless another one has been recorded since. */
export async function clearRuntime(path: string, pid: number): Promise<void> {
  if ((await readRuntime(path))?.pid === pid) await rm(path, { force: true });
}
